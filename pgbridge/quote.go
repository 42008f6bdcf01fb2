package pgbridge

import "strings"

// quoteIdent prints a name.
func quoteIdent(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteName prints schema.name.
func quoteName(schema, name string) string { return quoteIdent(schema) + "." + quoteIdent(name) }

// quoteText prints a text constant that means the same whatever standard_conforming_strings is.
func quoteText(s string) string {
	s = strings.ReplaceAll(s, "'", "''")
	if strings.Contains(s, `\`) {
		return " E'" + strings.ReplaceAll(s, `\`, `\\`) + "'"
	}
	return "'" + s + "'"
}
