package pgsuite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// A case is a statement of testdata with what is expected of it: an answer as the server's where want is "",
// "both STATE" where both refuse it (first the store's SQLSTATE, then the server's where it is another), "refused
// STATE" where only the store does.
type neighbour struct {
	sql, want string
	line      int
}

// neighbours reads a file of statements, each of which ends with ";" at a line's end. A line "--! …" says what is
// expected of the next one.
func neighbours(text string) []neighbour {
	var out []neighbour
	n := neighbour{}
	for i, line := range strings.Split(text, "\n") {
		if want, ok := strings.CutPrefix(line, "--! "); ok {
			n.want = want
			continue
		}
		if n.sql == "" {
			n.line = i + 1
			if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "--") {
				continue
			}
		}
		n.sql += line + "\n"
		if strings.HasSuffix(strings.TrimRight(line, " "), ";") {
			out = append(out, n)
			n = neighbour{}
		}
	}
	return out
}

// TestNeighbours runs statements of ours on both. Each is answered alike, or refused as it says.
func TestNeighbours(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", err)
	}
	c := pgcluster.StartBare(t)
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".sql"), func(t *testing.T) {
			text, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			b := open(t, c, "")
			for _, n := range neighbours(string(text)) {
				if got := b.neighbour(n.sql); got != n.want {
					t.Errorf("%s:%d: %s  expected: %s\n  got: %s", p, n.line, n.sql, orAnswer(n.want), orAnswer(got))
				}
			}
		})
	}
}

func orAnswer(s string) string {
	if s == "" {
		return "the same answer"
	}
	return s
}

// neighbour runs a statement on both and says what came of it, in the form of a file's "--!" lines.
func (b *both) neighbour(sql string) string {
	b.must(b.store, save)
	b.must(b.server, save)
	mine, err := b.store(sql)
	its, serverErr := b.server(sql)
	if err != nil || serverErr != nil {
		b.must(b.store, forget)
		b.must(b.server, forget)
	} else {
		b.must(b.store, keep)
		b.must(b.server, keep)
	}
	var pe *pgconn.PgError
	switch code := sqlerr.Code(err); {
	case err != nil && errors.As(serverErr, &pe) && pe.Code == code:
		return "both " + code
	case err != nil && serverErr != nil && code != sqlerr.Internal:
		return "both " + code + " " + pe.Code
	case err != nil && serverErr != nil:
		return fmt.Sprintf("%s instead of %v", sqlerr.Render(err), serverErr)
	case err != nil:
		return "refused " + code
	case serverErr != nil:
		return fmt.Sprintf("%s instead of %v", mine, serverErr)
	}
	return compare(mine, its, sortedBy(sql, its.cols))
}
