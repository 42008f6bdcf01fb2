package einsum_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/einsum"
	"github.com/relgrad/relgrad/ra/interp"
)

// TestGolden runs the files of testdata. Besides those of gradtest.Scripts there is one command:
//
//	find wrt=(w,h)    the labelled forms in the loss with its gradients, optimized; wrt left out: in the loss alone
//
// What is found is computed by its definition and compared with the oracle.
func TestGolden(t *testing.T) {
	gradtest.Scripts(t, func(t *testing.T, db *memdb.DB, d *datadriven.TestData) string {
		var params []string
		for _, a := range d.CmdArgs {
			params = append(params, a.Vals...)
		}
		res, err := gradtest.Optimize(context.Background(), db, d.Input, params, optimizer.Options{Verify: true})
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		var b strings.Builder
		for _, e := range einsum.Find(res.Plan) {
			b.WriteString(e.String())
			if _, err := compare(db, e); err != nil {
				d.Fatalf(t, "%v%v", e, err)
			}
		}
		return b.String()
	})
}

// TestByDefinition computes the labelled forms of many losses and gradients by their definition, beside the oracle.
func TestByDefinition(t *testing.T) {
	db, found, compared := gradtest.Graph(), 0, 0
	for _, l := range gradtest.Losses {
		res, err := gradtest.Optimize(context.Background(), db, l.SQL, l.Params, optimizer.Options{})
		if err != nil {
			t.Fatalf("%s: %v", l.SQL, err)
		}
		for _, e := range einsum.Find(res.Plan) {
			found++
			done, err := compare(db, e)
			if err != nil {
				t.Errorf("%s:\n%v%v", l.SQL, e, err)
			}
			if done {
				compared++
			}
		}
	}
	if t.Logf("%d of %d compared", compared, found); compared < found*9/10 || found < 100 {
		t.Errorf("only %d of %d labelled forms were compared", compared, found)
	}
}

// definition computes an einsum as it is defined: for each combination of rows that agree in all labels it multiplies
// the elements that the labels of chunks pair, and adds the product to the result that the labels tell.
type definition struct {
	*einsum.Einsum
	env  *kernels.Env
	rows [][]interp.Row // of the reads that are whole
	at   []interp.Row   // the rows at hand
	keys map[int]string // of the labels so far
	sum  map[string][]float64
	took int
}

const most = 200_000 // products of one sum

func compare(db *memdb.DB, e *einsum.Einsum) (done bool, err error) {
	ctx, env := context.Background(), &kernels.Env{Seed: 1, Step: 2}
	d := &definition{Einsum: e, env: env, keys: map[int]string{}, sum: map[string][]float64{}}
	in := interp.New(db, env)
	want, err := in.Eval(ctx, e.Node)
	if err != nil || e.Agg == ra.Min || e.Agg == ra.Max {
		return false, err
	}
	d.rows, d.at = make([][]interp.Row, len(e.Rows.Reads)), make([]interp.Row, len(e.Rows.Reads))
	for i, r := range e.Rows.Reads {
		if e.Rows.Whole(i) {
			if d.rows[i], err = in.Eval(ctx, r.Node); err != nil {
				return false, err
			}
		}
	}
	if err := d.join(0); err != nil || d.took >= most {
		return false, err
	}
	for _, row := range want {
		v := row[e.Col]
		got := d.sum[d.key(row)]
		if v.Null || got == nil {
			continue // the sum of nothing, or NULL of one row
		}
		for i, x := range v.Floats() {
			if math.Abs(got[i]-x) > 1e-9*(1+math.Abs(x)) {
				return true, fmt.Errorf("element %d is %v by definition, and %v", i, got[i], x)
			}
		}
	}
	return true, nil
}

// key is that of a row of the result: of an Aggregate its groups, of a Join its identity.
func (d *definition) key(row interp.Row) string {
	var s []string
	n := d.Node
	if n.Op == ra.Aggregate {
		for _, v := range row[:len(n.Group)] {
			s = append(s, v.String())
		}
		return strings.Join(s, ",")
	}
	for _, id := range n.Key {
		s = append(s, row[n.Index(id)].String())
	}
	return strings.Join(s, ",")
}

// join takes each row of read i, and of those after it, that agrees with the labels so far.
func (d *definition) join(i int) error {
	if d.took > most {
		return nil
	}
	for ; i < len(d.Rows.Reads) && !d.Rows.Whole(i); i++ {
	}
	if i == len(d.Rows.Reads) {
		return d.add()
	}
rows:
	for _, row := range d.rows[i] {
		d.at[i] = row
		before := map[int]string{}
		for l, k := range d.keys {
			before[l] = k
		}
		for c, col := range d.Rows.Reads[i].Node.Cols {
			if l, ok := d.Rows.Label(i, col.ID); ok {
				k := row[c].String()
				if known, met := d.keys[l]; met && known != k {
					d.keys = before
					continue rows
				}
				d.keys[l] = k
			}
		}
		if err := d.join(i + 1); err != nil {
			return err
		}
		d.keys = before
	}
	return nil
}

// add adds the product of the rows at hand, if the conditions hold.
func (d *definition) add() error {
	d.took++
	computed := map[int]string{}
	for i, r := range d.Rows.Reads {
		for _, c := range d.Rows.Computed(i) {
			v, err := d.eval(c.Value)
			known, met := d.keys[c.Label]
			if !met {
				known, met = computed[c.Label]
			}
			if err != nil || met && known != v.String() {
				return err
			}
			computed[c.Label] = v.String()
		}
		for _, p := range r.Node.Pred {
			if r.Node.Out == nil || r.Inputs == nil || d.Rows.Part(i) {
				continue
			}
			if v, err := d.eval(einsum.Term{X: p, Read: i}); err != nil || !v.True() {
				return err
			}
		}
	}
	var specs []string
	var args []*kernels.Expr
	letters := func(labels []int) (s string) {
		for _, l := range labels {
			s += string(rune('a' + l - slices.Min(append([]int{len(d.Lens)}, d.inner()...))))
		}
		return s
	}
	sign := 1.0
	if d.Neg {
		sign = -1
	}
	number := func(v einsum.Term, divide bool) (null bool, err error) {
		x, err := d.eval(v)
		if divide {
			sign /= x.Float()
		} else {
			sign *= x.Float()
		}
		return x.Null, err
	}
	for _, f := range d.Scalars {
		if null, err := number(f.V, f.Divide); err != nil || null {
			return err
		}
	}
	for _, o := range d.Operands {
		if o.Divide {
			if null, err := number(o.V, true); err != nil || null {
				return err
			}
			continue
		}
		x, err := d.eval(o.V)
		if err != nil || x.Null {
			return err
		}
		specs, args = append(specs, letters(o.Inner)), append(args, kernels.Const(x))
	}
	return d.put(sign, strings.Join(specs, ",")+"->"+letters(d.Inner), args)
}

// inner are all labels within chunks.
func (d *definition) inner() (labels []int) {
	for _, o := range d.Operands {
		labels = append(labels, o.Inner...)
	}
	return append(labels, d.Inner...)
}

// put adds to the result that the labels of the rows at hand tell.
func (d *definition) put(sign float64, spec string, args []*kernels.Expr) error {
	product := []float64{1}
	if len(args) > 0 {
		e, err := kernels.Call(kernels.Lookup("einsum"), kernels.Attr{Spec: spec}, args...)
		if err != nil {
			return err
		}
		v, err := e.Eval(d.env, nil)
		if err != nil {
			return err
		}
		product = v.Floats()
	}
	ids := d.Node.Group
	if d.Node.Op != ra.Aggregate {
		ids = d.Node.Key
	}
	var s []string
	for _, id := range ids {
		v, err := d.eval(d.Rows.Column(id))
		if err != nil {
			return err
		}
		s = append(s, v.String())
	}
	key := strings.Join(s, ",")
	if d.sum[key] == nil {
		d.sum[key] = make([]float64, len(product))
	}
	for i, x := range product {
		d.sum[key][i] += sign * x
	}
	return nil
}

// eval is the value of a term in the rows at hand.
func (d *definition) eval(t einsum.Term) (v kernels.Value, err error) {
	if t.Leaf {
		return d.at[t.Read][d.Rows.Reads[t.Read].Node.Index(t.X.Col.ID)], nil
	}
	v, failed := kernels.Value{}, error(nil)
	v, err = t.X.Eval(d.env, func(c kernels.Col) kernels.Value {
		x, err := d.eval(d.Rows.Input(t.Read, c))
		if err != nil {
			failed = err
		}
		return x
	})
	if failed != nil {
		err = failed
	}
	return v, err
}
