package device

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// soon is how long sites may wait for each other in these tests.
const soon = 5 * time.Second

// moving is an exchange of a column.
func moving(number int, sent *column.Column, parts ...values.Part) *Exchange {
	x := &Exchange{&values.Exchange{Number: number, Parts: parts}}
	if sent != nil {
		x.Sent = &values.Val{Data: sent}
	}
	return x
}

// atSites calls f for so many sites at once, and returns their errors once all have come back.
func atSites(t *testing.T, sites int, f func(ctx context.Context, site int) error) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	out := make([]error, sites)
	var wait sync.WaitGroup
	for s := range sites {
		wait.Add(1)
		go func() {
			defer wait.Done()
			out[s] = f(ctx, s)
		}()
	}
	wait.Wait()
	return out
}

// columnsOf are columns of each kind that moves, with NULLs: row r of site s holds 100s + r.
func columnsOf(kind kernels.Kind, size, site, rows int) *column.Column {
	t := kernels.Type{Kind: kind}
	if size > 1 {
		t.Shape = []int{size}
	}
	c := column.New(t, rows)
	for i := range rows * size {
		if x := 100*site + i/size; kind == kernels.Int {
			c.I64()[i] = int64(x)
		} else {
			c.SetFloat(i, float64(x)+float64(i%size)/8)
		}
	}
	return c
}

// TestExchangeCopies: each site gets the rows of each part in order, with what is NULL among them, and nothing else;
// what comes from other sites is counted.
func TestExchangeCopies(t *testing.T) {
	const sites = 3
	for _, kind := range []kernels.Kind{kernels.Float64, kernels.Float32, kernels.Int} {
		for _, size := range []int{1, 3} {
			net := NewNetwork(sites)
			var sent, got, want []*column.Column
			for s := range sites {
				c := columnsOf(kind, size, s, 2*s+2)
				if s != 1 { // the NULLs of one site do not have to be those of another
					c.SetNull(s)
				}
				sent = append(sent, c)
			}
			parts := []values.Part{{Site: 2, Rows: []int32{5, 2, 0}, N: 3}, {Site: 0, N: 2}, {Site: 1, Rows: []int32{}},
				{Site: 1, N: 4}}
			for range sites {
				to := columnsOf(kind, size, 9, 9)
				to.SetValid(slices.Repeat([]byte{7}, 9))
				got = append(got, to)
			}
			from := []*column.Column{column.Gather(sent[2], []int32{5, 2, 0}), sent[0], sent[1]}
			for _, c := range from {
				for r := range c.Len() {
					want = append(want, column.Gather(c, []int32{int32(r)}))
				}
			}
			for _, err := range atSites(t, sites, func(ctx context.Context, s int) error {
				return net.Port(s).Exchange(ctx, moving(4, sent[s], parts...), got[s])
			}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			for s, c := range got {
				for r := range c.Len() {
					null := want[r].IsNull(0)
					if c.Valid()[r] > 1 || c.IsNull(r) != null || !null && !slices.Equal(c.Value(r).F, want[r].Value(0).F) ||
						c.Value(r).I != want[r].Value(0).I && !null {
						t.Errorf("%v, %d numbers a row, site %d: row %d is %v, not %v", kind, size, s, r, c.Value(r), want[r].Value(0))
					}
				}
				moved := int64((9 - []int{2, 4, 3}[s]) * (size*c.Kind().Bytes() + 1)) // which of them are NULL, too
				if got := net.Port(s).Moved(4); got != moved {
					t.Errorf("site %d counts %d bytes, not %d", s, got, moved)
				}
			}
		}
	}
}

// TestExchangeOfNothing: a site that neither has nor gets rows takes its turn like the others.
func TestExchangeOfNothing(t *testing.T) {
	net, turns := NewNetwork(2), 0
	for _, err := range atSites(t, 2, func(ctx context.Context, s int) error {
		for n := range 50 {
			sent, to, part := columnsOf(kernels.Float64, 1, s, 1), columnsOf(kernels.Float64, 1, s, s), values.Part{N: s}
			if s == 1 {
				sent, turns = nil, turns+1
			}
			if err := net.Port(s).Exchange(ctx, moving(n, sent, part), to); err != nil {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	if a, b := net.Port(0).Moved(49), net.Port(1).Moved(49); turns != 50 || a != 0 || b != 8 {
		t.Errorf("%d turns; %d and %d bytes have moved", turns, a, b)
	}
}

// TestExchangeWaits: a site goes on only when all have read what it sends: it writes its column at once.
func TestExchangeWaits(t *testing.T) {
	const sites, rows, rounds = 3, 20000, 30
	net := NewNetwork(sites)
	var parts []values.Part
	for s := range sites {
		parts = append(parts, values.Part{Site: s, N: rows})
	}
	for _, err := range atSites(t, sites, func(ctx context.Context, s int) error {
		sent, to := columnsOf(kernels.Float64, 1, s, rows), columnsOf(kernels.Float64, 1, s, sites*rows)
		for round := range rounds {
			for i := range sent.F64() {
				sent.F64()[i] = float64(round)
			}
			if err := net.Port(s).Exchange(ctx, moving(round, sent, parts...), to); err != nil {
				return err
			}
			for i := range sent.F64() {
				sent.F64()[i] = math.Inf(1)
			}
			if i := slices.IndexFunc(to.F64(), func(x float64) bool { return x != float64(round) }); i >= 0 {
				return sqlerr.Broken("test", "round %d brings %v", round, to.F64()[i])
			}
		}
		return nil
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestExchangeRefuses: sites at two exchanges, and rows that are not those which a site expects, are errors of the
// program. They change no row behind those of the part.
func TestExchangeRefuses(t *testing.T) {
	double := func(rows int) *column.Column { return columnsOf(kernels.Float64, 1, 0, rows) }
	for name, c := range map[string]struct {
		numbers [2]int
		sent    *column.Column
		rows    int // that site 1 expects
		to      int // rows of its column
		say     string
	}{
		"another order":      {[2]int{3, 4}, double(2), 2, 2, "while others are at"},
		"single for double":  {[2]int{3, 3}, columnsOf(kernels.Float32, 1, 0, 2), 2, 2, "brings 2 x 1 numbers of kind 1"},
		"chunks for numbers": {[2]int{3, 3}, columnsOf(kernels.Float64, 2, 0, 2), 2, 2, "brings 2 x 2 numbers of kind 0"},
		"nothing sent":       {[2]int{3, 3}, nil, 2, 2, "brings nothing from site 0"},
		"no room":            {[2]int{3, 3}, double(2), 2, 1, "from site 0 to rows 0 to 2 of 1 x 1"},
		"rows missing":       {[2]int{3, 3}, double(2), 2, 3, "brings 2 rows to site 1, which expects 3"},
	} {
		net, inner, stop := NewNetwork(2), context.Background(), func() {}
		inner, stop = context.WithCancel(inner)
		errs := atSites(t, 2, func(ctx context.Context, s int) error {
			defer context.AfterFunc(ctx, stop)()
			x, to := moving(c.numbers[s], c.sent), double(0)
			if s == 1 {
				x, to = moving(c.numbers[1], nil, values.Part{N: c.rows}), double(c.to)
			}
			err := net.Port(s).Exchange(inner, x, to)
			if err != nil {
				stop()
			}
			return err
		})
		stop()
		var broken []error
		for _, err := range errs {
			if err != nil && !errors.Is(err, context.Canceled) {
				broken = append(broken, err)
			}
		}
		if len(broken) != 1 || !strings.Contains(broken[0].Error(), c.say) || sqlerr.Code(broken[0]) != sqlerr.Internal {
			t.Errorf("%s: %v", name, errs)
		}
	}
}

// TestExchangeEnds: a site that waits for others, before the exchange or behind it, goes on at once when the run ends;
// and the network is as new once what was not finished is forgotten.
func TestExchangeEnds(t *testing.T) {
	net := NewNetwork(2)
	one := columnsOf(kernels.Float64, 1, 0, 1)
	for range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan error, 1)
		go func() { over <- net.Port(0).Exchange(ctx, moving(1, one), columnsOf(kernels.Float64, 1, 0, 0)) }()
		time.Sleep(time.Millisecond)
		cancel()
		select {
		case err := <-over:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a site whose run has ended says %v", err)
			}
		case <-time.After(soon):
			t.Fatal("a site waits for others though its run has ended")
		}
		net.Reset()
	}
	for _, err := range atSites(t, 2, func(ctx context.Context, s int) error { // both are at their first turn
		return net.Port(s).Exchange(ctx, moving(2, one, values.Part{Site: 1 - s, N: 1}), columnsOf(kernels.Float64, 1, 0, 1))
	}) {
		if err != nil {
			t.Errorf("behind exchanges that were not finished: %v", err)
		}
	}
	// The other site fails while it reads: this one waits behind the exchange.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	errs := atSites(t, 2, func(_ context.Context, s int) error {
		x := moving(3, one)
		if s == 1 {
			defer cancel()
			x = moving(3, nil, values.Part{Site: 0, N: 2})
		}
		return net.Port(s).Exchange(ctx, x, columnsOf(kernels.Float64, 1, 0, s))
	})
	if !errors.Is(errs[0], context.Canceled) || sqlerr.Code(errs[1]) != sqlerr.Internal {
		t.Errorf("where a site fails: %v", errs)
	}
}
