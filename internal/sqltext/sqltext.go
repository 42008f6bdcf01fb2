// Package sqltext is the one place where names and texts are quoted for SQL.
//
// # What
//
// Ident quotes a name, Name one with its schema, Text a constant.
//
// # Invariants
//
// A quoted text reads back unchanged on PostgreSQL and on SQLite, whatever standard_conforming_strings is. (Texts for
// SQLite never have the form E'…'.)
//
// # Errors
//
// None.
//
// # Where to add
//
// Package sqlfront/print quotes names only where necessary: it knows the grammar's keywords.
package sqltext

import "strings"

// Ident quotes a name, always.
func Ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Name is schema.name.
func Name(schema, name string) string { return Ident(schema) + "." + Ident(name) }

// Text is a text constant, E'…' where it has a backslash.
// https://www.postgresql.org/docs/15/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-ESCAPE
func Text(s string) string {
	q := Plain(s)
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(q, `\`, `\\`)
	}
	return q
}

// Plain is a text constant for SQLite, where a backslash is an ordinary character.
func Plain(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
