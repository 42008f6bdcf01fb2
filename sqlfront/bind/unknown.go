package bind

import (
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// A text literal has no type: it takes the type of what it meets (manual, 10.2 to 10.5). Here it becomes a cast of the
// literal, so that an invalid one gives the cast's error.

// typeName is the type that a literal takes beside a value of type t and class c.
func typeName(t kernels.Type, c numberClass) ast.TypeName {
	out := ast.TypeName{Dims: len(t.Shape)}
	switch {
	case t.Kind == kernels.Int:
		out.Name = "bigint"
	case t.Kind == kernels.Bool:
		out.Name = "boolean"
	case t.Kind == kernels.Float32:
		out.Name = "real"
	case t.Kind == kernels.Float64 && c == numericClass && t.Shape == nil:
		out.Name = "numeric"
	case t.Kind == kernels.Float64:
		out.Name = "double precision"
	default:
		out.Name = "text"
	}
	return out
}

// commonType is the type to which values of several types are converted where one is chosen; ok is false where none has
// a type.
func commonType(s *scope, list []ast.Expr, args []*kernels.Expr) (out ast.TypeName, ok bool) {
	rank := map[string]int{"bigint": 1, "numeric": 2, "real": 3, "double precision": 4}
	for i, x := range args {
		if list[i] == nil || isText(list[i]) || x.IsConst() && x.Const.Null {
			continue
		}
		if t := typeName(x.Type, s.class(list[i])); !ok || rank[t.Name] > rank[out.Name] {
			out, ok = t, true
		}
	}
	return out, ok
}

// typeTexts converts the text literals of a list to the type of the others, if one has a type.
func typeTexts(s *scope, list []ast.Expr, args []*kernels.Expr) error {
	t, ok := commonType(s, list, args)
	if !ok || t.Name == "text" {
		return nil // dates and the like are handled by oneType
	}
	for i, e := range list {
		if e == nil || !isText(e) {
			continue
		}
		x, err := textAs(s, e, t)
		if err != nil {
			return err
		}
		args[i] = x
	}
	return nil
}

// textAs reads a text literal as a value of a type.
func textAs(s *scope, e ast.Expr, t ast.TypeName) (*kernels.Expr, error) {
	x, err := s.expr(&ast.Cast{Node: ast.Node{At: e.Position()}, X: e, Type: t})
	if err != nil || x.IsConst() || t.Dims > 0 {
		return x, err
	}
	v, err := x.Eval(&kernels.Env{}, nil)
	if err != nil {
		return nil, s.f.at(err, e)
	}
	if t.Name == "real" {
		v.X = float64(float32(v.X))
	}
	return kernels.Const(v), nil
}

// typeOperands converts a text literal to the type of the operator's other operand. int ^ int is double precision.
func typeOperands(s *scope, b *ast.Binary, l, r *kernels.Expr) (_, _ *kernels.Expr, err error) {
	args := []*kernels.Expr{l, r}
	switch {
	case b.Op == "~~" || b.Op == "and" || b.Op == "or":
		return l, r, nil
	case b.Op == "^" && isText(b.L) != isText(b.R) && (l.Type.Kind == kernels.Int || r.Type.Kind == kernels.Int):
		for i, e := range []ast.Expr{b.L, b.R} {
			if isText(e) {
				args[i], err = textAs(s, e, ast.TypeName{Name: "double precision"})
			}
		}
		return args[0], args[1], err
	}
	if err = typeTexts(s, []ast.Expr{b.L, b.R}, args); err == nil && comparisons[operators[b.Op]] {
		err = refuseLongNumbers(s, []ast.Expr{b.L, b.R}, args, b)
	}
	return args[0], args[1], err
}

// textArguments converts the text literals among a kernel's arguments to types that the kernel takes: that of the other
// arguments, else double precision or bigint.
func textArguments(s *scope, d *kernels.Def, list []ast.Expr, args []*kernels.Expr) (*kernels.Expr, error) {
	x, failed := d.Apply(args...)
	if sqlerr.Code(failed) != sqlerr.UndefinedFunction && sqlerr.Code(failed) != sqlerr.ArraySubscript {
		return x, failed
	}
	var try []ast.TypeName
	if t, ok := commonType(s, list, args); ok {
		try = append(try, t)
	}
	for _, t := range append(try, ast.TypeName{Name: "double precision"}, ast.TypeName{Name: "bigint"}) {
		typed, texts := append([]*kernels.Expr(nil), args...), 0
		for i, e := range list {
			if !isText(e) {
				continue
			}
			texts++
			y, err := textAs(s, e, t)
			if err != nil && t.Dims > 0 && strings.HasPrefix(strings.TrimSpace(e.(*ast.Literal).Value), "{") {
				return nil, err // the array has a wrong element
			} else if err != nil {
				texts = 0
				break
			}
			typed[i] = y
		}
		if texts == 0 {
			continue
		}
		if x, err := d.Apply(typed...); err == nil {
			return x, nil
		}
	}
	return nil, failed
}

// arrayText reads an array literal, {1,2,{…}}, as an ARRAY[…] of literals, each cast to a type.
func arrayText(s *scope, e ast.Expr, t ast.TypeName) (*ast.ArrayLit, error) {
	l := e.(*ast.Literal)
	p := &arrayReader{text: l.Value, at: ast.Node{At: l.At}, elem: ast.TypeName{Name: t.Name, Mods: t.Mods}}
	p.blanks()
	out := p.row()
	if p.blanks(); out == nil || p.i != len(p.text) {
		return nil, s.f.fail(e, sqlerr.InvalidText, "malformed array literal: \"%s\"", l.Value)
	}
	return out, nil
}

// arrayReader reads an array literal.
type arrayReader struct {
	text  string
	i     int
	at    ast.Node
	elem  ast.TypeName
	depth int
}

func (p *arrayReader) blanks() {
	for p.i < len(p.text) && strings.IndexByte(" \t\n\r\v\f", p.text[p.i]) >= 0 {
		p.i++
	}
}

// skip skips a character if it comes next.
func (p *arrayReader) skip(c byte) bool {
	if p.i < len(p.text) && p.text[p.i] == c {
		p.i++
		return true
	}
	return false
}

// row reads from a { to its }; nil where it is malformed.
func (p *arrayReader) row() *ast.ArrayLit {
	if p.depth++; p.depth > 6 || !p.skip('{') { // Postgres has at most 6 dimensions
		return nil
	}
	defer func() { p.depth-- }()
	out := &ast.ArrayLit{Node: p.at}
	if p.blanks(); p.skip('}') {
		return out
	}
	for {
		p.blanks()
		var e ast.Expr
		if p.i < len(p.text) && p.text[p.i] == '{' {
			row := p.row()
			if row == nil {
				return nil
			}
			e = row
		} else if e = p.element(); e == nil {
			return nil
		}
		out.Elems = append(out.Elems, e)
		p.blanks()
		switch {
		case p.skip('}'):
			return out
		case !p.skip(','):
			return nil
		}
	}
}

// element reads one element, perhaps in quotes.
func (p *arrayReader) element() ast.Expr {
	var b strings.Builder
	if p.skip('"') {
		for !p.skip('"') {
			p.skip('\\')
			if p.i == len(p.text) {
				return nil
			}
			b.WriteByte(p.text[p.i])
			p.i++
		}
		return p.cast(&ast.Literal{Node: p.at, Kind: ast.LitString, Value: b.String()})
	}
	for p.i < len(p.text) && strings.IndexByte(`,{}"`, p.text[p.i]) < 0 {
		if p.skip('\\') && p.i == len(p.text) {
			return nil
		}
		b.WriteByte(p.text[p.i])
		p.i++
	}
	word := strings.TrimRight(b.String(), " \t\n\r\v\f")
	switch {
	case word == "":
		return nil
	case strings.EqualFold(word, "null"):
		return p.cast(&ast.Literal{Node: p.at, Kind: ast.LitNull})
	}
	return p.cast(&ast.Literal{Node: p.at, Kind: ast.LitString, Value: word})
}

// cast casts an element, if the array has an element type.
func (p *arrayReader) cast(l *ast.Literal) ast.Expr {
	if p.elem.Name == "" {
		return l
	}
	return &ast.Cast{Node: p.at, X: l, Type: p.elem}
}

// isText reports whether e is a text literal, which has no type yet.
func isText(e ast.Expr) bool {
	l, ok := e.(*ast.Literal)
	return ok && l.Kind == ast.LitString
}
