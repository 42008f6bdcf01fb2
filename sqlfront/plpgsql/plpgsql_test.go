package plpgsql

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

const plBody = `
DECLARE
  b1 real := 0.9;  b2 CONSTANT real[] NOT NULL = '{}'; r record; q w0%ROWTYPE; t w0.v%TYPE; al ALIAS FOR $1;
  n numeric(10,2) DEFAULT 1;
BEGIN
  <<outer>>
  FOR i IN REVERSE 10..1 BY 2 LOOP
    a := a + 1; c[3] := 4; r.x := 5; a = 5;
    IF a > 1 THEN NULL; ELSIF CASE WHEN a < 0 THEN true END THEN a := 3; ELSE b := 'y'; END IF;
    SELECT x, y INTO STRICT a, b FROM w0 WHERE x = i;
    INSERT INTO t VALUES (1) RETURNING id INTO a;
    SELECT * INTO r FROM t;
    FOR r IN SELECT * FROM t LOOP CONTINUE outer WHEN r.x > 3; END LOOP;
    FOR a, b IN SELECT * FROM t LOOP EXIT outer; END LOOP;
    FOREACH a IN ARRAY b2 LOOP NULL; END LOOP;
    FOR r IN EXECUTE 'select 1' USING 3 LOOP NULL; END LOOP;
    WHILE a < 3 LOOP EXIT; END LOOP;
    LOOP EXIT WHEN found; END LOOP;
    RAISE NOTICE 'a % b % 100%%', a, (SELECT max(b) FROM t);
    RAISE EXCEPTION 'bad %', a USING ERRCODE = '22012', HINT = 'h';
    RAISE division_by_zero;
    RAISE;
    RAISE SQLSTATE '22012';
    PERFORM f(1, 'x', step => i);
    EXECUTE 'insert into t values ($1)' INTO a USING a, b;
    COMMIT; ROLLBACK;
    CALL p(1, x => a);
    GET DIAGNOSTICS a = ROW_COUNT;
    CASE a WHEN 1, 2 THEN NULL; ELSE NULL; END CASE;
    CASE WHEN a > 1 THEN NULL; END CASE;
    ASSERT a > 1, 'msg';
    BEGIN
      NULL;
    EXCEPTION WHEN division_by_zero OR SQLSTATE '22013' THEN RAISE NOTICE '%', SQLERRM; WHEN others THEN NULL;
    END;
    RETURN a;
  END LOOP outer;
  RETURN QUERY SELECT 1;
  RETURN NEXT a;
END `

// outline prints a PL/pgSQL tree's shape: line and kind of each statement.
func outline(b *strings.Builder, indent string, body []PLStmt) {
	for _, s := range body {
		fmt.Fprintf(b, "%s%d %s\n", indent, s.LineNo(), strings.TrimPrefix(fmt.Sprintf("%T", s), "*plpgsql."))
		in := indent + " "
		switch x := s.(type) {
		case *Block:
			outline(b, in, x.Body)
			for _, h := range x.Exceptions {
				outline(b, in, h.Body)
			}
		case *PLIf:
			for _, a := range x.Arms {
				outline(b, in, a.Body)
			}
			outline(b, in, x.Else)
		case *PLForInt:
			outline(b, in, x.Body)
		case *PLForQuery:
			outline(b, in, x.Body)
		case *PLWhile:
			outline(b, in, x.Body)
		}
	}
}

func TestPLpgSQL(t *testing.T) {
	b, err := ParsePLpgSQL(&ast.Text{SQL: plBody})
	if err != nil {
		t.Fatal(sqlerr.Render(err))
	}
	var out strings.Builder
	outline(&out, "", b.Body)
	want := `7 PLForInt
 8 PLAssign
 8 PLAssign
 8 PLAssign
 8 PLAssign
 9 PLIf
  9 PLNull
  9 PLAssign
  9 PLAssign
 10 PLSQL
 11 PLSQL
 12 PLSQL
 13 PLForQuery
  13 PLExit
 14 PLForQuery
  14 PLExit
 15 PLForEach
 16 PLForQuery
  16 PLNull
 17 PLWhile
  17 PLExit
 18 PLWhile
  18 PLExit
 19 PLRaise
 20 PLRaise
 21 PLRaise
 22 PLRaise
 23 PLRaise
 24 PLPerform
 25 PLExecute
 26 PLTransaction
 26 PLTransaction
 27 PLSQL
 28 PLGetDiagnostics
 29 PLCase
 30 PLCase
 31 PLAssert
 32 Block
  33 PLNull
  34 PLRaise
  34 PLNull
 36 PLReturn
38 PLReturn
39 PLReturn
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
	loop := b.Body[0].(*PLForInt)
	if loop.Label != "outer" || !loop.Reverse || loop.From.(*ast.Literal).Value != "10" ||
		loop.By.(*ast.Literal).Value != "2" {
		t.Errorf("loop %+v", loop)
	}
	q := loop.Body[5].(*PLSQL)
	if !q.Strict || len(q.Into) != 2 || q.Into[1].Names[0] != "b" {
		t.Errorf("into %+v", q)
	}
	if c := q.Stmt.(*ast.Select).Targets[1].X.(*ast.ColumnRef); plBody[c.At:c.At+1] != "y" {
		t.Errorf("position %d of y is wrong", c.At)
	}
	for i, want := range []string{"b1", "b2", "r", "q", "t", "al", "n"} {
		if d := b.Decls[i]; d.Name != want {
			t.Errorf("declaration %d: %+v", i, d)
		}
	}
	if d := b.Decls; !d[1].Constant || !d[1].NotNull || d[1].Type.Dims != 1 || !d[2].Record || d[3].RowOf != "w0" ||
		strings.Join(d[4].TypeOf, ".") != "w0.v" || d[5].Alias != "$1" || d[6].Type.Mods[1] != 2 {
		t.Errorf("declarations %+v", d)
	}
}

func TestPLpgSQLErrors(t *testing.T) {
	for _, tc := range []struct{ body, code, at, msg string }{
		{"BEGIN x := 1 END", sqlerr.Syntax, "", "end of input"},
		{"BEGIN x := 1 +; END", sqlerr.Syntax, "", "syntax error at end of input"},
		{"BEGIN IF a THEN b := 1; END;", sqlerr.Syntax, ";", "syntax error"},
		{"BEGIN SELECT FROM FROM x; END", sqlerr.Syntax, "FROM x", "near \"FROM\""},
		{"BEGIN RAISE NOTICE '% %', 1; END", sqlerr.Syntax, "'%", "too few"},
		{"BEGIN RAISE NOTICE '%%', 1; END", sqlerr.Syntax, "'%", "too many"},
		{"BEGIN FOR a, b IN 1..2 LOOP NULL; END LOOP; END", sqlerr.Syntax, "a,", "one target"},
		{"DECLARE c CURSOR FOR SELECT 1; BEGIN END", sqlerr.FeatureNotSupported, "CURSOR", "cursor"},
		{"BEGIN FOR r IN c LOOP NULL; END LOOP; END", sqlerr.FeatureNotSupported, "c LOOP", "cursor"},
		{"BEGIN LISTEN x; END", sqlerr.FeatureNotSupported, "LISTEN", "LISTEN"},
		{"BEGIN SAVEPOINT a; END", sqlerr.FeatureNotSupported, "SAVEPOINT", "EXCEPTION"},
		{"BEGIN NULL; END; x", sqlerr.Syntax, "x", "near \"x\""},
		{"BEGIN x := 'abc; END", sqlerr.Syntax, "'abc", "unterminated"},
		{"DECLARE x int NOT NULL; BEGIN END", sqlerr.NullNotAllowed, "x", "default value"},
		{strings.Repeat("BEGIN ", 100_000), sqlerr.TooComplex, "", "blocks inside"},
	} {
		_, err := ParsePLpgSQL(&ast.Text{SQL: tc.body})
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: no error", tc.body)
			continue
		}
		msg := e.Message + e.Hint
		if e.Code != tc.code || !strings.Contains(msg, tc.msg) || tc.at != "" && !strings.HasPrefix(tc.body[e.Pos:], tc.at) {
			t.Errorf("%.60q: got %s %q at %d", tc.body, e.Code, e.Message, e.Pos)
		}
	}
}

// FuzzParse: no text makes a parser panic, and positions stay inside the text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"SELECT 1", plBody, "DO $$ BEGIN NULL; END $$", "SELECT 'a\\'",
		"CREATE VIEW v AS SELECT 1 -- x", "COPY t FROM STDIN (FORMAT csv)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		text := &ast.Text{SQL: sql}
		check := func(n ast.Tree) bool {
			if p := n.Position(); p < -1 || int(p) > len(sql) {
				t.Errorf("position %d outside of %d bytes", p, len(sql))
			}
			return true
		}
		ps, err := parse.Parse(text)
		for _, p := range ps {
			ast.Walk(p.Stmt, check)
			if err == nil && text.SQL[p.At:int(p.At)+len(p.SQL)] != p.SQL {
				t.Errorf("text %q is not at %d", p.SQL, p.At)
			}
			ast.Rewrite(p.Stmt, func(n ast.Tree) ast.Tree {
				if c, ok := n.(*ast.ColumnRef); ok {
					return &ast.Bound{Node: c.Node, Type: "integer", Value: int64(1)}
				}
				return nil
			})
			if d, ok := p.Stmt.(*ast.Do); ok {
				ParsePLpgSQL(BodyText(text, d.Body, d.BodyAt))
			}
		}
		if x, err := parse.ParseExpr(text); err == nil {
			ast.Walk(x, check)
		}
		if b, err := ParsePLpgSQL(text); err == nil {
			ast.Walk(b, check)
		}
	})
}
