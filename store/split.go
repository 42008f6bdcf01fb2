package store

import "strings"

// SplitNative cuts a text in SQLite's dialect into its statements, at semicolons outside quotes and comments.
func SplitNative(sql string) []string {
	var out []string
	from := 0
	for i := 0; i < len(sql); {
		switch rest := sql[i:]; {
		case rest[0] == '\'' || rest[0] == '"':
			i += skip(rest[1:], rest[:1]) + 1
		case strings.HasPrefix(rest, "--"):
			i += skip(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			i += skip(rest, "*/")
		case rest[0] == ';':
			out = appendStatement(out, sql[from:i])
			i++
			from = i
		default:
			i++
		}
	}
	return appendStatement(out, sql[from:])
}

// skip returns the length of s up to and including the first end, or all of it.
func skip(s, end string) int {
	if i := strings.Index(s, end); i >= 0 {
		return i + len(end)
	}
	return len(s)
}

// appendStatement leaves out statements that are empty but for comments.
func appendStatement(out []string, s string) []string {
	for _, line := range strings.Split(s, "\n") {
		if l := strings.TrimSpace(line); l != "" && !strings.HasPrefix(l, "--") {
			return append(out, strings.TrimSpace(s))
		}
	}
	return out
}
