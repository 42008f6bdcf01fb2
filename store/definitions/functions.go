package definitions

import (
	"bytes"
	"encoding/gob"
	"encoding/json"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

func init() {
	for _, x := range []any{&ast.ColumnRef{}, &ast.Literal{}, &ast.Unary{}, &ast.Binary{}, &ast.FuncCall{}, &ast.Case{},
		&ast.Coalesce{},
		&ast.MinMax{}, &ast.NullIf{}, &ast.Cast{}, &ast.ArrayLit{}, &ast.RowExpr{}, &ast.IsNull{}, &ast.Between{}, &ast.In{},
		&ast.Subscript{}} {
		gob.Register(x)
	}
}

// functionDef is how a function is stored: as gob, because defaults of parameters are trees.
type functionDef struct{ Gob []byte }

// EncodeFunction encodes a function for storage.
func EncodeFunction(f *ast.CreateFunction) (functionDef, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(f)
	if err != nil {
		err = sqlerr.New(sqlerr.FeatureNotSupported, "a default of function \"%s\" is too complex to store: %v", f.Name, err)
	}
	return functionDef{b.Bytes()}, err
}

// DecodeFunction decodes what EncodeFunction has made.
func DecodeFunction(def []byte) (*ast.CreateFunction, error) {
	var d functionDef
	if err := json.Unmarshal(def, &d); err != nil {
		return nil, err
	}
	f := &ast.CreateFunction{}
	return f, gob.NewDecoder(bytes.NewReader(d.Gob)).Decode(f)
}
