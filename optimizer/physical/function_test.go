package physical

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
)

// TestFunctions: equal values have one site, whatever they look like in memory, and the sites are those that the
// function promises.
func TestFunctions(t *testing.T) {
	null := kernels.NullOf(kernels.Type{Kind: kernels.Int})
	other := null
	other.I = 5 // what a NULL holds means nothing
	for _, c := range []struct {
		what   string
		fn     Function
		values []kernels.Value
		site   int // of 3
	}{
		{"before all bounds", Function{Kind: Ranges, From: []int64{10, 20}}, ints(-4), 0},
		{"at a bound", Function{Kind: Ranges, From: []int64{10, 20}}, ints(10), 1},
		{"the last range", Function{Kind: Ranges, From: []int64{10, 20}}, ints(math.MaxInt64), 2},
		{"an empty range", Function{Kind: Ranges, From: []int64{10, 10}}, ints(10), 2},
		{"row-major", Function{Kind: Grid, Lens: []int64{4, 5}}, ints(2, 3), 13 % 3},
		{"row-major, turned", Function{Kind: Grid, Lens: []int64{5, 4}}, ints(3, 2), 14 % 3},
		{"below the grid", Function{Kind: Grid, Lens: []int64{4}}, ints(-1), 2},
		{"NULL", Function{Kind: Grid, Lens: []int64{4}}, []kernels.Value{other}, 0},
		{"NULL in ranges", Function{Kind: Ranges, From: []int64{3, 6}}, []kernels.Value{other}, 0},
	} {
		if got := c.fn.Site(c.values, 3); got != c.site {
			t.Errorf("%s: site %d, not %d", c.what, got, c.site)
		}
	}
	floats := func(xs ...float64) (out []kernels.Value) {
		for _, x := range xs {
			out = append(out, kernels.FloatValue(x))
		}
		return out
	}
	nan := math.Float64frombits(math.Float64bits(math.NaN()) ^ 1)
	zero := math.Copysign(0, -1)
	for sites := 1; sites < 40; sites++ {
		for _, pair := range [][2][]kernels.Value{{floats(0), floats(zero)}, {floats(math.NaN()), floats(nan)},
			{{null}, {other}}} {
			if a, b := (Function{}).Site(pair[0], sites), (Function{}).Site(pair[1], sites); a != b {
				t.Errorf("%v lies at %d, %v at %d", pair[0], a, pair[1], b)
			}
		}
	}
}

func ints(xs ...int64) (out []kernels.Value) {
	for _, x := range xs {
		out = append(out, kernels.IntValue(x))
	}
	return out
}

// TestHashIsEven: keys in sequence, every other one, and pairs come to each site about equally often, in 6 of the
// widths by which independent draws would miss.
func TestHashIsEven(t *testing.T) {
	draw := rand.New(rand.NewSource(1))
	for _, sites := range counts {
		for name, key := range map[string]func(i int64) []kernels.Value{
			"in sequence": func(i int64) []kernels.Value { return ints(i) },
			"even":        func(i int64) []kernels.Value { return ints(2 * i) },
			"16th":        func(i int64) []kernels.Value { return ints(16 * i) },
			"pairs":       func(i int64) []kernels.Value { return ints(i%100, i/100) },
			"numbers":     func(int64) []kernels.Value { return []kernels.Value{kernels.FloatValue(draw.Float64())} },
			"text":        func(i int64) []kernels.Value { return []kernels.Value{kernels.TextValue("node" + string(rune(i)))} },
		} {
			const n = 10000
			at := make([]float64, sites)
			for i := range int64(n) {
				at[(Function{}).Site(key(i), sites)]++
			}
			mean := float64(n) / float64(sites)
			for s, got := range at {
				if math.Abs(got-mean) > 6*math.Sqrt(mean) {
					t.Errorf("%s: %v of %d rows lie at site %d of %d", name, got, n, s, sites)
				}
			}
		}
	}
}

// TestSitesOfColumns: rows of columns lie where Site has their values, whatever their types and how they are held in
// memory, NULLs and what lies below them too.
func TestSitesOfColumns(t *testing.T) {
	const rows = 400
	draw := rand.New(rand.NewSource(2))
	whole := func() int64 {
		return []int64{int64(draw.Intn(5)), int64(draw.Intn(90) - 20), int64(draw.Uint64())}[draw.Intn(3)]
	}
	number := func() float64 {
		return []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(-1), 3, draw.NormFloat64()}[draw.Intn(6)]
	}
	types := []kernels.Type{{Kind: kernels.Int}, {Kind: kernels.Bool}, {Kind: kernels.Text}, {Kind: kernels.Float32},
		{Kind: kernels.Float64}, {Kind: kernels.Float64, Shape: []int{2}}, {Kind: kernels.Float32, Shape: []int{3}}}
	fill := func(typ kernels.Type, nulls bool) *column.Column {
		c := column.New(typ, rows)
		for i := range rows * typ.Size() {
			switch {
			case typ.Kind == kernels.Text:
				c.Texts()[i] = []string{"", "a", "a\x00", "\x01", "ab"}[draw.Intn(5)]
			case c.Kind() == column.I64 && typ.Kind == kernels.Bool:
				c.I64()[i] = int64(draw.Intn(2))
			case c.Kind() == column.I64:
				c.I64()[i] = whole()
			default:
				c.SetFloat(i, number())
			}
		}
		for r := range rows {
			if nulls && draw.Intn(4) == 0 {
				c.SetNull(r)
			}
		}
		return c
	}
	for _, sites := range []int{1, 2, 3, 7, 16} {
		bounds := make([]int64, sites-1)
		for i := range bounds {
			bounds[i] = int64(5 * i)
		}
		for i := range 4 * len(types) {
			nulls, a, b := i%2 == 1, types[i%len(types)], types[draw.Intn(len(types))]
			for _, of := range [][]*column.Column{{fill(a, nulls)}, {fill(a, nulls), fill(b, !nulls)},
				{fill(types[0], true), fill(types[0], nulls)}} {
				fns := []Function{{}}
				switch integers := !slices.ContainsFunc(of, func(c *column.Column) bool { return c.Type().Kind != kernels.Int }); {
				case integers && len(of) == 1:
					fns = append(fns, Function{Kind: Ranges, From: bounds}, Function{Kind: Grid, Lens: []int64{5}})
				case integers:
					fns = append(fns, Function{Kind: Grid, Lens: []int64{3, 4}})
				}
				for _, fn := range fns {
					for r, got := range fn.Sites(of, sites) {
						var row []kernels.Value
						for _, c := range of {
							row = append(row, c.Value(r))
						}
						if want := fn.Site(row, sites); int(got) != want {
							t.Fatalf("%v over %d sites: row %v lies at %d, its values at %d", fn, sites, row, got, want)
						}
					}
				}
			}
		}
	}
}

// TestPartitions: integers are spread by PostgreSQL's hash, alike one by one and in columns; NULL is in the first
// partition. That the hash is a server's is tested beside one (pgbridge/serverstest).
func TestPartitions(t *testing.T) {
	f := Function{Kind: Partitions, At: []int32{2, 0, 1, 0, 2}}
	c := column.New(kernels.Type{Kind: kernels.Int}, 0)
	for _, x := range []int64{0, 1, -1, 7, 1 << 40, -(1 << 40), math.MaxInt64, math.MinInt64} {
		c.AddI64(x)
	}
	c.SetLen(8)
	sites := f.Sites([]*column.Column{c}, 3)
	for r := range c.Len() {
		if at := f.Site([]kernels.Value{c.Value(r)}, 3); int32(at) != sites[r] {
			t.Errorf("%v is at site %d, in a column at %d", c.Value(r), at, sites[r])
		}
	}
	if at := f.Site([]kernels.Value{kernels.NullOf(c.Type())}, 3); at != 2 {
		t.Errorf("NULL is at site %d", at)
	}
	if f.Equal(Function{Kind: Partitions, At: []int32{2, 0, 1, 2, 0}}) || f.String() != "partitions at 2, 0, 1, 0, 2" {
		t.Error("functions of other partitions are equal")
	}
	whole := []kernels.Type{{Kind: kernels.Int}}
	if f.check(whole, 3) != nil || f.check(whole, 2) == nil || f.check([]kernels.Type{{Kind: kernels.Text}}, 3) == nil {
		t.Error("what a function may spread is not checked")
	}
}
