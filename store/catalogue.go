package store

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
)

// catalogue is the set of a store's definitions as a session sees them, kept in the table relgrad_catalog.
type catalogue struct {
	*connection
	*settings
	cat   *definitions.Set
	trees map[*catalog.ViewDef]*viewTree // parsed views
}

// load reads the persistent part of the catalogue; temporary objects are kept.
func (d *catalogue) load() error {
	cat := definitions.NewSet()
	if d.cat != nil {
		for k, t := range d.cat.Tables {
			if t.Temp {
				cat.Tables[k] = t
			}
		}
		for k, v := range d.cat.Views {
			if v.Temp {
				cat.Views[k] = v
			}
		}
	}
	err := d.rows("SELECT kind, schema, name, def FROM main.relgrad_catalog", func(r row) error {
		kind, k, def := r.text(0), definitions.Key{Schema: r.text(1), Name: r.text(2)}, []byte(r.text(3))
		switch kind {
		case "table":
			t := &catalog.TableDef{}
			cat.Tables[k] = t
			return json.Unmarshal(def, t)
		case "view":
			v := &catalog.ViewDef{}
			if err := json.Unmarshal(def, v); err != nil {
				return err
			}
			if old := d.cat.View(k); reflect.DeepEqual(old, v) { // keep the pointer, by which views are known
				v = old
			}
			cat.Views[k] = v
		case "function":
			f, err := definitions.DecodeFunction(def)
			cat.Funcs[k] = f
			return err
		case "schema":
			cat.Schemas = append(cat.Schemas, k.Schema)
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.cat = cat
	return nil
}

// save writes one definition; def nil removes it.
func (d *catalogue) save(kind, schema, name string, def any) error {
	if def == nil {
		return d.exec("DELETE FROM main.relgrad_catalog WHERE kind = ? AND schema = ? AND name = ?", kind, schema, name)
	}
	b, err := json.Marshal(def)
	if err != nil {
		return sqlerr.New(sqlerr.Internal, "internal error: catalogue: %v", err)
	}
	return d.exec("INSERT OR REPLACE INTO main.relgrad_catalog VALUES (?, ?, ?, ?)", kind, schema, name, string(b))
}

// putTable replaces or adds (def nil: removes) a table's definition.
func (d *catalogue) putTable(k definitions.Key, t *catalog.TableDef) error {
	d.cat = d.cat.Clone()
	return put(d, "table", d.cat.Tables, k, t, func(t *catalog.TableDef) bool { return t.Temp })
}

func (d *catalogue) putView(k definitions.Key, v *catalog.ViewDef) error {
	d.cat = d.cat.Clone()
	return put(d, "view", d.cat.Views, k, v, func(v *catalog.ViewDef) bool { return v.Temp })
}

// put changes a map of definitions and, but for temporary ones, the file.
func put[T any](d *catalogue, kind string, all map[definitions.Key]*T, k definitions.Key, def *T,
	temp func(*T) bool) error {
	old := all[k]
	if def == nil {
		delete(all, k)
		if old != nil && temp(old) {
			return nil
		}
		return d.save(kind, k.Schema, k.Name, nil)
	}
	all[k] = def
	if temp(def) {
		return nil
	}
	return d.save(kind, k.Schema, k.Name, def)
}

// counted returns how many rows and NULLs a table has. Where that is not known it counts, and this session's catalogue
// keeps the result.
func (d *catalogue) counted(t *catalog.TableDef) (*catalog.Count, error) {
	if t.Count.Fresh() {
		return t.Count, nil
	}
	n := t.Clone()
	if err := d.count(n); err != nil {
		return nil, err
	}
	if d.cat.Tables[definitions.KeyOf(t)] == t {
		cat := d.cat.Clone()
		cat.Tables[definitions.KeyOf(t)] = n
		d.cat = cat
	}
	return n.Count, nil
}

// count counts a table's rows and finds its columns that hold NULL.
func (d *catalogue) count(t *catalog.TableDef) error {
	stats, asked := []string{"count(*)"}, []string(nil) // SQLite counts rows without reading values
	for i := range t.Cols {
		if c := &t.Cols[i]; !c.NotNull {
			value := definitions.Ident(c.Name)
			if c.Type.IsChunk() { // SQLite knows a value's type without reading it
				value = "nullif(typeof(" + value + "), 'null')"
			}
			stats, asked = append(stats, "count("+value+")"), append(asked, c.Name)
		}
	}
	return d.rows("SELECT "+strings.Join(stats, ", ")+" FROM "+definitions.SQL(t), func(r row) error {
		t.Count = &catalog.Count{Rows: r[0].Int()}
		for k, name := range asked {
			if r[k+1].Int() < t.Count.Rows {
				t.Count.Nulls = append(t.Count.Nulls, name)
			}
		}
		return nil
	})
}

// recount updates the count of a table after a statement that wrote rows of it: it counts again where that costs no
// more than the writing did, and else marks the count as stale. It reports whether the count changed.
func (d *catalogue) recount(t *catalog.TableDef, wrote int64) (changed bool, err error) {
	switch {
	case t.Count == nil:
		return false, nil
	case t.Filled: // every step fills the table anew, and plans need no count of it
		t.Count = nil
		return true, nil
	case wrote == 0:
		return false, nil
	case 2*wrote >= t.Count.Rows:
		return true, d.count(t)
	}
	changed, t.Count = !t.Count.Stale, t.Count.AsStale()
	return changed, nil
}

// Function returns a function or procedure created by the user.
func (d *catalogue) Function(schema, name string) *ast.CreateFunction {
	return d.FunctionOn(d.searchPath(), schema, name)
}

// FunctionOn is Function with an unqualified name looked up in the schemas of path.
func (d *catalogue) FunctionOn(path []string, schema, name string) *ast.CreateFunction {
	f, _ := d.cat.Function(path, schema, name)
	return f
}

// Functions lists the names of the user's functions and procedures.
func (d *catalogue) Functions() []string { return d.cat.FunctionNames() }

// viewTree is a view's parsed text.
type viewTree struct {
	sel  *ast.Select
	text *ast.Text
}

func (d *catalogue) viewTree(v *catalog.ViewDef) (*ast.Select, *ast.Text, error) {
	if t := d.trees[v]; t != nil {
		return t.sel, t.text, nil
	}
	text := &ast.Text{SQL: v.SQL, View: v.Name}
	sel, err := parse.ParseSelect(text)
	if err != nil {
		return nil, nil, err
	}
	if len(d.trees) > 1000 {
		clear(d.trees)
	}
	d.trees[v] = &viewTree{sel, text}
	return sel, text, nil
}

// NamesType reports whether a name is that of a type: of the store, of servers only, or of a relation's rows.
func (d *catalogue) NamesType(schema, name string) bool {
	if columns.Storage[name] != "" || columns.OtherTypes[name] || strings.Contains(name, "%") {
		return true
	}
	t, v := d.cat.Relation(d.searchPath(), schema, name)
	return t != nil || v != nil
}

// Definition returns the store's own description of a table, nil if there is none of that name.
func (d *catalogue) Definition(schema, name string) *catalog.TableDef {
	t, _ := d.cat.Relation(d.searchPath(), schema, name)
	return t
}

// View returns a view, of which the text is read with the view's own search path; ok is false where there is none.
func (d *catalogue) View(path []string, schema, name string) (v *catalog.ViewDef, ok bool) {
	if path == nil {
		path = d.searchPath()
	}
	_, v = d.cat.Relation(path, schema, name)
	return v, v != nil
}

// Relation finds a table or view by a possibly qualified name along a search path.
func (d *catalogue) Relation(path []string, schema, name string) (*catalog.TableDef, *catalog.ViewDef) {
	return d.cat.Relation(path, schema, name)
}

// Relations lists tables and views as a statement would name them: with the schema where the search path lacks it.
func (d *catalogue) Relations() []string { return d.cat.RelationNames(d.searchPath()) }
