package sqlgen

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Update says how one value column of a parameter changes in a step.
type Update struct {
	Col int // of the table
	// Buffers names the optimizer's buffers. Each has the column's type and shape and is zero before the first step.
	Buffers []string
	New     []*kernels.Expr // the buffers after the step, in order, then the value
	Sparse  bool            // only rows that the gradient reaches are updated
	Where   []string        // SQL conditions: only rows where all hold are updated, and no NULLs
}

// StepParam is a parameter: a table, the root of its gradient, and the updates of its value columns.
type StepParam struct {
	Table   *ra.Table
	Root    int   // of the plan
	Cols    []int // the table's column of each of the root's columns
	Updates []Update
}

// StepOptions are what the text of a step needs beside the plan and the parameters. Options.Step is not used: the step
// is the statement's first parameter. An Opaque node that runs at every step must have one text for all steps.
type StepOptions struct {
	Options
	Clip    float64        // bound of the Euclidean norm of the gradient over all trained rows; 0: none
	Numbers []string       // what each StepNumber is, for comments
	Rules   map[string]int // how often each rule changed the plan, for a comment
	State   string         // prefix of the temporary tables' names
}

// StepSQL is a step of training as SQL for Postgres: an optimizer's simultaneous update of all parameters.
//
// Setup makes, in the session's temporary schema, one table for each table of parameters: the keys of the rows that are
// trained and the optimizer's buffers, zero. Statement is prepared once and run for each step with the arguments
// that Args lists. It returns one row (StepColumns). Compact rewrites the temporary tables without the dead rows that
// steps leave, which nothing else removes: run it in each transaction, before its end. Teardown drops them.
//
// The caller must keep others from writing the parameters between two steps (LOCK TABLE … IN SHARE ROW EXCLUSIVE MODE),
// and should switch the just-in-time compiler off (SET LOCAL jit = off), which costs more than it saves here.
type StepSQL struct {
	Setup, Compact, Teardown []string
	Statement                string
	// Args are the statement's arguments after the first, which is the step (bigint): indices into StepOptions.Numbers
	// (double precision).
	Args []int

	slots []*stepSlot
}

// StepColumns are the columns of the statement's one row. loss is the loss before the step, NULL as in a SELECT. The
// other columns are NULL where loss and gradients are finite. If a gradient is not finite, slot is the number (from 0)
// of the first such update, key holds the texts of its smallest such key, and number is the NaN or infinity there. If
// the loss itself is not finite, they describe the values before the step instead. The updates are made in any case:
// the caller rolls back.
var StepColumns = []string{"step bigint", "loss double precision", "slot integer", "key text[]",
	"number double precision"}

// Step prints the step that updates params. Root 0 of the plan is the loss.
func Step(plan *ra.Plan, params []StepParam, o StepOptions) (*StepSQL, error) {
	o.Options.Step = "$1::bigint"
	roots := stepRoots(plan, params)
	p := &stepPrinter{printer: newPrinter(Postgres{}, o.Options, roots...), roots: roots, o: o, out: &StepSQL{},
		param: map[int]string{}}
	for _, q := range params {
		if err := p.add(plan, q); err != nil {
			return nil, err
		}
	}
	for _, t := range p.targets {
		t.flags()
	}
	ctes, err := p.fixedAndStep()
	if err != nil {
		return nil, err
	}
	if o.Clip > 0 {
		more, err := p.clip()
		if err != nil {
			return nil, err
		}
		ctes = append(ctes, more...)
	}
	for _, t := range p.targets {
		more, err := p.update(t)
		if err != nil {
			return nil, err
		}
		ctes = append(ctes, more...)
		p.tables(t)
	}
	last := p.result(plan.Roots[0])
	p.out.Statement = p.header() + "WITH\n" + strings.Join(ctes, ",\n") + "\n" + last + "\n"
	return p.out, nil
}

// stepRoots are the plan's roots, reduced to the columns that a step reads: of a gradient, its key and the trained
// columns.
func stepRoots(plan *ra.Plan, params []StepParam) []ra.Root {
	out := []ra.Root{plan.Roots[0]}
	for _, q := range params {
		r := plan.Roots[q.Root]
		narrow := ra.Root{Name: r.Name, Node: r.Node}
		for i, c := range q.Cols {
			if slices.Contains(q.Table.Key, c) || slices.ContainsFunc(q.Updates, func(u Update) bool { return u.Col == c }) {
				narrow.Cols = append(narrow.Cols, r.Cols[i])
			}
		}
		out = append(out, narrow)
	}
	return out
}

type stepPrinter struct {
	*printer
	roots   []ra.Root
	o       StepOptions
	out     *StepSQL
	targets []*target
	param   map[int]string // the statement's parameter of a number
}

// target is a table that a step updates.
type target struct {
	*ra.Table
	n     int    // from 1
	state string // the temporary table
	grads []*stepGrad
	slots []*stepSlot
}

// stepGrad is a gradient that a target reads.
type stepGrad struct {
	root  ra.Root
	alias string
	on    []string // conditions that join it with row p of the target
	key   []string // its key
}

// stepSlot is the update of one value column.
type stepSlot struct {
	Update
	n       int // from 0
	t       *target
	g       *stepGrad
	grad    *ra.Column
	buffers []string // columns of the state
	flag    string   // column of the state that marks trained rows; "": all rows of the state are trained

	gradient string   // the gradient, in the rows of rows
	chosen   []string // conditions under which such a row changes; nil: always
}

func (s *stepSlot) col() *ra.TableColumn { return &s.t.Cols[s.Col] }

// conditional reports whether some rows of the column may not be trained.
func (s *stepSlot) conditional() bool { return len(s.Where) > 0 || s.col().Type.Nullable }

// add makes a target of a parameter.
func (p *stepPrinter) add(plan *ra.Plan, q StepParam) error {
	if slices.Contains(q.Table.Key, ra.RowID) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "parameter %s has no primary key", q.Table.Name)
	}
	if len(q.Updates) == 0 {
		return sqlerr.New(sqlerr.Internal, "internal error: no column of parameter %s is trained", q.Table.Name)
	}
	t := p.target(q.Table)
	r := plan.Roots[q.Root]
	g := &stepGrad{root: r, alias: fmt.Sprintf("g%d", len(t.grads)+1)}
	for _, k := range t.Key {
		i := slices.Index(q.Cols, k)
		if i < 0 {
			return sqlerr.New(sqlerr.Internal, "internal error: the gradient of %s lacks its key %s", t.Name, t.Cols[k].Name)
		}
		key, own := g.alias+"."+p.ref(r.Cols[i]), p.d.Column("p.", &t.Cols[k])
		if t.Cols[k].Type.Kind == kernels.Int { // integers of any width compare, also by an index
			own = "p." + p.d.Ident(t.Cols[k].Name)
		}
		g.key, g.on = append(g.key, key), append(g.on, key+" = "+own)
	}
	t.grads = append(t.grads, g)
	for _, u := range q.Updates {
		i := slices.Index(q.Cols, u.Col)
		if i < 0 || len(u.New) != len(u.Buffers)+1 {
			return sqlerr.New(sqlerr.Internal,
				"internal error: the update of %s.%s has no gradient, or %d expressions for %d buffers", t.Name, t.Cols[u.Col].Name,
				len(u.New), len(u.Buffers))
		}
		s := &stepSlot{Update: u, n: len(p.out.slots), t: t, g: g, grad: r.Node.Col(r.Cols[i])}
		for _, b := range u.Buffers {
			s.buffers = append(s.buffers, t.free(s.col().Name+"_"+b))
		}
		t.slots, p.out.slots = append(t.slots, s), append(p.out.slots, s)
	}
	return nil
}

func (p *stepPrinter) target(table *ra.Table) *target {
	for _, t := range p.targets {
		if t.Schema == table.Schema && t.Name == table.Name {
			return t
		}
	}
	n := len(p.targets) + 1
	t := &target{Table: table, n: n, state: fmt.Sprintf("%s_state%d", p.o.State, n)}
	p.targets = append(p.targets, t)
	return t
}

// longest is the bytes of a name on a server, which cuts off the rest.
const longest = 63

// free makes a name that is no column of the table or its state. A long name is cut at its beginning, since names
// mostly differ at their ends.
func (t *target) free(name string) string {
	fit := func(name string) string {
		cut := max(0, len(name)-longest)
		for cut > 0 && !utf8.RuneStart(name[cut]) {
			cut++
		}
		return name[cut:]
	}
	taken := func(name string) bool {
		return t.Column(name) >= 0 || slices.ContainsFunc(t.slots, func(s *stepSlot) bool {
			return s.flag == name || s.gradient == name || slices.Contains(s.buffers, name)
		})
	}
	for name = fit(name); taken(name); {
		name = fit(name + "_")
	}
	return name
}

// header explains in a comment the statement's parameters and the rules that made the plan.
func (p *stepPrinter) header() string {
	s := remark("One step of training. $1 is the step.")
	for i, n := range p.out.Args {
		s += remark(fmt.Sprintf("$%d is %s.", i+2, p.o.Numbers[n]))
	}
	var names []string
	for name, n := range p.o.Rules {
		if n > 0 {
			names = append(names, fmt.Sprintf("%s (%d)", name, n))
		}
	}
	if slices.Sort(names); names != nil {
		s += remark("Rules: " + strings.Join(names, ", "))
	}
	return s
}

// number prints a number of the step as a parameter of the statement.
func (p *stepPrinter) number(i int) string {
	if p.param[i] == "" {
		p.out.Args = append(p.out.Args, i)
		p.param[i] = fmt.Sprintf("$%d::double precision", len(p.out.Args)+1)
	}
	return p.param[i]
}

// result is the outermost SELECT: the loss and the first number that is not finite.
func (p *stepPrinter) result(loss ra.Root) string {
	id := loss.Cols[0]
	x := "l." + p.ref(id)
	bad := x + notFinite
	var parts []string
	for _, s := range p.out.slots {
		t := s.t
		g := s.g.alias + "." + p.ref(s.grad.ID)
		parts = append(parts,
			p.first(s, s.grad.Type, g, p.names[s.g.root.Node]+" AS "+s.g.alias, "("+bad+") IS NOT TRUE", s.g.key))
		var key []string
		for _, k := range t.Key {
			key = append(key, p.d.Column("p.", &t.Cols[k]))
		}
		own := s.col().Type
		parts = append(parts, p.first(s, own, p.d.Column("p.", s.col()), p.d.Table(t.Table)+" AS p", bad, key))
	}
	s := "SELECT $1::bigint AS step, " + p.d.Output(kernels.Type{Kind: kernels.Float64}, x) +
		" AS loss, b.slot, b.key, b.number\nFROM " + p.names[loss.Node] + " AS l\n"
	return s + "LEFT JOIN LATERAL (\n" + indent(strings.Join(parts, "\nUNION ALL\n")+"\nORDER BY slot\nLIMIT 1") +
		"\n) AS b ON TRUE" + whereLine(p.o.Holds)
}

const notFinite = " IN ('NaN', 'Infinity', '-Infinity')"

// first prints the query of the row with the smallest key in which x is not finite.
func (p *stepPrinter) first(s *stepSlot, t kernels.Type, x, from, where string, key []string) string {
	cond, number := x+notFinite, x+"::double precision"
	if t.IsChunk() {
		cond = "relgrad.sum_elements(relgrad.chunk_mul(" + x + ", 0.0)) <> 0"
		number = "(SELECT u.x FROM unnest(" + x + ") WITH ORDINALITY AS u(x, i) WHERE u.x" + notFinite +
			" ORDER BY u.i LIMIT 1)::double precision"
	}
	texts := lists.Map(key, func(k string) string { return k + "::pg_catalog.text" })
	q := fmt.Sprintf("SELECT %d AS slot, ARRAY[%s]::pg_catalog.text[] AS key, %s AS number\nFROM %s\nWHERE %s AND %s", s.n,
		strings.Join(texts, ", "), number, from, where, cond)
	if len(key) > 0 {
		q += "\nORDER BY " + strings.Join(key, ", ")
	}
	return "(" + q + "\nLIMIT 1)"
}
