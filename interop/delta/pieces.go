package delta

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/interop"
)

// Piece is a row group of a file: what is read and decoded as one.
type Piece struct {
	Rows int64

	s     *Snapshot
	file  *File
	first int64           // row, in the file
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
	open, err := s.open(f)
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
	first := int64(0)
	for _, g := range open.groups {
		if g.Rows == 0 {
			continue
		}
		whole := maps.Clone(logged)
		for name, st := range g.Stats {
			whole[name] = whole[name] || st.Nulls == 0
		}
		out = append(out, Piece{Rows: g.Rows, s: s, file: f, first: first, whole: whole})
		first += g.Rows
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
	in.share = &share{from: p.first, to: p.first + p.Rows, begins: []int64{0}}
	return p.s.converted(in, want), nil
}

// only picks the row groups of the scan's share.
func (r *Scan) only(groups []int, all []interop.Group) []int {
	p := r.share
	if p == nil {
		return groups
	}
	at, mine := p.begin, make([]bool, len(all))
	for i, g := range all {
		mine[i] = at >= p.from && at < p.to
		at += g.Rows
	}
	return slices.DeleteFunc(groups, func(g int) bool { return !mine[g] })
}

// share are the row groups that begin within some rows of the files of a scan, as the log counts these. nil: all.
type share struct {
	from, to int64
	begins   []int64 // the first row of each file that is left to read
	begin    int64   // that of the one that is read
}

// Split divides a scan of which nothing was read for so many goroutines: the rows of the first come before those of the
// second, and so on. It stays one where the log does not count the rows of each file.
func (r *Scan) Split(n int) []*Scan {
	begins, total := make([]int64, len(r.files)), int64(0)
	for i, f := range r.files {
		st := f.stats()
		if begins[i] = total; st.rows() < 0 {
			return []*Scan{r}
		}
		total += st.rows()
	}
	if total == 0 {
		return []*Scan{r}
	}
	out := make([]*Scan, min(int64(n), total))
	for k := range out {
		p := &share{from: total * int64(k) / int64(len(out)), to: total * int64(k+1) / int64(len(out))}
		low := max(0, sort.Search(len(begins), func(i int) bool { return begins[i] > p.from })-1)
		high := sort.Search(len(begins), func(i int) bool { return begins[i] >= p.to })
		x := *r
		x.share, x.row, x.files, p.begins = p, slices.Clone(r.row), r.files[low:high], begins[low:high]
		out[k] = &x
	}
	return out
}
