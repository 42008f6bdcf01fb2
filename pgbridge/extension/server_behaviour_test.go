package extension

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/kernelsql"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// edges are numbers at which kernels have kinks or leave the range of floats.
var edges = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -2.5, 1e-30, 1e30, -1e30, 80, -80, 720, -760, 1e200,
	math.Inf(1), math.Inf(-1), math.NaN()}

// special compares element-wise kernels with the reference code at edges, as chunks and as numbers. They follow IEEE
// 754 and raise no errors.
func special(t *testing.T, s *server) {
	for _, d := range kernels.All() {
		if d.Elem == nil || builtin[d.Name] || d.Internal &&
			!slices.ContainsFunc(operators, func(o operator) bool { return o.kernel == d.Name }) {
			continue
		}
		for n := d.MinArgs; n <= d.MaxArgs; n++ {
			args := cross(n)
			for _, kind := range []kernels.Kind{kernels.Float32, kernels.Float64} {
				compareEdges(t, s, d, kind, args)
			}
		}
	}
}

// cross is the columns of all tuples of n edges.
func cross(n int) [][]float64 {
	out := make([][]float64, n)
	for i := range int(math.Pow(float64(len(edges)), float64(n))) {
		for a := range out {
			out[a] = append(out[a], edges[i%len(edges)])
			i /= len(edges)
		}
	}
	return out
}

func compareEdges(t *testing.T, s *server, d *kernels.Def, kind kernels.Kind, args [][]float64) {
	t.Helper()
	name := "relgrad." + d.Name
	if d.Internal {
		name = "relgrad.chunk_" + d.Name
	}
	var list, numbers []string
	want := make([]float64, len(args[0]))
	x, in := make([]float64, len(args)), make([][]float64, len(args))
	for a := range args {
		v := (&tensor.Tensor{DType: kind.DType(), Shape: []int{len(want)}, Data: slices.Clone(args[a])}).Round()
		list = append(list, fmt.Sprintf("'%s'::%s[]", v, kind))
		numbers = append(numbers, fmt.Sprintf("a%d", a))
		in[a] = v.Data
	}
	for i := range want {
		for a := range args {
			x[a] = in[a][i]
		}
		want[i] = d.Elem(x)
	}
	scalar := make([]kernels.Type, len(args))
	for a := range scalar {
		scalar[a].Kind = kind
	}
	number, err := d.Infer(scalar, kernels.Attr{})
	if err != nil {
		t.Fatal(err)
	}
	sql, kinds := []string{"SELECT " + name + "(" + strings.Join(list, ", ") + ")"}, []kernels.Kind{kind, number.Kind}
	if !d.Internal {
		sql = append(sql, fmt.Sprintf("SELECT array_agg(%s(%s) ORDER BY i) FROM unnest(%s) WITH ORDINALITY AS t(%s, i)", name,
			strings.Join(numbers, ", "),
			strings.Join(list, ", "), strings.Join(numbers, ", ")))
	}
	for k, q := range sql {
		kind := kinds[k]
		row, err := s.query(q)
		if err != nil {
			t.Errorf("%s of %s: %v", d.Name, kind, err)
			continue
		}
		_, got, err := parse(*row[0])
		if err != nil || len(got) != len(want) {
			t.Errorf("%s of %s: %v, %d values", d.Name, kind, err, len(got))
			continue
		}
		for i := range want {
			if !sameNumbers(got[i:i+1], want[i:i+1], kind) {
				for a := range args {
					x[a] = in[a][i]
				}
				t.Errorf("%s%v of %s: %v, want %v", d.Name, x, kind, got[i], want[i])
			}
		}
	}
}

func refusals(t *testing.T, s *server) {
	const v2, v3, m = "'{1,2}'::real[]", "'{1,2,3}'::real[]", "'{{1,2,3},{4,5,6}}'::double precision[]"
	for _, c := range []struct{ sql, code, message, hint string }{
		{v2 + " + " + v3, sqlerr.ArraySubscript, "different shapes [2] + [3]", "equal or 1"},
		{v2 + " ^ " + m, sqlerr.ArraySubscript, "different shapes [2] ^ [2,3]", ""},
		{"maximum(" + m + ", '{{1},{2},{3}}'::double precision[])", sqlerr.ArraySubscript,
			"different shapes [2,3] and [3,1] in maximum", ""},
		{"softmax('{1,NULL}'::real[])", sqlerr.NullNotAllowed,
			"the chunk of shape [2] given to softmax has NULL elements", "dense"},
		{"'{1,NULL}'::real[] * 2", sqlerr.NullNotAllowed,
			"the chunk of shape [2] given to operator * has NULL elements", "dense"},
		{"'[0:1]={1,2}'::real[] * 2", sqlerr.ArraySubscript,
			"the chunk of shape [2] given to operator * has lower bound 0 in dimension 1, not 1", "v[:]"},
		{"norm('[1:1][2:3]={{1,2}}'::real[])", sqlerr.ArraySubscript,
			"the chunk of shape [1,2] given to norm has lower bound 2 in dimension 2, not 1", ""},
		{"norm('{}'::real[])", sqlerr.ArraySubscript, "the chunk given to norm is empty", ""},
		{"matmul(" + m + ", " + m + ")", sqlerr.ArraySubscript,
			"different shapes [2,3] and [2,3] in matmul", "last axis of a"},
		{"matmul(" + v2 + ", " + v2 + ")", sqlerr.DatatypeMismatch,
			"matmul of arguments of this rank is a scalar, not an array", "dot(a, b)"},
		{"dot(" + v2 + ", " + v3 + ")", sqlerr.ArraySubscript, "different shapes [2] and [3] in dot", ""},
		{"argmax(" + m + ")", sqlerr.UndefinedFunction, "argmax(double precision[2,3]) does not exist", "vector"},
		{"transpose(" + v2 + ")", sqlerr.UndefinedFunction, "transpose(real[2]) does not exist", "two dimensions"},
		{"outer(" + v2 + ", '{{1}}'::real[])", sqlerr.UndefinedFunction,
			"outer(real[2], real[1,1]) does not exist", "vectors"},
		{"diag(" + m + ")", sqlerr.UndefinedFunction, "diag(double precision[2,3]) does not exist", "square"},
		{"sum_elements(" + m + ", 3)", sqlerr.ArraySubscript, "axis 3 of sum_elements is not in 1 to 2", ""},
		{"cross_entropy(" + v2 + ", 2)", sqlerr.ArraySubscript, "label 2 of cross_entropy is not in 0 to 1", ""},
		{"one_hot(-1, 2)", sqlerr.ArraySubscript, "label -1 of one_hot is not in 0 to 1", ""},
		{"one_hot(0, 0)", sqlerr.InvalidParameter, "the size of one_hot is 0, not in 1 to 134217695", ""},
		{"reshape(" + m + ", ARRAY[4,2])", sqlerr.ArraySubscript, "shape [2,3] has 6 elements, shape [4,2] has 8", ""},
		{"reshape(" + m + ", '{}'::bigint[])", sqlerr.InvalidParameter,
			"the shape of reshape has 0 dimensions, 1 to 6 are possible", ""},
		{"zeros(ARRAY[2,0])", sqlerr.InvalidParameter,
			"shape ARRAY[2,0] of zeros: every length must be at least 1, the size at most 134217695", ""},
		{"zeros(ARRAY[1099511627776,1099511627776])", sqlerr.InvalidParameter,
			"shape ARRAY[1099511627776,1099511627776] of zeros: every length must be at least 1, the size at most 134217695",
			""},
		{"zeros(ARRAY[1,NULL])", sqlerr.NullNotAllowed, "the shape of zeros has NULL elements", ""},
		{"zeros(ARRAY[[1,2]])", sqlerr.ArraySubscript, "the shape of zeros is an array of shape [1,2], not a list", ""},
		{"concat_axis(" + m + ", " + m + " || " + m + ", 2)", sqlerr.ArraySubscript,
			"different shapes [2,3] and [4,3] in concat_axis along axis 2", ""},
		{"einsum('ij,jk', " + m + ")", sqlerr.InvalidParameter, `einsum spec "ij,jk" has 2 operands, not 1`, "one letter"},
		{"einsum('...i->i', " + v2 + ")", sqlerr.FeatureNotSupported, `einsum spec "...i->i" has an ellipsis`, ""},
		{"einsum('i1->i', " + m + ")", sqlerr.InvalidParameter, `einsum spec "i1->i" has '1', which is no letter`, ""},
		{"einsum('iü->i', " + m + ")", sqlerr.InvalidParameter, `einsum spec "iü->i" has 'ü', which is no letter`, ""},
		{"einsum('i->j', " + v2 + ")", sqlerr.InvalidParameter,
			`einsum spec "i->j": no operand has the label 'j' of the result`, ""},
		{"einsum('i->i', " + m + ")", sqlerr.ArraySubscript,
			`einsum "i->i": operand 1 has shape [2,3], not 1 dimensions`, ""},
		{"einsum('ij,ik->j', " + m + ", '{{1},{2},{3}}'::double precision[])", sqlerr.ArraySubscript,
			`einsum "ij,ik->j": label 'i' has the lengths 2 and 3`, ""},
		{"einsum('ij->', " + m + ")", sqlerr.DatatypeMismatch,
			`einsum "ij->" of these arguments is a scalar, not an array`, "dot(a, b)"},
		{"einsum('i->iiiiiii', " + v2 + ")", sqlerr.InvalidParameter,
			`einsum "i->iiiiiii": the result has 7 dimensions, at most 6 are possible`, ""},
		{"dropout(" + v2 + ", 1)", sqlerr.InvalidParameter, "dropout probability 1 is not in [0,1)", ""},
		{"glorot_uniform(ARRAY[2], 1, '{}', 0, 0)", sqlerr.InvalidParameter,
			"glorot_uniform with fan_in 0 and fan_out 0", ""},
		{"gen_stack_row(0, 2, TRUE, 2)", sqlerr.NullNotAllowed, "array_agg cannot collect NULL", "coalesce(x, 0)"},
		{"gen_stack_row(0, 2, FALSE, 3)", sqlerr.ArraySubscript, "array_agg: a group has 2 rows, others have 3", "one size"},
		{"gen_sum_to(" + m + ", ARRAY[2])", sqlerr.ArraySubscript, "shape [2] is not a sum of shape [2,3]", ""},
		{"gen_expand_to(" + m + ", ARRAY[3,2])", sqlerr.ArraySubscript, "shape [2,3] does not expand to shape [3,2]", ""},
		{"gen_pad(" + v2 + ", ARRAY[3], ARRAY[3])", sqlerr.ArraySubscript, "a box of shape [2] is not inside shape [3]", ""},
		{"gen_put(1, ARRAY[2,3], ARRAY[1])", sqlerr.ArraySubscript, "1 subscripts of shape [2,3]", ""},
		{"gen_drop_mask(1, 1.5, 1, 1, 1)", sqlerr.InvalidParameter, "dropout probability 1.5 is not in [0,1)", ""},
		{"random_int(0, 1, '{}')", sqlerr.InvalidParameter, "random_int of 0 numbers", ""},
		{"outer(zeros(ARRAY[100000]), zeros(ARRAY[100000]))", sqlerr.ProgramLimit,
			"the result of outer has the shape [100000,100000], at most 134217695 elements are possible", ""},
		{"sum(v) FROM (VALUES (" + v2 + "), (" + v3 + ")) t(v)", sqlerr.ArraySubscript,
			"sum: chunks of shapes [2] and [3] cannot be combined", ""},
		{"max_agg(v) FROM (VALUES (" + v2 + "), ('{{1,2}}')) t(v)", sqlerr.ArraySubscript,
			"max_agg: chunks of shapes [2] and [1,2] cannot be combined", ""},
		{"sum('{1,NULL}'::real[])", sqlerr.NullNotAllowed, "the chunk of shape [2] given to sum has NULL elements", ""},
		{"vector_agg(4, 1.5, 4)", sqlerr.ArraySubscript, "vector_agg: index 4 is outside 0 … 3", "from 0"},
		{"vector_agg(0, 1.5, 0)", sqlerr.InvalidParameter, "vector_agg: size 0 is not in 1 to 134217687", ""},
		{"vector_agg(0, 1.5, NULL)", sqlerr.InvalidParameter, "vector_agg: the size is NULL", ""},
		{"vector_agg(0, 1.5, n) FROM generate_series(2, 3) t(n)", sqlerr.InvalidParameter,
			"vector_agg: sizes 2 and 3 in one group", ""},
		{"agg_add('{5}', 1.5)", sqlerr.InvalidParameter, "malformed state of an aggregate", "not called by themselves"},
		{"agg_value('{1,2,3,1e9,4}')", sqlerr.InvalidParameter, "malformed state of an aggregate", ""},
		{"agg_value('{1,0,3}')", sqlerr.InvalidParameter, "malformed state of an aggregate", ""},
		{"agg_value('{1,NaN,3}')", sqlerr.InvalidParameter, "malformed state of an aggregate", ""},
		{v2 + " * " + "1::real + 'a'::text", sqlerr.UndefinedFunction, "operator does not exist: real[] + text", ""},
		{v2 + " % 2", sqlerr.UndefinedFunction, "operator does not exist: real[] % integer", ""},
		{"max(" + v2 + " * 'x'::text)", sqlerr.UndefinedFunction, "operator does not exist: real[] * text", ""},
	} {
		s.refusal(t, "SELECT "+c.sql, c.code, c.message, c.hint)
	}
}

// calls checks typical calls, with the types that Postgres gives their results.
func calls(t *testing.T, s *server) {
	for _, c := range []struct{ sql, want string }{
		{"'{1,2}'::real[] * 2", "{2,4} real[]"},
		{"2 * '{1,2}'::real[]", "{2,4} real[]"},
		{"'{1,2}'::real[] * 0.5::double precision", "{0.5,1} real[]"},
		{"'{1,2}'::real[] * 0.1", "{0.1,0.2} real[]"},
		{"'{1,2}'::real[] + '{1,2}'::double precision[]", "{2,4} double precision[]"},
		{"- '{1,-2}'::real[]", "{-1,2} real[]"},
		{"'{{1,2},{3,4}}'::double precision[] + '{10,20}'", "{{11,22},{13,24}} double precision[]"},
		{"'{{1},{2}}'::double precision[] + '{10,20}'", "{{11,21},{12,22}} double precision[]"},
		{"'{1,2}'::real[] / 0", "{Infinity,Infinity} real[]"},
		{"'{2,3}'::real[] ^ 2", "{4,9} real[]"},
		{"relgrad.exp(-1000::double precision)", "0 double precision"},
		{"relgrad.exp(1::real)", "2.718281828459045 double precision"},
		{"exp('{0}'::real[])", "{1} real[]"},
		{"sigmoid(0::real)", "0.5 real"},
		{"sigmoid(0)", "0.5 double precision"},
		{"maximum(1.5::real, 0.1)", "1.5 double precision"},
		{"maximum(1.5::real, 0.1::real)", "1.5 real"},
		{"maximum('{0,1}'::real[], 0.3)", "{0.3,1} real[]"},
		{"greater('{0.1}'::real[], 0.1)", "{1} real[]"},
		{"leaky_relu('{-1,1}'::real[])", "{-0.01,1} real[]"},
		{"clip('{-1,0.5,3}'::real[], 0, 1)", "{0,0.5,1} real[]"},
		{"dot('{1e30}'::real[], '{1e30}'::real[])", "1.0000000300949327e+60 double precision"},
		{"mean_elements(x => '{{1,2},{3,4}}'::real[], axis => 2)", "{{1.5},{3.5}} real[]"},
		{"max_elements('{1,NaN,2}'::real[])", "NaN double precision"},
		{"maximum('{Infinity}'::real[], 'NaN'::double precision)", "{NaN} real[]"},
		{"logsumexp('{-Infinity,-Infinity}'::real[])", "-Infinity double precision"},
		{"einsum('ij , kj', '{{1,2}}'::real[], '{{3,4}}'::double precision[])", "{{11}} double precision[]"},
		{"einsum('i,->i', '{1,2}'::real[], 3)", "{3,6} real[]"},
		{"one_hot(label => 1, n => 3)", "{0,1,0} double precision[]"},
		{"current_step()", "0 bigint"},
		{"current_epoch()", "0 bigint"},
		{"random_uniform(ARRAY[1], 3) = random_uniform(ARRAY[1], 3, '{}')", "t boolean"},
		{"random_int(9223372036854775807, 3, ARRAY[4]) >= 0", "t boolean"},
		{"sqrt(2)", "1.4142135623730951 double precision"}, // Postgres's own function stays in use
		{"abs(-3)", "3 integer"},
		{"power(2, 3)", "8 double precision"},
		{"2 ^ 3", "8 double precision"},
		{"sum(x) FROM generate_series(1, 3) x", "6 bigint"},
		{"avg(x) FROM generate_series(1, 2) x", "1.5000000000000000 numeric"},
		{"sum(x) FROM (VALUES (1.5::real)) t(x)", "1.5 real"},
		{"maximum(1, 2)", "2 double precision"},
		{"v[:] * 2 FROM (SELECT '[0:1]={1,2}'::real[] AS v) q", "{2,4} real[]"}, // the hint of the error about lower bounds
	} {
		expr, from, found := strings.Cut(c.sql, " FROM ")
		if found {
			from = " FROM " + from
		}
		row, err := s.query("SELECT " + expr + ", pg_typeof(" + expr + ")" + from)
		if err != nil || *row[0]+" "+*row[1] != c.want {
			t.Errorf("%s: %v", c.sql, err)
			if err == nil {
				t.Errorf("%s: %s %s, want %s", c.sql, *row[0], *row[1], c.want)
			}
		}
	}
}

// draws compares uniform draws and hashes of keys with the reference code's, bit by bit.
func draws(t *testing.T, s *server) {
	keys := [][]int64{{}, {1, -2}, {math.MaxInt64, math.MinInt64, 0}}
	for _, seed := range []int64{0, 1, -5, math.MaxInt64, math.MinInt64} {
		for _, key := range keys {
			list := "'{" + strings.Trim(strings.ReplaceAll(fmt.Sprint(key), " ", ","), "[]") + "}'::bigint[]"
			row, err := s.query(fmt.Sprintf("SELECT random_uniform(ARRAY[70], '%d'::bigint, %s), gen_row_key(%s)", seed, list,
				list))
			if err != nil {
				t.Fatal(err)
			}
			h := tensor.HashKey(key...)
			if *row[1] != fmt.Sprint(int64(h)) {
				t.Errorf("key %v: hash %s, want %d", key, *row[1], int64(h))
			}
			_, x, err := parse(*row[0])
			if err != nil || len(x) != 70 {
				t.Fatal(err, len(x))
			}
			for i, got := range x {
				if want := tensor.Uniform(seed, h, i); got != want {
					t.Errorf("seed %d, key %v, element %d: %v, want %v", seed, key, i, got, want)
				}
			}
		}
	}
	masks(t, s)
	for _, text := range []string{"", "a", "grün ≠ blau"} {
		row, err := s.query("SELECT gen_text_key('" + text + "')")
		if want := fmt.Sprint(int64(tensor.HashText(text))); err != nil || *row[0] != want {
			t.Errorf("text %q: %v, want %s", text, err, want)
		}
	}
}

// masks compares masks of dropout with the reference code's: of numbers, and of chunks that end in the middle of a
// block of draws.
func masks(t *testing.T, s *server) {
	const key, site, seed, step = 11, -3, 5, 2
	h := tensor.HashKey(site, step, key)
	for _, p := range []float64{0, 5e-324, 0.3, 0.5, 1 - 0x1p-53} {
		for _, size := range []int{1, 4, 70} {
			call := fmt.Sprintf("gen_drop_mask(%d, %v, %d, %d, %d", key, p, site, seed, step)
			row, err := s.query(fmt.Sprintf("SELECT %s, ARRAY[%d]), %s)", call, size, call))
			if err != nil {
				t.Fatal(err)
			}
			_, x, err := parse(*row[0])
			if err != nil || len(x) != size {
				t.Fatal(err, len(x))
			}
			if *row[1] != fmt.Sprint(x[0]) {
				t.Errorf("p %v: a number is %s, the first of %d is %v", p, *row[1], size, x[0])
			}
			for i, got := range x {
				want := 1 / (1 - p)
				if tensor.Dropped(seed, h, i, p) {
					want = 0
				}
				if got != want {
					t.Errorf("p %v, element %d of %d: %v, want %v", p, i, size, got, want)
				}
			}
		}
	}
}

func aggregates(t *testing.T, s *server) {
	const rows = " FROM (VALUES (1, '{1,5}'::real[], 1e38::real, 1.5::double precision), (2, NULL, NULL, NULL), (3, " +
		"'{3,NaN}', 3e38, 2), (4, '{2,-1}', 3e38, 1e308)) t(i, v, r, d)"
	for _, c := range []struct{ sql, want string }{
		{"SELECT sum(v)" + rows, "{6,NaN}"},
		{"SELECT avg(v)" + rows, "{2,NaN}"},
		{"SELECT max_agg(v)" + rows, "{3,NaN}"},
		{"SELECT min_agg(v)" + rows, "{1,-1}"},
		{"SELECT sum(v)" + rows + " WHERE i = 2", "NULL"},
		{"SELECT avg(v::double precision[])" + rows + " WHERE i <> 3", "{1.5,2}"},
		{"SELECT sum(v) FILTER (WHERE i <> 3)" + rows, "{3,4}"},
		{"SELECT relgrad.sum(r)" + rows, "Infinity"},
		{"SELECT relgrad.avg(r)" + rows + " WHERE i > 2", "3.0000000054977558e+38"},
		{"SELECT relgrad.sum(1e308::double precision) FROM generate_series(1, 2)", "Infinity"},
		{"SELECT relgrad.sum(0.1::real) FROM generate_series(1, 10) WHERE false", "NULL"},
		{"SELECT relgrad.sum(0.1::real) FROM generate_series(1, 1000000)", "100000"},
		{"SELECT vector_agg(i, d, 5)" + rows + " WHERE i < 4", "{0,1.5,0,2,0}"},
		{"SELECT vector_agg(1, i::real, 2)" + rows, "{0,10}"},
		{"SELECT vector_agg(i, d, 2)" + rows + " WHERE i = 2", "{0,0}"},
		{"SELECT vector_agg(i, d, 2)" + rows + " WHERE false", "NULL"},
		{"SELECT string_agg(s::text, ' ' ORDER BY i) FROM (SELECT i, sum(v) OVER (ORDER BY i) AS s" + rows +
			" WHERE i <> 3) q", "{1,5} {1,5} {3,4}"},
		{"SELECT string_agg(s::text, ' ' ORDER BY i % 2) FROM (SELECT i % 2 AS i, sum(v) AS s" + rows +
			" WHERE i <> 3 GROUP BY 1) q", "{2,-1} {1,5}"},
		{"SELECT agg_add_combine(agg_add('{}', 1.5), agg_add(agg_add('{}', 2.5), 3))", "{3,0,7}"},
	} {
		row, err := s.query(c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		got := "NULL"
		if row[0] != nil {
			got = *row[0]
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}

// parallel compares partial aggregation by parallel workers with aggregation in one process. The values are integers,
// so the order of sums does not matter.
func parallel(t *testing.T, s *server) {
	const list = "sum(v), avg(v), max_agg(v), min_agg(v), vector_agg(i % 7, x, 7), relgrad.sum(x), relgrad.avg(x), " +
		"auc(x, i % 2), ndcg(x, i % 3, 20), f1(x > 4, i % 2), accuracy(i % 3, i % 4), rmse(x, i), " +
		"sum(relu(v - 3) * 2)"
	const setup = `CREATE TABLE many AS SELECT i, (i % 10)::real AS x, ARRAY[i % 10, i % 3]::real[] AS v
FROM generate_series(1, 5000) g(i);
		ALTER TABLE many SET (parallel_workers = 2); ANALYZE many; SELECT 1`
	if _, err := s.query(setup); err != nil {
		t.Fatal(err)
	}
	defer s.query("RESET ALL; SET search_path = public, relgrad; DROP TABLE many; SELECT 1")
	one, err := s.query("SET search_path = public, relgrad; SET max_parallel_workers_per_gather = 0; SELECT " + list +
		" FROM many")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.query("SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; " +
		"SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET " +
		"parallel_leader_participation = off; SELECT 1"); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Query(s.ctx, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT "+list+" FROM many")
	if err != nil {
		t.Fatal(err)
	}
	plan := ""
	for rows.Next() {
		plan += string(rows.RawValues()[0]) + "\n"
	}
	if rows.Err() != nil || !strings.Contains(plan, "Partial Aggregate") ||
		!strings.Contains(plan, "Workers Launched: 2") {
		t.Errorf("not in parallel: %v\n%s", rows.Err(), plan)
	}
	two, err := s.query("SELECT " + list + " FROM many")
	if err != nil {
		t.Fatal(err)
	}
	for i := range one {
		if *one[i] != *two[i] {
			t.Errorf("column %d: %s in one process, %s in parallel", i+1, *one[i], *two[i])
		}
	}
}

// storage reads chunks in every form in which Postgres keeps arrays: short, compressed and external values, a bitmap of
// NULLs without a NULL, arrays in PL/pgSQL's own form. It also calls as a role without rights of its own.
func storage(t *testing.T, s *server) {
	const setup = `CREATE TABLE kept (how text, v real[]); ALTER TABLE kept ALTER v SET STORAGE %s;
		INSERT INTO kept VALUES ('short', '{1,2}'), ('long', full(ARRAY[1500], 2)), ('bitmap', array_replace('{1,NULL}',
NULL, 2)); SELECT 1`
	for _, kind := range []string{"PLAIN", "EXTERNAL", "MAIN", "EXTENDED"} {
		if _, err := s.query(fmt.Sprintf(setup, kind)); err != nil {
			t.Fatal(err)
		}
		row, err := s.query("SELECT string_agg(sum_elements(v * 2 + v)::text, ' ' ORDER BY how), (SELECT sum(v)::text " +
			"FROM kept WHERE how <> 'long') FROM kept")
		if err != nil || *row[0] != "9 9000 9" || *row[1] != "{2,4}" {
			t.Errorf("%s: %v %v", kind, row, err)
		}
		if _, err := s.query("DROP TABLE kept; SELECT 1"); err != nil {
			t.Fatal(err)
		}
	}
	row, err := s.query(`CREATE FUNCTION steps() RETURNS real[] LANGUAGE plpgsql AS $$ DECLARE v real[] := '{1,2,3}'; BEGIN
		FOR i IN 1..3 LOOP v[i] := v[i] + 1; v := v * 2 + maximum(v, 7); END LOOP; RETURN v; END $$;
		CREATE ROLE plain; SET ROLE plain; SELECT steps(), relgrad.norm('{3,4}'::real[])`)
	if err != nil || *row[0] != "{99,108,120}" || *row[1] != "5" {
		t.Errorf("%v %v", row, err)
	}
	if _, err := s.query("RESET ROLE; DROP FUNCTION steps(); DROP ROLE plain; SELECT 1"); err != nil {
		t.Fatal(err)
	}
}

// products compares larger matrix products with sums by the definition, in both types, and checks that the process has
// one thread.
func products(t *testing.T, s *server) {
	checkProducts(t, s)
	row, err := s.query("SELECT substring(pg_read_file('/proc/self/status') FROM 'Threads:\\s*(\\d+)')")
	if err == nil && *row[0] != "1" {
		t.Errorf("%s threads in the backend", *row[0])
	}
}

func checkProducts(t *testing.T, s *server) {
	t.Helper()
	for _, kind := range []string{"real", "double precision"} {
		for _, call := range []string{ // a has the axes i [20] and k [300], b k and j [30]; batched ones also n [2]
			"matmul(a, b)",
			"einsum('ik,kj->ij', a, b)",
			"einsum('ki,kj->ij', transpose(a), b)",
			"transpose(einsum('ik,jk->ji', a, transpose(b)))",
			"einsum('ik,kj,->ij', a, b, 1)",
			"reshape(matmul(reshape(a || a, ARRAY[2,20,300]), reshape(b || b, ARRAY[2,300,30])), ARRAY[40,30])",
			"reshape(einsum('nik,knj->inj', reshape(a || a, ARRAY[2,20,300]), reshape(concat_axis(b, b, 2), " +
				"ARRAY[300,2,30])), ARRAY[20,60])",
		} {
			row, err := s.query(fmt.Sprintf(`WITH m AS MATERIALIZED (SELECT random_normal(ARRAY[20,300], 1)::%[1]s[]
AS a, random_normal(ARRAY[300,30], 2)::%[1]s[] AS b),
				c AS MATERIALIZED (SELECT a, b, %[2]s AS c FROM m)
				SELECT max(abs(c[i][j] - (SELECT sum(a[i][k]::double precision * b[k][j]) FROM generate_series(1, 300) k)))
				FROM c, generate_series(1, 20, 19) i, generate_series(1, 30, 7) j`, kind, call))
			if err != nil {
				t.Fatal(err)
			}
			_, x, err := parse(*row[0])
			if tol := map[string]float64{"real": 1e-4, "double precision": 1e-11}[kind]; err != nil || !(x[0] < tol) {
				t.Errorf("%s of %s: error %v, %v", call, kind, x, err)
			}
		}
	}
}

// TestWithoutBLAS computes the products on a server that finds no library for them.
func TestWithoutBLAS(t *testing.T) {
	checkProducts(t, connect(t, "OPENBLAS=off"))
}

// cancel checks that a long product can be cancelled.
func cancel(t *testing.T, s *server) {
	if _, err := s.query("SET statement_timeout = '100ms'; SELECT 1"); err != nil {
		t.Fatal(err)
	}
	defer s.query("RESET statement_timeout; SELECT 1")
	ctx, stop := context.WithTimeout(s.ctx, 20*time.Second)
	defer stop()
	_, err := s.PgConn().
		Exec(ctx, "SELECT einsum('ij,jk,kl->il', a, a, a) FROM (SELECT zeros(ARRAY[1000,1000]) AS a OFFSET 0) q").ReadAll()
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != sqlerr.QueryCanceled {
		t.Errorf("not cancelled: %v", err)
	}
}

// metrics runs the queries of metrics, and some over many rows: for the portable tier, which copies all rows of a group
// for each, not very many.
func metrics(t *testing.T, s *server) {
	for _, m := range kernelsql.Metrics() {
		if m.Err != "" {
			s.refusal(t, "SELECT "+m.SQL, sqlerr.InvalidParameter, m.Err, "")
			continue
		}
		row, err := s.query("SELECT " + m.SQL)
		if err != nil {
			t.Errorf("%s: %v", m.SQL, err)
			continue
		}
		got := math.NaN()
		if row[0] != nil {
			got, err = strconv.ParseFloat(*row[0], 64)
		}
		if err != nil || !sameNumbers([]float64{got}, []float64{m.Want}, kernels.Float64) {
			t.Errorf("%s: %v, want %v, %v", m.SQL, got, m.Want, err)
		}
	}
	for _, c := range []struct{ sql, code, message string }{
		{"auc('NaN'::double precision, 1)", sqlerr.InvalidParameter, "auc: the score is NaN"},
		{"ndcg(1, 'NaN'::double precision)", sqlerr.InvalidParameter,
			"ndcg: the relevance NaN is not a finite number of at least 0"},
		{"agg_auc_value_number('{5,1,3,0,1,1}')", sqlerr.InvalidParameter, "malformed state of an aggregate"},
		{"agg_pairs_combine('{}', '{1,0,3}')", sqlerr.InvalidParameter, "malformed state of an aggregate"},
		{"agg_ndcg_value_number(agg_pairs_combine(agg_ndcg('{}', 1, 1, 2), agg_ndcg('{}', 1, 1)))", sqlerr.InvalidParameter,
			"ndcg: k is 2 and 0 in one group"},
	} {
		s.refusal(t, "SELECT "+c.sql, c.code, c.message, "")
	}
	for sql, want := range map[string]string{
		"SELECT auc(i, i > 1000) FROM generate_series(1, 2000) i":                                                 "1",
		"SELECT auc(i % 7, i % 2) FROM generate_series(1, 1400) i":                                                "0.5",
		"SELECT agg_auc_value_number(agg_pairs_combine(agg_auc('{}', 1, 1), agg_auc(agg_auc('{}', 1, 0), 2, 0)))": "0.25",
		"SELECT agg_auc_value_number(agg_pairs_combine('{}', agg_auc(agg_auc('{}', 1, 0), 2, 1)))":                "1",
		"SELECT agg_auc_value_number(agg_pairs_combine(agg_auc(agg_auc('{}', 1, 0), 2, 1), '{}'))":                "1",
	} {
		if row, err := s.query(sql); err != nil || *row[0] != want {
			t.Errorf("%s: %v, %v, want %s", sql, row, err, want)
		}
	}
}
