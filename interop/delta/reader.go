package delta

import (
	"encoding/json"

	"github.com/relgrad/relgrad/interop"
)

// keyProperty is the property of a table that notes the primary key of the relation that was written into it.
const keyProperty = "relgrad.key"

// NewReader reads a version of a table as a file's relation.
func NewReader(s *Snapshot) interop.Reader { return reader{s} }

type reader struct{ s *Snapshot }

// Columns implements interop.Reader.
func (r reader) Columns() []interop.Column { return r.s.Columns() }

// Key implements interop.Reader.
func (r reader) Key() []string {
	var key []string
	if json.Unmarshal([]byte(r.s.meta.Configuration[keyProperty]), &key) != nil {
		return nil
	}
	for _, k := range key {
		if r.s.column(k) < 0 {
			return nil
		}
	}
	return key
}

// Rows implements interop.Reader.
func (r reader) Rows(want []interop.Column) (interop.Rows, error) { return r.s.Rows(want, nil) }

// Close implements interop.Reader.
func (r reader) Close() error { return nil }

// keyOptions describe a new table for a relation.
func keyOptions(name string, key []string) TableOptions {
	o := TableOptions{Name: name}
	if len(key) > 0 {
		o.Configuration = map[string]string{keyProperty: string(mustJSON(key))}
	}
	return o
}
