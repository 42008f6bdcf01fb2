package sqlgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
)

// temp names a target's state.
func (t *target) temp() string { return "pg_temp." + Postgres{}.Ident(t.state) }

// flags adds flags to the state of a table with several trained columns: one for each column not trained in all rows.
func (t *target) flags() {
	if len(t.slots) < 2 {
		return
	}
	for _, s := range t.slots {
		if s.conditional() {
			s.flag = t.free(s.col().Name + "_trained")
		}
	}
}

// trained is the condition under which a row's column is trained. A user's condition is followed by a line end, which
// ends a comment in it.
func (s *stepSlot) trained() string {
	var conds []string
	if s.col().Type.Nullable {
		conds = append(conds, Postgres{}.Ident(s.col().Name)+" IS NOT NULL")
	}
	for _, w := range s.Where {
		conds = append(conds, "("+w+"\n) IS TRUE")
	}
	return conjunction(conds)
}

// tables prints what makes, compacts and drops a target's state.
func (p *stepPrinter) tables(t *target) {
	d := Postgres{}
	cols, types := t.columns()
	rows := lists.Map(t.slots, func(s *stepSlot) string { return s.trained() })
	where := "\nWHERE " + strings.Join(rows, " OR ")
	if slices.Contains(rows, "TRUE") {
		where = ""
	}
	p.table(t.state, list("SELECT ", cols, ", ")+"\nFROM "+d.Table(t.Table)+where, types)
	fresh := d.Ident(t.state + "_new")
	p.out.Compact = append(p.out.Compact, "CREATE TEMPORARY TABLE "+fresh+" (LIKE "+t.temp()+" INCLUDING ALL)",
		"INSERT INTO pg_temp."+fresh+" TABLE "+t.temp(), "DROP TABLE "+t.temp(),
		"ALTER TABLE pg_temp."+fresh+" RENAME TO "+d.Ident(t.state), "ANALYZE "+t.temp())
	if keys := t.keys(""); keys != nil && slices.ContainsFunc(t.slots, func(s *stepSlot) bool { return s.Sparse }) {
		p.out.Setup = append(p.out.Setup, "ALTER TABLE "+t.temp()+" ADD PRIMARY KEY ("+strings.Join(keys, ", ")+")")
	}
}

// table makes a temporary table of a query's rows; chunks are its columns of chunks, names as printed.
func (p *stepPrinter) table(name, query string, chunks []string) {
	d := Postgres{}
	temp := "pg_temp." + d.Ident(name)
	// without the NOTICE of IF EXISTS
	drop := "DO $$ BEGIN IF to_regclass('" + temp + "') IS NOT NULL THEN DROP TABLE " + temp + "; END IF; END $$"
	p.out.Teardown = append(p.out.Teardown, drop)
	p.out.Setup = append(p.out.Setup, drop, "CREATE TEMPORARY TABLE "+d.Ident(name)+" AS\n"+query+"\nWITH NO DATA")
	if len(chunks) > 0 { // EXTERNAL: floats compress badly, and most are read or written at every step
		for i, c := range chunks {
			chunks[i] = "ALTER COLUMN " + c + " SET STORAGE EXTERNAL"
		}
		p.out.Setup = append(p.out.Setup, "ALTER TABLE "+temp+" "+strings.Join(chunks, ", "))
	}
	p.out.Setup = append(p.out.Setup, "INSERT INTO "+temp+"\n"+query, "ANALYZE "+temp)
}

// zero prints the zero of a type, as the SQL type as.
func zero(t kernels.Type, as string) string {
	x, _ := Postgres{}.Const(kernels.ZerosLike(t).Const) // a number never fails
	if t.IsChunk() {
		return x
	}
	return x + "::" + as
}

// columns are the state's columns as a SELECT from the table computes them, and the names of those that hold chunks.
func (t *target) columns() (cols, chunks []string) {
	d := Postgres{}
	cols = t.keys("")
	for _, s := range t.slots {
		for _, b := range s.buffers {
			cols = append(cols, zero(s.col().Type, s.col().Type.Kind.String())+" AS "+d.Ident(b))
			if s.col().Type.IsChunk() {
				chunks = append(chunks, d.Ident(b))
			}
		}
		if s.flag != "" {
			cols = append(cols, s.trained()+" AS "+d.Ident(s.flag))
		}
	}
	if cols == nil { // SQL needs at least one column
		cols = []string{"TRUE AS one"}
	}
	return cols, chunks
}

// keys are the names of the table's key, behind a qualifier.
func (t *target) keys(qualifier string) []string {
	var out []string
	for _, k := range t.Key {
		out = append(out, qualifier+Postgres{}.Ident(t.Cols[k].Name))
	}
	return out
}

// Read prints the query of a slot's state: for each row of the parameter's table, ordered by its key (texts in the
// collation "C"), the key, whether the row is trained, and the buffers, zero where it is not.
func (q *StepSQL) Read(slot int) string {
	d, s := Postgres{}, q.slots[slot]
	t := s.t
	out, order := t.keys("p."), []string(nil)
	for _, k := range t.Key {
		order = append(order, d.Column("p.", &t.Cols[k]))
	}
	trained := "s.tableoid IS NOT NULL"
	if s.flag != "" {
		trained = "coalesce(s." + d.Ident(s.flag) + ", FALSE)"
	}
	out = append(out, trained+" AS trained")
	for i, b := range s.buffers {
		out = append(out, "coalesce(s."+d.Ident(b)+", "+zero(s.col().Type, s.col().Type.Kind.String())+
			") AS "+d.Ident(s.Buffers[i]))
	}
	text := list("SELECT ", out, ", ") + "\nFROM " + d.Table(t.Table) + " AS p\nLEFT JOIN " + t.temp() +
		" AS s ON " + t.byKey()
	if order != nil {
		text += "\nORDER BY " + strings.Join(order, ", ")
	}
	return text
}

// Load prints the statement that replaces a slot's buffers. source is what stands in FROM, with an alias r: a relation
// that has the table's key columns and the buffers under the names that Update has for them, and may have more rows
// than are trained.
func (q *StepSQL) Load(slot int, source string) (string, error) {
	d, s := Postgres{}, q.slots[slot]
	var set []string
	for i, b := range s.buffers {
		set = append(set, d.Ident(b)+" = r."+d.Ident(s.Buffers[i]))
	}
	if set == nil {
		return "", fmt.Errorf("sqlgen: slot %d has no buffers", slot)
	}
	on := make([]string, 0, len(s.t.Key))
	for _, k := range s.t.keys("") {
		on = append(on, "s."+k+" = r."+k)
	}
	return "UPDATE " + s.t.temp() + " AS s\n" + list("SET ", set, ", ") + "\nFROM " + source + whereLine(on), nil
}
