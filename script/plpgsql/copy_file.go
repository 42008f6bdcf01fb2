package plpgsql

import (
	"context"
	"fmt"
	"io"

	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// CopyFile is COPY from and to a file or program.
func (in *Interp) CopyFile(ctx context.Context, c *ast.Copy, text *ast.Text) (*script.Result, error) {
	if c.Options.IsFolder() && !c.Program { // the store opens it
		res, err := in.Session.Exec(ctx, c, text)
		if err == nil && in.Notice != nil {
			for _, n := range res.Notices {
				in.Notice(n)
			}
		}
		return res, err
	}
	t := &script.Transfer{Dir: in.dir(), Source: c.Source, Program: c.Program, From: c.From,
		In:  func(r io.Reader) (int64, error) { return in.Session.CopyIn(ctx, c, text, r, c.Source) },
		Out: func(w io.Writer) (int64, error) { return in.Session.CopyOut(ctx, c, text, w) }}
	n, err := t.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &script.Result{Tag: fmt.Sprintf("COPY %d", n)}, nil
}

func (in *Interp) dir() string {
	if in.Dir == nil {
		return ""
	}
	return in.Dir()
}
