package functions

import (
	"strings"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// like matches a text with a LIKE pattern. On a mismatch, the last % takes one more character.
func like(s, p string) (bool, error) {
	if escapes := len(p) - len(strings.TrimRight(p, `\`)); escapes%2 == 1 {
		return false, sqlerr.New("22025", "LIKE pattern must not end with escape character")
	}
	i, j := 0, 0          // positions in s and p
	lastS, lastP := 0, -1 // where the last % began to match in s, and what follows it in p
	for i < len(s) || j < len(p) {
		if j < len(p) && p[j] == '%' {
			j++
			lastS, lastP = i, j
			continue
		}
		if i < len(s) && j < len(p) {
			n, m := one(s, p, i, j)
			if n > 0 {
				i, j = i+n, j+m
				continue
			}
		}
		if lastP < 0 || lastS >= len(s) {
			return false, nil
		}
		_, n := utf8.DecodeRuneInString(s[lastS:])
		lastS += n
		i, j = lastS, lastP
	}
	return true, nil
}

// one matches one character of each: it returns how many bytes they have, 0 where they differ.
func one(s, p string, i, j int) (n, m int) {
	if p[j] == '_' {
		_, n = utf8.DecodeRuneInString(s[i:])
		return n, 1
	}
	if p[j] == '\\' {
		m = 1
	}
	if s[i] != p[j+m] {
		return 0, 0
	}
	return 1, m + 1
}
