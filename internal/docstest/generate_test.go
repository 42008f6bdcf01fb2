package docstest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestSQLPage checks the examples of constructs_test.go and that docs/sql.md holds the tables made of them, each after
// a line <!-- constructs NAME -->; -update writes them.
func TestSQLPage(t *testing.T) {
	db, err := relgrad.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	t.Chdir(t.TempDir()) // for folders of the stage
	if _, err := db.Run(context.Background(), stage); err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{"stage": "```sql\n" + stage + "```\n"}
	for _, chapter := range differentiable {
		rows := "| construct | example |\n|---|---|\n"
		for _, c := range chapter.rows {
			holds(t, db, c.title, c.loss)
			rows += fmt.Sprintf("| %s | %s |\n", c.title, code(c.loss))
		}
		tables[chapter.name] = rows
	}
	tables["free"] = "| construct | example | elsewhere |\n|---|---|---|\n"
	for _, c := range parameterFree {
		holds(t, db, c.title, c.loss)
		tables["free"] += fmt.Sprintf("| %s | %s | %s |\n", c.title, code(c.loss), refusal(t, db, c.title, c.with))
	}
	tables["refused"] = "| construct | example | message |\n|---|---|---|\n"
	for _, c := range refused {
		tables["refused"] += fmt.Sprintf("| %s | %s | %s |\n", c.title, code(c.loss), refusal(t, db, c.title, c.loss))
	}
	tables["messages"], tables["states"] = messages(t), states(t)
	write(t, tables)
}

// holds checks the gradient of a loss with central differences; it must reach the parameter.
func holds(t *testing.T, db *relgrad.DB, title, loss string) {
	t.Helper()
	step := int64(1)
	rows, err := db.Check(context.Background(), loss, "w", relgrad.CheckOptions{Samples: 100, Step: &step})
	if err != nil {
		t.Errorf("%s: %s: %v", title, loss, err)
		return
	}
	reached := false
	for _, r := range rows {
		reached = reached || r.Analytic != 0
		if !r.OK {
			t.Errorf("%s: %s: %s of %s, element %d: %v, by differences %v", title, loss, r.Column, r.Key,
				r.Element, r.Analytic, r.Numeric)
		}
	}
	if !reached {
		t.Errorf("%s: %s: every element of the gradient is 0", title, loss)
	}
}

// refusal gives the message with which a loss is refused.
func refusal(t *testing.T, db *relgrad.DB, title, loss string) string {
	t.Helper()
	step := int64(1)
	_, err := db.Check(context.Background(), loss, "w", relgrad.CheckOptions{Samples: 1, Step: &step})
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code == sqlerr.Internal {
		t.Errorf("%s: %s: it is not refused: %v", title, loss, err)
		return ""
	}
	text := e.Message
	if e.Hint != "" {
		text += ". *" + e.Hint + "*"
	}
	return escape(text)
}

func escape(s string) string { return strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(s) }

func code(sql string) string { return "`" + strings.ReplaceAll(sql, "|", "\\|") + "`" }

// write puts the tables into docs/sql.md, or compares them with it.
func write(t *testing.T, tables map[string]string) {
	t.Helper()
	path := filepath.Join(need.Root(), "docs", "sql.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for name, table := range tables {
		from, to := fmt.Sprintf("<!-- constructs %s -->\n", name), "<!-- end -->\n"
		head, rest, ok := strings.Cut(page, from)
		old, tail, ok2 := strings.Cut(rest, to)
		if !ok || !ok2 {
			t.Errorf("docs/sql.md lacks the place %s… %s", from, to)
			continue
		}
		if old = strings.TrimSpace(old); old != strings.TrimSpace(table) && !*update {
			t.Errorf("docs/sql.md, %s: the table is not what the constructs say; run make golden", name)
		}
		page = head + from + "\n" + table + "\n" + to + tail
	}
	if n := strings.Count(page, "<!-- constructs "); n != len(tables) {
		t.Errorf("docs/sql.md has %d places for tables, not %d", n, len(tables))
	}
	if *update && page != string(text) {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
