package plpgsql

import (
	"context"

	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
)

// A result is printed in parts, so that a result of any length needs only the memory of a part. The first part decides
// the widths of an aligned table; a longer value in a later part widens its column from there on.
const (
	PartRows  = 1000
	PartBytes = 4 << 20 // of values: a part of this size is full
)

// streamer is a Store that gives the rows of a query, or of RETURNING, one by one.
type streamer interface {
	SelectEach(ctx context.Context, stmt ast.Statement, text *ast.Text, start func([]script.Col) error,
		each func(row []any) error) (*script.Result, error)
}

// Parts cuts the rows of a query into results of bounded size.
type Parts struct {
	Rows  int // rows of a part, at most
	Give  func(*script.Result) error
	begin func()         // called when a query starts (again); nil: nothing is
	res   *script.Result // the part that is being collected
	size  int            // size of its values in bytes
}

func (p *Parts) start(cols []script.Col) error {
	if p.begin != nil {
		p.begin()
	}
	p.res, p.size = &script.Result{HasRows: true, Cols: cols, More: true}, 0
	return nil
}

// row adds a row and hands the part on when it is full. So the last part may be empty.
func (p *Parts) row(row []any) error {
	p.res.Rows = append(p.res.Rows, row)
	for _, v := range row {
		p.size += sizeOf(v)
	}
	if len(p.res.Rows) < p.Rows && p.size < PartBytes {
		return nil
	}
	full := p.res
	p.res, p.size = &script.Result{HasRows: true, Cols: p.res.Cols, More: true}, 0
	return p.Give(full)
}

// sizeOf estimates the bytes of a value.
func sizeOf(v any) int {
	switch x := v.(type) {
	case string:
		return 16 + len(x)
	case *tensor.Tensor:
		return 16 + 8*len(x.Data)
	case []any:
		n := 16
		for _, e := range x {
			n += sizeOf(e)
		}
		return n
	}
	return 16
}

// partly runs a statement with rows: it gives full parts to p and returns the last part. A Store that is no streamer
// returns all rows in one result.
func (in *Interp) partly(ctx context.Context, stmt ast.Statement, text *ast.Text, p *Parts) (*script.Result, error) {
	s, ok := in.Session.(streamer)
	if !ok {
		return in.Session.Exec(ctx, stmt, text)
	}
	if _, ok := stmt.(*ast.Select); !ok {
		return in.written(ctx, s, stmt, text, p)
	}
	res, err := s.SelectEach(ctx, stmt, text, p.start, p.row)
	if err != nil {
		return nil, err
	}
	res.Rows = p.res.Rows
	return res, nil
}

// written runs a statement with RETURNING. Its rows are handed on once it has succeeded.
func (in *Interp) written(ctx context.Context, s streamer, stmt ast.Statement, text *ast.Text,
	p *Parts) (*script.Result, error) {
	var kept Spool
	defer kept.Close()
	res, err := s.SelectEach(ctx, stmt, text, func(cols []script.Col) error {
		kept.reset()
		kept.Cols = cols
		return nil
	}, kept.add)
	if err != nil {
		return nil, err
	}
	if err := p.start(kept.Cols); err != nil {
		return nil, err
	}
	err = kept.Each(func(row []any) (bool, error) { return false, p.row(row) })
	res.Rows = p.res.Rows
	return res, err
}

// gives reports whether a statement's rows can be had one by one.
func gives(stmt ast.Statement) bool {
	switch s := stmt.(type) {
	case *ast.Select:
		return true
	case *ast.Insert:
		return s.Returning != nil
	case *ast.Update:
		return s.Returning != nil
	case *ast.Delete:
		return s.Returning != nil
	}
	return false
}
