package relgrad

import (
	"context"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestCarriedFromOutside: values that a loss carries along as texts are those of the table whatever DateStyle is, or are refused.
func TestCarriedFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	s, _ := serverAt(t)
	runAll(t, s, "CREATE TABLE w (r daterange PRIMARY KEY, x double precision)", "INSERT INTO w VALUES ('[2020-02-01,2020-03-04)', 0.5)", "SET datestyle = 'German, MDY'")
	const loss = "SELECT sum(x * x) FROM w"
	s.Mode = ModeChunk
	if got, err := s.Gradient(ctx, loss, "w", nil, 0); err != nil || got.Cols[0].Texts[0] != "[2020-02-01,2020-03-04)" {
		t.Errorf("%+v, %v", got, err)
	}
	s.Mode = ModeSQL
	if got, err := s.Gradient(ctx, loss, "w", nil, 0); sqlerr.Code(err) != sqlerr.FeatureNotSupported || !strings.Contains(err.Error(), "does not read back") {
		t.Errorf("%+v, %v", got, err)
	}
}
