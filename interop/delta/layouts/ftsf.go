package layouts

import (
	"bytes"
	"io"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// ftsf has a row for each chunk (section IV.A): the elements of the last chunk_dim_count dimensions at one index of the
// others. chunk_index is that index, row-major, and chunk the elements, little-endian in row-major order; the paper's
// chunks, npy files without an index and a dtype, are read where there is one. A tensor without elements has one row,
// whose chunk is NULL.
var ftsf = &layout{
	dense: true,
	fields: func(int, string) []interop.Field {
		return []interop.Field{field("dim_count", "integer"), list("dimensions", "integer"),
			field("chunk_dim_count", "integer"), field("chunk_index", "long"), field("chunk", "binary")}
	},
	write: (*writing).chunks,
	read:  (*reading).chunks,
}

// Sizes of chunks in bytes: the largest that is chosen, and the largest that is possible.
const (
	goodChunk = 1 << 20
	mostChunk = 1 << 30
)

// chunkRank is how many dimensions a chunk has: as many as make a chunk of at most a megabyte, without the first, along
// which tensors are sliced, and at least one.
func (w *writing) chunkRank() (int, error) {
	rank, shape := w.o.ChunkRank, w.t.Shape
	if rank < 0 || rank > len(shape) {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "chunks of %d dimensions of a tensor of shape %s", rank, text(shape))
	}
	if rank == 0 {
		for rank = min(len(shape), 1); rank < len(shape)-1; rank++ {
			if n, _ := size(shape[len(shape)-rank-1:]); n*w.width() > goodChunk {
				break
			}
		}
	}
	if n, _ := size(shape[len(shape)-rank:]); n*w.width() > mostChunk {
		return 0, sqlerr.New(sqlerr.ProgramLimit, "a chunk of %d dimensions of a tensor of shape %s has more than %d bytes",
			rank, text(shape), mostChunk).WithHint("Reshape the tensor so that its last dimension is shorter.")
	}
	return rank, nil
}

func (w *writing) width() int64 { return int64(interop.ElementSize(w.t.DType)) }

// chunks writes the rows.
func (w *writing) chunks() error {
	t, err := w.t.Dense()
	if err != nil {
		return err
	}
	rank, err := w.chunkRank()
	if err != nil {
		return err
	}
	lead := len(t.Shape) - rank
	n, _ := size(t.Shape[:lead])
	elems, _ := size(t.Shape[lead:])
	width := elems * w.width()
	dims := slices.Clone(t.Shape)
	if dims == nil {
		dims = []int64{}
	}
	if n == 0 || width == 0 {
		return w.row(int64(len(dims)), dims, int64(rank), nil, nil)
	}
	from := t.Elements
	if from == nil {
		from = bytes.NewReader(t.Data)
	}
	chunk := make([]byte, width)
	for i := range n {
		if _, err := io.ReadFull(from, chunk); err != nil {
			return sqlerr.New(sqlerr.IO, "the elements of the tensor end at chunk %d of %d: %v", i, n, err).Wrap(err)
		}
		if err := w.row(int64(len(dims)), dims, int64(rank), i, chunk); err != nil {
			return err
		}
	}
	return nil
}

// chunking is a tensor of ftsf being read: the parts of chunks that the slice takes, in order.
type chunking struct {
	*reading
	rank   int     // of a chunk
	shape  []int64 // of a chunk
	inner  *box    // of a chunk, in the slice
	lead   *box
	next   int64 // the number, among the chunks that the slice needs, of the next one
	early  map[int64][]byte
	data   []byte
	npy    bool // the type of elements is that of the chunks
	single bool // chunks have no index
}

// chunks reads the slice.
func (r *reading) chunks() error {
	rank, ok := r.head["chunk_dim_count"].(int64)
	count, ok2 := r.head["dim_count"].(int64)
	if !ok || !ok2 || rank < 0 || rank > int64(len(r.shape)) || count != int64(len(r.shape)) {
		return corrupt("chunks of %v dimensions of a tensor of %v dimensions of shape %s", r.head["chunk_dim_count"],
			r.head["dim_count"], text(r.shape))
	}
	lead := len(r.shape) - int(rank)
	cut := func(a, b int) *box { return &box{r.b.from[a:b], r.b.to[a:b], r.b.one[a:b]} }
	c := &chunking{reading: r, rank: int(rank), shape: r.shape[lead:], lead: cut(0, lead), inner: cut(lead, len(r.shape)),
		early: map[int64][]byte{}, npy: r.dtype == "", single: !r.has("chunk_index")}
	r.dense = &Tensor{DType: r.dtype, Shape: r.b.shape(), Data: []byte{}}
	if r.b.empty() {
		return nil
	}
	low, high := int64(0), int64(0)
	for d := range lead {
		low, high = low*r.shape[d]+r.b.from[d], high*r.shape[d]+r.b.to[d]-1
	}
	where := []delta.Bound{{Column: "chunk_index", Min: low, Max: high}}
	if c.single {
		where = nil
	}
	if err := r.rows([]string{"chunk_index", "chunk"}, where, c.chunk); err != nil {
		return err
	}
	if n, _ := size(c.lead.extent()); c.next < n || len(c.early) > 0 {
		return corrupt("chunk %d is missing", c.number(c.next))
	}
	r.dense.DType, r.dense.Data = r.dtype, c.data
	return nil
}

// number is the index of the chunk that the slice needs as its n-th.
func (c *chunking) number(n int64) (index int64) {
	extent := c.lead.extent()
	at := make([]int64, len(extent))
	for d := len(extent) - 1; d >= 0; d-- {
		at[d] = c.lead.from[d] + n%extent[d]
		n /= extent[d]
	}
	for d, i := range at {
		index = index*c.reading.shape[d] + i
	}
	return index
}

// place is the inverse of number; ok is false for a chunk that the slice does not need.
func (c *chunking) place(index int64) (n int64, ok bool) {
	lead := len(c.lead.from)
	at := make([]int64, lead)
	for d := lead - 1; d >= 0; d-- {
		at[d] = index % c.reading.shape[d]
		index /= c.reading.shape[d]
	}
	for d, e := range c.lead.extent() {
		n = n*e + at[d] - c.lead.from[d]
	}
	return n, index == 0 && c.lead.holds(at)
}

// chunk takes a row.
func (c *chunking) chunk(v []any) error {
	index, _ := v[0].(int64)
	b, _ := v[1].([]byte)
	if all, _ := size(c.reading.shape[:len(c.lead.from)]); c.single && all != 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"there are %d chunks, and the table has no column \"chunk_index\" that says which is which", all)
	}
	n, ok := c.place(index)
	if !ok {
		return nil
	}
	if c.early[n] != nil || n < c.next {
		return corrupt("chunk %d is there twice", index)
	}
	b, err := c.elements(b, index)
	if err != nil {
		return err
	}
	if c.data == nil { // room for as much as the files may have, which compression makes smaller
		all, _ := size(c.dense.Shape)
		c.data = make([]byte, 0, min(all*int64(interop.ElementSize(c.dtype)), 8*c.bytesMost))
	}
	if n != c.next {
		c.early[n] = c.inner.cut(nil, b, c.shape, interop.ElementSize(c.dtype))
		return nil
	}
	c.data = c.inner.cut(c.data, b, c.shape, interop.ElementSize(c.dtype))
	for c.next++; c.early[c.next] != nil; c.next++ {
		c.data = append(c.data, c.early[c.next]...)
		delete(c.early, c.next)
	}
	return nil
}

// elements are the bytes of a chunk's elements.
func (c *chunking) elements(b []byte, index int64) ([]byte, error) {
	n, _ := size(c.shape)
	if !c.npy && int64(len(b)) == n*int64(interop.ElementSize(c.dtype)) {
		return b, nil
	}
	dtype, shape, data, err := interop.ParseNpy(b, "chunk")
	switch {
	case err != nil && !c.npy:
		return nil, corrupt("chunk %d has %d bytes, for %s of shape %s", index, len(b), c.dtype, text(c.shape))
	case err != nil:
		return nil, within(err, "chunk %d: ", index)
	case c.dtype != "" && dtype != c.dtype || !slices.Equal(shape, c.shape):
		return nil, corrupt("chunk %d is of %s of shape %s, not %s of shape %s", index, dtype, text(shape), c.dtype,
			text(c.shape))
	}
	c.dtype = dtype
	return data, nil
}

// cut appends the part of a row-major array that is in the box.
func (b *box) cut(dst, src []byte, shape []int64, width int) []byte {
	if len(shape) == 0 {
		return append(dst, src[:width]...)
	}
	inner, _ := size(shape[1:])
	inner *= int64(width)
	rest := &box{b.from[1:], b.to[1:], b.one[1:]}
	full := true
	for d := range rest.from {
		full = full && rest.from[d] == 0 && rest.to[d] == shape[d+1]
	}
	if full {
		return append(dst, src[b.from[0]*inner:b.to[0]*inner]...)
	}
	for i := b.from[0]; i < b.to[0]; i++ {
		dst = rest.cut(dst, src[i*inner:(i+1)*inner], shape[1:], width)
	}
	return dst
}
