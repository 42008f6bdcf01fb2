package randquery_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/randquery/engines"
)

var (
	seedFlag = flag.Int64("seed", 1, "first seed of TestRandom")
	nFlag    = flag.Int("queries", 0, "number of queries of TestRandom; 0: the usual")
	siteFlag = flag.Int("sites", 3, "run every n-th query of TestRandom at several sites")
	cudaFlag = flag.Bool("cuda", false, "run the queries of TestRandom on a graphics processor only")
	allFlag  = flag.Bool("all", false, "report all findings of TestRandom, in one line each")
)

// usual is the number of seeds of a full run; some of them draw a NULL loss or one that reaches no parameter.
const usual = 3250

// slow is how long a query may take without being mentioned.
const slow = 5 * time.Second

// workers draw and check queries at the same time.
const workers = 2

func TestRandom(t *testing.T) {
	n := *nFlag
	if n == 0 {
		if n = usual; testing.Short() {
			n = 100
		}
	}
	var stats randquery.Stats
	var mu sync.Mutex
	var wg sync.WaitGroup
	var halos atomic.Int64
	next, found := *seedFlag, 0
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			first, done, err := beside()
			if err != nil {
				t.Error(err)
				return
			}
			defer done()
			c := &randquery.Checker{Elements: 2}
			for {
				mu.Lock()
				seed := next
				next++
				stop := seed >= *seedFlag+int64(n) || found >= 5 && !*allFlag
				mu.Unlock()
				if stop {
					break
				}
				c.Engines = slices.Clip(first)
				if !*cudaFlag && seed%int64(*siteFlag) == 0 {
					c.Engines = append(c.Engines, engines.Sites(&halos))
				}
				if !*cudaFlag && seed%int64(2**siteFlag) == 0 {
					c.Engines = append(c.Engines, engines.Apart())
				}
				start := time.Now()
				err := guarded(c, seed)
				if d := time.Since(start); d > slow {
					t.Logf("seed %d took %v", seed, d)
				}
				if err == nil {
					continue
				}
				mu.Lock()
				found++
				if *allFlag {
					t.Errorf("seed %d: %s", seed, strings.SplitN(err.Error(), "\n", 2)[0])
				} else {
					t.Errorf("seed %d: %v", seed, err)
				}
				mu.Unlock()
			}
			mu.Lock()
			defer mu.Unlock()
			stats.Add(c.Stats)
		}()
	}
	wg.Wait()
	report(t, stats)
	t.Logf("%d plans for several sites have halos", halos.Load())
	if *cudaFlag && n >= 20 && stats.Limits > int(n)/20 { // what the device refuses is not compared
		t.Errorf("the device refuses %d plans of %d queries", stats.Limits, n)
	}
	if n == usual && !t.Failed() {
		if *siteFlag <= 3 && halos.Load() < 100 {
			t.Errorf("%d plans for several sites have halos", halos.Load())
		}
		checkCoverage(t, stats)
	}
}

// beside are the engines that run all queries.
func beside() (all []randquery.Engine, done func() error, err error) {
	if *cudaFlag {
		g, done, err := engines.Graphics()
		return []randquery.Engine{g}, done, err
	}
	lite, done, err := engines.SQLite()
	return []randquery.Engine{engines.Executor(), lite}, done, err
}

// TestGraphics: the same queries on a double of a graphics processor, with its threads in two orders: the second one is
// drawn. Kernels are compiled for the first one.
func TestGraphics(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	for i := range 2 {
		cudamock.Rerun(t, "^TestRandom$", []string{fmt.Sprintf("RELGRAD_MOCK_SEED=%d", i), "RELGRAD_MOCK_FLAGS=-O0"}, "-cuda",
			fmt.Sprintf("-queries=%d", cmp.Or(*nFlag, graphicsQueries)))
	}
}

// graphicsQueries is how many queries TestGraphics draws.
const graphicsQueries = 500

// TestFound: queries whose plans for several sites once went wrong, where a flag that depends on parameters moves, or
// what the structure of another site reads and no value does, run there again; and a sum over a grid of many dims.
func TestFound(t *testing.T) {
	var halos atomic.Int64
	c := &randquery.Checker{Engines: []randquery.Engine{engines.Executor(), engines.Sites(&halos)}}
	for _, seed := range []int64{3001, 3089, 3097, 3109, 3189, 3341, 3541, 3829, 11079} {
		if err := guarded(c, seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// guarded checks a query and, for every second seed, its statement; it turns a panic into an error, so that
// the query is printed.
func guarded(c *randquery.Checker, seed int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s\n%s", p, debug.Stack(), randquery.Generate(seed, randquery.Options{}).Report())
		}
	}()
	ctx := context.Background()
	if err := c.Check(ctx, seed); err != nil || seed%2 == 1 {
		return err
	}
	q := randquery.Generate(seed, randquery.Options{})
	ran, err := engines.Statement(ctx, q)
	if ran {
		c.Stats.Statements++
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, q.Report())
	}
	return err
}

func report(t *testing.T, s randquery.Stats) {
	t.Logf("%d queries; %d with a NULL loss, %d too large; %d parameters not reached; %d empty gradients", s.Queries,
		s.NullLoss, s.Wild, s.Unreached, s.EmptyRoots)
	t.Logf("%d differences, %d of them at kinks; %d plans with rules off; %d transformed; %d in real; %d statements; %d "+
		"beyond limits",
		s.Differences, s.Kinks, s.RulesOff, s.Transformed, s.Reals, s.Statements, s.Limits)
	var names []string
	for k := range s.Uses {
		names = append(names, k)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, k := range names {
		fmt.Fprintf(&b, "%s %d, ", k, s.Uses[k])
	}
	t.Log(b.String())
	t.Log(s.Fired)
}
