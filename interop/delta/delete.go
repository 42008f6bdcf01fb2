package delta

import (
	"io"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Delete deletes the rows that are within all bounds; without bounds all rows. Files of which every row goes are
// removed, of others the rows that stay are written again. It returns how many files are removed.
func (t *Tx) Delete(where ...Bound) (n int, err error) {
	defer guard(&err)
	s := t.base
	if appendOnly(s) {
		return 0, sqlerr.New(sqlerr.ObjectNotPrereqState, "rows of the table must not be deleted: delta.appendOnly is true")
	}
	spans, err := s.spans(where)
	if err != nil {
		return 0, err
	}
	t.read = append(t.read, spans)
	for _, f := range s.files {
		if slices.Contains(t.removed, f) {
			continue
		}
		goes, err := t.deleteFrom(f, where, spans)
		if err != nil {
			t.err = err
			return n, err
		}
		if goes {
			t.removed = append(t.removed, f)
			n++
		}
	}
	return n, nil
}

// deleteFrom reports whether a file is removed; it has written the rows that stay.
func (t *Tx) deleteFrom(f *File, where []Bound, spans []span) (bool, error) {
	s := t.base
	if skip, err := s.skips(f, spans); skip || err != nil {
		return false, err
	}
	st, every := f.stats(), true
	for i := range spans {
		r, err := s.rangeIn(f, &st, spans[i].column)
		if err != nil {
			return false, err
		}
		every = every && spans[i].every(r)
	}
	if every {
		return true, nil
	}
	found, err := s.rowsOf(f, nil, where)
	if err != nil {
		return false, err
	}
	if err := found.Next(nil); err != nil {
		if err == io.EOF {
			err = nil
		}
		return false, err
	}
	var names []string
	for _, c := range s.columns {
		names = append(names, c.Name)
	}
	rows, err := s.rowsOf(f, names, nil)
	if err != nil {
		return false, err
	}
	row := make([]any, len(t.columns)) // those that were added are NULL
	for {
		if err := rows.Next(row); err == io.EOF {
			return true, nil
		} else if err != nil {
			return false, err
		}
		if slices.ContainsFunc(spans, func(b span) bool { return !b.holds(row[b.column]) }) {
			if err := t.Write(row); err != nil {
				return false, err
			}
		}
	}
}
