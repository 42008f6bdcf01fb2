package definitions

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/store/columns"
)

// HasUnique reports whether a key or a unique index has exactly these columns.
func HasUnique(t *catalog.TableDef, cols []string) bool {
	same := func(u []string) bool {
		if len(u) != len(cols) {
			return false
		}
		for _, c := range cols {
			found := false
			for _, d := range u {
				found = found || c == d
			}
			if !found {
				return false
			}
		}
		return true
	}
	if t.PK != nil && same(t.PK.Cols) {
		return true
	}
	for _, u := range t.Uniques {
		if same(u.Cols) {
			return true
		}
	}
	return slices.ContainsFunc(t.Indexes, func(x catalog.Index) bool { return x.Unique && x.Where == "" && same(x.Cols) })
}

// IndexNames names the indexes of a table, those of its keys too.
func IndexNames(t *catalog.TableDef) []string {
	out := KeyNames(t)
	for _, x := range t.Indexes {
		out = append(out, x.Name)
	}
	return out
}

// ConstraintNames names the constraints of a table.
func ConstraintNames(t *catalog.TableDef) []string {
	out := KeyNames(t)
	for _, c := range t.Checks {
		out = append(out, c.Name)
	}
	for _, f := range t.Foreign {
		out = append(out, f.Constraint)
	}
	return out
}

// ObjectName is table_columns_label, shortened at its longer part to the length of a name (PostgreSQL's
// makeObjectName).
func ObjectName(table, cols, label string) string {
	room := 63 - len(label) - 1
	if cols != "" {
		room--
	}
	n, m := len(table), len(cols)
	for n+m > room {
		if n > m {
			n--
		} else {
			m--
		}
	}
	out := clipped(table, n)
	if cols != "" {
		out += "_" + clipped(cols, m)
	}
	return out + "_" + label
}

// CreateTable prints CREATE TABLE under a physical name.
func CreateTable(t *catalog.TableDef, phys string) string {
	var p []string
	rowid := RowidColumn(t)
	for i := range t.Cols {
		c := &t.Cols[i]
		s := Ident(c.Name) + " " + columns.StorageOf(c.Type)
		if IsHeld(t, i) {
			s = Ident(c.Name) + " INTEGER"
		}
		switch {
		case i == rowid:
			s += " PRIMARY KEY"
		default:
			s = columns.Collated(c.Type, s)
		}
		if c.NotNull && i != rowid {
			s += " NOT NULL"
		}
		p = append(p, s)
	}
	if t.PK != nil && rowid < 0 {
		p = append(p, "PRIMARY KEY ("+Idents(t.PK.Cols)+")")
	}
	for _, u := range t.Uniques {
		p = append(p, "UNIQUE ("+Idents(u.Cols)+")")
	}
	for _, c := range t.Checks {
		p = append(p, "CONSTRAINT "+sqltext.Ident(c.Name)+" CHECK ("+c.SQL+")")
	}
	for _, f := range t.Foreign {
		ref := FileNameOf(f.Schema, f.Name)
		if f.Schema == t.Schema && f.Name == t.Name {
			ref = phys
		}
		p = append(p, "FOREIGN KEY ("+Idents(f.Cols)+") REFERENCES "+sqltext.Ident(ref)+" ("+Idents(f.RefCols)+")")
	}
	if len(p) == 0 {
		p = []string{"\"relgrad_empty\" INTEGER"} // SQLite has no table without columns
	}
	return "CREATE TABLE " + Database(t) + "." + sqltext.Ident(phys) + " (" + strings.Join(p, ", ") + ") STRICT"
}

// RowidColumn is the integer primary key that SQLite stores as the row id, -1 if there is none.
func RowidColumn(t *catalog.TableDef) int {
	if t.PK == nil || len(t.PK.Cols) != 1 {
		return -1
	}
	if i := t.Column(t.PK.Cols[0]); t.Cols[i].Type.IsInt() {
		return i
	}
	return -1
}

// IsRowID reports whether SQLite stores a column as the row id.
func IsRowID(t *catalog.TableDef, c *catalog.Column) bool {
	i := RowidColumn(t)
	return i >= 0 && t.Cols[i].Name == c.Name
}

// FileName is the table's name in the file.
func FileName(t *catalog.TableDef) string { return FileNameOf(t.Schema, t.Name) }

func Database(t *catalog.TableDef) string { return DatabaseName(t.Temp) }

func SQL(t *catalog.TableDef) string { return Database(t) + "." + sqltext.Ident(FileName(t)) }

// DatabaseName is SQLite's name of the database in which temporary or stored tables lie.
func DatabaseName(temp bool) string {
	if temp {
		return "temp"
	}
	return "main"
}

// FileNameOf is a relation's name in the file.
func FileNameOf(schema, name string) string {
	if schema == "public" || schema == "pg_temp" {
		return sqlgen.Mangle(name)
	}
	return sqlgen.Mangle(schema) + "." + sqlgen.Mangle(name)
}

// Ident prints an identifier for SQLite.
func Ident(name string) string { return sqltext.Ident(sqlgen.Mangle(name)) }

// Idents prints identifiers with commas between them.
func Idents(names []string) string { return strings.Join(lists.Map(names, Ident), ", ") }

// CheckWritable refuses to write a materialized view.
func CheckWritable(t *catalog.TableDef) error {
	if t.Matview == nil {
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "cannot change materialized view \"%s\"", t.Name).
		WithHint("Change the tables that it reads, then REFRESH it.")
}

// KeyOf is the name of a table.
func KeyOf(t *catalog.TableDef) Key { return Key{t.Schema, t.Name} }

// RowidName is a name of the row id that no column hides.
func RowidName(t *catalog.TableDef) string {
	for _, n := range []string{"rowid", "_rowid_", "oid"} {
		if t.Column(n) < 0 {
			return n
		}
	}
	return "rowid"
}

// InKey reports whether a column is part of a key.
func InKey(t *catalog.TableDef, col string) bool {
	for _, k := range t.Keys() {
		for _, c := range k {
			if c == col {
				return true
			}
		}
	}
	return false
}

// ErrNull refuses NULL in a column that is NOT NULL.
func ErrNull(table, col string) *sqlerr.Error {
	return sqlerr.New(sqlerr.NotNullViolation,
		"null value in column \"%s\" of relation \"%s\" violates not-null constraint", col, table)
}

// Rebuilt is the suffix of the name of a table that is being rebuilt.
const Rebuilt = "^new"

// UniqueName is the name of the constraint or index over exactly these columns.
func UniqueName(t *catalog.TableDef, cols []string) string {
	same := func(u []string) bool { return strings.Join(u, ",") == strings.Join(cols, ",") }
	if t.PK != nil && same(t.PK.Cols) {
		return t.PK.Name
	}
	for _, u := range t.Uniques {
		if same(u.Cols) {
			return u.Name
		}
	}
	for _, x := range t.Indexes {
		if same(x.Cols) {
			return x.Name
		}
	}
	return t.Name + "_" + strings.Join(cols, "_") + "_key"
}

// IsHeld reports whether the table holds numbers of chunks in this column, not the chunks.
func IsHeld(t *catalog.TableDef, col int) bool { return t.Held != nil && t.Held[col] }

// ReadColumn prints column i of the table that alias names.
func ReadColumn(t *catalog.TableDef, alias string, i int) string {
	sql := alias + Ident(t.Cols[i].Name)
	if IsHeld(t, i) {
		return "rg_held(" + sql + ")"
	}
	return sql
}

// CreateIndex prints CREATE INDEX.
func CreateIndex(t *catalog.TableDef, x catalog.Index) string {
	unique := ""
	if x.Unique {
		unique = "UNIQUE "
	}
	name := Database(t) + "." + sqltext.Ident(FileNameOf(t.Schema, x.Name)+"^i")
	sql := "CREATE " + unique + "INDEX " + name + " ON " + sqltext.Ident(FileName(t)) + " (" + x.Keys + ")"
	if x.Where != "" {
		sql += " WHERE " + x.Where
	}
	return sql
}

// CheckPopulated refuses to read a materialized view WITH NO DATA.
func CheckPopulated(t *catalog.TableDef) error {
	if !t.Unread {
		return nil
	}
	return sqlerr.New(sqlerr.ObjectNotPrereqState, "materialized view \"%s\" has not been populated", t.Name).
		WithHint("Use the REFRESH MATERIALIZED VIEW command.")
}

// KindOf is the kind of a table, for messages.
func KindOf(t *catalog.TableDef) string {
	if t.Matview != nil {
		return "materialized view"
	}
	return "table"
}

// KeyNames names the indexes of a table's keys.
func KeyNames(t *catalog.TableDef) (out []string) {
	if t.PK != nil {
		out = append(out, t.PK.Name)
	}
	for _, u := range t.Uniques {
		out = append(out, u.Name)
	}
	return out
}

// LayoutOf is equal for result tables that can stand for each other.
func LayoutOf(t *catalog.TableDef) string {
	var b strings.Builder
	for i, c := range t.Cols {
		b.WriteString(c.Name + " " + c.Type.String() + ",")
		if IsHeld(t, i) {
			b.WriteString("held,")
		}
	}
	return b.String()
}

// IdentityOf chooses the columns that identify a row: the primary key, else a UNIQUE NOT NULL, else none.
func IdentityOf(t *catalog.TableDef, rows int64) (key []int, declared bool) {
	if keys := t.Keys(); len(keys) > 0 {
		for _, c := range keys[0] {
			key = append(key, t.Column(c))
		}
		return key, true
	}
	if rows == 1 {
		return nil, true
	}
	return []int{ra.RowID}, false
}

// clipped is at most n bytes of s, cut between characters.
func clipped(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
