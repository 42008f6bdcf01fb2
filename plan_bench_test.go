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
INSERT INTO x SELECT i, random_normal(ARRAY[16], 1, ARRAY[i]), random_normal(ARRAY[16], 2, ARRAY[i]) FROM generate_series(1, 100) AS g(i);
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
			b.ResetTimer()
			for range b.N {
				if _, err := db.Explain(context.Background(), "loss", params, "opt"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
