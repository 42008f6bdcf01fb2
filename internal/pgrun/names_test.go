package pgrun

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// namesScript makes a table T with key K and values X and V, views of it and losses over both, below a schema S.
const namesScript = `CREATE SCHEMA S; CREATE TABLE S.T (K int PRIMARY KEY, X double precision, V double precision[]);
INSERT INTO S.T VALUES (1, 0.5, '{1,2}'), (2, -0.25, '{3,-4}');
CREATE VIEW S.A AS SELECT K, X ^ 2 + sqnorm(V) AS X FROM S.T;
CREATE VIEW S.L AS SELECT sum(X * q.K) AS X FROM S.A AS q WHERE K IN (SELECT K FROM S.T AS V)`

// namesSteps are statements, each with the number that it gives; 0: only an error counts.
var namesSteps = []struct {
	sql  string
	want float64
}{
	{"SELECT backward('S.L', ARRAY['S.T'])", 0.25 + 5 + 2*(0.0625+25)},
	{"SELECT sum(g.X) FROM gradient('S.L', NULL::S.T) g", 1 - 1},
	{"SELECT sum(X) FROM TABLE_grad", 1 - 1},
	{"SELECT backward('SELECT X FROM S.L', ARRAY['S.T.X'])", 0.25 + 5 + 2*(0.0625+25)},
	{"SELECT sum(X) + count(*) FROM TABLE_grad", 1 - 1 + 2}, // made anew, without V
	{"SELECT sum(V[2]) FROM gradient('S.L', NULL::S.T) g", 4 - 16},
	{"SELECT backward('SELECT sum(g.X ^ 2) FROM gradient(''S.L'', NULL::S.T) g', ARRAY['S.T.X'])", 1 + 1},
	{"SELECT sum(X) FROM gradient('SELECT sum(g.X ^ 2) FROM gradient(''S.L'', NULL::S.T) g', NULL::S.T) g", 4 - 8},
	{"SELECT count(*) FROM check_gradient('S.L', 'S.T') WHERE ok", 6},
	{"SELECT count(*) FROM check_gradient('S.L', 'S.T.V') WHERE ok", 4},
	{"SELECT length(explain_gradient('S.L', 'S.T')) / 1000000", 0},
	{"CALL train('S.L', ARRAY['S.T.X'], optimizer => 'sgd', lr => 0.1, epochs => 2)", 0},
	{"SELECT sum(X * X * K) FROM S.T", 0.5*0.5*0.8*0.8*0.8*0.8 + 2*0.25*0.25*0.6*0.6*0.6*0.6},
	{"CALL train('S.L', ARRAY['S.T'], optimizer => 'adam', lr => 0.1, epochs => 2, batch => 'S.T', batch_size => 1, " +
		"validate => 'S.L', nonnegative => ARRAY['S.T.X'], before_step => 'UPDATE S.T SET X = X')", 0},
	{"SELECT count(*) FROM S.T WHERE X >= 0", 2},
}

// awkward are names: for S, T, A, L, K, X and V.
var awkward = map[string][7]string{
	"reserved words":  {"select", "from", "order", "group", "where", "user", "all"},
	"types and words": {"table", "values", "int", "null", "primary", "double", "text"},
	"odd characters":  {`a"b`, "x.y", "Two Words", "ünï·ß", "Capital", "sp ace", `quo'te`},
	"of 63 bytes": {strings.Repeat("s", 63), strings.Repeat("t", 63), strings.Repeat("ä", 31) + "a",
		strings.Repeat("l", 63),
		strings.Repeat("k", 63), strings.Repeat("x", 63), strings.Repeat("v", 63)},
	"of 58 bytes": {strings.Repeat("s", 63), strings.Repeat("t", 58), strings.Repeat("ä", 31) + "a",
		strings.Repeat("l", 63),
		strings.Repeat("k", 63), strings.Repeat("x", 63), strings.Repeat("v", 63)},
}

// longGrad reports whether the step is about a gradient's table that would have a name longer than names may be, which
// backward refuses; then err is looked at for that.
func longGrad(t *testing.T, where, sql string, names [7]string, err error) bool {
	fills, reads := strings.Contains(sql, "backward("), strings.Contains(sql, "TABLE_grad")
	if len(names[1]+"_grad") <= 63 || !fills && !reads {
		return false
	}
	if err == nil || fills && !strings.Contains(err.Error(), "longer than 63") {
		t.Errorf("%s: %s: %v", where, spelt(sql, names), err)
	}
	return true
}

// spelt writes the statement with names in the places of S, T, A, L, K, X, V and TABLE_grad; in texts quotes are
// doubled once more for each text around.
func spelt(sql string, names [7]string) string {
	grad := names[1] + "_grad"
	var b strings.Builder
	quotes, depth := 0, 0
	for at := 0; at < len(sql); {
		n := len(sql[at:]) - len(strings.TrimLeft(sql[at:], "'"))
		if n > 0 {
			if quotes++; n == 1 {
				depth = 1 - depth
			} else if depth == 1 {
				depth = 2
			} else {
				depth = 1
			}
			b.WriteString(sql[at : at+n])
			at += n
			continue
		}
		end := at
		for end < len(sql) && (sql[end] >= 'A' && sql[end] <= 'Z' || sql[end] >= 'a' && sql[end] <= 'z' || sql[end] == '_') {
			end++
		}
		if end == at {
			b.WriteByte(sql[at])
			at++
			continue
		}
		word := sql[at:end]
		name, ok := grad, word == "TABLE_grad"
		if i := strings.Index("STALKXV", word); i >= 0 && len(word) == 1 {
			name, ok = names[i], true
		}
		if ok {
			name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
			word = strings.ReplaceAll(name, "'", strings.Repeat("'", 1<<depth))
		}
		b.WriteString(word)
		at = end
	}
	return b.String()
}

// TestAwkwardNames runs gradients and training over tables, columns, schemas and views whose names need quotes, on the
// store and on a server by both engines.
func TestAwkwardNames(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	s := newViewServer(t)
	for kind, names := range awkward {
		t.Run(kind, func(t *testing.T) {
			s.t = t
			for _, mode := range engineModes {
				s.exec("SET relgrad.engine = " + mode + "; SET search_path = public, relgrad")
				s.exec(spelt(namesScript, names))
				for _, step := range namesSteps {
					rows, err := s.texts(spelt(step.sql, names))
					if longGrad(t, mode, step.sql, names, err) {
						continue
					}
					if err == nil && step.want != 0 && len(rows) > 0 {
						err = isNumber(rows[0][0], step.want)
					}
					if err != nil {
						t.Errorf("%s: %s: %v", mode, spelt(step.sql, names), err)
					}
				}
				s.exec("DROP TABLE IF EXISTS pg_temp." + spelt("TABLE_grad", names))
				s.exec(spelt("DROP SCHEMA S CASCADE", names))
			}
			db, err := relgrad.Open("")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Run(ctx, spelt(namesScript, names)); err != nil {
				t.Fatal(sqlerr.Render(err))
			}
			for _, step := range namesSteps {
				res, err := db.Run(ctx, spelt(step.sql, names))
				if longGrad(t, "store", step.sql, names, err) {
					continue
				}
				if err == nil && step.want != 0 && len(res.Rows) > 0 {
					err = isNumber(fmt.Sprint(res.Rows[0][0]), step.want)
				}
				if err != nil {
					t.Errorf("store: %s: %s", spelt(step.sql, names), sqlerr.Render(err))
				}
			}
		})
	}
}

func isNumber(text string, want float64) error {
	x, err := strconv.ParseFloat(text, 64)
	if err == nil && !near(x, want) {
		err = fmt.Errorf("it is %v, not %v", x, want)
	}
	return err
}

// TestNameTexts: what names a table in a text, and what is a query.
func TestNameTexts(t *testing.T) {
	for text, is := range map[string]bool{"w": true, "order": true, `"order"`: true, "a.b": true, ` "a" . b `: true,
		`"a""b".c`: true, "": false, "a b": false,
		`""`: false, "a.": false, "1": false, "select 1": false, "a..b": false, "'a'": false,
		strings.Repeat("x", 2000): false} {
		if got := bind.IsName(text); got != is {
			t.Errorf("%q is a name: %v, want %v", text, got, is)
		}
	}
}
