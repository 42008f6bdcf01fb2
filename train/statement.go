package train

import (
	"fmt"

	"github.com/relgrad/relgrad/internal/sqlerr"
	plan "github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlgen"
)

// Statement is the step of a run as one SQL statement for Postgres. Its slots, as sqlgen counts them, are those of the
// parameters in turn.
type Statement struct {
	*sqlgen.StepSQL
	numbers stepNumbers
}

// StatementParam is a parameter of a Statement: a table, its columns that are trained, and their slots, of which Name
// and Names count.
type StatementParam struct {
	Table *ra.Table
	Cols  []int
	Slots []*Slot
}

// Statement writes a step of the run as SQL: the same update as Run's, of rounding apart. res is the plan of the loss
// and, in the order of params, its gradients. The conditions of options must be expressions over their table that the
// caller has parsed. What has no SQL form is a FeatureNotSupported.
func (c *Config) Statement(res *plan.Result, params []StatementParam, o sqlgen.Options) (*Statement, error) {
	if c.Searches() {
		return nil, noSQL("optimizer", c.Optimizer)
	}
	out := &Statement{numbers: stepNumbers{c: c}}
	opt := sqlgen.StepOptions{Options: o, Clip: c.ClipNorm, Rules: res.Fired, State: "relgrad_train"}
	var all []sqlgen.StepParam
	for i, p := range params {
		q := sqlgen.StepParam{Table: p.Table, Root: i + 1, Cols: res.Cols[i]}
		for j, s := range p.Slots {
			r := out.numbers.rule(s, p.Table.Cols[p.Cols[j]].Type)
			u := sqlgen.Update{Col: p.Cols[j], Buffers: optimizers[c.Optimizer].state, New: r.New, Sparse: s.sparse,
				Where: c.Where(s)}
			for _, name := range s.project {
				project := projections[name].expr
				if project == nil {
					return nil, noSQL("projection", name)
				}
				u.New[len(u.New)-1] = project(u.New[len(u.New)-1])
			}
			q.Updates = append(q.Updates, u)
		}
		all = append(all, q)
	}
	opt.Epoch = fmt.Sprintf("(($1::bigint - 1::bigint) / %d::bigint + 1::bigint)", c.perEpoch())
	for _, n := range out.numbers.list {
		opt.Numbers = append(opt.Numbers, n.describe())
	}
	var err error
	out.StepSQL, err = sqlgen.Step(res.Plan, all, opt)
	return out, err
}

// Values are the arguments of the statement for a step.
func (s *Statement) Values(step int64) []any {
	out := []any{step}
	for _, i := range s.Args {
		out = append(out, s.numbers.list[i].at(s.numbers.c, step))
	}
	return out
}

func noSQL(what, name string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s %q has no form in SQL", what, name).
		WithHint("The chunk engine has it: SET relgrad.engine = 'chunk'.")
}
