package parse

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// TestTrees prints the trees of testdata/trees.txt: type names and the fields that are set, without positions.
func TestTrees(t *testing.T) {
	datadriven.RunTest(t, "testdata/trees.txt", func(t *testing.T, d *datadriven.TestData) string {
		ps, err := Parse(&ast.Text{SQL: d.Input})
		if err != nil {
			return sqlerr.Render(err)
		}
		var b strings.Builder
		for _, p := range ps {
			dump(&b, reflect.ValueOf(p.Stmt))
			b.WriteByte('\n')
		}
		return b.String()
	})
}

func dump(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		dump(b, v.Elem())
	case reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteString(", ")
			}
			dump(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.Struct:
		b.WriteString(v.Type().Name() + "{")
		sep := ""
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Name == "Node" || f.Name == "End" || f.Name == "SQLAt" || f.Name == "BodyAt" || v.Field(i).IsZero() {
				continue
			}
			b.WriteString(sep + f.Name + ":")
			dump(b, v.Field(i))
			sep = " "
		}
		b.WriteByte('}')
	case reflect.String:
		fmt.Fprintf(b, "%q", v.String())
	case reflect.Invalid:
		b.WriteString("nil")
	default:
		fmt.Fprintf(b, "%v", v)
	}
}
