package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script/psql"
)

// Planned has the times of a script's plans: binding, differentiating and optimizing, without reading tables.
type Planned struct {
	Script string
	Asked  time.Duration // the longest time allowed for a plan
	Plans  []time.Duration
	Reason string // why there are no plans
}

// Worst is the longest time.
func (p *Planned) Worst() time.Duration { return slices.Max(p.Plans) }

// Missed reports whether a plan took longer than allowed.
func (p *Planned) Missed() bool { return p.Plans != nil && p.Worst() > p.Asked }

const (
	planningOfExample = 50 * time.Millisecond
	planningOfNetwork = time.Second
	networkLayers     = 50
)

// planningRounds is how often a script runs. Of each plan the shortest time counts, so that a busy moment of the
// machine does not matter.
const planningRounds = 3

// Planning runs the scripts in the subfolders of a folder, and a network with many layers, and times their plans. It
// skips files NAME_model.sql, which other scripts include.
func (r *Runner) Planning(ctx context.Context, examples string) (all []*Planned, err error) {
	files, err := filepath.Glob(filepath.Join(examples, "*", "*.sql"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "there is no script in the folders of %s", examples).
			WithHint("--examples names the folder examples of relgrad's repository.")
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_model.sql") {
			continue
		}
		name, _ := filepath.Rel(examples, file)
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		p, err := r.planning(ctx, name, planningOfExample, readsData.Match(text), func(s *psql.Runner) error {
			return s.RunFile(ctx, file)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	network := networkScript(networkLayers)
	p, err := r.planning(ctx, fmt.Sprintf("a network of %d layers, each a table and a view", networkLayers),
		planningOfNetwork, false, func(s *psql.Runner) error { return s.RunReader(ctx, "", strings.NewReader(network)) })
	return append(all, p), err
}

// readsData matches scripts that read real data, or include one that may.
var readsData = regexp.MustCompile(`:data\b|:'data'|\\ir? `)

// planning runs a script several times, each time on a fresh store. real: it reads real data, which may be missing.
func (r *Runner) planning(ctx context.Context, name string, asked time.Duration, real bool,
	run func(*psql.Runner) error) (*Planned, error) {
	fmt.Fprintf(r.Log, "planning %s\n", name)
	p := &Planned{Script: name, Asked: asked}
	data := os.Getenv("RELGRAD_DATA")
	for round := range planningRounds {
		vars := map[string]string{"data": data, "seed": "1", "epochs": "1"}
		n := 0
		err := runOn(ctx, "", vars, func(db *relgrad.DB) {
			db.OnCompiled = func(c relgrad.Compilation) {
				if round == 0 {
					p.Plans = append(p.Plans, c.Planning)
				} else if n < len(p.Plans) {
					p.Plans[n] = min(p.Plans[n], c.Planning)
				}
				n++
			}
		}, run)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && real && data == "":
			p.Plans, p.Reason = nil, "missing: real data (RELGRAD_DATA)"
			return p, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case n != len(p.Plans) || n == 0:
			return nil, sqlerr.New(sqlerr.Internal, "%s has made %d plans in one run, %d in another", name, len(p.Plans), n)
		}
	}
	return p, nil
}

// networkScript is a script that trains a network for one step; each layer is a table and a view.
func networkScript(layers int) string {
	var s strings.Builder
	s.WriteString(`SET search_path = public, relgrad;
CREATE TABLE x (id int PRIMARY KEY, v real[16], y real[16]);
INSERT INTO x SELECT i, random_normal(ARRAY[16], 1, ARRAY[i]), random_normal(ARRAY[16], 2, ARRAY[i])
FROM generate_series(1, 100) AS g(i);
CREATE VIEW h0 AS SELECT id, v AS h FROM x;
`)
	var params []string
	for l := 1; l <= layers; l++ {
		fmt.Fprintf(&s, `CREATE TABLE w%[1]d (id int PRIMARY KEY, w real[16][16], b real[16]);
INSERT INTO w%[1]d SELECT 1, glorot_uniform(ARRAY[16, 16], 1, ARRAY[%[1]d], 16, 16), zeros(ARRAY[16]);
CREATE VIEW h%[1]d AS SELECT h.id, relu(matmul(h.h, w.w) + w.b) AS h FROM h%[2]d h CROSS JOIN w%[1]d w;
`, l, l-1)
		params = append(params, fmt.Sprintf("'w%d'", l))
	}
	fmt.Fprintf(&s, "CREATE VIEW loss AS SELECT avg(mse(h.h, x.y)) AS loss FROM h%d h JOIN x "+
		"USING (id);\nCALL train('loss', ARRAY[%s], lr => 0.001, epochs => 1);\n", layers, strings.Join(params, ", "))
	return s.String()
}
