package ast

import (
	"reflect"
	"sync"
)

// Tree is any node with a position: an Expr, a FromItem, a Statement.
type Tree interface{ Position() Pos }

// Walk calls visit for n and, in source order, for every node below it; where visit returns false
// the node's children are left out.
func Walk(n Tree, visit func(Tree) bool) {
	if isNil(n) || !visit(n) {
		return
	}
	v := reflect.ValueOf(n)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	walkFields(v, visit)
}

// Each calls do for n and every node below it that is a T.
func Each[T Tree](n Tree, do func(T)) {
	Walk(n, func(t Tree) bool {
		if x, ok := t.(T); ok {
			do(x)
		}
		return true
	})
}

// Any reports whether f holds for n or a node below it that is a T.
func Any[T Tree](n Tree, f func(T) bool) (found bool) {
	Walk(n, func(t Tree) bool {
		x, ok := t.(T)
		found = found || ok && f(x)
		return !found
	})
	return found
}

// Has reports whether n or a node below it is a T.
func Has[T Tree](n Tree) bool { return Any(n, func(T) bool { return true }) }

func walkFields(v reflect.Value, visit func(Tree) bool) {
	switch v.Kind() {
	case reflect.Struct:
		for _, i := range treeFields(v.Type()) {
			walkFields(v.Field(i), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkFields(v.Index(i), visit)
		}
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if n, ok := v.Interface().(Tree); ok {
			Walk(n, visit)
		} else {
			walkFields(v.Elem(), visit)
		}
	}
}

// Rewrite returns n with nodes replaced. f is called for n, for every expression, FROM item and
// statement below it and for every *Select, parents first. Where f returns a node, it stands in the
// place of the old one and is not visited; where f returns nil, the walk goes on below. The root's
// and a *Select's replacement must have the same Go type. The tree n is never changed: the path to a
// change is copied, the rest is shared. An output column keeps the name it had without the change.
func Rewrite[T Tree](n T, f func(Tree) Tree) T {
	if isNil(n) {
		return n
	}
	out, _ := rewriteNode(reflect.ValueOf(n), f)
	return out.Interface().(T)
}

// SubstituteColumns returns n with column references replaced by what f gives for them (nil: kept).
func SubstituteColumns[T Tree](n T, f func(*ColumnRef) Expr) T {
	return Rewrite(n, func(t Tree) Tree {
		if c, ok := t.(*ColumnRef); ok {
			if x := f(c); x != nil {
				return x
			}
		}
		return nil
	})
}

// rewriteNode handles a value that holds a Tree: a pointer to a node's struct.
func rewriteNode(v reflect.Value, f func(Tree) Tree) (out reflect.Value, changed bool) {
	if r := f(v.Interface().(Tree)); r != nil {
		return reflect.ValueOf(r), true
	}
	return rewritePointer(v, f)
}

func rewritePointer(v reflect.Value, f func(Tree) Tree) (reflect.Value, bool) {
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return v, false
	}
	elem, changed := rewriteStruct(v.Elem(), f)
	if !changed {
		return v, false
	}
	p := reflect.New(elem.Type())
	p.Elem().Set(elem)
	return p, true
}

func rewriteStruct(v reflect.Value, f func(Tree) Tree) (reflect.Value, bool) {
	var out reflect.Value
	for _, i := range treeFields(v.Type()) {
		nv, changed := rewriteField(v.Field(i), f)
		if !changed {
			continue
		}
		if !out.IsValid() {
			out = reflect.New(v.Type()).Elem()
			out.Set(v)
		}
		out.Field(i).Set(nv)
	}
	if !out.IsValid() {
		return v, false
	}
	if t, ok := out.Addr().Interface().(*Target); ok && t.Name == "" {
		t.Name = ColumnName(v.Interface().(Target).X)
	}
	return out, true
}

func rewriteField(v reflect.Value, f func(Tree) Tree) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.Struct:
		return rewriteStruct(v, f)
	case reflect.Slice:
		return rewriteSlice(v, f)
	case reflect.Interface:
		if v.IsNil() {
			return v, false
		}
		return rewriteNode(v.Elem(), f)
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		if _, ok := v.Interface().(*Select); ok {
			return rewriteNode(v, f)
		}
		return rewritePointer(v, f)
	}
	return v, false
}

func rewriteSlice(v reflect.Value, f func(Tree) Tree) (reflect.Value, bool) {
	var out reflect.Value
	for i := range v.Len() {
		nv, changed := rewriteField(v.Index(i), f)
		if !changed {
			continue
		}
		if !out.IsValid() {
			out = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(out, v)
		}
		out.Index(i).Set(nv)
	}
	if !out.IsValid() {
		return v, false
	}
	return out, true
}

func isNil(n Tree) bool {
	if n == nil {
		return true
	}
	v := reflect.ValueOf(n)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

var treeFieldCache sync.Map // reflect.Type → []int

// treeFields lists the fields of a struct type of this package that may hold nodes.
func treeFields(t reflect.Type) []int {
	if c, ok := treeFieldCache.Load(t); ok {
		return c.([]int)
	}
	var out []int
	for i := range t.NumField() {
		if holdsTree(t.Field(i).Type, 0) {
			out = append(out, i)
		}
	}
	treeFieldCache.Store(t, out)
	return out
}

var pkgPath = reflect.TypeFor[Node]().PkgPath()

func holdsTree(t reflect.Type, level int) bool {
	switch t.Kind() {
	case reflect.Interface:
		return t.PkgPath() == pkgPath
	case reflect.Slice, reflect.Pointer:
		return holdsTree(t.Elem(), level)
	case reflect.Struct:
		if t.PkgPath() != pkgPath || t == reflect.TypeFor[Node]() {
			return false
		}
		if level > 3 { // recursive types: assume so
			return true
		}
		for i := range t.NumField() {
			if holdsTree(t.Field(i).Type, level+1) {
				return true
			}
		}
	}
	return false
}

// InternalTypes are the names that PostgreSQL's grammar gives to types with a keyword of their own.
var InternalTypes = map[string]string{
	"smallint": "int2", "integer": "int4", "bigint": "int8", "real": "float4",
	"double precision": "float8", "boolean": "bool",
	"character": "bpchar", "character varying": "varchar", "timestamp with time zone": "timestamptz",
	"time with time zone": "timetz",
}

// ColumnName is the name PostgreSQL gives an output column without AS; "?column?" when it has none.
func ColumnName(x Expr) string {
	if name, _ := figureName(x); name != "" {
		return name
	}
	return "?column?"
}

// figureName follows FigureColnameInternal (parse_target.c): strength 2 is a good name, 1 a weak one.
func figureName(x Expr) (name string, strength int) {
	switch n := x.(type) {
	case *ColumnRef:
		if len(n.Names) > 0 && !n.Star {
			return n.Names[len(n.Names)-1], 2
		}
	case *Subscript:
		return figureName(n.X)
	case *Collate:
		return figureName(n.X)
	case *FuncCall:
		return n.Name, 2
	case *NullIf:
		return "nullif", 2
	case *Cast:
		if name, s := figureName(n.X); s > 1 {
			return name, s
		}
		if short, ok := InternalTypes[n.Type.Name]; ok {
			return short, 1
		}
		return n.Type.Name, 1
	case *Case:
		if n.Else != nil {
			if name, s := figureName(n.Else); s > 1 {
				return name, s
			}
		}
		return "case", 1
	case *ArrayLit:
		return "array", 2
	case *RowExpr:
		return "row", 2
	case *Coalesce:
		return "coalesce", 2
	case *MinMax:
		if n.Greatest {
			return "greatest", 2
		}
		return "least", 2
	case *SubLink:
		switch n.Kind {
		case SubExists:
			return "exists", 2
		case SubArray:
			return "array", 2
		case SubScalar:
			return subSelectName(n.Query)
		}
	}
	return "", 0
}

func subSelectName(q *Select) (string, int) {
	for q.SetOp != "" {
		q = q.L
	}
	if q.Values != nil {
		return "column1", 2
	}
	if len(q.Targets) != 1 {
		return "", 0
	}
	if t := q.Targets[0]; t.Name != "" {
		return t.Name, 2
	}
	return figureName(q.Targets[0].X)
}

// Relocate returns a copy of n in which every node has the position at. A tree of another text that replaces a call
// then reports errors at the call.
func Relocate[T Tree](n T, at Pos) T {
	if isNil(n) {
		return n
	}
	return relocate(reflect.ValueOf(&n).Elem(), at).Interface().(T)
}

func relocate(v reflect.Value, at Pos) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().PkgPath() == pkgPath {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(relocate(v.Elem(), at))
			out.Set(p)
		}
	case reflect.Interface:
		if !v.IsNil() && v.Type().PkgPath() == pkgPath {
			out.Set(relocate(v.Elem(), at))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(relocate(v.Index(i), at))
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Node]() {
			out.Set(reflect.ValueOf(Node{at}))
			return out
		}
		if v.Type().PkgPath() == pkgPath {
			for i := range v.NumField() {
				out.Field(i).Set(relocate(v.Field(i), at))
			}
		}
	}
	return out
}
