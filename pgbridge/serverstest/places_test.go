package serverstest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
)

// places: the site of an integer is that of the partition in which the server puts it, or of the range of Citus in
// which the server's hash of it is.
func (s *servers) places(t *testing.T) {
	const partitions = 7
	fn, shards := physical.Function{Kind: physical.Partitions}, physical.Function{Kind: physical.Shards}
	for i := range partitions {
		fn.At, shards.At = append(fn.At, int32(i)), append(shards.At, int32(i))
	}
	for _, kind := range []string{"bigint", "integer", "smallint"} {
		s.called.must("CREATE TABLE place_%s (k %[1]s) PARTITION BY HASH (k)", kind)
		for i := range partitions {
			s.called.must("CREATE TABLE place_%s_%d PARTITION OF place_%[1]s FOR VALUES WITH (MODULUS %[3]d, REMAINDER %[2]d)",
				kind, i, partitions)
		}
		s.called.must("INSERT INTO place_%s SELECT (k * k * k * CASE k %% 2 WHEN 0 THEN 1 ELSE -1 END)::%[1]s "+
			"FROM generate_series(-30, 30) AS g(k) UNION ALL SELECT NULL", kind)
		if kind == "bigint" {
			s.called.must("INSERT INTO place_bigint VALUES (9223372036854775807), (-9223372036854775808), (4294967296), " +
				"(-4294967296), (2147483648), (-1)")
		}
		rows := s.called.must("SELECT right(tableoid::regclass::text, 1), coalesce(k::text, ''), least((hash%s(k)::bigint + "+
			"2147483648) / (4294967296 / %d), %[2]d - 1) FROM place_%[3]s",
			map[string]string{"bigint": "int8", "integer": "int4", "smallint": "int2"}[kind], partitions, kind)
		for _, row := range rows {
			cells := strings.Split(row, "|")
			partition, text := cells[0], cells[1]
			v := kernels.NullOf(kernels.Type{Kind: kernels.Int})
			if text != "" {
				x, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				v.Null, v.I = false, x
			}
			if at := fn.Site([]kernels.Value{v}, partitions); strconv.Itoa(at) != partition {
				t.Errorf("%s %q is in partition %s, not %d", kind, text, partition, at)
			}
			if at := shards.Site([]kernels.Value{v}, partitions); text != "" && strconv.Itoa(at) != cells[2] {
				t.Errorf("%s %q is in shard %s, not %d", kind, text, cells[2], at)
			}
		}
		if len(rows) < 62 {
			t.Errorf("%d rows", len(rows))
		}
	}
}
