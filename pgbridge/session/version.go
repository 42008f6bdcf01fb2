package session

import (
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
)

// keyPrint is what Version remembers of a table.
type keyPrint struct {
	values, keys uint64
	print        string
}

// Version returns hashes that change when a table's content changes: Values if any row has changed, by the places and
// transactions of rows; Keys if a column other than floats, or a key, has changed.
func (s *rows) Version(schema, name string) (catalog.Version, error) {
	r := s.names.find(nil, schema, name)
	if err := s.failed(); err != nil {
		return catalog.Version{}, err
	}
	if r == nil || r.table == nil {
		return catalog.Version{}, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name)
	}
	if err := s.watch.see(r.table.Schema, r.table.Name); err != nil {
		return catalog.Version{}, err
	}
	always := func() catalog.Version { // as if the table had changed
		s.begun++
		return catalog.Version{Keys: s.begun, Values: s.begun}
	}
	parts := []catalog.Part{{Schema: r.table.Schema, Name: r.table.Name}}
	p, err := s.names.facts.servers.of(r)
	if err != nil {
		return catalog.Version{}, err
	}
	if r.kind != "r" && r.kind != "m" && r.kind != "p" || p.citus { // its rows have no places in a table here
		if parts = p.parts; parts == nil || p.here || s.names.facts.servers.mayRead(r) != nil {
			return always(), nil
		}
	}
	from := sqltext.Name(r.table.Schema, r.table.Name)
	place, err := s.placeHash()
	if err != nil {
		return catalog.Version{}, bare(err)
	}
	rows, err := s.printed(parts, "SELECT pg_catalog.concat(pg_catalog.count(*), ' ', pg_catalog.bit_xor("+place+"))")
	// the places of rows cannot be read by a user who may read only some columns, nor by our hash where relgrad is not
	switch sqlerr.Code(err) {
	case sqlerr.InsufficientPrivilege, sqlerr.UndefinedFunction, "3F000":
		return always(), nil
	}
	if err != nil {
		return catalog.Version{}, bare(err)
	}
	was, seen := s.keys[from]
	if seen && was.print == rows+r.print {
		return catalog.Version{Keys: was.keys, Values: was.values}, nil
	}
	var cols []string
	for _, c := range r.table.Cols {
		if c.Type.Name != "real" && c.Type.Name != "double precision" ||
			slices.ContainsFunc(r.table.Keys(), func(k []string) bool { return slices.Contains(k, c.Name) }) {
			cols = append(cols, sqltext.Ident(c.Name))
		}
	}
	keys, err := s.printed(parts,
		"SELECT pg_catalog.concat(pg_catalog.count(*), ' ', pg_catalog.sum(pg_catalog.hashtextextended(ROW("+
			strings.Join(cols, ", ")+")::pg_catalog.text, 0)))")
	if err != nil {
		return catalog.Version{}, bare(err)
	}
	now := keyPrint{values: hash(rows + r.print), keys: hash(keys + r.print), print: rows + r.print}
	s.keys[from] = now
	return catalog.Version{Keys: now.keys, Values: now.values}, nil
}

// printed is what a query gives of each part of a table, as one text, with the columns there. Behind sql FROM follows.
// It tells sessions at servers apart: a program is not that of another one.
func (s *rows) printed(parts []catalog.Part, sql string) (string, error) {
	var out []string
	for _, p := range parts {
		from, columns := sqltext.Name(p.Schema, p.Name), ""
		if p.Server != "" { // of a table here relation.print tells them
			columns = ", (SELECT pg_catalog.md5(pg_catalog.string_agg(pg_catalog.concat(a.attnum, ' ', a.attname, ' ', " +
				"a.atttypid), ',' ORDER BY a.attnum)) FROM pg_catalog.pg_attribute a WHERE a.attrelid " +
				"OPERATOR(pg_catalog.=) " + sqltext.Text(from) + "::pg_catalog.regclass AND a.attnum OPERATOR(pg_catalog.>) 0)"
		}
		rows, err := s.names.facts.servers.ask(p.Server, sql+columns+" FROM "+from)
		if err != nil {
			return "", err
		}
		out = append(out, rows[0]...)
		if l := s.names.facts.servers.lines[p.Server]; l != nil {
			out = append(out, strconv.FormatUint(uint64(l.PID()), 10))
		}
	}
	return strings.Join(out, ", "), nil
}

// ExternalVersion changes whenever other sessions may have changed something.
func (s *rows) ExternalVersion() uint64 { return s.begun }

// placeHash is SQL for a hash of a row's place and transaction: the extension's function, or else the server's own hash
// of a record, which takes three times as long.
func (s *rows) placeHash() (string, error) {
	if s.place != "" {
		return s.place, nil
	}
	rows, err := s.texts("SELECT pg_catalog.to_regprocedure('relgrad.gen_place(oid, tid, xid, cid)') IS NOT NULL")
	if err != nil {
		return "", err
	}
	s.place = "pg_catalog.hash_record_extended(ROW(tableoid, ctid, xmin, cmin), 0)"
	if rows[0][0] == "true" {
		s.place = "relgrad.gen_place(tableoid, ctid, xmin, cmin)"
	}
	return s.place, nil
}

// hash is FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/).
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
