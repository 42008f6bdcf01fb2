package script

import "github.com/relgrad/relgrad/store"

// Print prints a result of the store as the script's own results are printed.
func (r *Runner) Print(res *store.Result) error {
	out := &Result{Tag: res.Tag, HasRows: res.HasRows, Rows: res.Rows}
	for _, c := range res.Cols {
		out.Cols = append(out.Cols, Col{c.Name, c.Type})
	}
	return r.print.print(r.out, out)
}
