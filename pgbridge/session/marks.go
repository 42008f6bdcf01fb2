package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
)

// marks note at other servers how far a run is, in relgrad.mark there. They are written through foreign tables, so that
// they commit at a server with what postgres_fdw writes there. These tables are temporary: they need no schema.
type marks struct{ *servers }

// Servers implements catalog.Marker.
func (s *marks) Servers(schema, name string) (out []string, err error) {
	r := s.names.find(nil, schema, name)
	if err := s.failed(); err != nil || r == nil {
		return nil, err
	}
	p, err := s.of(r)
	if err != nil {
		return nil, err
	}
	for _, part := range p.parts {
		if part.Server != "" && !slices.Contains(out, part.Server) {
			out = append(out, part.Server)
		}
	}
	slices.Sort(out)
	return out, nil
}

// leader is this database, in what other servers keep of it.
func (s *marks) leader() (string, error) {
	rows, err := s.texts("SELECT pg_catalog.concat(c.system_identifier, ' ', d.oid) FROM pg_catalog.pg_database d, " +
		"pg_catalog.pg_control_system() c WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()")
	if err != nil {
		return "", bare(err)
	}
	return rows[0][0], nil
}

// Mark implements catalog.Marker.
func (s *marks) Mark(ctx context.Context, at []string, run, step int64) error {
	leader, err := s.leader()
	if err != nil {
		return err
	}
	for _, name := range at {
		table, err := s.table(ctx, name)
		if err != nil {
			return err
		}
		done, err := s.result(ctx, fmt.Sprintf("UPDATE %s SET step = %d WHERE leader OPERATOR(pg_catalog.=) %s AND run "+
			"OPERATOR(pg_catalog.=) %d", table, step, sqltext.Text(leader), run))
		if err == nil && done.Count == 0 {
			_, err = s.result(ctx, fmt.Sprintf("INSERT INTO %s (leader, run, step) VALUES (%s, %d, %d)", table,
				sqltext.Text(leader), run, step))
		}
		if err != nil {
			return bare(err)
		}
	}
	return nil
}

// table is the role's foreign table of the marks at a server. Another one of its name is not trusted.
func (s *marks) table(ctx context.Context, server string) (string, error) {
	rows, err := s.texts("SELECT x.name, c.oid IS NULL, coalesce(c.relkind OPERATOR(pg_catalog.=) 'f' AND c.relowner " +
		"OPERATOR(pg_catalog.=) x.role AND f.ftserver OPERATOR(pg_catalog.=) x.server, true) FROM (SELECT " +
		"pg_catalog.concat('relgrad_mark_', s.oid, '_', r.oid) AS name, s.oid AS server, r.oid AS role FROM " +
		"pg_catalog.pg_foreign_server s, pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) current_user AND " +
		"s.srvname OPERATOR(pg_catalog.=) " + sqltext.Text(server) + ") x LEFT JOIN pg_catalog.pg_class c ON c.oid " +
		"OPERATOR(pg_catalog.=) pg_catalog.to_regclass(pg_catalog.concat('pg_temp.', x.name)) LEFT JOIN " +
		"pg_catalog.pg_foreign_table f ON f.ftrelid OPERATOR(pg_catalog.=) c.oid")
	if err != nil {
		return "", bare(err)
	}
	table := "pg_temp." + rows[0][0]
	if rows[0][2] != "true" {
		return "", sqlerr.New("42P07", "relation %s is not the one in which train notes its steps at other servers", table).
			WithHint("Drop it.")
	}
	if rows[0][1] == "true" {
		there, err := s.ask(server, "SELECT pg_catalog.to_regclass('relgrad.mark') IS NOT NULL")
		if err != nil {
			return "", err
		}
		if there[0][0] != "true" {
			return "", sqlerr.New(sqlerr.UndefinedObject, "server \"%s\": parameters lie there, and relgrad is not installed",
				server).WithHint("CREATE EXTENSION relgrad in the database that the server's options name.")
		}
		_, err = s.result(ctx, "CREATE FOREIGN TABLE "+table+" (leader pg_catalog.text, run pg_catalog.int8, step "+
			"pg_catalog.int8) SERVER "+sqltext.Ident(server)+" OPTIONS (schema_name 'relgrad', table_name 'mark')")
		return table, bare(err)
	}
	return table, nil
}

// Marked implements catalog.Marker.
func (s *marks) Marked(_ context.Context, server string, run int64) (step int64, ok bool, err error) {
	leader, err := s.leader()
	if err != nil {
		return 0, false, err
	}
	// the role that is mapped may be another one than it was, with rows of both
	rows, err := s.ask(server, fmt.Sprintf("SELECT m.step FROM relgrad.mark m WHERE m.leader OPERATOR(pg_catalog.=) %s "+
		"AND m.run OPERATOR(pg_catalog.=) %d ORDER BY m.step DESC LIMIT 1", sqltext.Text(leader), run))
	if err != nil || len(rows) == 0 {
		return 0, false, err
	}
	step, err = strconv.ParseInt(rows[0][0], 10, 64)
	return step, err == nil, err
}
