package columns

import (
	"encoding/hex"
	"strings"

	"github.com/relgrad/relgrad/catalog"
)

// uuidIn reads a uuid as Postgres does: 32 hexadecimal digits with optional hyphens after each fourth digit and
// optional braces. It returns the canonical form, which sorts as text.
func uuidIn(s string) (any, error) {
	p, braces := strings.CutPrefix(s, "{")
	if q, ok := strings.CutSuffix(p, "}"); ok != braces {
		return nil, badInput(catalog.UUID, s)
	} else if braces {
		p = q
	}
	digits := make([]byte, 0, 32)
	for i := range len(p) {
		c := p[i]
		switch {
		case c == '-' && i > 0 && p[i-1] != '-' && len(digits)%4 == 0 && len(digits) < 32:
			continue
		case len(digits) == 32:
			return nil, badInput(catalog.UUID, s)
		}
		digits = append(digits, c)
	}
	var id [16]byte
	if len(digits) != 32 {
		return nil, badInput(catalog.UUID, s)
	}
	if _, err := hex.Decode(id[:], digits); err != nil {
		return nil, badInput(catalog.UUID, s)
	}
	return UUIDText(id), nil
}

// UUIDText prints a uuid in canonical form.
func UUIDText(id [16]byte) string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
