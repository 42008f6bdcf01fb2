package extension

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// long are calls that take seconds if nobody stops them: of the table big, one chunk of 16 million numbers, and of what they make.
var long = []string{
	"random_normal(ARRAY[100000000], 1)", "random_uniform(ARRAY[100000000], 1)", "glorot_uniform(ARRAY[100000000], 1, '{}'::bigint[], 3, 4)",
	"sin(v + 1e20)", "erf(v)", "power(v, 1.5)", "tanh(v) * sinh(v)", "gelu(v)", "v ^ 2.5 + v ^ 1.5", "logsumexp(v)", "log_softmax(v)", "layer_norm(v)", "layer_norm(softmax(v))",
	"l2_normalize(layer_norm(v))", "relgrad.gen_softmax_center(v, v)", "relgrad.gen_layer_norm_slope(v, v)", "relgrad.gen_expand_to(1, ARRAY[100000000])",
	"outer(zeros(ARRAY[9000]), zeros(ARRAY[9000]))", "matmul(a, a)", "einsum('ij,jk->ki', a, a)", "einsum('ij->i', einsum('i,j->ij', r, r))", "transpose(outer(r, r))",
	"maximum(outer(r, r), r)",
}

// TestInterrupts cancels long calls by a timeout: each looks for that every few milliseconds, with no library for matrices.
func TestInterrupts(t *testing.T) {
	s := connect(t, "OPENBLAS=off")
	if _, err := s.query(`CREATE TABLE big AS SELECT random_uniform(ARRAY[16000000], 1) AS v, zeros(ARRAY[2500,2500]) AS a, zeros(ARRAY[8000]) AS r; SELECT 1`); err != nil {
		t.Fatal(err)
	}
	const timeout = 30 * time.Millisecond
	for _, call := range long {
		if _, err := s.query("SET statement_timeout = 0; SELECT count(v) + count(a) + count(r) FROM big"); err != nil { // what is read is in memory
			t.Fatal(err)
		}
		if _, err := s.query("SET statement_timeout = '30ms'; SELECT 1"); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		_, err := s.PgConn().Exec(s.ctx, "SELECT "+call+" IS NULL FROM big").ReadAll()
		took := time.Since(begin)
		var e *pgconn.PgError
		switch {
		case err == nil:
			t.Logf("%s is over after %v", call, took)
		case !errors.As(err, &e) || e.Code != sqlerr.QueryCanceled:
			t.Errorf("%s: %v", call, err)
		}
		if took > timeout+50*time.Millisecond+allowance {
			t.Errorf("%s ended %v after its timeout", call, took-timeout)
		}
	}
}

// allowance is for a busy machine and for the chunk to be read, which no kernel does.
const allowance = 450 * time.Millisecond
