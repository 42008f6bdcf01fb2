// Package sqlerrtest checks errors in tests.
//
// # What
//
// Refused checks the code and the words of an error.
//
// # Invariants
//
// It imports nothing but the errors, so that the tests of every package may use it.
//
// # Errors
//
// Those of the test.
//
// # Where to add
//
// A check that several packages make of errors.
package sqlerrtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Refused checks an error's code and words.
func Refused(t testing.TB, err error, code string, words ...string) {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%v, want code %s", err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(e.Message+e.Detail+e.Hint, w) {
			t.Errorf("%q does not say %q", e.Message+e.Detail+e.Hint, w)
		}
	}
}
