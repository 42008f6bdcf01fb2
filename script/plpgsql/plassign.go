package plpgsql

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
	"github.com/relgrad/relgrad/tensor"
)

// declareVar adds a declared variable with its default.
func declareVar(f *frame, d *plpgsql.Decl) error {
	v := &variable{name: d.Name, decl: d.Type, constant: d.Constant, notNull: d.NotNull}
	switch {
	case d.Alias != "":
		return declareAlias(f, d)
	case d.Record:
		v.record, v.dynamic = true, true
	case d.RowOf != "":
		cols, err := relationColumns(f, strings.Split(d.RowOf, "."), d.At)
		if err != nil {
			return err
		}
		v.record, v.fields, v.vals = true, cols, make([]any, len(cols))
	case d.TypeOf != nil:
		t, err := variableType(f, d.TypeOf, d.At)
		if err != nil {
			return err
		}
		v.decl = t
	default:
		if cols, ok := f.in.Session.Columns(d.Type.Schema, d.Type.Name); ok && d.Type.Dims == 0 {
			v.record, v.fields, v.vals = true, cols, make([]any, len(cols))
		} else if err := f.in.checkType(f.ctx, d.Type, f.text); err != nil {
			return err
		}
	}
	v.val.typ = v.decl.String()
	if d.Default != nil {
		x, err := f.eval(d.Default)
		if err != nil {
			return err
		}
		if v.record {
			return f.fail(d.At, sqlerr.FeatureNotSupported, "a default for the record \"%s\" is not supported", d.Name)
		}
		if v.val, err = castTo(f, v, x, d.Default.Position()); err != nil {
			return err
		}
	}
	f.declare(v)
	return nil
}

func declareAlias(f *frame, d *plpgsql.Decl) error {
	if n, ok := strings.CutPrefix(d.Alias, "$"); ok {
		for i, p := range f.params {
			if n == Format(int64(i+1), "integer") {
				f.scope.vars[d.Name] = p
				return nil
			}
		}
		return f.fail(d.At, sqlerr.UndefinedParameter, "there is no parameter %s", d.Alias)
	}
	v, _, ok := f.find([]string{d.Alias})
	if !ok {
		return f.fail(d.At, sqlerr.UndefinedObject, "variable \"%s\" does not exist", d.Alias)
	}
	f.scope.vars[d.Name] = v
	return nil
}

func relationColumns(f *frame, names []string, at ast.Pos) ([]script.Col, error) {
	schema := ""
	if len(names) == 2 {
		schema = names[0]
	}
	cols, ok := f.in.Session.Columns(schema, names[len(names)-1])
	if !ok {
		return nil, f.fail(at, sqlerr.UndefinedTable, "relation \"%s\" does not exist", strings.Join(names, "."))
	}
	return cols, nil
}

// variableType resolves v%TYPE and t.c%TYPE.
func variableType(f *frame, names []string, at ast.Pos) (ast.TypeName, error) {
	if v, field, ok := f.find(names); ok && !v.record && field == "" {
		return v.decl, nil
	}
	if len(names) < 2 {
		return ast.TypeName{}, f.fail(at, sqlerr.UndefinedObject, "variable \"%s\" does not exist", names[0])
	}
	cols, err := relationColumns(f, names[:len(names)-1], at)
	if err != nil {
		return ast.TypeName{}, err
	}
	col := names[len(names)-1]
	for _, c := range cols {
		if c.Name == col {
			return typeName(c.Type), nil
		}
	}
	return ast.TypeName{}, f.fail(at, sqlerr.UndefinedColumn,
		"column \"%s\" of relation \"%s\" does not exist", col, strings.Join(names[:len(names)-1], "."))
}

// castTo converts a value to a variable's type and checks NOT NULL.
func castTo(f *frame, v *variable, x value, at ast.Pos) (value, error) {
	out, err := f.in.cast(f.ctx, x, v.decl, f.text)
	if err != nil {
		return value{}, f.at(err, at)
	}
	if out.v == nil && v.notNull {
		return value{}, f.fail(at, sqlerr.NullNotAllowed,
			"null value cannot be assigned to variable \"%s\" declared NOT NULL", v.name)
	}
	return out, nil
}

// targetOf finds an assignable variable.
func targetOf(f *frame, t plpgsql.PLTarget) (*variable, string, error) {
	v, field, ok := f.find(t.Names)
	if !ok {
		e := sqlerr.At(int(t.At), sqlerr.Syntax, "\"%s\" is not a known variable", strings.Join(t.Names, "."))
		e.Text = f.text
		if near := sqlerr.Nearest(t.Names[0], variableNames(f)); near != "" {
			e.Hint = "Perhaps you meant the variable \"" + near + "\"."
		}
		return nil, "", e
	}
	if v.constant {
		return nil, "", f.fail(t.At, "22005", "variable \"%s\" is declared CONSTANT", v.name)
	}
	return v, field, nil
}

// variableNames lists the variables in scope.
func variableNames(f *frame) []string {
	var out []string
	for s := f.scope; s != nil; s = s.outer {
		for n := range s.vars {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// assignTo stores a value in a variable, a record's field or an element.
func assignTo(f *frame, t plpgsql.PLTarget, x value) error {
	v, field, err := targetOf(f, t)
	if err != nil {
		return err
	}
	switch {
	case field != "":
		return assignField(f, v, field, t, x)
	case v.record:
		return f.fail(t.At, sqlerr.DatatypeMismatch, "cannot assign non-composite value to a record variable")
	case t.Indices != nil:
		return assignElement(f, v, t, x)
	}
	out, err := castTo(f, v, x, t.At)
	if err != nil {
		return err
	}
	v.val = out
	return nil
}

func assignField(f *frame, v *variable, field string, t plpgsql.PLTarget, x value) error {
	if _, err := v.field(field); err != nil {
		return f.at(err, t.At)
	}
	if t.Indices != nil {
		return f.fail(t.At, sqlerr.FeatureNotSupported, "assigning to an element of a record's field is not supported")
	}
	for i, c := range v.fields {
		if c.Name == field {
			out, err := f.in.cast(f.ctx, x, typeName(c.Type), f.text)
			if err != nil {
				return f.at(err, t.At)
			}
			v.vals[i] = out.v
		}
	}
	return nil
}

// assignElement is a[i][j] := x inside the array's bounds, or one past the end of a vector.
func assignElement(f *frame, v *variable, t plpgsql.PLTarget, x value) error {
	var at []int
	for _, ix := range t.Indices {
		if ix.Slice {
			return f.fail(t.At, sqlerr.FeatureNotSupported, "assigning to a slice of a variable is not supported")
		}
		i, err := f.eval(ix.I)
		if err == nil {
			i, err = f.in.cast(f.ctx, i, typeName("integer"), f.text)
		}
		if err != nil {
			return f.at(err, ix.I.Position())
		}
		if i.v == nil {
			return f.fail(ix.I.Position(), sqlerr.NullNotAllowed, "array subscript in assignment must not be null")
		}
		at = append(at, int(i.v.(int64)))
	}
	elem, isArray := strings.CutSuffix(v.val.typ, "[]")
	if !isArray {
		return f.fail(t.At, sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting",
			v.val.typ)
	}
	e, err := f.in.cast(f.ctx, x, typeName(elem), f.text)
	if err != nil {
		return f.at(err, t.At)
	}
	out, err := setElement(v.val, at, e)
	if err != nil {
		return f.at(err, t.At)
	}
	v.val.v = out
	return nil
}

// setElement returns a copy of an array with one element set.
func setElement(arr value, at []int, e value) (any, error) {
	outside := func(shape tensor.Shape) error {
		return sqlerr.New(sqlerr.ArraySubscript, "array subscript %v out of range for an array of shape %v", at, shape).
			WithHint("Only elements inside the array, and the next one of a vector, can be assigned.")
	}
	elem := strings.TrimSuffix(arr.typ, "[]")
	if elem != "real" && elem != "double precision" {
		list, _ := arr.v.([]any)
		if len(at) != 1 || at[0] < 1 || at[0] > len(list)+1 {
			return nil, outside(tensor.Shape{len(list)})
		}
		list = append(slices.Clone(list), nil)[:max(len(list), at[0])]
		list[at[0]-1] = e.v
		return list, nil
	}
	if e.v == nil {
		return nil, sqlerr.New(sqlerr.NullNotAllowed, "an array of floats cannot have NULL elements")
	}
	c, _ := arr.v.(*tensor.Tensor)
	if c == nil {
		c = tensor.New(DtypeOf(elem), 0)
	}
	if len(at) != len(c.Shape) {
		return nil, outside(c.Shape)
	}
	c = c.Clone()
	if len(at) == 1 && at[0] == c.Shape[0]+1 {
		c.Shape[0]++
		c.Data = append(c.Data, 0)
	}
	off := 0
	for d, i := range at {
		if i < 1 || i > c.Shape[d] {
			return nil, outside(c.Shape)
		}
		off = off*c.Shape[d] + i - 1
	}
	c.Data[off] = e.v.(float64)
	return c, nil
}

// assignRow stores a result row (nil: no row) in INTO targets.
func assignRow(f *frame, ts []plpgsql.PLTarget, cols []script.Col, row []any) error {
	if len(ts) == 1 {
		if v, field, err := targetOf(f, ts[0]); err == nil && v.record && field == "" {
			return assignRecord(f, v, ts[0], cols, row)
		}
	}
	for i, t := range ts {
		x := value{nil, "unknown"}
		if i < len(cols) {
			x.typ = cols[i].Type
			if row != nil {
				x.v = row[i]
			}
		}
		if err := assignTo(f, t, x); err != nil {
			return err
		}
	}
	return nil
}

// assignRecord gives a record the columns of a row; one with declared fields keeps them.
func assignRecord(f *frame, v *variable, t plpgsql.PLTarget, cols []script.Col, row []any) error {
	if row == nil {
		row = make([]any, len(cols))
	}
	v.assigned = true
	if v.dynamic {
		v.fields, v.vals = cols, slices.Clone(row)
		return nil
	}
	for i, c := range v.fields {
		x := value{nil, c.Type}
		if i < len(cols) {
			x = value{row[i], cols[i].Type}
		}
		out, err := f.in.cast(f.ctx, x, typeName(c.Type), f.text)
		if err != nil {
			return f.at(err, t.At)
		}
		v.vals[i] = out.v
	}
	return nil
}
