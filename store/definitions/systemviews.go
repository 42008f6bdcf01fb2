package definitions

import (
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
)

// SystemViews are the views of information_schema and pg_catalog that the store has, with the columns that it can fill.
// They are filled for each statement that names them.
var SystemViews = map[string]func(*catalog.Objects) *catalog.Relation{
	"information_schema.tables":  tablesView,
	"information_schema.columns": columnsView,
	"pg_catalog.pg_tables":       pgTables,
	"pg_catalog.pg_views":        pgViews,
}

// sheet is a Relation that grows row by row.
type sheet struct{ *catalog.Relation }

// newSheet begins a sheet with columns given as name and type in turn.
func newSheet(cols ...string) sheet {
	r := &catalog.Relation{}
	kinds := map[string]kernels.Kind{"text": kernels.Text, "integer": kernels.Int, "boolean": kernels.Bool}
	for i := 0; i < len(cols); i += 2 {
		r.Names, r.Types = append(r.Names, cols[i]), append(r.Types, cols[i+1])
		r.Cols = append(r.Cols, column.New(kernels.Type{Kind: kinds[cols[i+1]], Nullable: true}, 0))
	}
	return sheet{r}
}

// add appends a row of nil, string, int and bool.
func (s sheet) add(row ...any) {
	for i, x := range row {
		v := s.Cols[i]
		text, isText := x.(string)
		number, _ := x.(int)
		if yes, _ := x.(bool); yes {
			number = 1
		}
		if isText || v.Type().Kind == kernels.Text {
			v.AddText(text)
		} else {
			v.AddI64(int64(number))
		}
		if v.SetLen(v.Len() + 1); x == nil {
			v.SetNull(v.Len() - 1)
		}
	}
}

// yesNo is the standard's type yes_or_no.
func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// orNull is nil for an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func tablesView(o *catalog.Objects) *catalog.Relation {
	s := newSheet("table_schema", "text", "table_name", "text", "table_type", "text", "is_insertable_into", "text")
	for _, t := range o.Tables {
		if t.Matview != nil {
			continue
		}
		kind := "BASE TABLE"
		if t.Temp {
			kind = "LOCAL TEMPORARY"
		}
		s.add(t.Schema, t.Name, kind, "YES")
	}
	for _, v := range o.Views {
		s.add(v.Schema, v.Name, "VIEW", "NO")
	}
	return s.Relation
}

// udtNames are the types' names in Postgres's catalogue.
var udtNames = map[string]string{"smallint": "int2", "integer": "int4", "bigint": "int8", "real": "float4",
	"double precision": "float8", "boolean": "bool",
	"timestamp with time zone": "timestamptz"}

func columnsView(o *catalog.Objects) *catalog.Relation {
	s := newSheet("table_schema", "text", "table_name", "text", "column_name", "text", "ordinal_position", "integer",
		"column_default", "text", "is_nullable", "text", "data_type", "text", "character_maximum_length", "integer",
		"numeric_precision", "integer", "numeric_precision_radix", "integer", "numeric_scale", "integer",
		"udt_name", "text", "is_identity", "text", "identity_generation", "text")
	for _, t := range o.Tables {
		for i := range t.Cols {
			if t.Matview != nil {
				break
			}
			s.addColumn(t.Schema, t.Name, i, &t.Cols[i])
		}
	}
	for _, v := range o.Views {
		for i, c := range v.Cols {
			s.addColumn(v.Schema, v.Name, i, &catalog.Column{Name: c.Name, Type: c.Type})
		}
	}
	return s.Relation
}

// addColumn appends a row of information_schema.columns.
func (s sheet) addColumn(schema, table string, i int, c *catalog.Column) {
	var fill, generation any
	switch {
	case c.Identity != nil && c.Identity.Serial:
		fill = "nextval('" + ObjectName(table, c.Name, "seq") + "'::regclass)"
	case c.Identity == nil:
		fill = orNull(c.DefaultText())
	case c.Identity.Always:
		generation = "ALWAYS"
	default:
		generation = "BY DEFAULT"
	}
	t := typeRow(c)
	s.add(schema, table, c.Name, i+1, fill, yesNo(!c.NotNull), t.data, t.length, t.precision, t.radix, t.scale, t.udt,
		yesNo(c.Identity != nil && !c.Identity.Serial), generation)
}

// columnType is how information_schema.columns describes a type; nil: not at all.
type columnType struct {
	data, udt                       string
	length, precision, radix, scale any
}

func typeRow(c *catalog.Column) columnType {
	r := columnType{data: (&catalog.Column{Type: c.Type}).TypeText(), udt: udtNames[c.Type.Name]}
	if r.udt == "" {
		r.udt = c.Type.Name
	}
	switch {
	case c.Type.Array:
		r.data, r.udt = "ARRAY", "_"+r.udt
	case c.Type.Name == "text" && len(c.Mods) > 0:
		r.data, r.udt, r.length = "character varying", "varchar", c.Mods[0]
	case c.Type.Is(catalog.Numeric):
		r.radix = 10
		if len(c.Mods) > 0 {
			r.precision, r.scale = c.Mods[0], 0
		}
		if len(c.Mods) > 1 {
			r.scale = c.Mods[1]
		}
	case c.Type.IsInt():
		r.precision, r.radix, r.scale = 8*c.Type.Size(), 2, 0
	case c.Type.Is(catalog.Float4):
		r.precision, r.radix = 24, 2
	case c.Type.Is(catalog.Float8):
		r.precision, r.radix = 53, 2
	}
	return r
}

func pgTables(o *catalog.Objects) *catalog.Relation {
	s := newSheet("schemaname", "text", "tablename", "text", "hasindexes", "boolean")
	for _, t := range o.Tables {
		if t.Matview != nil {
			continue
		}
		s.add(t.Schema, t.Name, t.PK != nil || len(t.Uniques)+len(t.Indexes) > 0)
	}
	return s.Relation
}

func pgViews(o *catalog.Objects) *catalog.Relation {
	s := newSheet("schemaname", "text", "viewname", "text", "definition", "text")
	for _, v := range o.Views {
		s.add(v.Schema, v.Name, v.SQL)
	}
	return s.Relation
}
