package sqlgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Relation prints, for Postgres, the query of the rows of a relation of a plan that several texts compute together: the
// values of its columns are those that they have inside of a text. TempTable describes a table of them. ordered: rows
// come in the order of what identifies them, wherever they lie, so that sums of them are the same each time; where that
// is not kept, in the order of their values, so that rows which may change places are alike.
func Relation(r ra.Root, ordered bool, o Options) (string, error) {
	o.unordered = !ordered
	by := order(r.Node)
	p := newPrinter(Postgres{}, o, r)
	if ordered && !kept(p) {
		o.unordered, by = true, r.Cols
		p = newPrinter(Postgres{}, o, r)
	}
	ctes, err := p.ctes(r.Node)
	if err != nil {
		return "", err
	}
	text := "WITH\n" + strings.Join(ctes, ",\n") + "\n" + selectList(lists.Map(r.Cols, func(id ra.ColumnID) string {
		return p.ref(id)
	})) + "\nFROM " + p.names[r.Node] + whereLine(o.Holds) + "\n"
	if ordered && len(by) > 0 {
		text += list("ORDER BY ", lists.Map(by, colName), ", ") + "\n"
	}
	return text, nil
}

// notKept marks columns that a table of a relation lacks.
const notKept = "is not kept"

// kept reports whether the tables of relations have all columns that the text needs.
func kept(p *printer) bool {
	for _, n := range p.nodes {
		for i, at := range n.TableCols {
			if at != ra.RowID && p.need[n.Cols[i].ID] && n.Table.Cols[at].NoType == notKept {
				return false
			}
		}
	}
	return true
}

// TempTable describes a temporary table that holds rows of a Relation, whose columns are c1, c2, … in the order of ids.
// scan reads it as the relation n; of the columns that the table lacks nothing may be read.
func TempTable(name string, n *ra.Node, ids []ra.ColumnID) (scan *ra.Node, create string) {
	t := &ra.Table{Schema: "pg_temp", Name: name, Rows: -1}
	scan = &ra.Node{Op: ra.Scan, Table: t, Cols: n.Cols, Key: n.Key, Unique: n.Unique, Fixed: n.Fixed, Pos: n.Pos}
	defs := make([]string, len(ids))
	for at, id := range ids {
		own := Inside(n.Col(id).Type)
		t.Cols = append(t.Cols, ra.TableColumn{Name: fmt.Sprintf("c%d", at+1), Type: own, PGType: textType(own)})
		defs[at] = t.Cols[at].Name + " " + textType(own)
	}
	for _, c := range n.Cols {
		at := slices.Index(ids, c.ID)
		if at < 0 {
			at, t.Cols = len(t.Cols), append(t.Cols, ra.TableColumn{Name: "not kept: " + c.Name, NoType: notKept})
		}
		scan.TableCols = append(scan.TableCols, at)
	}
	if len(defs) == 0 { // of rows that have no columns only the number counts
		defs = []string{"one integer"}
	}
	return scan, "CREATE TEMPORARY TABLE " + name + " (" + strings.Join(defs, ", ") + ")"
}

// Inside is the type that values of a type have inside of a text for Postgres.
func Inside(t kernels.Type) kernels.Type {
	t.Of = nil
	if t.Shape == nil && t.IsFloat() {
		t.Kind = kernels.Float64
	}
	return t
}

// Needed tells which columns the texts of relations read.
func Needed(roots ...ra.Root) map[ra.ColumnID]bool {
	return newPrinter(Postgres{}, Options{}, roots...).need
}
