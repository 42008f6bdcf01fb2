package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/pgbridge/wire"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/print"
)

// subQuery is a user's SELECT that the server runs as a whole, with its columns' types.
type subQuery struct {
	sql   string
	names []string
	types []catalog.Type
	texts []bool           // which columns are texts in the algebra
	of    []*kernels.Named // the types of these
	cast  []string         // the cast of a domain's column to its base type; else ""
}

// form prints the query with its columns in the form of the algebra. Generated SQL also wants all texts in one
// collation, and types other than text converted.
func (q *subQuery) form(generated bool) string {
	items, cols, plain := make([]string, len(q.names)), make([]string, len(q.names)), true
	for i, name := range q.names {
		cols[i] = fmt.Sprintf("c%d", i+1)
		items[i] = "q." + cols[i] + q.cast[i]
		plain = plain && q.cast[i] == ""
		if q.texts[i] {
			plain = plain && !generated && q.of[i].IsText()
			items[i] = q.of[i].SQL(items[i])
			if generated {
				items[i] += ` COLLATE "C"`
			}
		}
		items[i] += " AS " + sqltext.Ident(name)
	}
	if plain {
		return q.sql
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM (" + q.sql + ") AS q(" + strings.Join(cols, ", ") + ")"
}

// describe asks the server for a sub-query's columns, once for each state of the database.
func (s *statements) describe(ctx context.Context, sel *ast.Select) (*subQuery, error) {
	q := &subQuery{sql: print.Print(sel)}
	if known := s.queries[q.sql]; known != nil {
		return known, nil
	}
	var cols []wire.Column
	if _, _, err := s.conn.Query(ctx, "SELECT * FROM ("+q.sql+") AS q LIMIT 0", true, func(b *wire.Block) error {
		cols = b.Cols
		return nil
	}); err != nil {
		return nil, err
	}
	for _, c := range cols {
		q.names = append(q.names, c.Name)
		q.types, q.of, q.cast = append(q.types, typeOf(pgTypes[c.OID])), append(q.of, nil), append(q.cast, "")
		q.texts = append(q.texts, c.Texts())
	}
	if err := s.describeTexts(q, cols); err != nil {
		return nil, err
	}
	s.queries[q.sql] = q
	return q, s.failed()
}

// collatable are the types of texts.
var collatable = map[uint32]bool{pgtype.TextOID: true, pgtype.VarcharOID: true, pgtype.NameOID: true,
	pgtype.BPCharOID: true}

// describeTexts finds the types of columns that are not numbers, and the collations of texts.
func (s *statements) describeTexts(q *subQuery, cols []wire.Column) error {
	var asked, items, names []string
	var at []int
	for i, c := range cols {
		names = append(names, fmt.Sprintf("c%d", i+1))
		if !q.texts[i] {
			continue
		}
		collation := "NULL"
		if collatable[c.OID] {
			collation = "pg_catalog.pg_collation_for(q." + names[i] + ")"
		}
		asked = append(asked, fmt.Sprintf("(%d, %d::pg_catalog.oid, %s)", len(at), c.OID, collation))
		at = append(at, i)
	}
	if len(at) == 0 {
		return nil
	}
	qualified := func(sql string) string { return strings.ReplaceAll(sql, " = ", " OPERATOR(pg_catalog.=) ") }
	items = append(items, "v.n::pg_catalog.text", qualified(madeOf("v.oid", "-1")),
		qualified("pg_catalog.concat("+collates+")"))
	rows, err := s.settings.typeTexts("SELECT " + strings.Join(items, ", ") +
		", v.said IS NULL FROM (SELECT 1) AS one LEFT JOIN (" + q.sql + ") AS q(" +
		strings.Join(names, ", ") + ") ON false CROSS JOIN LATERAL (VALUES " + strings.Join(asked, ", ") +
		") AS v(n, oid, said)" +
		" LEFT JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) v.oid" +
		" LEFT JOIN pg_catalog.pg_collation k ON k.oid OPERATOR(pg_catalog.=) " +
		"coalesce(v.said::pg_catalog.regcollation::pg_catalog.oid, t.typcollation) ORDER BY v.n")
	if err != nil {
		return err
	}
	for n, i := range at {
		t := s.types.typed(strings.Split(rows[n][1], "\x01"), strings.Split(rows[n][2], "\x01"))
		if collatable[cols[i].OID] && rows[n][3] == "true" { // columns of several collations were combined
			t.collation = collation{name: "of several columns", deterministic: false}
		}
		q.types[i], q.of[i] = typeOf(t.name), s.types.named(t)
		if k, _ := kernelType(q.types[i], nil, q.of[i]); k.Kind != kernels.Text {
			q.texts[i], q.of[i], q.cast[i] = false, nil, "::"+q.types[i].String()
		} else if why := s.settings.Inexact(); q.of[i] != nil && q.of[i].Loose && why != "" {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"column \"%s\" of the sub-query is of type %s, whose text does not read back where %s",
				q.names[i], q.of[i].Name, why).
				WithHint("SET datestyle = ISO and extra_float_digits = 1, or leave the column out of the sub-query.")
		}
	}
	return nil
}
