package archtest

import "testing"

// mostExceptions is how many places may break a rule of the house with a good reason.
const mostExceptions = 15

// exceptions are the types and functions that break a rule of the house, by folder and name, and why they may.
var exceptions = map[string]string{
	"kernels Def":             "each field is one fact of a kernel, and most kernels have few",
	"sqlfront/ast Select":     "a field for each clause of a SELECT",
	"sqlfront/bind class":     "a case for each kind of expression that is a number",
	"sqlfront/ast figureName": "a case for each kind of expression, as PostgreSQL's FigureColnameInternal has",
	"sqlfront/parse expr":     "a case for each kind of expression of PostgreSQL's parser",
	"sqlfront/print expr":     "a case for each kind of expression",
}

// excused reports whether the name of a folder is an exception, and notes that the exception is needed.
func (h *house) excused(dir, name string) bool {
	key := dir + " " + name
	if h.used == nil {
		h.used = map[string]bool{}
	}
	_, ok := exceptions[key]
	h.used[key] = ok
	return ok
}

// checkExceptions: there are few, each has a reason, and each is still needed.
func (h *house) checkExceptions(t *testing.T) {
	if len(exceptions) > mostExceptions {
		t.Errorf("%d exceptions, at most %d", len(exceptions), mostExceptions)
	}
	for key, why := range exceptions {
		if why == "" {
			t.Errorf("the exception %s has no reason", key)
		}
		if !h.used[key] {
			t.Errorf("the exception %s breaks no rule any more: remove it", key)
		}
	}
}
