package serverstest

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
)

var (
	seedFlag    = flag.Int64("seed", 100, "the first seed of random queries")
	queriesFlag = flag.Int64("queries", 30, "number of random queries")
)

var (
	tableText  = regexp.MustCompile(`^CREATE TABLE (\w+) \((.*?)(?:, PRIMARY KEY \([^)]*\))?\);$`)
	insertText = regexp.MustCompile(`^INSERT INTO (\w+) VALUES`)
	withoutKey = regexp.MustCompile(`has no primary key|needs a relation with a declared key|must appear in the GROUP BY`)
	keyColumn  = regexp.MustCompile(`(\w+) (?:integer|bigint|text|boolean)(?:,|$)`)
)

// randomQueries: random losses over tables of which some lie at several servers, by the hash of drawn columns that may
// be NULL, or by a list that leaves servers empty, have the value and the gradients that they have at one server. What
// an exchange costs is drawn, so that plans differ.
func (s *servers) randomQueries(t *testing.T) {
	db, err := relgrad.Dial(context.Background(), s.called.c.DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exchanges := 0
	db.OnCompiled = func(c relgrad.Compilation) {
		if c.Placed != nil {
			for _, n := range c.Placed.Plan.Nodes() {
				if n.Op != physical.Local && n.Op != physical.Gather {
					exchanges++
				}
			}
		}
	}
	agree, refused, spread := map[string]int{}, map[string]int{}, 0
	for seed := *seedFlag; seed < *seedFlag+*queriesFlag; seed++ {
		q := randquery.Generate(seed, randquery.Options{})
		draw := rand.New(rand.NewSource(seed))
		limits := physical.Cluster{Network: math.Pow(10, float64(4+draw.Intn(7))), Operations: 1e2, Reads: 1e2}
		db.Cluster = &physical.Costs{Cluster: limits}
		if err := s.random(q, nil); err != nil {
			refused["on one server, too"]++
			continue
		}
		one := map[string]*answer{}
		for _, engine := range []string{"chunk", "sql"} {
			if one[engine], err = s.answers(db, q, engine); err != nil { // the same query is judged elsewhere
				refused["on one server, too, "+engine]++
				one[engine] = nil
			}
		}
		if err := s.random(q, draw); err != nil {
			refused[strings.SplitN(err.Error(), "\n", 2)[0]]++
			continue
		}
		for _, engine := range slices.Sorted(maps.Keys(one)) {
			if one[engine] == nil {
				continue
			}
			several, err := s.answers(db, q, engine)
			switch {
			case err == nil:
				err = one[engine].same(several)
			case withoutKey.MatchString(err.Error()): // of a table that lies at several servers
				refused[engine+": "+err.Error()]++
				continue
			}
			if err != nil { // else several servers compute what one does
				t.Errorf("seed %d, %s: %v\n%s", seed, engine, err, q.Report())
				continue
			}
			agree[engine]++
		}
		spread += s.apart
	}
	t.Logf("%v agree; %d tables were spread; %d exchanges that are no gather; refused: %v", agree, spread, exchanges,
		refused)
	if n := agree["chunk"]; *queriesFlag >= 30 && (n < int(*queriesFlag)/3 || agree["sql"] < n*3/4 || spread < n/2 ||
		exchanges < n) {
		t.Errorf("of %d queries %v are compared, with %d tables at several servers and %d exchanges", *queriesFlag, agree,
			spread, exchanges)
	}
}

// answer is a loss with its gradients, row by row.
type answer struct {
	loss  string
	grads [][]string // by parameter
}

// tablesOf are the tables of a query's parameters.
func tablesOf(q *randquery.Query) (tables []string) {
	for _, p := range q.Params {
		if name, _, _ := strings.Cut(p, "."); !slices.Contains(tables, name) {
			tables = append(tables, name)
		}
	}
	return tables
}

// random makes the tables of a query. With draw some of them lie at several servers.
func (s *servers) random(q *randquery.Query, draw *rand.Rand) error {
	c, tables := s.called, tablesOf(q)
	s.apart = 0
	for _, x := range append([]*session{c}, s.others...) {
		x.must("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	}
	for _, text := range q.DB.Script(kernels.Float64) {
		m := tableText.FindStringSubmatch(text)
		if m != nil && draw != nil && !slices.Contains(tables, m[1]) && draw.Intn(4) > 0 {
			if by := keyColumn.FindAllStringSubmatch(m[2], -1); by != nil {
				s.parted(m[1], m[2], by[draw.Intn(len(by))][1], draw.Intn(3) == 0)
				s.apart++
				continue
			}
		}
		c.must("%s", text)
	}
	for _, v := range q.Views {
		if _, err := c.run(fmt.Sprintf("CREATE VIEW %s AS %s", v.Name, v.SQL)); err != nil {
			return err // a partitioned table has no primary key on which columns of a group depend
		}
	}
	return nil
}

// answers asks an engine for the loss and its gradients.
func (s *servers) answers(db *relgrad.Server, q *randquery.Query, engine string) (*answer, error) {
	ctx, out := context.Background(), &answer{}
	db.Mode = engine
	step := int64(1)
	loss, err := db.Backward(ctx, q.Loss, q.Params, &step, 0)
	if err != nil {
		return nil, err
	}
	out.loss = fmt.Sprint(loss)
	for _, name := range tablesOf(q) {
		grad, err := db.Gradient(ctx, q.Loss, name, &step, 0)
		if err != nil {
			return nil, err
		}
		var rows []string
		for r := range grad.Cols[0].Len() {
			var row []string
			for _, col := range grad.Cols {
				row = append(row, col.Value(r).String())
			}
			rows = append(rows, strings.Join(row, "|"))
		}
		slices.Sort(rows) // keys come first
		out.grads = append(out.grads, rows)
	}
	return out, nil
}

// parted makes an empty table at several servers: by hash, or by a list that has all but NULL at one of them.
func (s *servers) parted(table, columns, by string, list bool) {
	s.t.Helper()
	how := "HASH"
	if list {
		how = "LIST"
	}
	s.called.must("CREATE TABLE %s (%s) PARTITION BY %s (%s)", table, columns, how, by)
	for i, o := range s.others {
		o.must("CREATE TABLE part_%s (%s)", table, columns)
		bound := fmt.Sprintf("FOR VALUES WITH (MODULUS %d, REMAINDER %d)", len(s.others), i)
		if list {
			bound = []string{"DEFAULT", "FOR VALUES IN (NULL)", ""}[i]
		}
		if bound != "" {
			s.called.must("CREATE FOREIGN TABLE %[1]s_%[2]d PARTITION OF %[1]s %[3]s SERVER s%[2]d OPTIONS (schema_name "+
				"'public', table_name 'part_%[1]s')", table, i+1, bound)
		}
	}
}

// same compares two answers.
func (a *answer) same(b *answer) error {
	if err := sameValues(a.loss, b.loss); err != nil {
		return fmt.Errorf("the loss: %w", err)
	}
	for p := range a.grads {
		if len(a.grads[p]) != len(b.grads[p]) {
			return fmt.Errorf("gradient %d has %d rows, not %d", p, len(b.grads[p]), len(a.grads[p]))
		}
		for r := range a.grads[p] {
			if err := sameValues(a.grads[p][r], b.grads[p][r]); err != nil {
				return fmt.Errorf("gradient %d, row %d: %w", p, r, err)
			}
		}
	}
	return nil
}

// sameValues compares rows printed as text: numbers to 1e-9, all else exactly.
func sameValues(a, b string) error {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("{}[], |", r) })
	}
	x, y := split(a), split(b)
	if len(x) != len(y) {
		return fmt.Errorf("%q, not %q", b, a)
	}
	for i := range x {
		f, err1 := strconv.ParseFloat(x[i], 64)
		g, err2 := strconv.ParseFloat(y[i], 64)
		switch {
		case x[i] == y[i]:
		case err1 != nil || err2 != nil || !(math.Abs(f-g) <= 1e-9*max(1, math.Abs(f))):
			return fmt.Errorf("%s, not %s, in %q and %q", y[i], x[i], b, a)
		}
	}
	return nil
}
