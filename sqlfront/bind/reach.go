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
	Tables []Reached // relations; those without a schema are any of that name
	Calls  []Reached // functions called by name, Via "" where the query itself calls them
	Unseen string    // why not all of it can be found; "" where it can
	By     string    // what Unseen speaks of
}

// Reached is a relation or a function; Via says in words behind what.
type Reached struct{ Schema, Name, Via string }

// String tells one reach from another.
func (r *Reach) String() string { return fmt.Sprint(*r) }

// inTheOpen is the hint of what reads a parameter unseen.
const inTheOpen = "Write what it computes in the loss itself, or as a view of the parameter, and the gradient goes " +
	"through it."

// refuseReach refuses a query that the database would run whole where it reads a parameter behind what its text names,
// or may do so: its gradient would lack that. perStep reports that it asks for the step behind a function.
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
		case c.Name == "current_step" || c.Name == "current_seed":
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

// paramOf finds the parameter that a relation is.
func paramOf(b *binder, schema, name string) *ParamRef {
	for i, p := range b.opt.Params {
		if p.Table == name && (schema == "" || p.Schema == "" || p.Schema == schema) {
			return &b.opt.Params[i]
		}
	}
	return nil
}

// refuseKin refuses a loss that reads rows of a parameter's table under another name: a part of it, a table that it is
// a part of, or one whose rows a policy chooses by it.
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
