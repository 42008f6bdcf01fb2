package randquery_test

import (
	"testing"

	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/optimizer/rules"
)

// rarelyFired are rules that random queries seldom call for; their files in optimizer/testdata have cases of them.
var rarelyFired = map[string]int{
	"RollUpCount":                1, // fires on a mean without NULLs that an outer sum groups by the parameter's key
	"PushSemiJoinBelowAggregate": 5, // fires on a sum inside another sum, where a semi-join drops groups of the inner one
}

// Bounds over a full run: max… must not be exceeded; least… and kernelShare must be reached.
const (
	fullRun        = 2000 // queries checked
	leastUses      = 50   // of every construct
	kernelShare    = 0.01 // of all queries, in which each kernel stands: 50 of 5,000
	leastFired     = 20   // firings of every rule
	maxKinkShare   = 0.02 // of all differences
	maxNullShare   = 0.15 // of all queries: a NULL loss
	maxWildShare   = 0.02
	maxLimitShare  = 0.03 // plans beyond an engine's limit
	leastEmptyRoot = 50
)

// checkCoverage asserts that a full run has seen everything often enough.
func checkCoverage(t *testing.T, s randquery.Stats) {
	if s.Queries < fullRun {
		t.Errorf("%d queries were checked in full, not %d", s.Queries, fullRun)
	}
	for _, c := range randquery.Constructs {
		if s.Uses[c] < leastUses {
			t.Errorf("construct %q appeared in %d queries, not %d", c, s.Uses[c], leastUses)
		}
	}
	for u := range s.Uses {
		if !randquery.Listed(u) {
			t.Errorf("construct %q is not listed", u)
		}
	}
	for _, k := range randquery.Kernels() {
		if n := s.Uses["kernel:"+k]; float64(n) < kernelShare*float64(s.Queries) {
			t.Errorf("kernel %s appeared in %d queries of %d, less than a share of %v", k, n, s.Queries, kernelShare)
		}
	}
	for _, v := range []string{"rows permuted", "renamed", "views inlined", "chunks halved", "rows partitioned"} {
		if s.Uses["variant: "+v] < leastUses {
			t.Errorf("variant %q was compared %d times, not %d", v, s.Uses["variant: "+v], leastUses)
		}
	}
	for _, r := range rules.All() {
		if r.Name == "HoistFromLoop" { // of recursive queries, which are not drawn: gradtest has a list of them
			continue
		}
		least := leastFired
		if rare := rarelyFired[r.Name]; rare > 0 {
			least = rare
		}
		if s.Fired[r.Name] < least {
			t.Errorf("rule %s fired %d times, not %d", r.Name, s.Fired[r.Name], least)
		}
	}
	share := func(what string, n, of int, limit float64) {
		if float64(n) > limit*float64(of) {
			t.Errorf("%s: %d of %d, more than a share of %v", what, n, of, limit)
		}
	}
	share("differences at kinks", s.Kinks, s.Differences, maxKinkShare)
	share("queries with a NULL loss", s.NullLoss, s.Queries, maxNullShare)
	share("queries too large to check", s.Wild, s.Queries, maxWildShare)
	share("plans beyond an engine's limit", s.Limits, s.Queries, maxLimitShare)
	if s.EmptyRoots < leastEmptyRoot {
		t.Errorf("%d gradients were empty, not %d", s.EmptyRoots, leastEmptyRoot)
	}
}
