package kernelsql_test

import (
	"math"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/kernelsql"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store"
)

// TestMetrics runs the queries of metrics on the store.
func TestMetrics(t *testing.T) {
	db, err := store.OpenTemp()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, m := range kernelsql.Metrics() {
		rows, err := query(db, "SELECT "+m.SQL)
		if m.Err != "" {
			if err == nil || !strings.Contains(err.Error(), m.Err) || sqlerr.Code(err) != sqlerr.InvalidParameter {
				t.Errorf("%s: %v %s, want the error %s", m.SQL, err, sqlerr.Code(err), m.Err)
			}
			continue
		}
		got := math.NaN()
		if err == nil && rows[0][0] != nil {
			got = rows[0][0].(float64)
		}
		if err != nil || math.Abs(got-m.Want) > 1e-14*max(1, m.Want) || math.IsNaN(got) != math.IsNaN(m.Want) {
			t.Errorf("%s: %v, want %v, %v", m.SQL, got, m.Want, err)
		}
	}
}
