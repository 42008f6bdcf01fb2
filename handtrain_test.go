package relgrad

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/tensor"
	"github.com/relgrad/relgrad/train"
)

// ratings is a model whose batch stands on both sides of LEFT JOINs and is read again through two views, with
// parameters of both types, users that no rating names, and ratings of items that are not there.
const ratings = `
CREATE TABLE %s (id int PRIMARY KEY, usr int, item int, y double precision);
INSERT INTO %[1]s SELECT i, (i * i) %% 7, (i * 5) %% 6, sin(i) FROM generate_series(1, 26) AS g(i);
%[2]s
CREATE TABLE u (id int PRIMARY KEY, v double precision[]);
INSERT INTO u SELECT i, random_normal(ARRAY[3], 1, ARRAY[1, i]) FROM generate_series(0, 7) AS g(i);
CREATE TABLE w (id int PRIMARY KEY, v real[], b double precision);
INSERT INTO w SELECT i, random_normal(ARRAY[3], 1, ARRAY[2, i]), i / 10.0 FROM generate_series(0, 4) AS g(i);
CREATE VIEW load AS SELECT usr, count(*) AS n, avg(y) AS mean FROM example GROUP BY usr;
CREATE VIEW guess AS SELECT e.id, e.y, dot(u.v, w.v::double precision[]) AS s, w.b, u.v AS of, l.n, l.mean
FROM u LEFT JOIN example e ON e.usr = u.id LEFT JOIN w ON w.id = e.item LEFT JOIN load l ON l.usr = u.id;
CREATE VIEW loss AS SELECT sum(coalesce((y - mean / 4 - s - b) ^ 2 / n, 0.1 * sqnorm(of))) FROM guess;
`

// handColumn is a value column of a parameter, kept by hand: values and state by id.
type handColumn struct {
	table, name string
	real        bool
	value       map[int64][]float64
	m, s        map[int64][]float64
}

func (c *handColumn) read(t *testing.T, db *DB, from string) map[int64][]float64 {
	t.Helper()
	out := map[int64][]float64{}
	for _, row := range mustRun(t, db, fmt.Sprintf("SELECT id, %s FROM %s", c.name, from)).Rows {
		switch x := row[1].(type) {
		case float64:
			out[row[0].(int64)] = []float64{x}
		case *tensor.Tensor:
			out[row[0].(int64)] = slices.Clone(x.Data)
		}
	}
	return out
}

// store writes the values.
func (c *handColumn) store(t *testing.T, db *DB) {
	t.Helper()
	for id, v := range c.value {
		text := strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]")
		if len(v) > 1 {
			text = "'{" + text + "}'"
		}
		mustRun(t, db, fmt.Sprintf("UPDATE %s SET %s = %s WHERE id = %d", c.table, c.name, text, id))
	}
}

// byHandOptions are a run's options as the hand applies them, and as train reads them.
type byHandOptions struct {
	call          string
	adam, sparse  bool // else momentum
	decay, clip   float64
	frozen        func(table string, id int64) bool
	lr            func(table string, step int) float64
	nonneg, balls string
	hook          string
}

const handSteps = 12

// step updates the columns with gradients, which lack the rows that the loss does not reach.
func (o *byHandOptions) step(n int, cols []*handColumn, grads []map[int64][]float64) {
	total := 0.0
	for i, c := range cols {
		for id, g := range grads[i] {
			for _, x := range g {
				if !o.frozen(c.table, id) {
					total += x * x
				}
			}
		}
	}
	scale := 1.0
	if norm := math.Sqrt(total); o.clip > 0 && norm > o.clip {
		scale = o.clip / norm
	}
	for i, c := range cols {
		for id, p := range c.value {
			g, reached := grads[i][id]
			if o.frozen(c.table, id) || o.sparse && !reached {
				continue
			}
			if !reached {
				g = make([]float64, len(p))
			}
			if c.m[id] == nil {
				c.m[id], c.s[id] = make([]float64, len(p)), make([]float64, len(p))
			}
			m, s, lr := c.m[id], c.s[id], o.lr(c.table, n)
			for k := range p {
				d := scale*g[k] + o.decay*p[k]
				if o.adam {
					m[k], s[k] = 0.9*m[k]+0.1*d, 0.999*s[k]+0.001*d*d
					p[k] -= lr * (m[k] / (1 - math.Pow(0.9, float64(n)))) / (math.Sqrt(s[k]/(1-math.Pow(0.999, float64(n)))) + 1e-8)
				} else {
					m[k] = 0.9*m[k] + d
					p[k] -= lr * m[k]
				}
			}
			if c.table == o.nonneg {
				for k := range p {
					p[k] = max(p[k], 0)
				}
			}
			if norm := math.Sqrt(sum(p)); c.table == o.balls && norm > 1 {
				for k := range p {
					p[k] /= norm
				}
			}
		}
	}
}

func sum(p []float64) (s float64) {
	for _, x := range p {
		s += x * x
	}
	return s
}

// TestTrainByHand: batches, frozen and sparse rows, decay, clipping, schedules and before_step as an independent
// computation of the same steps has them. Only the gradients of a batch come from relgrad: of backward over a store
// that holds nothing but the batch.
func TestTrainByHand(t *testing.T) {
	none := func(string, int64) bool { return false }
	odd := func(table string, id int64) bool { return table == "w" && id%2 == 1 }
	flat := func(string, int) float64 { return 0.05 }
	for name, o := range map[string]*byHandOptions{
		"adam":                    {call: "lr => 0.05", adam: true, frozen: none, lr: flat},
		"decay of unreached rows": {call: "lr => 0.05, weight_decay => 0.1", adam: true, decay: 0.1, frozen: none, lr: flat},
		"sparse momentum": {call: "optimizer => 'momentum', lr => 0.05, weight_decay => 0.1, sparse => true",
			sparse: true, decay: 0.1, frozen: none, lr: flat},
		"frozen and clipped": {call: `lr => 0.05, clip_norm => 0.5, weight_decay => 0.1,
			options => '{"w": {"where": "id % 2 = 0"}}'`, adam: true, clip: 0.5, decay: 0.1, frozen: odd, lr: flat},
		"frozen, sparse, clipped momentum": {call: `optimizer => 'momentum', lr => 0.05, clip_norm => 0.5,
			weight_decay => 0.1, sparse => ARRAY['u', 'w'], options => '{"w": {"where": "id % 2 = 0"}}'`,
			sparse: true, clip: 0.5, decay: 0.1, frozen: odd, lr: flat},
		"a rate of its own, with a schedule": {call: `optimizer => 'momentum', lr => 0.05, warmup => 3, schedule => 'cosine',
			eta_min => 0.01, options => '{"u": {"lr": 0.02}}', nonnegative => ARRAY['w'], project => ARRAY['u: unit_ball']`,
			frozen: none, nonneg: "w", balls: "u", lr: func(table string, step int) float64 {
				base := map[string]float64{"u": 0.02, "w": 0.05}[table]
				if step <= 3 {
					return base * float64(step) / 3
				}
				return 0.01 + (base-0.01)*(1+math.Cos(math.Pi*float64(step-4)/(handSteps-3)))/2
			}},
		"before_step": {call: "lr => 0.05", adam: true, frozen: none, lr: flat,
			hook: "UPDATE w SET b = w.b * 0.9 WHERE id % 2 = current_step() % 2; UPDATE u SET v = v * 1.5 WHERE id = 3 AND " +
				"current_step() % 3 = 0"},
	} {
		t.Run(name, func(t *testing.T) {
			call := "CALL train('loss', ARRAY['u', 'w'], epochs => 3, seed => 4, batch => 'example', batch_size => 7, " + o.call
			if o.hook != "" {
				call += ", before_step => $$" + o.hook + "$$"
			}
			db, hand := open(t, ""), open(t, "")
			mustRun(t, db, fmt.Sprintf(ratings, "example", ""))
			mustRun(t, hand, fmt.Sprintf(ratings, "everything",
				"CREATE TABLE chosen (id int PRIMARY KEY); CREATE VIEW example AS SELECT e.* FROM everything e JOIN chosen "+
					"USING (id);"))
			mustRun(t, db, call+")")
			got := mustRun(t, db, "SELECT loss FROM relgrad.loss ORDER BY step").Rows
			if len(got) != handSteps {
				t.Fatalf("%d steps", len(got))
			}
			cols := []*handColumn{{table: "u", name: "v"}, {table: "w", name: "v", real: true}, {table: "w", name: "b"}}
			for _, c := range cols {
				c.value, c.m, c.s = c.read(t, hand, c.table), map[int64][]float64{}, map[int64][]float64{}
			}
			for n := 1; n <= handSteps; n++ {
				epoch, at := int64((n-1)/4+1), (n-1)%4*7
				mustRun(t, hand, "DELETE FROM chosen")
				for _, i := range train.Permutation(4, epoch, 26)[at:min(at+7, 26)] {
					mustRun(t, hand, fmt.Sprintf("INSERT INTO chosen VALUES (%d)", i+1))
				}
				if o.hook != "" {
					mustRun(t, hand, strings.ReplaceAll(o.hook, "current_step()", fmt.Sprint(n)))
					for _, c := range cols {
						c.value = c.read(t, hand, c.table)
					}
				}
				x := mustRun(t, hand, "SELECT backward('loss', ARRAY['u', 'w'])").Rows[0][0].(float64)
				if l := got[n-1][0].(float64); math.Abs(l-x) > 1e-5*math.Abs(x) {
					t.Fatalf("step %d has loss %v, by hand %v", n, l, x)
				}
				var grads []map[int64][]float64
				for _, c := range cols {
					grads = append(grads, c.read(t, hand, c.table+"_grad"))
				}
				o.step(n, cols, grads)
				for _, c := range cols {
					c.store(t, hand)
				}
			}
			for _, c := range cols {
				for id, v := range c.read(t, db, c.table) {
					for k := range v {
						if math.Abs(v[k]-c.value[id][k]) > 2e-5 {
							t.Errorf("%s.%s of %d is %v, by hand %v", c.table, c.name, id, v, c.value[id])
							break
						}
					}
				}
			}
		})
	}
}

// TestColumnsChangeTogether trains columns each of which is another's gradient: none sees the other's new values.
func TestColumnsChangeTogether(t *testing.T) {
	db := testDB(t)
	mustRun(t, db, `CREATE TABLE w (id int PRIMARY KEY, a double precision, b double precision);
INSERT INTO w VALUES (1, 2, 3), (2, 5, 7);
CREATE TABLE x (id int PRIMARY KEY, v double precision[]);
CREATE TABLE y (id int PRIMARY KEY, v double precision[]);
INSERT INTO x VALUES (1, '{2,5}');
INSERT INTO y VALUES (1, '{3,7}');
CREATE VIEW numbers AS SELECT sum(a * b) AS loss FROM w;
CREATE VIEW chunks AS SELECT sum(dot(x.v, y.v)) AS loss FROM x JOIN y USING (id);
CALL train('numbers', ARRAY['w'], optimizer => 'sgd', lr => 0.5, epochs => 1);
CALL train('chunks', ARRAY['x', 'y'], optimizer => 'sgd', lr => 0.5, epochs => 1);`)
	want := [][]any{{int64(1), 0.5, 2.0}, {int64(2), 1.5, 4.5}}
	if got := mustRun(t, db, "SELECT id, a, b FROM w ORDER BY id").Rows; !reflect.DeepEqual(got, want) {
		t.Errorf("a, b = %v, want %v", got, want)
	}
	row := mustRun(t, db, "SELECT x.v, y.v FROM x JOIN y USING (id)").Rows[0]
	for i, v := range [][]float64{{0.5, 1.5}, {2, 4.5}} {
		if got := row[i].(*tensor.Tensor).Data; !slices.Equal(got, v) {
			t.Errorf("column %d is %v, want %v", i, got, v)
		}
	}
}
