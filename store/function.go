package store

import (
	"bytes"
	"encoding/gob"
	"encoding/json"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront"
)

func (b *binder) createFunction(s *sqlfront.CreateFunction) (*Result, error) {
	tag := "CREATE FUNCTION"
	if s.Procedure {
		tag = "CREATE PROCEDURE"
	}
	k := objectKey{orName(s.Schema, b.firstSchema(false)), s.Name}
	if old := b.db.cat.funcs[k]; old != nil && !s.Replace {
		b.fail(s.At, "42723", "function \"%s\" already exists with same argument types", s.Name)
	}
	b.sameCalls(s, k)
	f := *s
	f.Body, f.BodyAt, f.At = s.Body, 0, 0 // positions count from the body from now on
	b.db.cat = b.db.cat.clone()
	b.db.cat.funcs[k] = &f
	def, err := encodeFunction(&f)
	if err != nil {
		return nil, err
	}
	return &Result{Tag: tag}, b.db.save("function", k.schema, k.name, def)
}

// sameCalls refuses another signature or result for a function that views call: their columns have its types.
func (b *binder) sameCalls(s *sqlfront.CreateFunction, k objectKey) {
	old, callers := b.db.cat.funcs[k], b.db.callers(k)
	if old == nil || len(callers) == 0 || old.Signature() == s.Signature() && s.Returns != nil && old.Returns.String() == s.Returns.String() {
		return
	}
	b.failHint(s.At, "42P13", "Drop the view first, or give the new function another name.",
		"cannot change the types of the function %s because view \"%s\" depends on it", old.Signature(), callers[0].name)
}

func init() {
	for _, x := range []any{&sqlfront.ColumnRef{}, &sqlfront.Literal{}, &sqlfront.Unary{}, &sqlfront.Binary{}, &sqlfront.FuncCall{}, &sqlfront.Case{}, &sqlfront.Coalesce{},
		&sqlfront.MinMax{}, &sqlfront.NullIf{}, &sqlfront.Cast{}, &sqlfront.ArrayLit{}, &sqlfront.RowExpr{}, &sqlfront.IsNull{}, &sqlfront.Between{}, &sqlfront.In{}, &sqlfront.Subscript{}} {
		gob.Register(x)
	}
}

// functionDef is a function's stored form: gob, because defaults of parameters are trees.
type functionDef struct{ Gob []byte }

func encodeFunction(f *sqlfront.CreateFunction) (functionDef, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(f)
	if err != nil {
		err = sqlerr.New(sqlerr.FeatureNotSupported, "a default of function \"%s\" is too complex to store: %v", f.Name, err)
	}
	return functionDef{b.Bytes()}, err
}

func decodeFunction(def []byte) (*sqlfront.CreateFunction, error) {
	var d functionDef
	if err := json.Unmarshal(def, &d); err != nil {
		return nil, err
	}
	f := &sqlfront.CreateFunction{}
	return f, gob.NewDecoder(bytes.NewReader(d.Gob)).Decode(f)
}
