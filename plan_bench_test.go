package relgrad

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkPlanning plans loss and gradients of networks of so many layers, each a table and a view.
func BenchmarkPlanning(b *testing.B) {
	for _, layers := range []int{10, 50, 100} {
		b.Run(fmt.Sprint("layers=", layers), func(b *testing.B) {
			db, err := Open("")
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			var s strings.Builder
			s.WriteString(`CREATE TABLE x (id int PRIMARY KEY, v real[16], y real[16]);
INSERT INTO x SELECT i, random_normal(ARRAY[16], 1, ARRAY[i]), random_normal(ARRAY[16], 2, ARRAY[i])
    FROM generate_series(1, 100) AS g(i);
CREATE VIEW h0 AS SELECT id, v AS h FROM x;`)
			var params []string
			for l := 1; l <= layers; l++ {
				fmt.Fprintf(&s, `CREATE TABLE w%[1]d (id int PRIMARY KEY, w real[16][16], b real[16]);
INSERT INTO w%[1]d SELECT 1, glorot_uniform(ARRAY[16, 16], 1, ARRAY[%[1]d], 16, 16), zeros(ARRAY[16]);
CREATE VIEW h%[1]d AS SELECT h.id, relu(matmul(h.h, w.w) + w.b) AS h FROM h%[2]d h CROSS JOIN w%[1]d w;`, l, l-1)
				params = append(params, fmt.Sprint("w", l))
			}
			fmt.Fprintf(&s, "CREATE VIEW loss AS SELECT avg(mse(h.h, x.y)) FROM h%d h JOIN x USING (id)", layers)
			if _, err := db.Run(context.Background(), s.String()); err != nil {
				b.Fatal(err)
			}
			for _, stage := range []string{"opt", "sites:16", "sites:1024"} {
				b.Run("stage="+stage, func(b *testing.B) {
					for range b.N {
						if _, err := db.Explain(context.Background(), "loss", params, stage); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// BenchmarkFirstCall is the first backward() of a loss: parsing, binding, differentiating, optimizing, the structure
// phase, and the run itself, which is short.
func BenchmarkFirstCall(b *testing.B) {
	list := func(n int, sep, term string) string {
		t := make([]string, n)
		for i := range t {
			t[i] = fmt.Sprintf(term, i+1)
		}
		return strings.Join(t, sep)
	}
	chain := func(n int, step string) string {
		var s strings.Builder
		for t := 1; t <= n; t++ {
			fmt.Fprintf(&s, "CREATE VIEW h%[1]d AS "+step+";\n", t, t-1, t%4)
		}
		return s.String()
	}
	once := "SELECT x.id, tanh(h.h * w.w + x.v) AS h FROM h%[2]d h JOIN x ON x.id = h.id AND x.t = %[3]d CROSS JOIN w"
	twice := "SELECT x.id, tanh(h.h * w.w + g.h) AS h FROM h%[2]d h JOIN x ON x.id = h.id AND x.t = %[3]d CROSS JOIN w " +
		"JOIN h%[2]d g ON g.id = h.id"
	for _, c := range []struct {
		name, setup, loss string
		params            []string
	}{
		{"views=60", chain(60, once), "SELECT avg(h * h) FROM h60", []string{"w"}},
		{"views=200", chain(200, once), "SELECT avg(h * h) FROM h200", []string{"w"}},
		{"views-read-twice=200", chain(200, twice), "SELECT avg(h * h) FROM h200", []string{"w"}},
		{"sub-queries=1000", "", "SELECT " + list(1000, " + ", "(SELECT sum(x.v * w.w) FROM x CROSS JOIN w WHERE x.t <> %d)"),
			[]string{"w"}},
		{"parameters=1000", list(1000, "",
			"CREATE TABLE p%[1]d (id int PRIMARY KEY, x double precision); INSERT INTO p%[1]d VALUES (1, 0.5), (2, 0.25);"),
			"SELECT " + list(1000, " + ", "(SELECT sum(x * x) FROM p%d)"), strings.Split(list(1000, " ", "p%d"), " ")},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				db, err := Open("")
				if err == nil {
					_, err = db.Run(context.Background(), `CREATE TABLE x (t int, id int, v double precision, PRIMARY KEY (t, id));
INSERT INTO x SELECT t, i, 0.1 * t - 0.01 * i FROM generate_series(0, 3) AS a(t), generate_series(1, 4) AS g(i);
CREATE TABLE w (one int PRIMARY KEY, w double precision); INSERT INTO w VALUES (1, 0.5);
CREATE VIEW h0 AS SELECT id, v AS h FROM x WHERE t = 0;`+c.setup)
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := db.Backward(context.Background(), c.loss, c.params, nil, 0); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				db.Close()
			}
		})
	}
}
