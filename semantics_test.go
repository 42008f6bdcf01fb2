package relgrad

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/optimizer/rules"
	"github.com/relgrad/relgrad/store"
	"github.com/relgrad/relgrad/tensor"
)

// TestSemantics runs testdata/semantics, whose numbers were derived by hand. "sql" runs statements and prints the
// last result. "gradient wrt=(w,…)" takes a query of a loss and prints the loss and its gradients; they are compared
// with central differences, with the plan that no rule has touched, and with the SQL text of the gradient.
func TestSemantics(t *testing.T) {
	datadriven.Walk(t, "testdata/semantics", func(t *testing.T, path string) {
		db := open(t, "")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := "ok"
			var err error
			switch d.Cmd {
			case "sql":
				var res *catalog.Result
				if res, err = db.Run(context.Background(), d.Input); err == nil && res.HasRows {
					out = strings.Join(lines(res), "\n")
				}
			case "gradient":
				out, err = gradients(t, db, d)
			default:
				d.Fatalf(t, "unknown directive %s", d.Cmd)
			}
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out + "\n"
		})
	})
}

func gradients(t *testing.T, db *DB, d *datadriven.TestData) (string, error) {
	ctx, step := context.Background(), int64(1)
	var params []string
	for _, a := range d.CmdArgs {
		if a.Key == "wrt" {
			params = a.Vals
		}
	}
	x, grads, err := both(db, d.Input, params)
	if err != nil {
		return "", err
	}
	for _, r := range rules.All() {
		db.Disable = append(db.Disable, r.Name)
	}
	db.core.Close()
	x0, grads0, err := both(db, d.Input, params)
	db.Disable = nil
	db.core.Close()
	if err != nil {
		return "", err
	}
	if math.Abs(x-x0) > 1e-9*math.Abs(x) {
		t.Errorf("%s: the loss is %v, without rules %v", d.Pos, x, x0)
	}
	out := fmt.Sprintf("%.6g", x)
	for i, p := range params {
		out += "\n" + p + ":"
		for _, l := range grads[i] {
			out += " (" + l + ")"
		}
		if a, b := strings.Join(grads[i], "\n"), strings.Join(grads0[i], "\n"); a != b {
			t.Errorf("%s: gradient of %s:\n%s\nwithout rules:\n%s", d.Pos, p, a, b)
		}
		checked, err := db.Check(ctx, d.Input, p, engine.CheckOptions{Samples: 100, Step: &step})
		if err != nil {
			return "", err
		}
		for _, c := range checked {
			if !c.OK && !d.HasArg("kink") {
				t.Errorf("%s: %s %s.%s[%d] is %v, by differences %v", d.Pos, c.Key, p, c.Column, c.Element, c.Analytic, c.Numeric)
			}
		}
	}
	return out, ownText(t, db, d, params, grads)
}

// ownText compares the gradients with what their SQL text gives by itself.
func ownText(t *testing.T, db *DB, d *datadriven.TestData, params []string, grads [][]string) error {
	if d.HasArg("draws") { // the text draws for step 0
		return nil
	}
	text, err := db.Explain(context.Background(), d.Input, params, "sql")
	if err != nil {
		return err
	}
	for i, sql := range store.SplitNative(text)[1:] {
		res, err := db.QueryNative(context.Background(), sql)
		if err != nil {
			return err
		}
		if a, b := strings.Join(grads[i], "\n"), strings.Join(lines(res), "\n"); a != b {
			t.Errorf("%s: gradient of %s:\n%s\nby its text:\n%s", d.Pos, params[i], a, b)
		}
	}
	return nil
}

// both computes a loss and its gradients, whose rows are sorted.
func both(db *DB, loss string, params []string) (float64, [][]string, error) {
	ctx, step := context.Background(), int64(1)
	x, rows, err := db.core.Gradients(ctx, loss, params, &step, 0)
	if err != nil {
		return 0, nil, err
	}
	var grads [][]string
	for _, r := range rows {
		grads = append(grads, lines(ResultOf(r)))
	}
	return x, grads, nil
}

// lines prints rows with six digits, sorted.
func lines(r *catalog.Result) []string {
	var out []string
	for _, row := range r.Rows {
		var cells []string
		for _, v := range row {
			switch x := v.(type) {
			case float64:
				v = fmt.Sprintf("%.6g", x+0)
			case *tensor.Tensor:
				s := "{"
				for i, e := range x.Data {
					s += strings.Repeat(",", min(i, 1)) + fmt.Sprintf("%.6g", e+0)
				}
				v = s + "}"
			case bool:
				v = map[bool]int{true: 1}[x]
			case nil:
				v = "NULL"
			}
			cells = append(cells, fmt.Sprint(v))
		}
		out = append(out, strings.Join(cells, " "))
	}
	sort.Strings(out)
	return out
}
