package layouts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// random makes a tensor: a part of its elements is not zero.
func random(r *rand.Rand, dtype string, shape []int64, fill float64, sparse bool) *Tensor {
	t := &Tensor{DType: dtype, Shape: shape}
	n, _ := size(shape)
	if sparse {
		t.Coords = make([][]int64, len(shape))
		for d := range t.Coords {
			t.Coords[d] = []int64{}
		}
	}
	index := make([]int64, len(shape))
	for range n {
		u := uint64(0)
		if r.Float64() < fill {
			u = element(someBytes(r, dtype), dtype, 0)
		}
		if !sparse || u != 0 {
			t.Data = put(t.Data, interop.ElementSize(dtype), u)
		}
		if sparse && u != 0 {
			for d, i := range index {
				t.Coords[d] = append(t.Coords[d], i)
			}
		}
		step(index, shape)
	}
	return t
}

// someBytes are those of one element; NaN, infinities and -0 are among them.
func someBytes(r *rand.Rand, dtype string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, r.Uint64()|1)
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[r.IntN(4)]
	if x := r.IntN(10); x == 0 && dtype == "float64" {
		b = binary.LittleEndian.AppendUint64(nil, math.Float64bits(special))
	} else if x == 0 && dtype == "float32" {
		b = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(special)))
	}
	return b
}

// part is the slice of a dense tensor, computed by definition.
func partOf(t *Tensor, s Slice) *Tensor {
	b, err := s.of(t.Shape)
	if err != nil {
		panic(err)
	}
	out := &Tensor{DType: t.DType, Shape: b.shape(), Data: []byte{}}
	index, width := make([]int64, len(t.Shape)), interop.ElementSize(t.DType)
	for i := 0; i < len(t.Data); i += width {
		if b.holds(index) {
			out.Data = append(out.Data, t.Data[i:i+width]...)
		}
		step(index, t.Shape)
	}
	return out
}

func dense(t testing.TB, x *Tensor) *Tensor {
	t.Helper()
	d, err := x.Dense()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func same(t testing.TB, what string, got, want *Tensor) {
	t.Helper()
	g, w := dense(t, got), dense(t, want)
	if g.DType != w.DType || !slices.Equal(g.Shape, w.Shape) || !bytes.Equal(g.Data, w.Data) {
		t.Errorf("%s: %s of shape %v, %.80x, not %s of shape %v, %.80x", what, g.DType, g.Shape, g.Data, w.DType, w.Shape,
			w.Data)
	}
}

func store(t testing.TB, files delta.Files, id string, x *Tensor, o Options) Report {
	t.Helper()
	r, err := Write(files, id, x, o)
	if err != nil {
		t.Fatalf("%s: %v", o.Layout, err)
	}
	return r
}

func latest(t testing.TB, files delta.Files) *delta.Snapshot {
	t.Helper()
	s, err := delta.Open(files, delta.Latest())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readAll(t testing.TB, files delta.Files, id, part string) *Tensor {
	t.Helper()
	s, err := ParseSlice(part)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Read(latest(t, files), id, s)
	if err != nil {
		t.Fatalf("%s %s: %v", id, part, err)
	}
	return x
}

func refused(t testing.TB, err error, code string, words ...string) {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%v, want code %s and %q", err, code, words)
		return
	}
	for _, w := range words {
		if !strings.Contains(e.Message+e.Detail+e.Hint, w) {
			t.Errorf("%q does not say %q", e.Message+e.Detail+e.Hint, w)
		}
	}
}

var allTypes = []string{"float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}

// TestRoundTrip stores random tensors of all types in all layouts, several in a table, and reads them and slices of
// them.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	shapes := [][]int64{{7}, {5, 6}, {4, 3, 5}, {3, 1, 4, 2}, {2, 2, 2, 2, 3}, {0}, {3, 0, 2}}
	for _, layout := range Names() {
		for n, dtype := range allTypes {
			files := delta.Memory{}
			tensors := map[string]*Tensor{}
			for i, shape := range shapes {
				if (i+n)%2 == 0 {
					continue
				}
				id := fmt.Sprint("t", i)
				tensors[id] = random(r, dtype, shape, []float64{0.3, 0, 1}[r.IntN(3)], r.IntN(2) == 0)
				store(t, files, id, tensors[id], randomOptions(r, layout, shape))
			}
			for id, x := range tensors {
				want := dense(t, x)
				same(t, layout+" "+id, readAll(t, files, id, ""), want)
				for range 3 {
					s := randomSlice(r, x.Shape)
					got, err := Read(latest(t, files), id, s)
					if err != nil {
						t.Fatal(err)
					}
					same(t, fmt.Sprint(layout, id, s), got, partOf(want, s))
				}
			}
		}
	}
}

// randomOptions leaves the sizes of chunks, matrices and blocks open half of the time.
func randomOptions(r *rand.Rand, layout string, shape []int64) Options {
	o := Options{Layout: layout}
	if r.IntN(2) == 0 {
		return o
	}
	o.ChunkRank, o.Rows = r.IntN(len(shape)+1), r.IntN(len(shape)+1)
	for range shape {
		o.Block = append(o.Block, 1+r.Int64N(3))
	}
	return o
}

// TestDenseTypes stores elements of types that sparse layouts do not have, and elements that come one by one.
func TestDenseTypes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, dtype := range []string{"bool", "float16", "bfloat16", "uint64"} {
		files := delta.Memory{}
		x := random(r, dtype, []int64{4, 3, 2}, 0.1, false)
		if w := store(t, files, "x", x, Options{}); w.Layout != "ftsf" || w.Why == "" {
			t.Error(w)
		}
		same(t, dtype, readAll(t, files, "x", ""), x)
		y := &Tensor{DType: dtype, Shape: x.Shape, Elements: bytes.NewReader(x.Data)}
		store(t, files, "y", y, Options{})
		same(t, dtype, readAll(t, files, "y", "[1:3, 2]"), partOf(x, Slice{{From: 1, To: 3}, {From: 2, One: true}}))
		_, err := Write(files, "z", x, Options{Layout: "csf"})
		refused(t, err, sqlerr.FeatureNotSupported, dtype)
	}
}

// TestChoice: the layout that takes the least space is chosen, and the sentence says what was compared.
func TestChoice(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	full := random(r, "float32", []int64{20, 20}, 0.9, false)
	thin := random(r, "float32", []int64{60, 50, 40}, 0.01, true)
	blocks := &Tensor{DType: "float32", Shape: []int64{64, 64, 64}, Data: make([]byte, 4*64*64*64)}
	for i := range 64 * 64 * 64 {
		if i/4096%16 < 4 && i/64%16 < 4 && i%16 < 8 {
			binary.LittleEndian.PutUint32(blocks.Data[4*i:], math.Float32bits(float32(1+r.IntN(9))))
		}
	}
	for _, x := range []*Tensor{full, thin, blocks} {
		w := store(t, delta.Memory{}, "x", x, Options{})
		sizes := map[string]int64{}
		for _, name := range Names() {
			sizes[name] = store(t, delta.Memory{}, "x", x, Options{Layout: name}).Bytes
		}
		for name, n := range sizes {
			if float64(n) < 0.9*float64(w.Bytes) {
				t.Errorf("%s was chosen with %d bytes, %s has %d. %s", w.Layout, w.Bytes, name, n, w.Why)
			}
		}
		if (w.Layout == "ftsf") != (x == full) {
			t.Errorf("%s was chosen (%v). %s", w.Layout, sizes, w.Why)
		}
	}
}

func randomSlice(r *rand.Rand, shape []int64) (s Slice) {
	for _, n := range shape[:r.IntN(len(shape)+1)] {
		if n > 0 && r.IntN(2) == 0 {
			s = append(s, Range{From: r.Int64N(n), One: true})
			continue
		}
		from := r.Int64N(n + 1)
		s = append(s, Range{From: from, To: from + r.Int64N(n-from+2)})
	}
	return s
}

// TestSortBy: coordinates of which the last dimensions are in order, of shapes that one number counts and of others,
// against a sort that compares.
func TestSortBy(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for round := range 300 {
		rank, n := 1+r.IntN(4), r.IntN(200)
		shape, coords := make([]int64, rank), make([][]int64, rank)
		for d := range rank {
			shape[d] = 1 + r.Int64N(6)
			coords[d] = make([]int64, n)
			for i := range n {
				coords[d][i] = r.Int64N(shape[d])
			}
			if round%3 == 0 {
				shape[d] += 1 << 61 // too many places for one number
			}
		}
		some := coords[r.IntN(rank+1):]
		byValue := make([]int, n)
		for i := range byValue {
			byValue[i] = i
		}
		slices.SortStableFunc(byValue, func(a, b int) int { return compareAt(some, a, b) })
		for d, c := range some {
			list := make([]int64, n)
			for k, i := range byValue {
				list[k] = c[i]
			}
			some[d] = list
		}
		want := make([]int32, n)
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortStableFunc(want, func(a, b int32) int { return compareAt(coords, int(a), int(b)) })
		if got := sortBy(coords, shape, n); !slices.Equal(got, want) {
			t.Fatalf("round %d: %v, not %v of %v", round, got, want, coords)
		}
	}
}

// TestLongChunks: chunks of several pages of a column are those that were written.
func TestLongChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	x := &Tensor{DType: "uint8", Shape: []int64{96, 1 << 16}, Data: make([]byte, 96<<16)}
	for i := range x.Data {
		x.Data[i] = byte(i>>16) + byte(r.IntN(3)) // zstd makes it shorter
	}
	files := delta.Memory{}
	store(t, files, "x", x, Options{Layout: "ftsf"})
	same(t, "x", readAll(t, files, "x", ""), x)
}
