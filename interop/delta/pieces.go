package delta

import (
	"cmp"
	"maps"
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/interop"
)

// Piece is a row group of a file: what is read and decoded as one.
type Piece struct {
	Rows int64

	s     *Snapshot
	file  *File
	group int
	whole map[string]bool // columns that surely hold no NULL
}

// File is the name of the file.
func (p *Piece) File() string { return p.file.name }

// Whole reports whether a column surely holds no NULL in it.
func (p *Piece) Whole(column string) bool { return p.whole[column] }

// PiecesOf lists the row groups of a table, without those of no rows, in an order that depends on the version only. It
// reads the footer of each file.
func PiecesOf(s *Snapshot) (out []Piece, err error) {
	defer guard(&err)
	files := slices.Clone(s.files) // a log and its checkpoint may list them in other orders
	slices.SortFunc(files, func(a, b *File) int { return cmp.Compare(a.name, b.name) })
	for _, f := range files {
		if out, err = pieces(s, f, out); err != nil {
			return nil, within(err, "file \"%s\" of version %d: ", f.name, s.Version)
		}
	}
	return out, nil
}

// pieces adds the row groups of a file.
func pieces(s *Snapshot, f *File, out []Piece) ([]Piece, error) {
	p, err := interop.OpenParquet(&opened{s.store, f.name, f.Size}, f.Size, f.name)
	if err != nil {
		return nil, err
	}
	st, logged := f.stats(), map[string]bool{}
	for i := range s.columns {
		r, err := s.rangeIn(f, &st, i)
		if err != nil {
			return nil, err
		}
		name := s.columns[i].Field.Name
		logged[name] = r.nulls == 0 && (r.min != nil || !contains(s.meta.PartitionColumns, name))
	}
	for i, g := range p.Groups() {
		if g.Rows == 0 {
			continue
		}
		whole := maps.Clone(logged)
		for name, st := range g.Stats {
			whole[name] = whole[name] || st.Nulls == 0
		}
		out = append(out, Piece{Rows: g.Rows, s: s, file: f, group: i, whole: whole})
	}
	return out, nil
}

// Read reads columns, by name, as values of the given Postgres types, of the rows that are within all bounds.
func (p *Piece) Read(want []interop.Column, where []Bound) (rows interop.Rows, err error) {
	defer guard(&err)
	in, err := p.s.rowsOf(p.file, lists.Map(want, func(c interop.Column) string { return c.Name }), where)
	if err != nil {
		return nil, err
	}
	in.group = p
	return p.s.converted(in, want), nil
}

// only picks the piece of a scan that has one, unless it has no row within the bounds.
func (r *Scan) only(groups []int) []int {
	if r.group == nil {
		return groups
	}
	return slices.DeleteFunc(groups, func(g int) bool { return g != r.group.group })
}
