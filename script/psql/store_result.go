package psql

import (
	"io"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/script"
)

// Print prints a result of the store as the script's own results are printed.
func (r *Runner) Print(res *catalog.Result) error { return r.print.print(r.out, script.ResultOf(res)) }

// Print prints a result in one of Formats.
func Print(w io.Writer, format string, res *catalog.Result) error {
	return newPrinter(format).print(w, script.ResultOf(res))
}
