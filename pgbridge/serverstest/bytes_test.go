package serverstest

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/optimizer/physical"
)

// bytes: every exchange between servers moves the bytes that its rows have, and the plan tells where they lie. The
// session is one from outside.
func (s *servers) bytes(t *testing.T) {
	m := models[len(models)-1]
	c := s.called
	c.must("%s", m.setup)
	s.spreadOut(m)
	ctx := context.Background()
	db, err := relgrad.Dial(ctx, c.c.DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	limits := physical.Cluster{Network: 1e12, Operations: 1e6, Reads: 1e6} // computing costs most
	db.Cluster = &physical.Costs{Cluster: limits}
	var p *executor.Program
	db.OnCompiled = func(c relgrad.Compilation) { p = c.Program }
	if _, err := db.Gradient(ctx, "public.loss", "public.l1", nil, 0); err != nil {
		t.Fatal(err)
	}
	list, err := p.Exchanges()
	if err != nil {
		t.Fatal(err)
	}
	moved := map[physical.Op]int64{}
	for _, x := range list {
		if x.Predicted != x.Moved {
			t.Errorf("%v of %v: %d rows are %d bytes, and %d are moved", x.Node, x.Columns, x.Rows, x.Predicted, x.Moved)
		}
		moved[x.Node.Op] += x.Moved
	}
	if len(list) < 4 || moved[physical.Bcast]+moved[physical.Halo]+moved[physical.Shuf] == 0 {
		t.Errorf("%d exchanges move %v", len(list), moved)
	}
	text, err := db.Explain(ctx, "public.loss", []string{"public.l1"}, "sites")
	for _, want := range []string{"site 0: this server\nsite 1: server s1\n",
		"table node: \"public\".\"part_node\" at s1, ",
		"anywhere"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%v: the plan does not tell %q:\n%s", err, want, text)
		}
	}
	text, err = db.Analyze(ctx, "public.loss", []string{"public.l1"}, "", 0)
	if err != nil || !strings.Contains(text, "; moved ") || !strings.Contains(text, "site 0 holds ") {
		t.Errorf("%v\n%s", err, text)
	}
	db.Mode = "sql"
	text, err = db.Analyze(ctx, "public.loss", []string{"public.l1"}, "", 0)
	lines := exchangeLine.FindAllStringSubmatch(text, -1)
	if err != nil || len(lines) < 4 || strings.Contains(text, "foretold") || !strings.Contains(text, "BCAST of ") {
		t.Errorf("%v\n%s", err, text)
	}
	some := 0
	for _, m := range lines {
		if m[3] != "" {
			some++
		}
		if m[1] != "0 rows" && m[2] != m[3] {
			t.Errorf("by SQL, %s are %s, and %s are moved:\n%s", m[1], m[2], m[3], text)
		}
	}
	if some < 4 {
		t.Errorf("by SQL, %d exchanges have moved something:\n%s", some, text)
	}
}

// exchangeLine is what Analyze says of an exchange: rows, bytes that they have, bytes that were moved.
var exchangeLine = regexp.MustCompile(
	`(?m)^[A-Za-z]+ of .*: (\d+ rows), ([\d.]+ \w+)(?: once)?(?:; moved ([\d.]+ \w+))?$`)
