package functions

import (
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// like matches a text with a LIKE pattern.
func like(s, p string) (bool, error) {
	if escapes := len(p) - len(strings.TrimRight(p, `\`)); escapes%2 == 1 {
		return false, sqlerr.New("22025", "LIKE pattern must not end with escape character")
	}
	return kernels.Like(s, p), nil
}
