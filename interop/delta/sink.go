package delta

import (
	"errors"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// Mode says what a Sink does with a table.
type Mode int

// A sink creates a table, adds rows to one, or replaces all rows of one. Add and Replace create a table that is
// missing.
const (
	New Mode = iota
	Add
	Replace
)

// Sink writes a relation into a table. It is an interop.Sink: rows are values of Postgres types.
type Sink struct {
	files  Files
	mode   Mode
	o      WriteOptions
	tx     *Tx
	before *Snapshot
	fields []interop.Field // of the relation's columns
	place  []int           // where they go in a row of the table
	row    []any
	// After is the table's version when Close has returned nil.
	After *Snapshot
}

var _ interop.Sink = (*Sink)(nil)

// NewSink returns a sink that writes into a table.
func NewSink(files Files, mode Mode, o WriteOptions) *Sink {
	return &Sink{files: files, mode: mode, o: o}
}

// Begin implements interop.Sink. Columns that the table has and the relation has not become NULL.
func (s *Sink) Begin(name string, cols []interop.Column, key []string) (err error) {
	if s.tx != nil {
		return unsupported("a table of Delta Lake holds one relation")
	}
	s.fields = lists.Map(cols, FieldOf)
	table, err := Open(s.files, Latest())
	if missing(err) || s.mode == New && err == nil {
		if s.tx, err = Create(s.files, s.fields, keyOptions(name, key), s.o); err != nil {
			return err
		}
	} else if err != nil {
		return err
	} else if s.tx, err = table.Begin(s.o); err != nil {
		return err
	}
	if s.mode == Replace && table != nil {
		if _, err := s.tx.Delete(); err != nil {
			return err
		}
	}
	have := s.tx.Columns()
	for i, f := range s.fields {
		k := s.tx.column(f.Name)
		if k < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "the table has no column \"%s\"", f.Name)
		}
		s.place, s.fields[i] = append(s.place, k), have[k]
	}
	s.row, s.before = make([]any, len(have)), table
	return nil
}

// Before is the version of the table that the sink adds to or replaces, nil where it creates the table.
func (s *Sink) Before() *Snapshot { return s.before }

func missing(err error) bool {
	var e *sqlerr.Error
	return errors.As(err, &e) && e.Code == sqlerr.UndefinedTable
}

// Write implements interop.Sink.
func (s *Sink) Write(row []any) error {
	for i, v := range row {
		x, err := s.fields[i].Accept(v)
		if err != nil {
			return within(err, "column \"%s\": ", s.fields[i].Name)
		}
		s.row[s.place[i]] = x
	}
	return s.tx.Write(s.row)
}

// Close implements interop.Sink.
func (s *Sink) Close() (err error) {
	if s.tx == nil {
		return unsupported("no relation was written")
	}
	s.After, err = s.tx.Commit("WRITE")
	return err
}

// Abort implements interop.Sink.
func (s *Sink) Abort() {
	if s.tx != nil {
		s.tx.Abort()
	}
}
