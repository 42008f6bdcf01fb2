package layouts

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// bsgs has a row for each block that is not zero (section IV.F): the indices of the block, from 0 and counted in
// blocks, in columns i0, i1, …, and its elements with their zeros in row-major order. block_shape has an entry for
// each dimension. Blocks at the end of a dimension are padded with zeros. The paper's column indices, an array, is
// read too.
var bsgs = &layout{
	fields: func(rank int, value string) []interop.Field {
		return append(append([]interop.Field{list("block_shape", "long")}, indexFields(rank)...), list("values", value))
	},
	write: (*writing).blocks,
	read: func(r *reading) error {
		block := integers(r.head["block_shape"])
		if err := checkBlock(block, r.shape); err != nil {
			return within(err, "damaged: ")
		}
		if r.b.empty() {
			return nil
		}
		if !r.has("i0") {
			return r.rows([]string{"block_shape", "indices", "values"}, nil, func(v []any) error {
				if v[1] == nil && v[2] == nil {
					return nil
				}
				return r.block(block, integers(v[0]), integers(v[1]), v[2])
			})
		}
		names, where := indexNames(len(r.shape)), []delta.Bound{}
		for d, name := range names {
			if !r.has(name) {
				return corrupt("the table has no column \"%s\"", name)
			}
			where = append(where, delta.Bound{Column: name, Min: r.b.from[d] / block[d], Max: (r.b.to[d] - 1) / block[d]})
		}
		index := make([]int64, len(names))
		return r.rows(append(names, "block_shape", "values"), where, func(v []any) error {
			for d := range index {
				index[d], _ = v[d].(int64)
			}
			return r.block(block, integers(v[len(index)]), index, v[len(index)+1])
		})
	},
}

// mostCells is the largest number of elements of a block.
const mostCells = 1 << 20

func checkBlock(block, shape []int64) error {
	n, ok := size(block)
	if len(block) != len(shape) || !ok || n < 1 || n > mostCells || slices.Min(block) < 1 {
		return sqlerr.New(sqlerr.InvalidParameter, "blocks of shape %s of a tensor of shape %s", text(block), text(shape)).
			WithHint("A block has an entry for each dimension and at most %d elements.", mostCells)
	}
	return nil
}

// blocked orders elements by blocks: the index of the block of each, and the order.
func (e *elements) blocked(block []int64) (blocks [][]int64, perm []int32) {
	blocks, extent := make([][]int64, len(block)), make([]int64, len(block))
	for d, c := range e.coords {
		extent[d] = (e.shape[d] + block[d] - 1) / block[d]
		blocks[d] = make([]int64, len(c))
		for i, x := range c {
			blocks[d][i] = x / block[d]
		}
	}
	return blocks, sortBy(blocks, extent, len(e.bits))
}

// blocks writes the rows.
func (w *writing) blocks() error {
	block := w.o.Block
	if err := checkBlock(block, w.t.Shape); err != nil {
		return err
	}
	rank, n := len(block), len(w.e.bits)
	row := make([]any, rank+2)
	row[0] = block
	if n == 0 {
		return w.row(row...)
	}
	cells, _ := size(block)
	dense := make([]uint64, cells)
	blocks, perm := w.e.blocked(block)
	for k := 0; k < n; {
		first := int(perm[k])
		clear(dense)
		for ; k < n && compareAt(blocks, first, int(perm[k])) == 0; k++ {
			i, at := int(perm[k]), int64(0)
			for d, c := range w.e.coords {
				at = at*block[d] + c[i]%block[d]
			}
			dense[at] = w.e.bits[i]
		}
		for d := range rank {
			row[d+1] = blocks[d][first]
		}
		row[rank+1] = array(w.e.dtype, dense)
		if err := w.row(row...); err != nil {
			return err
		}
	}
	return nil
}

// block takes the elements of a block.
func (r *reading) block(block, said, index []int64, value any) error {
	if !slices.Equal(block, said) {
		return corrupt("blocks of shapes %s and %s", text(block), text(said))
	}
	bits, err := allBits(r.dtype, value)
	if err != nil {
		return err
	}
	cells, _ := size(block)
	if len(index) != len(block) || int64(len(bits)) != cells {
		return corrupt("a block at %s with %d elements, of shape %s", text(index), len(bits), text(block))
	}
	corner := make([]int64, len(index))
	for d, i := range index {
		if i < 0 || i > (r.shape[d]-1)/block[d] {
			return corrupt("a block of shape %s at %s in a tensor of shape %s", text(block), text(index), text(r.shape))
		}
		corner[d] = i * block[d]
	}
	inner, at := make([]int64, len(index)), make([]int64, len(index))
	for _, u := range bits {
		if u != 0 {
			for d := range at {
				at[d] = corner[d] + inner[d]
			}
			if err := r.inside(at); err != nil {
				return err
			}
			r.b.take(r.out, at, u)
		}
		step(inner, block)
	}
	return nil
}
