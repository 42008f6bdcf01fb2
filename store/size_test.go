package store

import (
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "280MB": 280 << 20, "4GiB": 4 << 30, "1.5 GB": 3 << 29, " 64kB ": 64 << 10, "2TB": 2 << 40, "100B": 100,
		"0": 0,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, hint := range map[string]string{
		"":       "Write it like 280MB or 4GiB.",
		"-1MB":   "Write it like 280MB or 4GiB.",
		"280mb":  "Perhaps you meant 280MB.",
		"4g":     "Perhaps you meant 4GB.",
		"3 days": "Write it like 280MB or 4GiB.",
	} {
		_, err := ParseSize(text)
		if e, ok := err.(*sqlerr.Error); !ok || e.Hint != hint {
			t.Errorf("ParseSize(%q): %v", text, err)
		}
	}
	if _, err := ParseSize("99999999999TB"); err == nil {
		t.Error("a size beyond 64 bits is read")
	}
}
