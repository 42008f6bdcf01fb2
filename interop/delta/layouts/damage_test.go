package layouts

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/mutation"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// TestMutated changes bytes of the file of a tensor of each layout: it is refused, or read as it is.
func TestMutated(t *testing.T) {
	const mutants = 200
	x := random(rand.New(rand.NewPCG(7, 7)), "float32", []int64{6, 5, 7}, 0.4, false)
	for _, layout := range Names() {
		files := delta.Memory{}
		store(t, files, "x", x, Options{Layout: layout})
		name := latest(t, files).Files()[0].Path
		r, refusals := rand.New(rand.NewPCG(7, 8)), 0
		for i := range mutants {
			spoilt := delta.Memory{}
			for k, v := range files {
				spoilt[k] = v
			}
			spoilt[name] = mutation.Bytes(r, files[name])
			got, err := Read(latest(t, spoilt), "x", nil)
			var e *sqlerr.Error
			switch {
			case err == nil:
				same(t, layout, got, x)
			case !errors.As(err, &e) || e.Code == sqlerr.Internal:
				t.Errorf("%s %d: %v", layout, i, err)
			default:
				refusals++
			}
		}
		if refusals < mutants/2 {
			t.Errorf("%s: only %d of %d refused", layout, refusals, mutants)
		}
		t.Logf("%s: %d of %d refused", layout, refusals, mutants)
	}
}

// TestReadTwice: of tables of others, elements that are zero are left out, and elements at one place are refused.
func TestReadTwice(t *testing.T) {
	shape := []int64{2, 2, 3}
	head := []interop.Field{field("id", "string"), field("layout", "string"), list("dense_shape", "integer")}
	coo := append(head[:3:3], list("indices", "integer"), field("value", "float"))
	csr := append(head[:3:3], list("flattened_shape", "integer"), list("crow_indices", "integer"),
		list("col_indices", "integer"), list("value", "float"))
	bsgs := append(head[:3:3], list("block_shape", "integer"), list("indices", "integer"), list("values", "float"))
	cooRow := func(value float32, at ...int64) []any { return []any{"x", "COO", shape, at, value} }
	csrRow := func(pointers, at []int64, values ...float32) []any {
		return []any{"x", "CSR", shape, []int64{2, 6}, pointers, at, values}
	}
	block := []any{"x", "BSGS", shape, []int64{1, 1, 3}, []int64{1, 1, 0}, []float32{0, 2, 0}}
	for _, files := range []delta.Memory{rowsOf(t, coo, cooRow(2, 1, 1, 1), cooRow(2, 1, 1, 1)),
		rowsOf(t, csr, csrRow([]int64{0, 0, 2}, []int64{4, 4}, 2, 2)), rowsOf(t, bsgs, block, block)} {
		_, err := Read(latest(t, files), "x", nil)
		refused(t, err, sqlerr.UniqueViolation, "(1, 1, 1)")
	}
	for name, files := range map[string]delta.Memory{"coo": rowsOf(t, coo, cooRow(0, 1, 0, 2), cooRow(2, 1, 1, 1)),
		"csr":  rowsOf(t, csr, csrRow([]int64{0, 1, 3}, []int64{5, 0, 3}, 1, 2, 0)),
		"bsgs": rowsOf(t, bsgs, block)} {
		x := readAll(t, files, "x", "[1]")
		if x.count() != 1 || math.Float32frombits(binary.LittleEndian.Uint32(x.Data)) != 2 {
			t.Errorf("%s: %v", name, x)
		}
	}
}

// TestOverflow: shapes whose product exceeds int64 are stored where nothing is flattened, and refused where it is.
func TestOverflow(t *testing.T) {
	const n = 1 << 62
	x := &Tensor{DType: "float32", Shape: []int64{n, n, n, n}, Data: []byte{0, 0, 128, 63, 0, 0, 0, 64},
		Coords: [][]int64{{n - 1, 0}, {0, n - 1}, {7, n - 1}, {n - 1, 5}}}
	for _, layout := range []string{"", "coo", "csf", "bsgs"} {
		files := delta.Memory{}
		store(t, files, "x", x, Options{Layout: layout})
		got := readAll(t, files, "x", "")
		if got.count() != 2 || got.Coords[0][1] != n-1 || got.Coords[3][1] != n-1 || got.Coords[1][0] != n-1 {
			t.Errorf("%s: %v", layout, got)
		}
		part := readAll(t, files, "x", "[0]")
		if part.count() != 1 || part.Coords[0][0] != n-1 || part.Data[3] != 64 {
			t.Errorf("%s: %v", layout, part)
		}
	}
	for _, layout := range []string{"csr", "csc"} {
		_, err := Write(delta.Memory{}, "x", x, Options{Layout: layout})
		refused(t, err, sqlerr.NumericOutOfRange, "int64")
	}
	dense := &Tensor{DType: "int8", Shape: x.Shape, Elements: strings.NewReader("")}
	_, err := Write(delta.Memory{}, "x", dense, Options{})
	refused(t, err, sqlerr.ArraySubscript, "shape")
	fields := []interop.Field{field("id", "string"), field("layout", "string"), list("dense_shape", "long"),
		list("flattened_shape", "long"), field("row_dims", "integer"), list("crow_indices", "long"),
		list("col_indices", "long"), list("value", "float")}
	files := rowsOf(t, fields, []any{"x", "csr", []int64{n, n, n}, []int64{n, 0}, int64(1), []int64{0}, []int64{},
		[]float32{}})
	_, err = Read(latest(t, files), "x", nil)
	refused(t, err, sqlerr.DataCorrupted, "a matrix")
}
