// Package sqltext is the one place where names and texts are quoted for SQL.
//
// # What
//
// Ident quotes a name, Name one with its schema, Text a constant.
//
// # Invariants
//
// What is quoted reads back as it was on PostgreSQL and on SQLite, whatever standard_conforming_strings is. (SQLite is
// given no text with a backslash in the form with an E.)
//
// # Errors
//
// None.
//
// # Where to add
//
// Names that are quoted only where they must be are sqlfront/print's, which knows the grammar's keywords.
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

// Plain is a text constant for SQLite, in which a backslash is a character like any other.
func Plain(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
