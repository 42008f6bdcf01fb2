package sqlsite

import (
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Rows of a table without a key are told apart by numbers: the site, the part, their place in its file. The last has 48
// bits, a site has fewer than 64 others.
const (
	siteBits = 56
	partBits = 48
	maxParts = 1 << (siteBits - partBits)
)

// place has the Scans of spread tables read their parts at the site.
func (s *Site) place() error {
	var failed error
	checked := map[catalog.Part]bool{}
	s.walk(func(n *ra.Node) {
		if n.Op != ra.Scan || n.Table.Schema == temporary || failed != nil {
			return
		}
		parts, spread := s.o.Parts[s.o.Key(n.Table)]
		if !spread {
			return
		}
		for _, p := range parts {
			own := *n.Table
			if own.Schema, own.Name = p.Schema, p.Name; own.Rows == 1 {
				own.Rows = -1 // that a table has one row is no fact of its parts
			}
			if q := s.db.Planned(&own); q != "" && !checked[p] {
				s.holds, checked[p] = append(s.holds, s.db.HasChanged(q)), true
			}
		}
		failed = s.readParts(n, parts)
	})
	return failed
}

// readParts makes of the Scan of a table that of its parts, in place.
func (s *Site) readParts(n *ra.Node, parts []catalog.Part) error {
	if len(parts) == 0 {
		s.empty(n)
		return nil
	}
	if len(parts) > maxParts {
		return sqlerr.New(sqlerr.ProgramLimit, "table \"%s\" has %d parts at a server, more than %d", n.Table.Name,
			len(parts), maxParts)
	}
	numbered := slices.Contains(n.TableCols, ra.RowID)
	if len(parts) == 1 && !numbered {
		n.Table = partOf(n.Table, parts[0])
		return nil
	}
	var inputs []*ra.Node
	for i, p := range parts {
		scan := *n
		scan.Table, scan.Cols, scan.Key, scan.Unique, scan.Fixed, scan.Least = partOf(n.Table, p), nil, nil, nil, nil, nil
		for _, c := range n.Cols {
			scan.Cols = append(scan.Cols, s.fresh(c.Name, c.Type))
		}
		in := &scan
		if numbered {
			in = s.numbered(in, int64(s.number)<<siteBits|int64(i)<<partBits)
		}
		inputs = append(inputs, in)
	}
	n.Op, n.Table, n.TableCols, n.Inputs = ra.Union, nil, nil, inputs
	return nil
}

func partOf(t *ra.Table, p catalog.Part) *ra.Table {
	own := *t
	own.Schema, own.Name = p.Schema, p.Name
	return &own
}

// numbered adds a number to those of the rows of a Scan.
func (s *Site) numbered(scan *ra.Node, from int64) *ra.Node {
	out := &ra.Node{Op: ra.Select, Inputs: []*ra.Node{scan}, Pos: scan.Pos}
	for i, c := range scan.Cols {
		x := scan.Var(0, c.ID)
		if scan.TableCols[i] == ra.RowID {
			x = kernels.Build("add", x, kernels.Const(kernels.IntValue(from)))
		}
		out.Cols, out.Out = append(out.Cols, s.fresh(c.Name, c.Type)), append(out.Out, x)
	}
	return out
}

// empty makes of a Scan one of no rows, in place.
func (s *Site) empty(n *ra.Node) {
	var ids []ra.ColumnID
	for _, c := range n.Cols {
		ids = append(ids, c.ID)
	}
	s.replace(n, ids)
}

// replace has a Scan read a temporary table instead, and returns the table's name.
func (s *Site) replace(n *ra.Node, ids []ra.ColumnID) (name string) {
	scan, name := s.table(n, ids)
	n.Table, n.TableCols = scan.Table, scan.TableCols
	return name
}

// temporary is the schema of temporary tables.
const temporary = "pg_temp"
