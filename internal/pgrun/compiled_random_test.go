package pgrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// compiledQueries is the usual number of seeds; in some three quarters of them there is a gradient to compare.
const compiledQueries = 254

var compiledFlag = flag.Int64("compiled", compiledQueries,
	"number of random queries whose gradients the portable tier computes")

// compiledWorkers take the next query in turn, each with a server of its own.
const compiledWorkers = 2

// outcome counts queries by what came of them.
type outcome struct {
	agree int // a gradient is the oracle's, and none is another
	reals int // so over columns of type real
	// no parameter has one to compare: the loss is NULL or too large, or the oracle and the tier refuse all alike
	none    int
	refused int // only Postgres or the tier refuses one
}

// TestCompiledRandom compares what gradient() gives on the portable tier, of compiled random queries, with the oracle.
// A share of them runs over columns of type real too.
func TestCompiledRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	var done [compiledWorkers]outcome
	var next atomic.Int64
	next.Store(*seedFlag)
	t.Run("queries", func(t *testing.T) { // returns when all are done
		for w := range compiledWorkers {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				s := newCompiledServer(t)
				for *allFlag || !t.Failed() {
					seed := next.Add(1) - 1
					if seed >= *seedFlag+*compiledFlag {
						return
					}
					s.seed(seed, &done[w])
				}
			})
		}
	})
	var all outcome
	for _, o := range done {
		all = outcome{all.agree + o.agree, all.reals + o.reals, all.none + o.none, all.refused + o.refused}
	}
	t.Logf("%+v", all)
	if n := *compiledFlag; n >= compiledQueries && (all.agree < 182 || all.reals < 19 || all.refused > int(n)/50) {
		t.Errorf("of %d queries %d agree, and %d over real; %d are refused", n, all.agree, all.reals, all.refused)
	}
}

func (s *compiledServer) seed(seed int64, done *outcome) {
	q := randquery.Generate(seed, randquery.Options{})
	kinds := []kernels.Kind{kernels.Float64}
	if seed%8 == 1 {
		kinds = append(kinds, kernels.Float32)
	}
	for _, kind := range kinds {
		agree, refused, err := s.random(q, kind)
		switch {
		case err != nil:
			s.t.Errorf("seed %d in %v (go test ./internal/pgrun -run TestCompiledRandom -seed=%d -compiled=1): %v\n%s", seed,
				kind, seed, err, q.Report())
		case refused:
			done.refused++
		case agree && kind == kernels.Float32:
			done.reals++
		case agree:
			done.agree++
		default:
			done.none++
		}
	}
}

// random compares the gradients of one query.
func (s *compiledServer) random(q *randquery.Query, kind kernels.Kind) (agree, refused bool, err error) {
	db, ok, err := s.open(q, kind)
	if err != nil || !ok {
		return false, !ok, err
	}
	for _, table := range tablesOf(q.Params) {
		ok, err := s.compare(db, q.Loss, table, tolerance(kind))
		if sqlerr.Code(err) == sqlerr.FeatureNotSupported {
			refused = true // of a sub-query that only the server runs less is known than the oracle knows of its own
			continue
		}
		if err != nil {
			return false, false, fmt.Errorf("gradient of %s: %w", table, err)
		}
		agree = agree || ok
	}
	return agree, refused, nil
}

// compare compares gradient() of a table with the oracle. ok is false where neither has an answer.
func (s *compiledServer) compare(db *memdb.DB, loss, table string, tol float64) (ok bool, err error) {
	ctx := context.Background()
	o, refused := ask(db, loss, table)
	if refused == nil && o.wild() {
		return false, nil
	}
	err = s.outside.CompileText(ctx, loss, table)
	switch {
	case refused != nil && err == nil:
		return false, fmt.Errorf("compiled; the oracle says %w", refused)
	case refused != nil && sqlerr.Code(err) == sqlerr.Code(refused):
		return false, nil
	case err != nil:
		return false, err
	case o.loss.Null:
		var e *pgconn.PgError
		if err := s.try(o.query(loss, table)); !errors.As(err, &e) || !strings.Contains(e.Message, "the loss is NULL") {
			return false, fmt.Errorf("%w; the loss is NULL", err)
		}
		return false, nil
	}
	rows, err := s.query(ctx, o.query(loss, table), o.grad)
	if err != nil {
		return false, err
	}
	return true, o.compare(rows, tol)
}
