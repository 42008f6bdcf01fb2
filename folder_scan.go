package relgrad

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/interop/delta/layouts"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// deltaFunc runs delta_table('dir' [, version]) or delta_tensor('dir', 'name' [, slice [, version]]) in FROM. It reads
// the columns and rows that the statement needs, as far as conditions tell. Relative folders begin at dir.
func deltaFunc(ctx context.Context, dir string, call *ast.FuncCall, needs ast.Needs) (*catalog.Relation, error) {
	s, args, err := openCall(ctx, dir, call)
	if err != nil {
		return nil, err
	}
	var in interop.Reader
	var where []delta.Bound
	if call.Name == "delta_tensor" {
		in, err = tensorSlice(s, args, needs.Where)
	} else {
		in, where = delta.NewReader(s), bounds(s, needs.Where)
	}
	if err != nil {
		return nil, err
	}
	cols := needed(in.Columns(), needs)
	var rows interop.Rows
	err = interop.Readable(args.Text("dir"), cols)
	switch {
	case err != nil:
	case needs.Typed:
		rows = noRows{}
	case call.Name == "delta_tensor":
		rows, err = in.Rows(cols)
	default:
		rows, err = s.Rows(cols, where)
	}
	place := func(err error) error { return engine.At(inFolder(err, args.Text("dir")), args.Position("dir")) }
	if err == nil {
		var r *catalog.Relation
		if r, err = collectPieces(ctx, cols, rows, place); err == nil {
			return r, nil
		}
	}
	return nil, place(err)
}

// noRows are rows of which there are none.
type noRows struct{}

// Next implements interop.Rows.
func (noRows) Next([]any) error { return io.EOF }

// openCall reads the arguments of a call and opens the version of the table that it names; relative folders begin at
// dir.
func openCall(ctx context.Context, dir string, call *ast.FuncCall) (*delta.Snapshot, *engine.Args, error) {
	positional, named := []string{"dir"}, []string{"version"}
	if call.Name == "delta_tensor" {
		positional, named = []string{"dir", "name"}, []string{"slice", "version"}
	}
	args, err := engine.ReadArgs(call, positional, 0, named...)
	if err != nil {
		return nil, nil, err
	}
	version := ""
	if v, ok := args.Value["version"].(int64); ok {
		version = strconv.FormatInt(v, 10)
	}
	s, ofVersion, err := openDelta(ctx, dir, args.Text("dir"), version)
	if err != nil {
		at := "dir"
		if ofVersion {
			at = "version"
		}
		return nil, nil, engine.At(err, args.Position(at))
	}
	return s, args, nil
}

// needed are the columns that a statement needs, at least one: then rows are counted.
func needed(cols []interop.Column, needs ast.Needs) []interop.Column {
	out := slices.DeleteFunc(slices.Clone(cols), func(c interop.Column) bool {
		return needs.Cols != nil && !needs.Cols[c.Name]
	})
	if len(out) == 0 {
		return cols[:1]
	}
	return out
}

// tensorSlice reads the slice of a tensor that a call asks for, cut by conditions on its indices.
func tensorSlice(s *delta.Snapshot, args *engine.Args, where []ast.Condition) (interop.Reader, error) {
	part, err := layouts.ParseSlice(args.Text("slice"))
	if err != nil {
		return nil, engine.At(err, args.Position("slice"))
	}
	for _, c := range where {
		digits, ok := strings.CutPrefix(c.Column, "i")
		d, err := strconv.Atoi(digits)
		lo, hi, is := integerRange(c)
		if !ok || err != nil || d > 63 || !is || d < len(part) && part[d].One {
			continue
		}
		for len(part) <= d {
			part = append(part, layouts.Range{To: -1})
		}
		r := &part[d]
		if r.From = max(r.From, lo); hi < math.MaxInt64 && (r.To < 0 || hi+1 < r.To) {
			r.To = max(hi+1, 0)
		}
	}
	name := args.Text("name")
	if list, err := layouts.List(s); err == nil {
		for _, e := range list { // conditions on columns that are none are not the slice's
			if e.ID == name && len(part) > len(e.Shape) && args.Text("slice") == "" {
				part = part[:len(e.Shape)]
			}
		}
	}
	in, err := layouts.Relation(s, name, part)
	if err != nil {
		at := map[string]string{sqlerr.UndefinedObject: "name", sqlerr.ArraySubscript: "slice"}[sqlerr.Code(err)]
		if at == "" {
			at = "dir"
		}
		return nil, engine.At(inFolder(err, args.Text("dir")), args.Position(at))
	}
	return in, nil
}

// integerRange are the integers of which a condition may hold.
func integerRange(c ast.Condition) (lo, hi int64, ok bool) {
	text, quoted := ast.ConstantText(c.Value)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || quoted || n == math.MaxInt64 || n == math.MinInt64 {
		return 0, 0, false
	}
	lo, hi = math.MinInt64, math.MaxInt64
	switch c.Op {
	case "=":
		return n, n, true
	case "<":
		hi = n - 1
	case "<=":
		hi = n
	case ">":
		lo = n + 1
	case ">=":
		lo = n
	}
	return lo, hi, true
}

// bounds are the conditions of which the table's statistics can tell, as ranges that are not too small.
func bounds(s *delta.Snapshot, where []ast.Condition) (out []delta.Bound) {
	fields := s.Fields()
	for _, c := range where {
		i := slices.IndexFunc(fields, func(f interop.Field) bool { return f.Name == c.Column })
		if i < 0 || !delta.Bounded(&fields[i]) {
			continue
		}
		text, quoted := ast.ConstantText(c.Value)
		b := delta.Bound{Column: c.Column}
		switch f := &fields[i]; f.Type {
		case "byte", "short", "integer", "long":
			lo, hi, ok := integerRange(c)
			if !ok {
				continue
			}
			if lo > math.MinInt64 {
				b.Min = lo
			}
			if hi < math.MaxInt64 {
				b.Max = hi
			}
			out = append(out, b)
			continue
		case "float", "double":
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || quoted || f.Type == "float" && math.IsInf(float64(float32(x)), 0) {
				continue
			}
			b.Min, b.Max = x, x
		case "string", "date":
			x, err := f.Accept(text)
			if err != nil || !quoted || f.Type == "string" && c.Op != "=" {
				continue
			}
			b.Min, b.Max = x, x
		default:
			continue
		}
		switch c.Op {
		case "<", "<=":
			b.Min = nil
		case ">", ">=":
			b.Max = nil
		}
		out = append(out, b)
	}
	return out
}

// exactBounds are the conditions of a batch as ranges that have the rows of which they hold and no others.
func exactBounds(s *delta.Snapshot, where []ast.Condition) (out []delta.Bound, err error) {
	for _, c := range where {
		list := bounds(s, []ast.Condition{c})
		if len(list) == 0 {
			return nil, sqlerr.At(int(c.Tree.Position()), sqlerr.FeatureNotSupported, "the condition on column \"%s\" of "+
				"the batch is no range of its type", c.Column).WithHint("Compare integers, numbers of floating point and dates " +
				"with constants of their type, and texts by =; put other conditions into the loss.")
		}
		b := list[0]
		switch x := cmp.Or(b.Min, b.Max).(type) {
		case float64: // of which b has the nearest one of the column's type
			i := slices.IndexFunc(s.Fields(), func(f interop.Field) bool { return f.Name == c.Column })
			single := s.Fields()[i].Type == "float"
			if c.Op == "=" && single && float64(float32(x)) != x { // no such number
				b.Min, b.Max = math.Inf(1), math.Inf(-1)
			} else if c.Op != "=" {
				b = halfLine(b, c.Op, x, single)
			}
		case interop.Day:
			switch c.Op {
			case "<":
				b.Max = x - 1
			case ">":
				b.Min = x + 1
			}
		}
		out = append(out, b)
	}
	return out, nil
}

// halfLine bounds a column by the first number on one side of x.
func halfLine(b delta.Bound, op string, x float64, single bool) delta.Bound {
	up := op[0] == '>'
	end := math.Inf(-1)
	if up {
		end = math.Inf(1)
	}
	y := x
	if single {
		y = float64(float32(x))
	}
	for out := func() bool { return up && y < x || !up && y > x || y == x && len(op) == 1 }; out() && y != end; {
		if single {
			y = float64(math.Nextafter32(float32(y), float32(end)))
		} else {
			y = math.Nextafter(y, end)
		}
	}
	if up {
		b.Min = y
	} else {
		b.Max = y
	}
	return b
}
