package serverstest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// examples are scripts of the folder examples. Their tables are made as the scripts make them, in double precision.
var examples = []struct {
	model
	script string
	more   string // behind the script
	by     [][2]string
}{
	{model{name: "karate club", params: [][2]string{{"w0", "node"}, {"w1", "id"}},
		train: "optimizer => 'adam', lr => 0.02, epochs => 20"},
		"gcn/karate_model.sql", "", [][2]string{{"adj", "dst"}, {"member", "node"}}},
	{model{name: "Cora", params: [][2]string{{"w0", "feature"}, {"w1", "id"}},
		train: "optimizer => 'adam', lr => 0.01, epochs => 2, seed => 1"},
		"gcn/cora_model.sql", "", [][2]string{{"adj", "dst"}, {"node", "node"}, {"feature", "node"}}},
	{model{name: "factors of low rank", params: [][2]string{{"w", "i"}, {"h", "j"}},
		train: "lr => 0.03, epochs => 50, nonnegative => ARRAY['w', 'h']"}, "nnmf/lowrank.sql", "", [][2]string{{"a", "j"}}},
	{model{name: "films", params: [][2]string{{"taste", "userid"}, {"trait", "item"}},
		train: "lr => 0.05, epochs => 4, nonnegative => ARRAY['taste', 'trait']"},
		"nnmf/movies.sql", "ALTER TABLE rating ALTER row DROP IDENTITY; DELETE FROM rating WHERE row > 20000; " +
			"DELETE FROM taste t WHERE NOT EXISTS (SELECT FROM train_rating r WHERE r.userid = t.userid); " +
			"DELETE FROM trait t WHERE NOT EXISTS (SELECT FROM train_rating r WHERE r.item = t.item)",
		[][2]string{{"rating", "row"}}},
	{model{name: "TransE", params: [][2]string{{"entity", "id"}, {"relation", "id"}},
		train: "optimizer => 'adam', lr => 0.04, epochs => 1, seed => 1, batch => 'triple', batch_size => 400"},
		"kge/transe.sql", "DELETE FROM triple WHERE h % 40 > 0; DELETE FROM entity e WHERE id > 1500",
		[][2]string{{"triple", "h"}}},
	{model{name: "tumours", params: [][2]string{{"model", "fold"}}, cols: []string{"w", "b"},
		train: "optimizer => 'adam', lr => 0.1, epochs => 20, weight_decay => 1e-2"},
		"logreg/breast_cancer.sql", "", [][2]string{{"patient", "row"}}},
	{model{name: "digits", params: [][2]string{{"layer1", "id"}, {"layer2", "id"}}, cols: []string{"w", "b"},
		train: "optimizer => 'adam', lr => 0.003, epochs => 1, seed => 1, batch => 'train_digit', batch_size => 1200"},
		"mlp/digits.sql", "", [][2]string{{"digit", "n"}}},
}

var (
	include = regexp.MustCompile(`(?m)^\\ir (\S+)$`)
	real    = regexp.MustCompile(`\breal\b`)
	trained = regexp.MustCompile(`(?ms)^(\\if :early_stop.*?\\endif|CALL train\(.*?;)$.*`)
)

// script is an example up to where it trains, in double precision.
func script(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := include.ReplaceAllStringFunc(string(data), func(line string) string {
		return script(t, filepath.Join(filepath.Dir(path), include.FindStringSubmatch(line)[1]))
	})
	return real.ReplaceAllString(trained.ReplaceAllString(text, ""), "double precision")
}

// scripts: the models of the examples give at several servers what they give at one, by both engines. The script of
// make servers-demo trains.
func (s *servers) scripts(t *testing.T) {
	t.Run("ratings", func(t *testing.T) {
		s := s.of(t)
		out, err := exec.Command("psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", s.called.c.DSN, "-f",
			filepath.Join(need.Root(), "examples", "servers", "ratings.sql")).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if loss, e := strconv.ParseFloat(lines[len(lines)-1], 64); err != nil || e != nil || !(loss > 0 && loss < 0.5) ||
			!strings.Contains(string(out), "s3|ready|rating") || !strings.Contains(string(out), "rating_s3|13100") {
			t.Errorf("%v: %s", err, out)
		}
	})
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			data := need.Data(t)
			s := s.of(t)
			c := s.called
			cmd := exec.Command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", "seed=1", "-v", "epochs=1",
				"-v", "data="+data, "-d", c.c.DSN)
			cmd.Stdin = strings.NewReader(script(t, filepath.Join(need.Root(), "examples", e.script)) + "\n" + e.more)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			c.must("RESET relgrad.engine")
			results(c, e.model, "one")
			for _, x := range e.by {
				c.must("SELECT distribute('%s', '%s')", x[0], x[1])
			}
			for _, engine := range []string{"chunk", "sql"} {
				c.must("SET relgrad.engine = '%s'", engine)
				results(c, e.model, engine)
				same(t, c, e.model, engine, "grad", "new")
			}
			c.must("RESET relgrad.engine")
			text := strings.Join(c.must("SELECT explain_gradient('loss', ARRAY['%s'], 'sites')",
				strings.Join(names(e.model), "', '")), "\n")
			for _, x := range e.by {
				if !strings.Contains(text, fmt.Sprintf("table %s: ", x[0])) {
					t.Errorf("%s does not lie at several servers:\n%s", x[0], text)
				}
			}
		})
	}
}
