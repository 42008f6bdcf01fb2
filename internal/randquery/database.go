package randquery

import (
	"fmt"
	"math/rand"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// Database is a database as data.
type Database struct{ Tables []*Table }

// Table is one table: its first Keys columns are the primary key; a table without keys has a hidden row id,
// or, with exactly one row, counts as keyed.
type Table struct {
	Name  string
	Keys  int
	Cols  []*Column
	Rows  int
	Fixed bool // its float columns are never parameters, so they may stand in joins and groups
}

// Column is a column and its data.
type Column struct {
	Name   string
	PGType string       // integer, bigint, text, boolean, or "" for a float column of Type's shape
	Type   kernels.Type // of a float column the kind is chosen when the database is loaded
	Data   []kernels.Value
}

// single reports whether the table is keyed because it holds one row.
func (t *Table) single() bool { return t.Keys == 0 && t.Rows == 1 }

// Table returns the table of that name, or nil.
func (d *Database) Table(name string) *Table {
	for _, t := range d.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// column returns the column of that name, or nil.
func (t *Table) column(name string) *Column {
	for _, c := range t.Cols {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Mem loads the database into memory, float columns in the given kind.
func (d *Database) Mem(kind kernels.Kind) *memdb.DB {
	db := memdb.New()
	for _, t := range d.Tables {
		cols := lists.Map(t.Cols,
			func(c *Column) memdb.Column { return memdb.Column{Name: c.Name, Data: c.vector(kind, t.Rows)} })
		mt := db.Create(t.Name, t.Keys, cols...)
		if t.single() {
			mt.Key, mt.Declared = nil, true
		}
	}
	return db
}

func (c *Column) vector(kind kernels.Kind, rows int) *column.Column {
	ty := c.Type
	if ty.IsFloat() {
		ty.Kind = kind
	}
	v := column.New(ty, rows)
	for i, x := range c.Data {
		v.Set(i, x)
	}
	return v
}

// pgType is the declared type of the column when floats are of the given kind.
func (c *Column) pgType(kind kernels.Kind) string {
	if !c.Type.IsFloat() {
		return c.PGType
	}
	return kind.String() + strings.Repeat("[]", len(c.Type.Shape))
}

// Script prints the statements that create and fill the database, float columns in the given kind.
func (d *Database) Script(kind kernels.Kind) []string {
	var out []string
	for _, t := range d.Tables {
		var cols, keys []string
		for i, c := range t.Cols {
			cols = append(cols, c.Name+" "+c.pgType(kind))
			if i < t.Keys {
				keys = append(keys, c.Name)
			}
		}
		if keys != nil {
			cols = append(cols, "PRIMARY KEY ("+strings.Join(keys, ", ")+")")
		}
		out = append(out, fmt.Sprintf("CREATE TABLE %s (%s);", t.Name, strings.Join(cols, ", ")))
		var rows []string
		for i := range t.Rows {
			vals := lists.Map(t.Cols, func(c *Column) string { return literal(c.Data[i]) })
			rows = append(rows, "("+strings.Join(vals, ", ")+")")
		}
		if rows != nil {
			out = append(out, fmt.Sprintf("INSERT INTO %s VALUES %s;", t.Name, strings.Join(rows, ", ")))
		}
	}
	return out
}

// literal prints a value as a SQL literal.
func literal(v kernels.Value) string {
	if v.Null || !v.Type.IsChunk() {
		return v.String()
	}
	var list func(f []float64, s []int) string
	list = func(f []float64, s []int) string {
		if len(s) == 0 {
			return fmt.Sprint(f[0])
		}
		step, parts := len(f)/s[0], []string(nil)
		for i := range s[0] {
			parts = append(parts, list(f[i*step:(i+1)*step], s[1:]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "'" + list(v.F, v.Type.Shape) + "'"
}

// Names of identity and attribute columns have one type in every table, so that USING and NATURAL fit; value
// columns have names of their own.
var (
	intNames  = []string{"k", "g", "h", "j"}
	textNames = []string{"t", "s"}
	boolNames = []string{"b", "f"}
	texts     = []string{"a", "b", "ab", "c"}
)

// dbGen draws a database.
type dbGen struct {
	r      *rand.Rand
	prefix string // of every name
	dims   []int  // lengths of axes, few, so that shapes meet
}

// newDatabase draws two to four tables of different kinds; some table always has a key and values.
func newDatabase(r *rand.Rand, prefix string, dims []int) *Database {
	g := &dbGen{r, prefix, dims}
	d := &Database{}
	kinds := []func(name string) *Table{g.plain, g.edge, g.textKey, g.mixedKey, g.keyless, g.single, g.fixed}
	d.Tables = append(d.Tables, kinds[r.Intn(4)](prefix+"w1"))
	for i := range 1 + r.Intn(3) {
		d.Tables = append(d.Tables, kinds[r.Intn(len(kinds))](fmt.Sprintf("%sw%d", prefix, i+2)))
	}
	return d
}

func (g *dbGen) add(t *Table, name, pg string, ty kernels.Type, value func(row int) kernels.Value) {
	c := &Column{Name: g.prefix + name, PGType: pg, Type: ty}
	for i := range t.Rows {
		c.Data = append(c.Data, value(i))
	}
	t.Cols = append(t.Cols, c)
}

func (g *dbGen) ints(t *Table, name string, value func(row int) int64) {
	pg := "integer"
	if g.r.Intn(3) == 0 {
		pg = "bigint"
	}
	g.add(t, name, pg, kernels.Type{Kind: kernels.Int}, func(i int) kernels.Value { return kernels.IntValue(value(i)) })
}

func (g *dbGen) texts(t *Table, name string, value func(row int) string) {
	g.add(t, name, "text", kernels.Type{Kind: kernels.Text}, func(i int) kernels.Value {
		return kernels.TextValue(value(i))
	})
}

// attrs adds attributes other than the given names; some hold NULL.
func (g *dbGen) attrs(t *Table, without ...string) {
	used := map[string]bool{}
	for _, n := range without {
		used[n] = true
	}
	for range g.r.Intn(4) {
		pool := [][]string{intNames, intNames, textNames, boolNames}[g.r.Intn(4)]
		name := pool[g.r.Intn(len(pool))]
		if used[name] {
			continue
		}
		used[name] = true
		nulls := g.r.Intn(3) == 0
		from := len(t.Cols)
		switch pool[0] {
		case "k":
			g.ints(t, name, func(int) int64 { return int64(g.r.Intn(4)) })
		case "t":
			g.texts(t, name, func(int) string { return texts[g.r.Intn(len(texts))] })
		default:
			g.add(t, name, "boolean", kernels.Type{Kind: kernels.Bool}, func(int) kernels.Value {
				return kernels.BoolValue(g.r.Intn(2) == 0)
			})
		}
		for i := range t.Rows {
			if nulls && g.r.Intn(4) == 0 {
				t.Cols[from].Data[i].Null = true
			}
		}
	}
}

// shape draws the shape of a value column: a scalar, a vector or a matrix.
func (g *dbGen) shape() []int {
	d := func() int { return g.dims[g.r.Intn(len(g.dims))] }
	switch g.r.Intn(10) {
	case 0, 1, 2:
		return nil
	case 3, 4, 5, 6:
		return []int{d()}
	case 7, 8:
		return []int{d(), d()}
	}
	return []int{g.dims[0], 1}
}

// values adds n value columns; some hold NULL.
func (g *dbGen) values(t *Table, n int) {
	for i := range n {
		shape := g.shape()
		if t.Rows == 0 {
			shape = nil // a chunk's shape comes from the data
		}
		nulls := g.r.Intn(4) == 0 && t.Rows > 1
		name := fmt.Sprintf("%s%s%d", [...]string{"x", "v", "m"}[len(shape)], strings.TrimPrefix(t.Name, g.prefix), i+1)
		valid := 0
		g.add(t, name, "", kernels.Type{Kind: kernels.Float64, Shape: shape}, func(row int) kernels.Value {
			v := kernels.Value{Type: kernels.Type{Kind: kernels.Float64, Shape: shape}}
			if nulls && g.r.Intn(4) == 0 && !(row == t.Rows-1 && valid == 0) {
				v.Null = true
				return v
			}
			valid++
			f := make([]float64, v.Type.Size())
			for j := range f { // exact in real, too
				f[j] = float64(g.r.Intn(4096)-2048) / 1024
			}
			if v.X = f[0]; shape != nil {
				v.X, v.F = 0, f
			}
			return v
		})
	}
}

func (g *dbGen) rows() int {
	if g.r.Intn(25) == 0 {
		return 0
	}
	return 2 + g.r.Intn(5)
}

// plain has one integer key.
func (g *dbGen) plain(name string) *Table {
	t := &Table{Name: name, Keys: 1, Rows: g.rows()}
	g.ints(t, "k", func(i int) int64 { return int64(i) })
	g.attrs(t, "k")
	g.values(t, 1+g.r.Intn(2))
	return t
}

// edge has a key of two integers.
func (g *dbGen) edge(name string) *Table {
	t := &Table{Name: name, Keys: 2, Rows: g.rows()}
	pairs := g.r.Perm(16)
	g.ints(t, "h", func(i int) int64 { return int64(pairs[i] / 4) })
	g.ints(t, "j", func(i int) int64 { return int64(pairs[i] % 4) })
	g.attrs(t, "h", "j")
	g.values(t, 1+g.r.Intn(2))
	return t
}

// textKey has a text key.
func (g *dbGen) textKey(name string) *Table {
	t := &Table{Name: name, Keys: 1, Rows: min(g.rows(), len(texts))}
	g.texts(t, "t", func(i int) string { return texts[i] })
	g.attrs(t, "t")
	g.values(t, 1+g.r.Intn(2))
	return t
}

// mixedKey has a key of a text and an integer, after each other in any order of rows.
func (g *dbGen) mixedKey(name string) *Table {
	t := &Table{Name: name, Keys: 2, Rows: g.rows()}
	pairs := g.r.Perm(4 * len(texts))
	g.texts(t, "s", func(i int) string { return texts[pairs[i]%len(texts)] })
	g.ints(t, "g", func(i int) int64 { return int64(pairs[i] / len(texts)) })
	g.attrs(t, "s", "g")
	g.values(t, 1+g.r.Intn(2))
	return t
}

// keyless has no key: its identity is a hidden row id.
func (g *dbGen) keyless(name string) *Table {
	t := &Table{Name: name, Rows: 2 + g.r.Intn(4)}
	g.ints(t, "k", func(int) int64 { return int64(g.r.Intn(4)) })
	g.attrs(t, "k")
	g.values(t, 1)
	return t
}

// single has one row and no key.
func (g *dbGen) single(name string) *Table {
	t := &Table{Name: name, Rows: 1}
	g.values(t, 1+g.r.Intn(2))
	if g.r.Intn(2) == 0 {
		g.attrs(t)
	}
	return t
}

// fixed has a float attribute: a scalar of few values that no parameter reaches.
func (g *dbGen) fixed(name string) *Table {
	t := &Table{Name: name, Keys: 1, Rows: g.rows(), Fixed: true}
	g.ints(t, "k", func(i int) int64 { return int64(i) })
	g.attrs(t, "k")
	g.add(t, "fx", "", kernels.Type{Kind: kernels.Float64}, func(int) kernels.Value {
		return kernels.FloatValue(float64(g.r.Intn(3)) / 2)
	})
	return t
}
