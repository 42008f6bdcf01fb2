package bind

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/print"
)

// Reach is what a query reads and calls beyond its own text, as far as the database can find it.
type Reach struct {
	Tables []Reached // relations; one without a schema stands for any of its name
	Calls  []Reached // functions called by name; Via is "" for calls of the query itself
	Unseen string    // why some of it cannot be found; "": all is found
	By     string    // what Unseen is about
}

// Reached is a relation or function. Via says in words through what it is reached.
type Reached struct{ Schema, Name, Via string }

// String is different for different reaches.
func (r *Reach) String() string { return fmt.Sprint(*r) }

// inTheOpen is the hint where a parameter is read out of sight.
const inTheOpen = "Write what it computes in the loss itself, or as a view of the parameter, and the gradient goes " +
	"through it."

// refuseReach refuses a query that the database would run if it reads a parameter through something that its text
// names, or may do so: the gradient would lack that part. perStep: a function in it asks for the step.
func refuseReach(b *binder, f *place, sel *ast.Select, at ast.Tree) (perStep bool, err error) {
	if len(b.opt.Params) == 0 {
		return false, nil
	}
	r, err := b.cat.Reach(b.ctx, print.Print(sel))
	if err != nil || r == nil {
		return false, f.at(err, at)
	}
	for _, t := range r.Tables {
		if p := paramOf(b, t.Schema, t.Name); p != nil {
			return false, f.fail(at, sqlerr.FeatureNotSupported,
				"a sub-query reads the parameter %s behind %s", p.Table, orName(t.Via, "a function")).
				WithDetail("The derivative by what it reads there would be missing.").WithHint(inTheOpen)
		}
	}
	for _, c := range r.Calls {
		switch {
		case c.Via == "" || c.Schema != "" && c.Schema != "pg_catalog" && c.Schema != "relgrad":
		case slices.Contains(derivatives, c.Name):
			return false, f.fail(at, sqlerr.FeatureNotSupported, "a sub-query calls %s behind %s", c.Name, c.Via).
				WithHint(inTheOpen)
		case slices.Contains(volatile, c.Name):
			return false, f.fail(at, sqlerr.FeatureNotSupported,
				"%s, which a sub-query calls, is volatile by %s(): a loss must be a function of its tables, seed and step", c.Via,
				c.Name).
				WithHint("Store what is drawn in a table first.")
		case slices.Contains(ofTheStep, c.Name):
			perStep = true
		}
	}
	if r.Unseen != "" {
		return false, f.fail(at, sqlerr.FeatureNotSupported,
			"a sub-query calls %s, and what it reads cannot be seen", orName(r.By, "a function")).
			WithDetail("It could be a parameter, whose derivative would be missing: %s.", r.Unseen).
			WithHint("Store what it gives in a table. A function that reads no table may be declared IMMUTABLE.")
	}
	return perStep, nil
}

// derivatives are functions of relgrad that read the tables of a loss.
var derivatives = []string{"gradient", "backward", "check_gradient", "dropout"}

// paramOf returns the parameter whose table a relation is; nil: none.
func paramOf(b *binder, schema, name string) *ParamRef {
	for i, p := range b.opt.Params {
		if p.Table == name && (schema == "" || p.Schema == "" || p.Schema == schema) {
			return &b.opt.Params[i]
		}
	}
	return nil
}

// refuseKin refuses a loss that reads rows of a parameter's table under another name: a partition of it, a table of
// which it is a partition, or one with a policy that reads it.
func refuseKin(b *binder) error {
	sel := &ast.Select{Node: ast.Node{At: -1}, End: -1,
		Targets: []ast.Target{{Node: ast.Node{At: -1}, X: &ast.Literal{Node: ast.Node{At: -1}, Kind: ast.LitNull}}}}
	for _, n := range b.scans {
		if paramOf(b, n.Table.Schema, n.Table.Name) == nil {
			sel.From = append(sel.From, &ast.TableRef{Node: ast.Node{At: -1}, Schema: n.Table.Schema, Name: n.Table.Name})
		}
	}
	if len(b.opt.Params) == 0 || len(sel.From) == 0 {
		return nil
	}
	slices.SortFunc(sel.From, func(x, y ast.FromItem) int {
		s, t := x.(*ast.TableRef), y.(*ast.TableRef)
		return cmp.Or(cmp.Compare(s.Schema, t.Schema), cmp.Compare(s.Name, t.Name))
	})
	r, err := b.cat.Reach(b.ctx, print.Print(sel))
	if err != nil || r == nil {
		return err
	}
	for _, t := range r.Tables {
		if p := paramOf(b, t.Schema, t.Name); p != nil {
			return sqlerr.New(sqlerr.FeatureNotSupported, "the loss reads rows of the parameter %s as those of %s", p.Table,
				t.Via).
				WithDetail("The derivative by what it reads there would be missing.").WithHint("Read %s by its own name.", p.Table)
		}
	}
	return nil
}
