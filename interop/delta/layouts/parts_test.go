package layouts

import (
	"runtime"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// rowsApart is rowsOf with each row in a row group of its own, so that parts of a tensor are read at once.
func rowsApart(t testing.TB, fields []interop.Field, rows ...[]any) delta.Memory {
	t.Helper()
	return tableOf(t, delta.WriteOptions{Parquet: interop.ParquetOptions{Rows: 1}}, fields, rows)
}

// TestParts: a tensor that several goroutines read is what one reads: its elements in order, whatever that of the rows,
// and none of them twice; and of rows that do not say which part of the tensor they have there is one.
func TestParts(t *testing.T) {
	common := []interop.Field{field("id", "string"), field("layout", "string"), field("dtype", "string"),
		list("dense_shape", "long")}
	coo := append(slices.Clone(common), field("i0", "long"), field("i1", "long"), field("value", "float"))
	element := func(i, j int64) []any {
		return []any{"x", "coo", "float32", []int64{9, 9}, i, j, float32(10*i + j)}
	}
	csr := append(slices.Clone(common), list("flattened_shape", "long"), list("crow_indices", "long"),
		list("col_indices", "long"), list("value", "float"))
	matrix := []any{"x", "csr", "float32", []int64{2, 2}, []int64{2, 2}, []int64{0, 1, 1}, []int64{1}, []float32{3}}
	want := &Tensor{DType: "float32", Shape: []int64{9, 9}, Coords: [][]int64{{1, 2, 3, 4, 5}, {7, 1, 8, 0, 2}},
		Data: []byte{0, 0, 136, 65, 0, 0, 168, 65, 0, 0, 24, 66, 0, 0, 32, 66, 0, 0, 80, 66}}
	for _, processors := range []int{1, 2, 3, 8} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		for name, files := range map[string]delta.Memory{
			"in order": rowsApart(t, coo, element(1, 7), element(2, 1), element(3, 8), element(4, 0), element(5, 2)),
			"parts in disorder": rowsApart(t, coo, element(4, 0), element(5, 2), element(1, 7), element(2, 1),
				element(3, 8)),
			"rows in disorder": rowsApart(t, coo, element(2, 1), element(1, 7), element(3, 8), element(5, 2),
				element(4, 0)),
		} {
			same(t, name, readAll(t, files, "x", ""), want)
		}
		_, err := Read(latest(t, rowsApart(t, coo, element(1, 7), element(2, 1), element(1, 7))), "x", nil)
		refused(t, err, sqlerr.UniqueViolation, "two elements at (1, 7)")
		_, err = Read(latest(t, rowsApart(t, csr, matrix, matrix)), "x", nil)
		refused(t, err, sqlerr.DataCorrupted, "do not say which part")
	}
}
