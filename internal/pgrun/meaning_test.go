package pgrun

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// meaningStage is what meanings read; w and e are the parameters.
const meaningStage = `SET search_path = public, relgrad;
CREATE TABLE w (id int PRIMARY KEY, x double precision, y double precision, v double precision[] NOT NULL);
INSERT INTO w VALUES (1, 0.5, 1.25, '{1,2}'), (2, NULL, -0.5, '{3,-4}'), (3, 2, NULL, '{0.5,1.5}'), (4, -0.25, 0.75,
'{-1,0.5}'), (5, NULL, NULL, '{2,1}');
CREATE TABLE e (src int, dst int, wt double precision NOT NULL, PRIMARY KEY (src, dst));
INSERT INTO e VALUES (1, 2, 0.5), (1, 3, -1.5), (2, 1, 2), (2, 4, 0.75), (3, 3, 1.25), (7, 1, 0.3);
CREATE TABLE t (id int PRIMARY KEY, grp text, n int, y double precision, r real, day date, price numeric(6, 2),
known boolean, k int);
INSERT INTO t VALUES (1, 'a', 10, 1.5, 0.5, '2024-01-01', 1.25, true, 1), (2, 'b', 20, -2, 1.5, '2024-02-01', 2.5,
false, NULL),
  (3, 'a', 30, 0.5, 0.1, NULL, 3.75, NULL, 3), (4, 'c', 40, 1.5, 2, '2024-03-01', 5, true, 2), (6, NULL, 60, NULL, 0.1,
'2024-02-01', 1.25, false, 9);
CREATE TABLE none (id int PRIMARY KEY, k int);
`

// meaningServer are further tables of the server: a store takes no NaN.
const meaningServer = `CREATE TABLE f (id int PRIMARY KEY, y double precision, s real, n int);
INSERT INTO f VALUES (1, 'NaN', 0, 1), (2, '-0', 'NaN', 2), (3, 'NaN', '-0', 3), (4, '0', 'infinity', 4), (5,
'-infinity', 1, 5);
`

// keysOf are the parameters' keys, valuesOf their value columns.
var (
	keysOf   = map[string]string{"w": "id", "e": "src, dst"}
	valuesOf = map[string][]string{"w": {"x", "y", "v"}, "e": {"wt"}}
)

// meaningHelp defines differences(), the central differences of a statement by UPDATE, over two widths.
const meaningHelp = `CREATE FUNCTION loss_of(loss text) RETURNS double precision LANGUAGE plpgsql AS $f$
DECLARE z double precision; BEGIN EXECUTE loss INTO STRICT z; RETURN z; END $f$;
CREATE FUNCTION differences(loss text, tab text, keys text, col text) RETURNS TABLE (key text, element int,
d double precision) LANGUAGE plpgsql AS $f$
DECLARE r record; target text; set_ text; a double precision; b double precision; f double precision[];
h double precision;
BEGIN
  target := col;
  FOR r IN EXECUTE
format('SELECT ROW(%s)::text AS k, CASE WHEN %2$s::text LIKE ''{%%'' THEN array_length(string_to_array(%2$s::text, ` +
	`'',''), 1) ELSE 1 END AS n, %2$s::text LIKE ''{%%'' AS chunk FROM %3$s WHERE %2$s IS NOT NULL', keys, col, tab) LOOP
    FOR i IN 1..r.n LOOP
      IF r.chunk THEN target := format('%s[%s]', col, i); END IF;
      f := '{}';
      FOREACH h IN ARRAY ARRAY[2e-4, -2e-4, 1e-4, -1e-4] LOOP
        EXECUTE format('UPDATE %s SET %s = %s + $1 WHERE ROW(%s)::text = $2', tab, target, target, keys) USING h, r.k;
        f := f || loss_of(loss);
        EXECUTE format('UPDATE %s SET %s = %s - $1 WHERE ROW(%s)::text = $2', tab, target, target, keys) USING h, r.k;
      END LOOP;
      key := r.k; element := i; d := (4 * (f[3] - f[4]) / 2e-4 - (f[1] - f[2]) / 4e-4) / 3;
      RETURN NEXT;
    END LOOP;
  END LOOP;
END $f$;
`

// formRow names an element of a gradient: "(1) x 1".
type formRow = map[string]float64

// TestMeanings compares losses that hold a construct with what the server says of them as plain statements: the loss,
// and the gradient by central differences; on the server by both engines of a backend, and on the store.
func TestMeanings(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	s.exec(meaningStage + meaningServer + meaningHelp)
	db, err := relgrad.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Run(context.Background(), meaningStage); err != nil {
		t.Fatal(err)
	}
	for _, kind := range slices.Sorted(maps.Keys(meanings)) {
		t.Run(kind, func(t *testing.T) {
			for _, loss := range meanings[kind] {
				s.t = t
				s.form(db, loss)
			}
		})
	}
}

// TestNullsChange asks for a gradient again after NULLs of the parameter have moved, and trains while before_step moves
// them: the chunk engine refuses to go on, the other one follows.
func TestNullsChange(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	s.exec(meaningStage + meaningHelp)
	ctx := context.Background()
	db, err := relgrad.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Run(ctx, meaningStage); err != nil {
		t.Fatal(err)
	}
	loss := "SELECT sum(e.wt * coalesce(q.z, 3)) FROM e LEFT JOIN (SELECT id, (sqnorm(v) + x) * rank() OVER (ORDER BY " +
		"id DESC) AS z FROM w WHERE x IS NOT NULL) q ON q.id = e.src"
	for range 2 {
		s.form(db, loss)
		move := "UPDATE w SET x = CASE WHEN x IS NULL THEN 1.5 END"
		s.exec(move)
		if _, err := db.Run(ctx, move); err != nil {
			t.Fatal(err)
		}
	}
	train := "CALL train($l$" + loss + "$l$, ARRAY['w.v', 'w.x'], optimizer => 'sgd', lr => 0.001, epochs => 4, " +
		"before_step => 'UPDATE w SET x = CASE WHEN x IS NULL THEN 1.5 END')"
	const refused = "has other NULLs than when the run began"
	if _, err := db.Run(ctx, train); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("store: %v", err)
	}
	s.exec("SET relgrad.engine = chunk")
	if err := s.try(train); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("chunk: %v", err)
	}
	s.exec("SET relgrad.engine = sql")
	s.exec("CREATE TABLE moving AS SELECT * FROM w")
	s.exec(train)
	rows, err := s.texts("SELECT loss FROM relgrad.loss WHERE run = (SELECT max(run) FROM relgrad.loss) ORDER BY step")
	if err != nil || len(rows) != 4 {
		t.Fatalf("sql: %v, %d steps", err, len(rows))
	}
	s.exec("UPDATE w SET x = m.x, v = m.v FROM moving m WHERE m.id = w.id")
	for i, row := range rows { // the same steps as statements
		s.exec("UPDATE w SET x = CASE WHEN x IS NULL THEN 1.5 END")
		want, err := s.number("SELECT loss_of($l$" + loss + "$l$)")
		if got, perr := strconv.ParseFloat(row[0], 64); err != nil || perr != nil || !near(got, want) {
			t.Errorf("sql: step %d has loss %v, as a statement %v", i+1, row[0], want)
		}
		s.exec("UPDATE w SET v = w.v - 0.001 * g.v, x = w.x - 0.001 * g.x FROM gradient($l$" + loss +
			"$l$, NULL::w) g WHERE g.id = w.id")
	}
}

// form checks one loss with respect to every table that it reads.
func (s *viewServer) form(db *relgrad.DB, loss string) {
	s.t.Helper()
	loss, serverOnly := strings.CutPrefix(loss, "server: ")
	want, err := s.number("SELECT loss_of($l$" + loss + "$l$)")
	if err != nil {
		s.t.Errorf("%s: as a statement: %v", loss, err)
		return
	}
	s.exec("CREATE OR REPLACE VIEW meaning AS " + loss) // whose text is what the server prints
	defer s.exec("DROP VIEW meaning")
	compared := false
	for _, table := range []string{"w", "e"} {
		if !strings.Contains(loss, " "+table+" ") && !strings.HasSuffix(loss, " "+table) &&
			!strings.Contains(loss, " "+table+")") {
			continue
		}
		truth := s.truth(loss, table)
		if !truth.reached() {
			continue
		}
		compared = true
		for _, mode := range engineModes {
			s.exec("SET relgrad.engine = " + mode)
			got, err := s.number("SELECT backward($l$" + loss + "$l$, ARRAY['" + table + "'])")
			if err == nil && !near(got, want) {
				err = fmt.Errorf("the loss is %v, as a statement %v", got, want)
			}
			if err == nil {
				err = truth.compare(s.gradient(loss, table))
			}
			if err == nil && mode == "chunk" {
				if err = truth.compare(s.gradient("meaning", table)); err != nil {
					err = fmt.Errorf("as a view: %w", err)
				}
			}
			if err != nil {
				s.t.Errorf("%s: %s, by %s: %v", loss, mode, table, err)
			}
		}
		if serverOnly {
			continue
		}
		if err := storeForm(db, loss, table, want, truth); err != nil {
			s.t.Errorf("%s: store, by %s: %v", loss, table, err)
		}
	}
	if !compared {
		s.t.Errorf("%s: it depends on no parameter", loss)
	}
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= 2e-7*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// truth are the central differences of the elements of a table that are not NULL.
type truth formRow

func (s *viewServer) truth(loss, table string) truth {
	out := truth{}
	for _, col := range valuesOf[table] {
		rows, err := s.texts("SELECT key, element, d FROM differences($l$" + loss + "$l$, '" + table + "', '" +
			keysOf[table] + "', '" + col + "')")
		if err != nil {
			s.t.Fatalf("%s: %v", loss, err)
		}
		for _, r := range rows {
			x, err := strconv.ParseFloat(r[2], 64)
			if err != nil {
				s.t.Fatalf("%s: %v", loss, err)
			}
			out[r[0]+" "+col+" "+r[1]] = x
		}
	}
	return out
}

// reached reports whether the loss depends on the table at all.
func (w truth) reached() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(w)), func(x float64) bool { return math.Abs(x) > 1e-9 })
}

// compare compares a gradient, of which missing elements are zero.
func (w truth) compare(got formRow, err error) error {
	if err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(w)) {
		if !near(got[k], w[k]) {
			return fmt.Errorf("the gradient at %s is %v, by differences %v", k, got[k], w[k])
		}
	}
	for k, x := range got {
		if _, ok := w[k]; !ok && x != 0 {
			return fmt.Errorf("the gradient at %s, which is NULL, is %v", k, x)
		}
	}
	return nil
}

// gradient reads gradient(…).
func (s *viewServer) gradient(loss, table string) (formRow, error) {
	rows, err := s.texts(fmt.Sprintf("SELECT ROW(%s)::text, %s FROM gradient($l$%s$l$, NULL::%s)", keysOf[table],
		strings.Join(valuesOf[table], ", "), loss, table))
	out := formRow{}
	for _, r := range rows {
		for i, col := range valuesOf[table] {
			for k, x := range strings.Split(strings.Trim(r[1+i], "{}"), ",") {
				v, perr := strconv.ParseFloat(x, 64)
				if perr != nil {
					return nil, perr
				}
				out[fmt.Sprintf("%s %s %d", r[0], col, k+1)] = v
			}
		}
	}
	return out, err
}

// storeForm compares a loss and its gradient on the store with the server's.
func storeForm(db *relgrad.DB, loss, table string, want float64, w truth) error {
	ctx := context.Background()
	res, err := db.Run(ctx, "SELECT backward($l$"+loss+"$l$, ARRAY['"+table+"'])")
	if err != nil {
		return fmt.Errorf("%s", sqlerr.Render(err))
	}
	if got := res.Rows[0][0].(float64); !near(got, want) {
		return fmt.Errorf("the loss is %v, on the server %v", got, want)
	}
	g, err := db.Gradient(ctx, loss, table, nil, 0)
	if err != nil {
		return err
	}
	got := formRow{}
	for r := range g.Cols[0].Len() {
		var key []string
		for i, name := range g.Names {
			if slices.Contains(strings.Split(keysOf[table], ", "), name) {
				key = append(key, g.Cols[i].Value(r).String())
			}
			if slices.Contains(valuesOf[table], name) {
				for k, x := range elements(g.Cols[i], r) {
					got[fmt.Sprintf("(%s) %s %d", strings.Join(key, ","), name, k+1)] = x
				}
			}
		}
	}
	return w.compare(got, nil)
}

func elements(v *column.Column, row int) []float64 {
	x := v.Value(row)
	return x.Floats()
}

// number is the only value of a query.
func (s *viewServer) number(sql string) (float64, error) {
	rows, err := s.texts(sql)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(rows[0][0], 64)
}

// texts are the rows of a query as texts.
func (s *viewServer) texts(sql string) ([][]string, error) {
	results, err := s.conn.PgConn().Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return nil, err
	}
	var out [][]string
	for _, r := range results[len(results)-1].Rows {
		var row []string
		for _, x := range r {
			row = append(row, string(x))
		}
		out = append(out, row)
	}
	return out, nil
}
