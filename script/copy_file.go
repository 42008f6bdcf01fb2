package script

import (
	"context"
	"fmt"
	"io"

	"github.com/relgrad/relgrad/sqlfront/ast"
)

// copyFile is COPY from and to a file or program.
func (in *Interp) copyFile(ctx context.Context, c *ast.Copy, text *ast.Text) (*Result, error) {
	t := &transfer{dir: in.dir(), source: c.Source, program: c.Program, from: c.From,
		in:  func(r io.Reader) (int64, error) { return in.Session.CopyIn(ctx, c, text, r, c.Source) },
		out: func(w io.Writer) (int64, error) { return in.Session.CopyOut(ctx, c, text, w) }}
	n, err := t.run(ctx)
	if err != nil {
		return nil, err
	}
	return &Result{Tag: fmt.Sprintf("COPY %d", n)}, nil
}

func (in *Interp) dir() string {
	if in.Dir == nil {
		return ""
	}
	return in.Dir()
}
