package print_test

import (
	goast "go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/tensor"
)

// withoutPositions gives a tree in which all positions are the same.
func withoutPositions(s ast.Statement) ast.Statement {
	ast.Walk(s, func(t ast.Tree) bool {
		if q, ok := t.(*ast.Select); ok {
			q.End = 0
		}
		return true
	})
	return ast.Relocate(s, 0)
}

// checkPrint checks that the text of s is read as s again, and printed as the same text.
func checkPrint(t *testing.T, s ast.Statement) {
	t.Helper()
	text, err := print.PrintStatement(s)
	if err != nil {
		t.Error(err)
		return
	}
	ps, err := parse.Parse(&ast.Text{SQL: text})
	if err != nil || len(ps) != 1 {
		t.Errorf("%s\n%v", text, err)
		return
	}
	again, _ := print.PrintStatement(ps[0].Stmt)
	if again != text {
		t.Errorf("printed %s\nthen    %s", text, again)
	}
	if !reflect.DeepEqual(withoutPositions(s), withoutPositions(ps[0].Stmt)) {
		t.Errorf("%s is not read as the tree that it was printed from", text)
	}
}

// checkQueries checks every query of a text, also those in bodies of functions, and returns how many there are. What
// does not parse is no SQL, or an error that another test is about.
func checkQueries(t *testing.T, text *ast.Text) (n int) {
	ps, err := parse.Parse(text)
	if err != nil {
		return 0
	}
	for _, p := range ps {
		n += checkBelow(t, p.Stmt)
		switch s := p.Stmt.(type) {
		case *ast.Do:
			n += checkBody(t, s.Body)
		case *ast.CreateFunction:
			n += checkBody(t, s.Body)
		}
	}
	return n
}

func checkBody(t *testing.T, body string) int {
	if b, err := plpgsql.ParsePLpgSQL(&ast.Text{SQL: body}); err == nil {
		return checkBelow(t, b)
	}
	return checkQueries(t, &ast.Text{SQL: body})
}

func checkBelow(t *testing.T, root ast.Tree) (n int) {
	ast.Walk(root, func(x ast.Tree) bool {
		switch s := x.(type) {
		case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete:
			n++
			checkPrint(t, s)
			return false
		}
		return true
	})
	return n
}

// TestPrintRepository prints all SQL of the repository: scripts, pages, and the strings of its Go files.
func TestPrintRepository(t *testing.T) {
	need.Time(t)
	n := map[string]int{}
	err := filepath.WalkDir(need.Root(), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "bin" {
				return filepath.SkipDir
			}
			return err
		}
		kind := filepath.Ext(file)
		if strings.Contains(file, "testdata") && kind != ".go" {
			kind = "testdata"
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, text := range texts(t, file, kind, string(b)) {
			n[kind] += checkQueries(t, &ast.Text{SQL: text, File: filepath.Base(file)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind, least := range map[string]int{".sql": 100, ".md": 400, ".go": 600, "testdata": 500} {
		if n[kind] < least {
			t.Errorf("only %d queries in %s", n[kind], kind)
		}
	}

}

// texts lists what may be SQL in a file.
func texts(t *testing.T, file, kind, b string) (out []string) {
	switch kind {
	case ".sql":
		return scripts(b)
	case ".md":
		for i, part := range strings.Split(b, "```") {
			if s, ok := strings.CutPrefix(part, "sql\n"); ok && i%2 == 1 {
				out = append(out, statements(s)...)
			}
		}
	case "testdata":
		for _, part := range strings.Split(b, "\n----\n") {
			if i := strings.LastIndex(part, "\n\n"); i >= 0 {
				part = part[i+2:]
			}
			if _, sql, ok := strings.Cut(part, "\n"); ok { // behind the directive
				out = append(out, statements(sql)...)
			}
		}
	case ".go":
		f, err := parser.ParseFile(token.NewFileSet(), file, b, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		goast.Inspect(f, func(n goast.Node) bool {
			if l, ok := n.(*goast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && strings.Contains(strings.ToUpper(s), "SELECT") {
					out = append(out, statements(s)...)
				}
			}
			return true
		})
	}
	return out
}

// scripts drops psql's commands and puts a number for its variables.
func scripts(b string) []string {
	lines := strings.Split(b, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, `\`) {
			lines[i] = ""
		}
	}
	return statements(strings.ReplaceAll(strings.Join(lines, "\n"), " :seed", " 1"))
}

// statements is the text whole where it parses, else its statements one by one.
func statements(sql string) []string {
	if _, err := parse.Parse(&ast.Text{SQL: sql}); err == nil {
		return []string{sql}
	}
	return strings.Split(sql, ";")
}

func TestPrintSurface(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(need.Surface(t), "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	n := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range scripts(string(b)) {
			n += checkQueries(t, &ast.Text{SQL: text, File: filepath.Base(file)})
		}
	}
	if n < 100 {
		t.Errorf("only %d queries", n)
	}
}

func TestPrintLosses(t *testing.T) {
	for _, l := range gradtest.Losses {
		if strings.HasPrefix(l.SQL, "SELECT") && checkQueries(t, &ast.Text{SQL: l.SQL}) != 1 {
			t.Errorf("%s does not parse", l.SQL)
		}
	}
	for seed := range int64(300) {
		q := randquery.Generate(seed, randquery.Options{})
		for _, v := range q.Views {
			if checkQueries(t, &ast.Text{SQL: v.SQL}) != 1 {
				t.Errorf("%s does not parse", v.SQL)
			}
		}
		for _, s := range q.DB.Script(kernels.Float32) {
			checkQueries(t, &ast.Text{SQL: s})
		}
		if strings.Contains(q.Loss, " ") && checkQueries(t, &ast.Text{SQL: q.Loss}) != 1 {
			t.Errorf("%s does not parse", q.Loss)
		}
	}
}

// printForms are forms that are easily printed as another tree, with their texts.
var printForms = []struct{ sql, want string }{
	{"select a operator(relgrad.*) b + c, (operator(relgrad.-) a) operator(relgrad.+) 1, a operator(pg_catalog.+) b * " +
		"operator(pg_catalog.-) c",
		"SELECT a OPERATOR(relgrad.*) (b + c), (OPERATOR(relgrad.-) a) OPERATOR(relgrad.+) 1, a OPERATOR(pg_catalog.+) (b " +
			"* (OPERATOR(pg_catalog.-) c))"},
	{"select -1::int, (-1)::int, - (1), -x ^ 2, -(x^2), 2 ^ -1, a-(-1), -(-x), 9223372036854775807, " +
		"-9223372036854775808, 9223372036854775808, 0x1F",
		"SELECT -1::integer, (-1)::integer, -1, (-x) ^ 2, -(x ^ 2), 2 ^ (-1), a - -1, -(-x), 9223372036854775807, " +
			"-9223372036854775808, 9223372036854775808, 31"},
	{"select a+(b+c), (a+b)+c, a-(b-c), a*(b+c), a^b^c, (a=b)=c, not a=b, (not a)=b, not (a and b), a or b " +
		"and c, (a or b) and c",
		"SELECT a + (b + c), a + b + c, a - (b - c), a * (b + c), (a ^ b) ^ c, (a = b) = c, NOT a = b, (NOT a) = b, NOT (a " +
			"AND b), a OR b AND c, (a OR b) AND c"},
	{"select a is null is null, (a is null) = b, a = (b is true), (a and b) is not unknown, a is distinct from (b = c), " +
		"a is not distinct from b",
		"SELECT (a IS NULL) IS NULL, (a IS NULL) = b, a = (b IS TRUE), (a AND b) IS NOT UNKNOWN, a IS DISTINCT FROM (b = " +
			"c), a IS NOT DISTINCT FROM b"},
	{"select a between b and c, (a in (1)) in (true), a not in (b, c), a between (b = c) and (d and e), a like 'x' " +
		"escape 'y', not a similar to b",
		""},
	{"select a = any (b), a + 1 < all (array[1, 2]), (a = any (b)) || c, a in (select b from t), (a, 1) not in (select " +
		"b, c from t), a > all (select 1)",
		"SELECT a = ANY (b), a + 1 < ALL (ARRAY[1, 2]), (a = ANY (b)) || c, a IN (SELECT b FROM t), NOT (a, 1) IN (SELECT " +
			"b, c FROM t), a > ALL (SELECT 1)"},
	{`select "A b".c, "select", "substring", t."user", "or""", left(x, 1), coalesce(a), "coalesce"(a), nullif(a, b), ` +
		`"Ä" as "as", a "value"`,
		`SELECT "A b".c, "select", "substring", t."user", "or""", "left"(x, 1), COALESCE(a), "coalesce"(a), NULLIF(a, b), ` +
			`"Ä" AS "as", a AS value`},
	{`select 'it''s', E'a\\b\n', U&'\0041', '', null, true, $1, $2[3], a[1], a[1:2][:], (a)[2:], ((a)[1])[2], ` +
		`(f(x))[1], (array[1, 2])[1], (select a)[1]`,
		"SELECT 'it''s', E'a\\\\b\n', 'A', '', NULL, true, $1, $2[3], a[1], a[1:2][:], a[2:], (a[1])[2], (f(x))[1], " +
			"(ARRAY[1, 2])[1], ((SELECT a))[1]"},
	{"select current_date, current_user, current_schema(), now(), extract(epoch from x), substring(a from 1 for 2), " +
		"position(a in b), trim(both 'x' from a), a at time zone 'utc', overlay(a placing b from 1)",
		`SELECT current_date, current_user, current_schema, now(), "extract"('epoch', x), "substring"(a, 1, 2), ` +
			`"position"(b, a), btrim(a, 'x'), timezone('utc', a), "overlay"(a, b, 1)`},
	{"select 1::int2, 1::varchar(3), 1::numeric(10,2), a::timestamptz(3), a::char, a::char(3), a::bpchar, a::bit, " +
		"a::bit(2), a::time, a::\"char\", a::s.t, a::t[][], interval '1' day, date 'x', a::float4[], a::int2(0), " +
		"a::\"varchar\"(1,2), a::numeric(3, -2)",
		`SELECT 1::smallint, 1::character varying(3), 1::numeric(10, 2), a::timestamp(3) with time zone, a::character(1), ` +
			`a::character(3), a::bpchar, a::"bit"(1), a::"bit"(2), a::time, a::"char", a::s.t, a::t[][], '1'::"interval"(8), ` +
			`'x'::date, a::real[], a::int2(0), a::"varchar"(1, 2), a::numeric(3, -2)`},
	{"select f(a, b => 1, \"C\" => 2), s.f(), count(*), count(distinct a), sum(a order by b desc nulls last, c) filter " +
		"(where d), f(all a)",
		`SELECT f(a, b => 1, "C" => 2), s.f(), count(*), count(DISTINCT a), sum(a ORDER BY b DESC NULLS LAST, c) FILTER ` +
			`(WHERE d), f(a)`},
	{"select sum(a) over w, sum(a) over (), sum(a) over (partition by b, c order by d rows 2 preceding), sum(a) over " +
		"(order by b range between unbounded preceding and current row exclude ties) from t " +
		"window w as (order by c), v as ()",
		"SELECT sum(a) OVER w, sum(a) OVER (), sum(a) OVER (PARTITION BY b, c ORDER BY d ROWS 2 PRECEDING), " +
			"sum(a) OVER (ORDER BY b RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t " +
			"WINDOW w AS (ORDER BY c), v AS ()"},
	{"select case a when 1 then 2 else 3 end, case when a then b end::int, row(), row(1), row(a, b), (a, b) = (c, d), " +
		"exists (select), array(select 1), array[[1], [2]], array[]::int[]",
		"SELECT CASE a WHEN 1 THEN 2 ELSE 3 END, CASE WHEN a THEN b END::integer, ROW(), ROW(1), (a, b), (a, b) = (c, d), " +
			"EXISTS (SELECT), ARRAY(SELECT 1), ARRAY[ARRAY[1], ARRAY[2]], ARRAY[]::integer[]"},
	{"select distinct a from t union select 1 union all (select 2 union select 3) order by 1 limit 2 offset 1",
		"SELECT DISTINCT a FROM t UNION SELECT 1 UNION ALL (SELECT 2 UNION SELECT 3) ORDER BY 1 LIMIT 2 OFFSET 1"},
	{"(select 1 union select 2) intersect all select 3 except (select 4 limit 1)",
		"(SELECT 1 UNION SELECT 2) INTERSECT ALL SELECT 3 EXCEPT (SELECT 4 LIMIT 1)"},
	{"select 1 union select 2 intersect select 3 except (with q as (select 4) table q)",
		"SELECT 1 UNION (SELECT 2 INTERSECT SELECT 3) EXCEPT (WITH q AS (SELECT 4) SELECT * FROM q)"},
	{"with recursive q(a, \"B\") as (values (1, 2) union all select a + 1, 2 from q), r as materialized (delete from t " +
		"returning *), s as not materialized (select) select from q",
		`WITH RECURSIVE q(a, "B") AS (VALUES (1, 2) UNION ALL SELECT a + 1, 2 FROM q), r AS MATERIALIZED (DELETE FROM t ` +
			`RETURNING *), s AS NOT MATERIALIZED (SELECT) SELECT FROM q`},
	{"select distinct on (a, b) t.* from s.t as u(x, y), lateral (select 1) v(z), lateral f(a) with ordinality g(h, i), " +
		"(values (1), (2)) w, (select 1)",
		"SELECT DISTINCT ON (a, b) t.* FROM s.t AS u(x, y), LATERAL (SELECT 1) AS v(z), LATERAL f(a) WITH ORDINALITY AS " +
			"g(h, i), (VALUES (1), (2)) AS w, (SELECT 1)"},
	{"select * from a join b on x left join c using (k, \"L\") cross join (d natural full join e) right join (f join g " +
		"on y) as h on z",
		`SELECT * FROM a JOIN b ON x LEFT JOIN c USING (k, "L") CROSS JOIN (d NATURAL FULL JOIN e) RIGHT JOIN (SELECT * ` +
			`FROM f JOIN g ON y) AS h ON z`},
	{"select a from (a join b on true) j where a and b group by a, (a, b) having count(*) > 1 fetch first 3 rows only",
		"SELECT a FROM (SELECT * FROM a JOIN b ON true) AS j WHERE a AND b GROUP BY a, (a, b) HAVING count(*) > 1 LIMIT 3"},
	{"insert into s.t as u (a, b) overriding system value values (1, default) on conflict (a) do update set b[1] = " +
		"default, c = 2 where d returning a + 1 as e",
		"INSERT INTO s.t AS u (a, b) OVERRIDING SYSTEM VALUE VALUES (1, DEFAULT) ON CONFLICT (a) DO UPDATE SET b[1] = " +
			"DEFAULT, c = 2 WHERE d RETURNING a + 1 AS e"},
	{"with q as (select 1) insert into t (select 1 limit 1) union select 2 on conflict do nothing",
		"WITH q AS (SELECT 1) INSERT INTO t (SELECT 1 LIMIT 1) UNION SELECT 2 ON CONFLICT DO NOTHING"},
	{"insert into t default values",
		"INSERT INTO t DEFAULT VALUES"},
	{"with q as (select 1) update t u set a[1:2] = b, c = default from q, r where d returning *",
		"WITH q AS (SELECT 1) UPDATE t AS u SET a[1:2] = b, c = DEFAULT FROM q, r WHERE d RETURNING *"},
	{"delete from only t using u where a",
		"DELETE FROM t USING u WHERE a"},
}

func TestPrintForms(t *testing.T) {
	for _, form := range printForms {
		sql, want := form.sql, form.want
		ps, err := parse.Parse(&ast.Text{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		checkPrint(t, ps[0].Stmt)
		if got, err := print.PrintStatement(ps[0].Stmt); want != "" && got != want || err != nil {
			t.Errorf("%s:\ngot  %s\nwant %s", sql, got, want)
		}
	}
	if _, err := print.PrintStatement(&ast.Truncate{}); err == nil {
		t.Error("TRUNCATE was printed")
	}
}

// TestPrintMade prints trees that only the engine makes.
func TestPrintMade(t *testing.T) {
	one := &ast.Bound{Type: "integer", Value: int64(1)}
	sub := &ast.SubLink{Query: &ast.Select{Targets: []ast.Target{{X: one}}}}
	col := &ast.ColumnRef{Names: []string{"a"}}
	for want, x := range map[string]ast.Expr{
		"1::integer":                       one,
		"'-1'::bigint":                     &ast.Bound{Type: "bigint", Value: int64(-1)},
		"NULL::double precision[]":         &ast.Bound{Type: "double precision[]"},
		"NULL":                             &ast.Bound{},
		"'x'":                              &ast.Bound{Type: "unknown", Value: "x"},
		"'it''s'::text":                    &ast.Bound{Type: "text", Value: "it's"},
		"true::boolean":                    &ast.Bound{Type: "boolean", Value: true},
		"'0.1'::double precision":          &ast.Bound{Type: "double precision", Value: 0.1},
		"'0.1'::real":                      &ast.Bound{Type: "real", Value: float64(float32(0.1))},
		"'-Infinity'::double precision":    &ast.Bound{Type: "double precision", Value: math.Inf(-1)},
		"'2.5'::double precision::integer": &ast.Bound{Type: "integer", Value: 2.5},
		"'2024-01-01 00:00:00'::timestamp": &ast.Bound{Type: "timestamp", Value: "2024-01-01 00:00:00"},
		"'{{1,NaN},{3,0.1}}'::real[]": &ast.Bound{Type: "real[]",
			Value: &tensor.Tensor{DType: tensor.Float32, Shape: tensor.Shape{2, 2},
				Data: []float64{1, math.NaN(), 3, float64(float32(0.1))}}},
		"'{1,NULL,-3}'::bigint[]": &ast.Bound{Type: "bigint[]",
			Value: []any{int64(1), nil, int64(-3)}},
		"'{{true},{false}}'::boolean[]": &ast.Bound{Type: "boolean[]",
			Value: []any{[]any{true}, []any{false}}},
		`E'{"a\\"b","c\\\\","","NULL"}'::text[]`: &ast.Bound{Type: "text[]",
			Value: []any{`a"b`, `c\`, "", "NULL"}},
		"'{}'::text[]": &ast.Bound{Type: "text[]", Value: []any{}},
		"a = ANY (COALESCE((SELECT 1::integer AS \"?column?\")))": &ast.AnyArray{X: col, Op: "=", Array: sub},
		"a IN (COALESCE((SELECT 1::integer AS \"?column?\")))":    &ast.In{X: col, List: []ast.Expr{sub}},
		"(SELECT 1::integer AS \"?column?\") - -1": &ast.Binary{Op: "-", L: sub,
			R: &ast.Literal{Kind: ast.LitInt, Value: "-1"}},
		"a::double precision": &ast.Cast{X: col, Type: ast.TypeName{Name: "double precision"},
			Argument: "f(double precision)"},
	} {
		got := print.Print(&ast.Select{Targets: []ast.Target{{X: x, Name: "x"}}})
		if got != "SELECT "+want+" AS x" {
			t.Errorf("got %s, want %s", got, want)
		}
		if _, err := parse.ParseSelect(&ast.Text{SQL: got}); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
}

// FuzzPrint: whatever parses can be printed and read again.
func FuzzPrint(f *testing.F) {
	for _, form := range printForms {
		f.Add(form.sql)
	}
	f.Fuzz(func(t *testing.T, sql string) { checkQueries(t, &ast.Text{SQL: sql}) })
}
