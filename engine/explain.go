package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/optimizer/chunking"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/optimizer/rules"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/sqlgen"
)

// Stages are the stages that Explain shows, in the order of a query's life. "all" shows all.
var Stages = []string{"ra", "grad", "opt", "physical", "sql"}

// Explain shows a stage of a loss and its gradients: the query as bound (ra), loss and gradients before
// optimization (grad) and after it with the rules that fired (opt), the executor's program with what is
// computed once per run (physical), or SQL text that runs by itself on the database (sql),
// with what chose the engine and, of a server, its estimate of the costs. Stage chunks, or chunks:16, shows how the
// sums over full grids would be cut for so many kernel calls side by side; stage sites, or sites:16, how the query
// would run at so many sites.
func (db *Engine) Explain(ctx context.Context, loss string, params []string, stage string) (string, error) {
	stages := []string{stage}
	if stage == "all" {
		stages = Stages
	}
	c, err := db.Plan(ctx, Request{Loss: loss, Params: params, Draw: true, shown: true})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range stages {
		if len(stages) > 1 {
			fmt.Fprintf(&b, "-- stage %s\n", s)
		}
		switch s {
		case "ra":
			b.WriteString(c.Res.RA.Format())
		case "grad":
			b.WriteString(c.Res.Grad.Format())
		case "opt":
			b.WriteString(c.Res.Plan.Format() + "\n" + fired(c.Res.Fired))
		case "physical":
			if err := db.Build(ctx, c); err != nil {
				return "", err
			}
			if c.stays != "" {
				fmt.Fprintf(&b, "device: the processors, since %s\n", c.stays)
			}
			b.WriteString(c.Prog.Explain())
			c.Prog.Close()
		case "sql":
			text, err := db.gradientSQL(ctx, c)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		default:
			text, err := db.planned(ctx, c, s)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		}
	}
	return b.String(), nil
}

// noStage is the error of a stage that does not exist.
func noStage(s string) error {
	e := sqlerr.New(sqlerr.InvalidParameter, "stage %q does not exist", s).
		WithDetail("Stages: %s, %s, %s, all.", strings.Join(Stages, ", "), chunksStage, sitesStage)
	if s == "analyze" {
		return e.WithHint("relgrad explain --analyze shows how long the instructions of stage physical take.")
	}
	if n := sqlerr.Nearest(s, append([]string{"all", chunksStage, sitesStage}, Stages...)); n != "" {
		return e.WithHint("Perhaps you meant %q.", n)
	}
	return e
}

// Stages about machines that need not be there: "all" does not show them.
const (
	chunksStage = "chunks"
	sitesStage  = "sites"
)

// planned is a stage about such machines.
func (db *Engine) planned(ctx context.Context, c *Compiled, stage string) (string, error) {
	if calls, ok, err := numbered(stage, chunksStage, 8, "kernel calls"); ok {
		if err != nil {
			return "", About(err, "stage", 0)
		}
		return db.chunks(ctx, c, calls)
	}
	plan, err := db.atSites(ctx, c, stage)
	if err != nil {
		return "", err
	}
	return plan.String(), nil
}

// atSites is the plan that stage sites shows.
func (db *Engine) atSites(ctx context.Context, c *Compiled, stage string) (*physical.Explained, error) {
	if s, err := db.spreadOf(c); err != nil {
		return nil, err
	} else if s != nil && stage == sitesStage {
		costs, err := db.serverCosts(c, s)
		if err != nil {
			return nil, err
		}
		plan, err := physical.Explain(ctx, c.Res.Plan, s.sites(c.Res.Plan), costs)
		if err != nil {
			return nil, About(err, "stage", 0)
		}
		plan.Head = s.String() + plan.Head
		return plan, nil
	}
	usual := int64(4)
	if n := db.sites(); n > 1 || db.Sites == 1 {
		usual = int64(n)
	}
	sites, ok, err := numbered(stage, sitesStage, usual, "sites")
	if !ok {
		err = noStage(stage)
	}
	if err != nil {
		return nil, About(err, "stage", 0)
	}
	plan, err := physical.Explain(ctx, c.Res.Plan, c.sites(int(min(sites, math.MaxInt32)), db.reader(ctx)), db.costs())
	return plan, About(err, "stage", 0)
}

// numbered reads a stage by name and number, such as "chunks:16", or the name alone, which stands for the usual number;
// ok is false for another stage. The number is one of what.
func numbered(stage, name string, usual int64, what string) (number int64, ok bool, err error) {
	rest, ok := strings.CutPrefix(stage, name)
	if !ok || rest == "" {
		return usual, ok, nil
	}
	if rest, ok = strings.CutPrefix(rest, ":"); !ok {
		return 0, false, nil
	}
	if number, err = strconv.ParseInt(rest, 10, 64); err != nil {
		return 0, true, sqlerr.New(sqlerr.InvalidParameter, "stage %q needs a number of %s behind the colon", stage, what)
	}
	return number, true, nil
}

// chunks decomposes the sums of a loss and its gradients for so many kernel calls of each.
func (db *Engine) chunks(ctx context.Context, c *Compiled, calls int64) (string, error) {
	found, err := chunking.Find(ctx, c.Res.Plan, db.domain)
	if err != nil {
		return "", err
	}
	text, err := found.Explain(ctx, calls)
	if err != nil {
		return "", About(err, "stage", 0)
	}
	return text, nil
}

// domain is that of a table's column.
func (db *Engine) domain(ctx context.Context, t *ra.Table, col int) (chunking.Domain, error) {
	cols, err := db.Catalogue.Read(ctx, t, []int{col})
	if err != nil {
		return chunking.Domain{}, err
	}
	return chunking.DomainOf(cols[0]), nil
}

// analyzeSteps is how many steps are timed.
const analyzeSteps = 5

// Analyze is the physical stage with measured times: it computes loss and gradients for the first steps of a run and
// trains nothing. batch and size are those of train; "" and 0: the whole loss. Since it measures the machine too, it is
// no stage of explain_gradient, which a busy server may run.
func (db *Engine) Analyze(ctx context.Context, loss string, params []string, batch string, size int64) (string, error) {
	p, text, err := db.analyzed(ctx, loss, params, batch, size)
	if text != "" || err != nil {
		return text, err
	}
	defer p.Prog.Close()
	return p.Prog.Explain(), nil
}

// analyzed times the program of a loss. Where other servers' databases compute it there is none, but a text.
func (db *Engine) analyzed(ctx context.Context, loss string, params []string, batch string, size int64) (*Compiled,
	string, error) {
	step := int64(1)
	rows, env, err := db.checkedBatch(ctx, params, CheckOptions{Step: &step, Batch: batch, BatchSize: size})
	if err != nil {
		return nil, "", err
	}
	p, err := db.Plan(ctx, Request{Loss: loss, Params: params, Draw: true, Batch: rows})
	if err != nil {
		return nil, "", err
	}
	if sql, _ := db.Pushes(p); sql {
		if text, err := db.analyzeQueries(ctx, p, step); text != "" || err != nil {
			return nil, text, About(err, "loss", 0)
		}
	}
	if err := db.Build(ctx, p); err != nil {
		return nil, "", err
	}
	if err := p.Prog.Analyze(ctx, env, analyzeSteps); err != nil {
		p.Prog.Close()
		return nil, "", About(err, "loss", 0)
	}
	return p, "", nil
}

// fired lists the rules that fired and those that are switched off.
func fired(count map[string]int) string {
	names := slices.Sorted(maps.Keys(count))
	var b strings.Builder
	b.WriteString("rules fired:\n")
	for _, n := range names {
		doc := ""
		for _, r := range rules.All() {
			if r.Name == n {
				doc, _, _ = strings.Cut(r.Doc, ". ")
			}
		}
		fmt.Fprintf(&b, "  %-26s %4d  %s\n", n, count[n], strings.TrimSuffix(doc, "."))
	}
	return b.String()
}

// rootName says what root i of a plan is.
func rootName(i int, r ra.Root) string {
	if i == 0 {
		return "the loss"
	}
	return "the gradient with respect to " + r.Name
}

// shownQueries prints sub-queries for readers: those whose rows the engine itself computes as they were written.
type shownQueries struct {
	db      *Engine
	ctx     context.Context
	written []string
}

func (s *shownQueries) print(n *ra.Node) (string, error) {
	text, err := s.db.Catalogue.print(s.ctx, n)
	if errors.Is(err, catalog.ErrEngineRows) {
		text, err = print.Print(n.Query.(*bind.OpaqueQuery).Select), nil
		s.written = append(s.written, text)
	}
	return text, err
}

// note is a comment about them.
func (s *shownQueries) note() string {
	if len(s.written) == 0 {
		return ""
	}
	return "-- This text does not run by itself: relgrad reads the rows of " + strings.Join(s.written, ", ") + " itself.\n"
}

// gradientSQL prints each root of the plan as a statement. Comments tell what computes the gradient and why, which
// rules have made the plan, what each operator is, and the cost that a server estimates.
func (db *Engine) gradientSQL(ctx context.Context, c *Compiled) (string, error) {
	var b strings.Builder
	engine := ModeChunk
	sql, why := db.Pushes(c)
	if sql {
		engine = ModeSQL
	}
	fmt.Fprintf(&b, "-- engine %s: %s\n", engine, why)
	made := lists.Map(slices.Sorted(maps.Keys(c.Res.Fired)),
		func(name string) string { return fmt.Sprintf("%s %d", name, c.Res.Fired[name]) })
	if len(made) > 0 {
		fmt.Fprintf(&b, "-- rules, with how often each fired: %s\n", strings.Join(made, ", "))
	}
	if sql {
		if text, err := db.explainQueries(ctx, c); text != "" || err != nil {
			return b.String() + text, err
		}
	}
	for i, r := range c.Res.Plan.Roots {
		what := rootName(i, r)
		shown := &shownQueries{db: db, ctx: ctx}
		text, err := rootSQL(ctx, c.Res.Plan, i, db.Dialect(), sqlgen.Options{Opaque: shown.print})
		if len(ra.Loops(r.Node)) > 0 && !sql {
			fmt.Fprintf(&b, "-- %s: no text, for a recursive query that reads a parameter has none\n", what)
			continue
		}
		if err != nil {
			return "", err
		}
		b.WriteString(shown.note())
		fmt.Fprintf(&b, "-- %s\n", what)
		if p, ok := db.Database.(catalog.Pusher); ok {
			cost, err := p.Estimate(ctx, text)
			switch {
			case ctx.Err() != nil:
				return "", err
			case err != nil: // show the text without the estimate
				cost = "none: " + strings.Join(strings.Fields(err.Error()), " ")
			}
			fmt.Fprintf(&b, "-- Postgres's estimate: %s\n", cost)
		}
		fmt.Fprintf(&b, "%s;\n", strings.TrimRight(text, "\n"))
	}
	return b.String(), nil
}

// Picture is a stage of a loss and its gradients as a graph, for drawing.
type Picture struct {
	Head  string        `json:"head"`  // what is said of the whole
	Nodes []PictureNode `json:"nodes"` // inputs first
	Roots []PictureRoot `json:"roots"` // loss and gradients; none of the physical stage
	// Tables are those with respect to which the loss is differentiated, in the order of the parameters.
	Tables []PictureTable `json:"tables"`
}

// PictureNode is an operator, or an instruction of the executor's program.
type PictureNode struct {
	Op      string  `json:"op"`
	Text    string  `json:"text"`
	Inputs  []int   `json:"inputs"`
	Rows    int     `json:"rows,omitempty"`    // of an instruction, like what follows
	Flops   float64 `json:"flops,omitempty"`   // estimated
	Bytes   float64 `json:"bytes,omitempty"`   // estimated: read and written
	Seconds float64 `json:"seconds,omitempty"` // measured; 0: not measured
	Once    bool    `json:"once,omitempty"`    // it runs once in a run
}

// PictureRoot says what a node of a Picture is.
type PictureRoot struct {
	Name string `json:"name"`
	Node int    `json:"node"`
}

// PictureTable is a parameter's table and the columns that are differentiated.
type PictureTable struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// Picture is what Explain shows of stage ra, grad, opt, physical, sites or sites:16, as a graph; or, of stage analyze,
// what Analyze does.
func (db *Engine) Picture(ctx context.Context, loss string, params []string, stage, batch string,
	size int64) (*Picture, error) {
	if stage == "analyze" {
		c, text, err := db.analyzed(ctx, loss, params, batch, size)
		if err != nil || c == nil {
			return &Picture{Head: text}, err
		}
		defer c.Prog.Close()
		return pictureOf(c), nil
	}
	c, err := db.Plan(ctx, Request{Loss: loss, Params: params, Draw: true, shown: true})
	if err != nil {
		return nil, err
	}
	switch stage {
	case "ra":
		return graphOf(c, c.Res.RA), nil
	case "grad":
		return graphOf(c, c.Res.Grad), nil
	case "opt":
		out := graphOf(c, c.Res.Plan)
		out.Head = fired(c.Res.Fired)
		return out, nil
	case "physical":
		if err := db.Build(ctx, c); err != nil {
			return nil, err
		}
		defer c.Prog.Close()
		return pictureOf(c), nil
	}
	if stage != sitesStage && !strings.HasPrefix(stage, sitesStage+":") {
		return nil, About(noStage(stage), "stage", 0)
	}
	plan, err := db.atSites(ctx, c, stage)
	if err != nil {
		return nil, err
	}
	out, at := pictured(c), map[*physical.Node]int{}
	out.Head = plan.Head
	plan.Plan.Describe(plan.Note, func(n *physical.Node, what string) {
		at[n] = out.add(n.String(), what, lists.Map(n.Inputs, func(in *physical.Node) int { return at[in] }))
	})
	for _, r := range plan.Plan.Roots {
		out.Roots = append(out.Roots, PictureRoot{r.Name, at[r.Node]})
	}
	return out, nil
}

func (p *Picture) add(op, text string, inputs []int) int {
	p.Nodes = append(p.Nodes, PictureNode{Op: op, Text: text, Inputs: inputs})
	return len(p.Nodes) - 1
}

// pictured is a picture without nodes.
func pictured(c *Compiled) *Picture {
	out := &Picture{Nodes: []PictureNode{}, Roots: []PictureRoot{}}
	for i, t := range c.Tables {
		out.Tables = append(out.Tables, PictureTable{t.Schema, t.Name,
			lists.Map(c.Cols[i], func(col int) string { return t.Cols[col].Name })})
	}
	return out
}

// graphOf is a picture of a plan.
func graphOf(c *Compiled, p *ra.Plan) *Picture {
	out, at := pictured(c), map[*ra.Node]int{}
	p.Describe(func(n *ra.Node, what string) {
		at[n] = out.add(n.Op.String(), what, lists.Map(n.Inputs, func(in *ra.Node) int { return at[in] }))
	})
	for _, r := range p.Roots {
		out.Roots = append(out.Roots, PictureRoot{r.Name, at[r.Node]})
	}
	return out
}

// pictureOf is one of a program's instructions.
func pictureOf(c *Compiled) *Picture {
	out := pictured(c)
	head, steps := executor.Steps(c.Prog)
	out.Head = head
	for _, s := range steps {
		n := &out.Nodes[out.add(s.What, s.Text, s.Reads)]
		n.Rows, n.Flops, n.Bytes, n.Seconds, n.Once = s.Rows, s.Flops, s.Bytes, s.Took.Seconds(), s.Once
	}
	return out
}
