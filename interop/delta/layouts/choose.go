package layouts

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// choose returns the layout and a sentence that says why.
func (w *writing) choose() (name, why string, err error) {
	if name = strings.ToLower(w.o.Layout); name != "" {
		if layouts[name] == nil {
			return "", "", sqlerr.New(sqlerr.InvalidParameter, "there is no layout \"%s\"", w.o.Layout).
				WithHint("The layouts are %s.", strings.Join(Names(), ", "))
		}
		return name, "It was asked for.", nil
	}
	cells, known := size(w.t.Shape)
	switch {
	case w.t.Elements != nil:
		return "ftsf", "The elements come one after the other.", nil
	case len(w.t.Shape) == 0 || known && cells == 0:
		return "ftsf", "There are no elements but of a single number.", nil
	case columnTypes[w.t.DType] == "":
		return "ftsf", fmt.Sprintf("Sparse layouts do not have elements of %s.", w.t.DType), nil
	}
	if !w.t.Sparse() && nonzero(w.t)*int64(2+len(w.t.Shape)) > 2*cells {
		return "ftsf", fmt.Sprintf("Of %d elements %d are not zero.", cells, nonzero(w.t)), nil
	}
	if w.e, err = w.t.sorted(); err != nil {
		return "", "", err
	}
	if len(w.e.bits) == 0 {
		return "coo", "No element is other than zero.", nil
	}
	return w.cheapest()
}

// nonzero counts the elements of a dense tensor whose bytes are not zero.
func nonzero(t *Tensor) (n int64) {
	for i := range t.count() {
		if element(t.Data, t.DType, i) != 0 {
			n++
		}
	}
	return n
}

// sampled is how many elements are encoded in each layout to compare these.
const sampled = 1 << 16

// cheapest encodes a part of the tensor in each layout and takes the smallest.
func (w *writing) cheapest() (name, why string, err error) {
	n := len(w.e.bits)
	from := max(0, (n-sampled)/2)
	part := w.e.part(from, min(from+sampled, n))
	block, fill := part.bestBlock()
	var found []string
	best := math.Inf(1)
	for _, l := range []string{"bsgs", "coo", "csf", "csr", "ftsf"} {
		x := &writing{id: w.id, t: &Tensor{DType: w.t.DType, Shape: w.t.Shape}, e: part, o: Options{Block: block},
			total: int64(n)}
		if l == "bsgs" && slices.Max(block) == 1 {
			continue // it is coo, with more around each element
		}
		cost, ok := x.measure(l)
		if !ok {
			continue
		}
		if l == "bsgs" {
			found = append(found, fmt.Sprintf("%s %.2f (blocks of %s, %.0f %% filled)", l, cost, text(block), 100*fill))
		} else {
			found = append(found, fmt.Sprintf("%s %.2f", l, cost))
		}
		if cost < best {
			best, name = cost, l
		}
	}
	if name == "bsgs" {
		w.o.Block = block
	}
	why = fmt.Sprintf("Bytes for each of %d elements that are not zero: %s.", len(part.bits), strings.Join(found, ", "))
	return name, why, nil
}

// part are the elements from one to another.
func (e *elements) part(from, to int) *elements {
	out := &elements{dtype: e.dtype, shape: e.shape, bits: e.bits[from:to]}
	for _, c := range e.coords {
		out.coords = append(out.coords, c[from:to])
	}
	return out
}

// measure returns the bytes that an element takes in a layout. ok is false where the tensor has no such layout.
func (w *writing) measure(name string) (cost float64, ok bool) {
	if name == "ftsf" {
		return w.measureDense()
	}
	l := layouts[name]
	var b bytes.Buffer
	p, err := interop.CreateParquet(&b, "sample", append(l.common(), l.fields(len(w.t.Shape), columnTypes[w.t.DType])...),
		w.parquet(name))
	if err != nil || w.emit(name, p) != nil || p.Close() != nil {
		return 0, false
	}
	return float64(b.Len()) / float64(len(w.e.bits)), true
}

// measureDense writes the slices along the first dimension that the sample has whole, with the zeros in them; where
// it has none, a chunk that begins with the sample's first element.
func (w *writing) measureDense() (cost float64, ok bool) {
	const most = 1 << 22 // bytes
	if cells, known := size(w.t.Shape); !known || cells > maxDense/w.width() {
		return 0, false
	}
	inner, _ := size(w.t.Shape[1:])
	roots, whole := w.e.coords[0], int64(len(w.e.bits)) == w.total
	from, to := roots[0], roots[len(roots)-1]
	if from++; whole {
		from, to = 0, w.t.Shape[0]
	}
	x := &Tensor{DType: w.t.DType, Shape: append([]int64{0}, w.t.Shape[1:]...)}
	n, start := 0, from*inner
	for i := range w.e.bits {
		k := int64(0)
		for d, c := range w.e.coords {
			k = k*w.t.Shape[d] + c[i]
		}
		if from >= to && n == 0 {
			start = k
		}
		if k -= start; k < 0 || from < to && roots[i] >= to {
			continue
		}
		if (k+1)*w.width() > most {
			break
		}
		x.Data = append(x.Data, make([]byte, k*w.width()-int64(len(x.Data)))...)
		x.Data, n = put(x.Data, int(w.width()), w.e.bits[i]), n+1
	}
	if from < to { // whole slices
		last := (int64(len(x.Data))/w.width() + inner - 1) / inner
		x.Shape[0] = last
		x.Data = append(x.Data, make([]byte, last*inner*w.width()-int64(len(x.Data)))...)
	} else {
		x.Shape = []int64{int64(len(x.Data)) / w.width()}
	}
	var b bytes.Buffer
	l, y := layouts["ftsf"], &writing{id: w.id, t: x}
	p, err := interop.CreateParquet(&b, "sample", append(l.common(), l.fields(0, "")...), y.parquet("ftsf"))
	if err != nil || y.emit("ftsf", p) != nil || p.Close() != nil || n == 0 {
		return 0, false
	}
	return float64(b.Len()) / float64(n), true
}

// bestBlock grows a block, dimension by dimension, while the estimated size falls. A block costs its indices, a zero
// in it costs little, because zeros compress well. fill is the part of the blocks' elements that are not zero.
func (e *elements) bestBlock() (block []int64, fill float64) {
	const zero, most = 0.12, 1 << 12 // bytes of a zero; elements of a block
	if len(e.bits) > sampled {
		from := (len(e.bits) - sampled) / 2
		e = e.part(from, from+sampled)
	}
	n := float64(len(e.bits))
	block = make([]int64, len(e.shape))
	for d := range block {
		block[d] = 1
	}
	cost := func(block []int64) (float64, float64) {
		cells, _ := size(block)
		blocks := float64(e.distinct(block))
		return blocks*(2+0.5*float64(len(block))) + zero*(blocks*float64(cells)-n), n / (blocks * float64(cells))
	}
	best, fill := cost(block)
	for {
		var next []int64
		for d := range block {
			for _, to := range []int64{2 * block[d], 3 * block[d], e.shape[d]} {
				try := slices.Clone(block)
				try[d] = min(to, e.shape[d])
				if cells, ok := size(try); !ok || cells > most || try[d] == block[d] {
					continue
				}
				if c, f := cost(try); c < best {
					best, fill, next = c, f, try
				}
			}
		}
		if next == nil {
			return block, fill
		}
		block = next
	}
}

// distinct counts the blocks in which there is an element, by a hash of their indices.
func (e *elements) distinct(block []int64) int {
	seen := make(map[uint64]struct{}, len(e.bits)/4)
	for i := range e.bits {
		h := uint64(14695981039346656037)
		for d, c := range e.coords {
			h = (h ^ uint64(c[i]/block[d])) * 1099511628211
			h ^= h >> 29
		}
		seen[h] = struct{}{}
	}
	return len(seen)
}

// chunk is how many elements a row of csr, csc and csf has, about: a 64th of the tensor, but not few.
func (w *writing) chunk() int { return max(len(w.e.bits)/64, w.few()) }

// few is the least number of elements that are read at once: so many that their indices take about 25 KB, beside which
// the head of a row group is little. Between neighbours that are close to each other an index takes hardly a bit.
func (w *writing) few() int {
	const target, least, most = 25_000, 1 << 12, 1 << 16
	n, sum := min(len(w.e.bits), sampled), 0
	for _, c := range w.e.coords {
		for i := 1; i < n; i++ {
			d := c[i] - c[i-1]
			sum += bits.Len64(uint64(max(d, -d)))
		}
	}
	return min(max(8*target*n/max(sum, 1), least), most)
}

// parquet says how the files of a layout are written: a 64th of the tensor in a row group, but not little; chunks
// without a dictionary and without statistics, which would repeat whole chunks; lists of indices as differences.
func (w *writing) parquet(name string) interop.ParquetOptions {
	o := interop.ParquetOptions{Encoding: map[string]int{}, NoStatistics: map[string]bool{}}
	for _, c := range []string{"id", "layout", "dtype", "dense_shape", "dimensions", "block_shape", "flattened_shape"} {
		o.NoStatistics[c] = c != "id"
	}
	switch name {
	case "ftsf":
		const least, largest = 1 << 19, 16 << 20
		total, _ := size(w.t.Shape)
		o.Bytes = int(min(max(total*w.width()/64, least), largest))
		o.Encoding["chunk"], o.NoStatistics["chunk"], o.Trial = interop.PlainEncoding, true, map[string]bool{"chunk": true}
	case "coo", "bsgs":
		few := w.few()
		if name == "bsgs" {
			few /= 2
		}
		if o.Rows = max(len(w.e.bits)/64, few); name == "bsgs" {
			if cells, _ := size(w.o.Block); cells > 0 {
				o.Rows = max(8*o.Rows/int(cells), 1) // blocks compress well
			}
		}
		w.encodings(&o)
	default:
		o.Rows = 1
		w.encodings(&o)
	}
	for _, c := range []string{"crow_indices", "ccol_indices", "col_indices", "row_indices", "value", "values"} {
		o.NoStatistics[c] = true
	}
	for _, c := range ordinals {
		o.NoStatistics["fid_"+c], o.NoStatistics["fptr_"+c] = true, true
	}
	return o
}

// ambiguous reports whether an element is a float that equals others with other bits, or not even itself.
func ambiguous(dtype string, u uint64) bool {
	x := 0.0
	switch dtype {
	case "float32":
		x = float64(math.Float32frombits(uint32(u)))
	case "float64":
		x = math.Float64frombits(u)
	}
	return math.IsNaN(x) || x == 0 && math.Signbit(x)
}

// encodings chooses those of columns of which few values are different, and of those of which many are.
func (w *writing) encodings(o *interop.ParquetOptions) {
	part := w.e.part(0, min(len(w.e.bits), sampled))
	many := func(list []uint64, of int) bool {
		seen := map[uint64]struct{}{}
		for _, u := range list {
			if seen[u] = struct{}{}; len(seen) > len(list)/of {
				return true
			}
		}
		return false
	}
	e := interop.FloatDictionaryEncoding
	if many(part.bits, 4) || slices.ContainsFunc(w.e.bits, func(u uint64) bool { return ambiguous(w.t.DType, u) }) {
		e = interop.PlainEncoding
	}
	o.Encoding["value"], o.Encoding["values"] = e, e
	for d, c := range part.coords {
		if many(each(c, func(i int64) uint64 { return uint64(i) }), 8) {
			o.Encoding["i"+strconv.Itoa(d)] = interop.DeltaEncoding
		}
		for _, name := range []string{"fid_", "fptr_"} {
			o.Encoding[name+ordinal(d)] = interop.DeltaEncoding
		}
	}
	for _, c := range []string{"crow_indices", "ccol_indices", "col_indices", "row_indices"} {
		o.Encoding[c] = interop.DeltaEncoding
	}
}
