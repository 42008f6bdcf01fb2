package pgsession

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script/psql"
)

// message makes an error of a server's error or notice about a text. Shown and Verbose are written as
// pqBuildErrorMessage3 of libpq's fe-protocol3.c writes them.
func message(m *pgconn.PgError, sql string, c *psql.Client) *sqlerr.Error {
	e := sqlerr.New(m.Code, "%s", m.Message)
	e.Detail, e.Hint, e.Context, e.Err = m.Detail, m.Hint, m.Where, m
	severe := m.SeverityUnlocalized
	if severe == "" {
		severe = m.Severity
	}
	bad := severe == "ERROR" || severe == "FATAL" || severe == "PANIC"
	e.Shown = show(m, sql, c.Verbosity, c.ShowContext == "always" || bad && c.ShowContext != "never")
	e.Verbose = show(m, sql, "verbose", true)
	return e
}

// show writes a message as psql shows it.
func show(m *pgconn.PgError, sql, verbosity string, context bool) string {
	if verbosity == "sqlstate" {
		return m.Severity + ":  " + m.Code + "\n"
	}
	first := m.Message
	if verbosity == "verbose" {
		first = m.Code + ": " + first
	}
	terse := verbosity == "terse"
	var b strings.Builder
	b.WriteString(m.Severity + ":  " + first)
	text, pos := sql, int(m.Position)
	if pos == 0 {
		text, pos = m.InternalQuery, int(m.InternalPosition)
	}
	if pos > 0 && (terse || text == "") {
		fmt.Fprintf(&b, " at character %d", pos)
	}
	b.WriteByte('\n')
	if terse {
		return b.String()
	}
	if pos > 0 {
		b.WriteString(caret(text, pos-1))
	}
	lines := []struct{ name, text string }{{"DETAIL", m.Detail}, {"HINT", m.Hint},
		{"QUERY", m.InternalQuery}, {"CONTEXT", m.Where}}
	for _, f := range lines {
		if f.text != "" && (context || f.name != "CONTEXT") {
			b.WriteString(f.name + ":  " + f.text + "\n")
		}
	}
	if verbosity == "verbose" {
		b.WriteString(origin(m))
	}
	return b.String()
}

// origin is what verbose messages add: the objects that the error names, and the place in the server's source that
// raised it.
func origin(m *pgconn.PgError) string {
	var b strings.Builder
	for _, f := range []struct{ name, text string }{{"SCHEMA NAME", m.SchemaName}, {"TABLE NAME", m.TableName},
		{"COLUMN NAME", m.ColumnName},
		{"DATATYPE NAME", m.DataTypeName}, {"CONSTRAINT NAME", m.ConstraintName}} {
		if f.text != "" {
			b.WriteString(f.name + ":  " + f.text + "\n")
		}
	}
	if m.File != "" {
		fmt.Fprintf(&b, "LOCATION:  %s, %s:%d\n", m.Routine, m.File, m.Line)
	}
	return b.String()
}

// How a long line with an error is cut: reportErrorPosition of fe-protocol3.c.
const (
	displaySize = 60 // columns
	minRightCut = 10 // at least as far from the end
)

// caret writes the line that contains the character at loc (from 0), with a caret below that; "" if loc is behind the
// end.
func caret(text string, loc int) string {
	chars := []rune(text)
	columns := make([]int, len(chars)+1) // where each character begins
	line, begin, end := 1, 0, -1
	for i, c := range chars {
		switch {
		case c == '\t':
			chars[i] = ' '
		case c != '\r' && c != '\n':
		case i < loc:
			if c == '\r' || i == 0 || chars[i-1] != '\r' {
				line++
			}
			begin = i + 1
		case end < 0:
			end = i
		}
		columns[i+1] = columns[i] + max(psql.RuneWidth(chars[i]), 1)
	}
	if end < 0 {
		end = len(chars)
	}
	if loc > len(chars) {
		return ""
	}
	before, after := "", ""
	if columns[end]-columns[begin] > displaySize {
		if columns[begin]+displaySize >= columns[loc]+minRightCut {
			for columns[end]-columns[begin] > displaySize {
				end--
			}
			after = "..."
		} else {
			for columns[loc]+minRightCut < columns[end] {
				end--
				after = "..."
			}
			for columns[end]-columns[begin] > displaySize {
				begin++
				before = "..."
			}
		}
	}
	head := fmt.Sprintf("LINE %d: %s", line, before)
	return head + string(chars[begin:end]) + after + "\n" +
		strings.Repeat(" ", len(head)+columns[loc]-columns[begin]) + "^\n"
}
