package delta

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// What a table asks of readers and writers:
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md#valid-feature-names-in-table-features

// readable are the reader features that relgrad understands. Tables may list two more, which are refused where they are
// used: deletion vectors by a file that has one, the mapping of columns by its mode.
var readable = []string{"v2Checkpoint", "timestampNtz", "vacuumProtocolCheck", "deletionVectors", "columnMapping"}

// writable are the writer features that relgrad understands.
var writable = []string{"appendOnly", "invariants", "v2Checkpoint", "timestampNtz", "vacuumProtocolCheck",
	"deletionVectors", "columnMapping"}

// checkReadable refuses a table that relgrad would not read rightly.
func checkReadable(s *Snapshot) error {
	p := s.protocol
	refuse := func(feature string) *sqlerr.Error {
		return unsupported("version %d of the table needs the reader feature \"%s\", which relgrad does not have",
			s.Version, feature)
	}
	if p.MinReaderVersion > 3 || p.MinReaderVersion < 1 {
		return unsupported("version %d of the table needs a reader of version %d, relgrad's is 3", s.Version,
			p.MinReaderVersion)
	}
	if p.MinReaderVersion == 3 {
		for _, f := range p.ReaderFeatures {
			if !slices.Contains(readable, f) {
				return refuse(f)
			}
		}
	}
	if mode := s.meta.Configuration["delta.columnMapping.mode"]; mode != "" && mode != "none" && p.MinReaderVersion >= 2 {
		return refuse("columnMapping").WithDetail("Its mode is %s.", mode)
	}
	if f := s.meta.Format.Provider; f != "parquet" {
		return unsupported("the files of the table are of format \"%s\", not parquet", f)
	}
	for _, f := range s.files {
		if has(f.DeletionVector) {
			return refuse("deletionVectors").WithDetail("The file \"%s\" has a deletion vector.", f.Path).
				WithHint("Rewrite the table without them: REORG TABLE … APPLY (PURGE) in Spark.")
		}
	}
	return nil
}

// checkWritable refuses a table in which relgrad would write what other programs misunderstand.
func checkWritable(s *Snapshot) error {
	p := s.protocol
	if p.MinWriterVersion > 2 && p.MinWriterVersion != 7 {
		return unsupported("the table needs a writer of version %d: relgrad writes tables of versions 1, 2 and 7",
			p.MinWriterVersion).
			WithDetail("Version 3 has CHECK constraints, 4 the change data feed and generated columns, 5 the mapping of " +
				"columns, 6 identity columns.")
	}
	if p.MinWriterVersion == 7 {
		for _, f := range p.WriterFeatures {
			if !slices.Contains(writable, f) {
				return unsupported("the table needs the writer feature \"%s\", which relgrad does not have", f)
			}
		}
	}
	for _, c := range s.columns {
		for note := range c.notes {
			if note == "delta.invariants" || strings.HasPrefix(note, "delta.generationExpression") ||
				strings.HasPrefix(note, "delta.identity") {
				return unsupported("column \"%s\" has %s, which relgrad does not compute", c.Name, note)
			}
		}
		if c.Refused != "" {
			return unsupported("column \"%s\" holds %s", c.Name, c.Refused)
		}
	}
	return nil
}

// appendOnly reports whether rows of the table must not be deleted.
func appendOnly(s *Snapshot) bool { return s.meta.Configuration["delta.appendOnly"] == "true" }

// protocolFor is the least protocol that tables with these columns need.
func protocolFor(cols []column) *Protocol {
	fields := fieldsOf(cols)
	if slices.ContainsFunc(fields, func(f interop.Field) bool { return holds(&f, "timestamp_ntz") }) {
		return &Protocol{3, 7, []string{"timestampNtz"}, []string{"appendOnly", "invariants", "timestampNtz"}}
	}
	return &Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
}

// holds reports whether a type is, or has as a part, the named one.
func holds(f *interop.Field, typ string) bool {
	return f.Type == typ || slices.ContainsFunc(f.Parts, func(p interop.Field) bool { return holds(&p, typ) })
}
