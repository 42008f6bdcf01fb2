package layouts

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// Tensor is a dense tensor, or a sparse one, which has Coords.
type Tensor struct {
	DType string  // NumPy's name: float32, int64, uint8, …
	Shape []int64 // none for a single number
	// Data holds the elements, little-endian: of a dense tensor all in row-major order, of a sparse one those at Coords.
	Data []byte
	// Coords are the indices of the elements of a sparse tensor, from 0: Coords[d][i] is that of element i in dimension d.
	// It is nil for a dense tensor, and has an entry for each dimension else.
	Coords [][]int64
	// Elements, if it is not nil, gives the elements of a dense tensor instead of Data, so that they need not be in
	// memory at once.
	Elements io.Reader
}

// Sparse reports whether the tensor is sparse.
func (t *Tensor) Sparse() bool { return t.Coords != nil }

// count is the number of elements that are stored in memory.
func (t *Tensor) count() int { return len(t.Data) / interop.ElementSize(t.DType) }

// size multiplies dimensions. ok is false where the product exceeds int64.
func size(shape []int64) (n int64, ok bool) {
	if slices.Contains(shape, 0) {
		return 0, true
	}
	n = 1
	for _, d := range shape {
		hi, lo := bits.Mul64(uint64(n), uint64(d))
		if n = int64(lo); hi > 0 || n < 0 {
			return 0, false
		}
	}
	return n, true
}

func text(shape []int64) string {
	return "(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]") + ")"
}

// check refuses a tensor that is none.
func (t *Tensor) check() error {
	width := int64(interop.ElementSize(t.DType))
	if width == 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "a tensor of \"%s\", which is no type of elements", t.DType)
	}
	for _, d := range t.Shape {
		if d < 0 {
			return sqlerr.New(sqlerr.ArraySubscript, "a tensor of shape %s", text(t.Shape))
		}
	}
	if !t.Sparse() {
		n, ok := size(t.Shape)
		if !ok || n > math.MaxInt64/8 || t.Elements == nil && n*width != int64(len(t.Data)) {
			return sqlerr.New(sqlerr.ArraySubscript, "a tensor of %s of shape %s with %d bytes of elements", t.DType,
				text(t.Shape), len(t.Data))
		}
		return nil
	}
	if len(t.Coords) != len(t.Shape) || len(t.Shape) == 0 || t.Elements != nil {
		return sqlerr.New(sqlerr.ArraySubscript, "coordinates of %d dimensions of a tensor of shape %s", len(t.Coords),
			text(t.Shape))
	}
	for d, list := range t.Coords {
		if int64(len(list))*width != int64(len(t.Data)) {
			return sqlerr.New(sqlerr.ArraySubscript, "%d indices of dimension %d for %d bytes of elements", len(list), d,
				len(t.Data))
		}
		for _, i := range list {
			if i < 0 || i >= t.Shape[d] {
				return sqlerr.New(sqlerr.ArraySubscript, "index %d of dimension %d, which has %d", i, d, t.Shape[d])
			}
		}
	}
	return nil
}

// element returns the bits of element i: of floats as they are, of integers as int64.
func element(data []byte, dtype string, i int) uint64 {
	switch dtype {
	case "int8":
		return uint64(int8(data[i]))
	case "uint8", "bool":
		return uint64(data[i])
	case "int16":
		return uint64(int16(binary.LittleEndian.Uint16(data[2*i:])))
	case "uint16", "float16", "bfloat16":
		return uint64(binary.LittleEndian.Uint16(data[2*i:]))
	case "int32":
		return uint64(int32(binary.LittleEndian.Uint32(data[4*i:])))
	case "uint32", "float32":
		return uint64(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return binary.LittleEndian.Uint64(data[8*i:])
}

// put appends an element of the given bits.
func put(data []byte, width int, u uint64) []byte {
	switch width {
	case 1:
		return append(data, byte(u))
	case 2:
		return binary.LittleEndian.AppendUint16(data, uint16(u))
	case 4:
		return binary.LittleEndian.AppendUint32(data, uint32(u))
	}
	return binary.LittleEndian.AppendUint64(data, u)
}

// columnTypes are the types of columns that hold elements of sparse tensors: Delta Lake has no unsigned numbers.
var columnTypes = map[string]string{"float32": "float", "float64": "double", "int8": "byte", "int16": "short",
	"int32": "integer", "int64": "long", "uint8": "short", "uint16": "integer", "uint32": "long"}

// dtypes are the element types of columns of tables that do not say theirs.
var dtypes = map[string]string{"float": "float32", "double": "float64", "byte": "int8", "short": "int16",
	"integer": "int32", "long": "int64"}

// elements is a sparse tensor in work: elements in row-major order, none of them zero.
type elements struct {
	dtype  string
	shape  []int64
	coords [][]int64
	bits   []uint64

	ordered bool   // they are known to be in row-major order, each at a place of its own
	data    []byte // their bytes, where ordered and already made
}

// sorted makes the elements of a tensor. Of two elements at one place it refuses the tensor.
func (t *Tensor) sorted() (*elements, error) {
	e := &elements{dtype: t.DType, shape: t.Shape, coords: make([][]int64, len(t.Shape))}
	if columnTypes[t.DType] == "" || len(t.Shape) == 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a tensor of %s of rank %d has no sparse layout", t.DType,
			len(t.Shape)).WithHint("Use ftsf.")
	}
	n := t.count()
	if !t.Sparse() {
		index := make([]int64, len(t.Shape))
		for i := range n {
			if u := element(t.Data, t.DType, i); u != 0 {
				e.add(index, u)
			}
			step(index, t.Shape)
		}
		return e, nil
	}
	e.coords, e.bits = t.Coords, make([]uint64, n)
	for i := range n {
		e.bits[i] = element(t.Data, t.DType, i)
	}
	e, err := e.inOrder()
	if err != nil || !slices.Contains(e.bits, 0) {
		return e, err
	}
	out := &elements{dtype: e.dtype, shape: e.shape, coords: make([][]int64, len(e.coords))}
	for i, u := range e.bits {
		if u != 0 {
			out.add(at(e.coords, i), u)
		}
	}
	return out, nil
}

// step advances an index in row-major order.
func step(index, shape []int64) {
	for d := len(index) - 1; d >= 0; d-- {
		if index[d]++; index[d] < shape[d] {
			return
		}
		index[d] = 0
	}
}

func (e *elements) add(index []int64, u uint64) {
	for d, i := range index {
		e.coords[d] = append(e.coords[d], i)
	}
	e.bits = append(e.bits, u)
}

// at is the coordinate of an element.
func at(coords [][]int64, i int) []int64 {
	out := make([]int64, len(coords))
	for d := range coords {
		out[d] = coords[d][i]
	}
	return out
}

func compareAt(coords [][]int64, i, j int) int {
	for _, c := range coords {
		if c[i] != c[j] {
			if c[i] < c[j] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// ascending reports whether the elements are in row-major order, each at a place of its own.
func (e *elements) ascending() bool {
	for i := 1; i < len(e.bits); i++ {
		if compareAt(e.coords, i-1, i) >= 0 {
			return false
		}
	}
	return true
}

// bytes are the elements as those of a tensor.
func (e *elements) bytes() []byte {
	width := interop.ElementSize(e.dtype)
	out := make([]byte, 0, width*len(e.bits))
	for _, u := range e.bits {
		out = put(out, width, u)
	}
	return out
}

// inOrder returns the elements in row-major order, and an error where two are at one place.
func (e *elements) inOrder() (*elements, error) {
	n := len(e.bits)
	if e.ordered || e.ascending() {
		return e, nil // nobody changes them
	}
	if n > math.MaxInt32 {
		return nil, sqlerr.New(sqlerr.ProgramLimit, "%d elements that are not in order", n)
	}
	perm := sortBy(e.coords, e.shape, n)
	out := &elements{dtype: e.dtype, shape: e.shape, coords: make([][]int64, len(e.coords))}
	inParallel(len(e.coords)+1, func(d int) {
		if d < len(e.coords) {
			out.coords[d] = gather(e.coords[d], perm)
		} else {
			out.bits = gather(e.bits, perm)
		}
	})
	for i := 1; i < n; i++ {
		if compareAt(out.coords, i-1, i) == 0 {
			return nil, sqlerr.New(sqlerr.UniqueViolation, "two elements at %s", text(at(out.coords, i))).
				WithHint("Which of them counts, or their sum, is for you to say.")
		}
	}
	return out, nil
}

func gather[T any](list []T, perm []int32) []T {
	out := make([]T, len(perm))
	for k, i := range perm {
		out[k] = list[i]
	}
	return out
}

// sortBy sorts the numbers below n by coordinates, in place of which one number is compared where that is possible.
// Those of the last dimensions are not compared where they are in order already, as those of a matrix by columns are.
func sortBy(coords [][]int64, shape []int64, n int) []int32 {
	few := len(coords)
	for ordered := true; few > 0; few-- {
		for i := 1; i < n && ordered; i++ {
			ordered = compareAt(coords[few-1:], i-1, i) <= 0
		}
		if !ordered {
			break
		}
	}
	coords, shape = coords[:few], shape[:few]
	perm := make([]int32, n)
	for i := range perm {
		perm[i] = int32(i)
	}
	if _, ok := size(shape); !ok {
		slices.SortStableFunc(perm, func(a, b int32) int { return compareAt(coords, int(a), int(b)) })
		return perm
	}
	keys := make([]int64, n)
	for d, c := range coords {
		for i := range keys {
			keys[i] = keys[i]*shape[d] + c[i]
		}
	}
	return sortKeys(keys, perm)
}

// sortKeys sorts perm by keys, which are not negative and are sorted with it: by one digit of them after the other,
// from the last on, each time in the order of before among equal ones. Parts of them are moved at once.
func sortKeys(keys []int64, perm []int32) []int32 {
	const digit, few = 11, 1 << 15 // few are moved by one goroutine
	all, n := int64(0), len(keys)
	for _, k := range keys {
		all |= k
	}
	parts := max(1, min(runtime.GOMAXPROCS(0), mostParts, n/few))
	at := make([][1 << digit]int32, parts)
	nextKeys, next := make([]int64, n), make([]int32, n)
	for shift := 0; all>>shift > 0; shift += digit {
		clear(at)
		inParallel(parts, func(p int) {
			for _, k := range keys[n*p/parts : n*(p+1)/parts] {
				at[p][k>>shift&(1<<digit-1)]++
			}
		})
		sum := int32(0)
		for d := range at[0] {
			for p := range at {
				at[p][d], sum = sum, sum+at[p][d]
			}
		}
		inParallel(parts, func(p int) {
			at := &at[p]
			for i := n * p / parts; i < n*(p+1)/parts; i++ {
				k := keys[i]
				d := k >> shift & (1<<digit - 1)
				nextKeys[at[d]], next[at[d]] = k, perm[i]
				at[d]++
			}
		})
		keys, nextKeys, perm, next = nextKeys, keys, next, perm
	}
	return perm
}

// tensor is the result of reading: a sparse tensor in row-major order.
func (e *elements) tensor() (*Tensor, error) {
	if len(e.shape) == 0 { // a slice by a single index of each dimension
		u := uint64(0)
		if len(e.bits) > 0 {
			u = e.bits[0]
		}
		return &Tensor{DType: e.dtype, Shape: e.shape, Data: put(nil, interop.ElementSize(e.dtype), u)}, nil
	}
	e, err := e.inOrder()
	if err != nil {
		return nil, err
	}
	t := &Tensor{DType: e.dtype, Shape: e.shape, Coords: e.coords, Data: e.data}
	if t.Data == nil {
		t.Data = e.bytes()
	}
	for d := range t.Coords {
		if t.Coords[d] == nil {
			t.Coords[d] = []int64{}
		}
	}
	return t, nil
}

// maxDense is the largest dense tensor in bytes that is made of a sparse one.
const maxDense = 4 << 30

// Dense returns the tensor with all its elements.
func (t *Tensor) Dense() (*Tensor, error) {
	if !t.Sparse() {
		return t, nil
	}
	width := int64(interop.ElementSize(t.DType))
	n, ok := size(t.Shape)
	if !ok || n > maxDense/width {
		return nil, sqlerr.New(sqlerr.ProgramLimit, "a dense tensor of shape %s has more than %d bytes", text(t.Shape),
			int64(maxDense))
	}
	out := &Tensor{DType: t.DType, Shape: t.Shape, Data: make([]byte, n*width)}
	for i := range t.count() {
		k := int64(0)
		for d, c := range t.Coords {
			k = k*t.Shape[d] + c[i]
		}
		copy(out.Data[k*width:], t.Data[int64(i)*width:int64(i+1)*width])
	}
	return out, nil
}
