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
	"sync"
	"sync/atomic"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// counter counts the bytes that are read of data files.
type counter struct {
	delta.Memory
	bytes atomic.Int64
}

func (c *counter) Get(name string, from, n int64) ([]byte, error) {
	b, err := c.Memory.Get(name, from, n)
	if strings.HasPrefix(name, "part-") {
		c.bytes.Add(int64(len(b)))
	}
	return b, err
}

// TestSlicesSkip: a slice opens the files and row groups in which it lies, and reads no others.
func TestSlicesSkip(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	small := random(r, "float32", []int64{130, 40, 40}, 0.99, false)
	for layout, part := range map[string]string{"coo": "[10]", "csr": "[10]", "csc": "[:, :, 3]", "csf": "[10]",
		"bsgs": "[10]", "ftsf": "[10:12]"} {
		files := &counter{Memory: delta.Memory{}}
		store(t, files, "other", random(r, "float32", []int64{2, 2, 2}, 1, false), Options{Layout: layout})
		x := small
		if layout == "bsgs" { // whose row groups are larger
			x = random(r, "float32", []int64{330, 40, 40}, 0.99, false)
		}
		store(t, files, "x", x, Options{Layout: layout})
		s, err := ParseSlice(part)
		if err != nil {
			t.Fatal(err)
		}
		files.bytes.Store(0)
		got, seen, err := read(latest(t, files), "x", s)
		if err != nil {
			t.Fatal(err)
		}
		few := files.bytes.Load()
		same(t, layout, got, partOf(x, s))
		_, whole, err := read(latest(t, files), "x", nil)
		if err != nil || seen.Files != 1 || whole.Files != 1 || 2*seen.Groups > whole.Groups {
			t.Errorf("%s: %d of %d row groups, %d of %d files (%v)", layout, seen.Groups, whole.Groups, seen.Files,
				whole.Files, err)
		}
		if all := files.bytes.Load() - few; few > 3*all/4 {
			t.Errorf("%s: %d bytes are read of a slice, %d of all", layout, few, all)
		}
	}
}

// TestOneTable: ids are apart, and are there once; tensors are listed, replaced and deleted.
func TestOneTable(t *testing.T) {
	files := delta.Memory{}
	r := rand.New(rand.NewPCG(4, 4))
	tensors := map[string]*Tensor{}
	for i, layout := range []string{"ftsf", "coo", "bsgs", "coo"} {
		id := fmt.Sprint(layout, i)
		tensors[id] = random(r, "float64", []int64{3, 4, 5}[:2+i%2], 0.4, false)
		store(t, files, id, tensors[id], Options{Layout: layout})
	}
	_, err := Write(files, "coo1", tensors["coo1"], Options{Layout: "coo"})
	refused(t, err, sqlerr.UniqueViolation, "coo1")
	_, err = Write(files, "y", tensors["coo1"], Options{Layout: "csr"}) // its value is an array
	refused(t, err, sqlerr.DatatypeMismatch, "\"value\"")
	_, err = Write(files, "y", random(r, "int8", []int64{3}, 0.5, true), Options{Layout: "coo"})
	refused(t, err, sqlerr.DatatypeMismatch, "byte", "double")
	tensors["coo1"] = random(r, "float64", []int64{9}, 0.4, true)
	store(t, files, "coo1", tensors["coo1"], Options{Layout: "coo", Replace: true})
	if _, err := Delete(latest(t, files), "bsgs2"); err != nil {
		t.Fatal(err)
	}
	delete(tensors, "bsgs2")
	list, err := List(latest(t, files))
	if err != nil || len(list) != len(tensors) {
		t.Fatal(list, err)
	}
	for _, e := range list {
		x := tensors[e.ID]
		if e.DType != "float64" || !slices.Equal(e.Shape, x.Shape) || e.Layout != strings.TrimRight(e.ID, "0123") {
			t.Error(e)
		}
		same(t, e.ID, readAll(t, files, e.ID, ""), x)
	}
	_, err = Read(latest(t, files), "bsgs2", nil)
	refused(t, err, sqlerr.UndefinedObject, "bsgs2")
	_, err = Delete(latest(t, files), "bsgs2")
	refused(t, err, sqlerr.UndefinedObject, "bsgs2")
}

// racer commits another tensor of the same id just before a commit.
type racer struct {
	delta.Memory
	t  *testing.T
	id string
	x  *Tensor
}

func (r *racer) PutIfAbsent(name string, b []byte) error {
	if x := r.x; x != nil && strings.HasSuffix(name, ".json") {
		r.x = nil
		store(r.t, r.Memory, r.id, x, Options{Layout: "coo"})
	}
	return r.Memory.PutIfAbsent(name, b)
}

// TestSameID: of two writers of one id at once, one is refused.
func TestSameID(t *testing.T) {
	x := random(rand.New(rand.NewPCG(4, 4)), "float32", []int64{3, 4}, 0.5, true)
	files := delta.Memory{}
	store(t, files, "other", x, Options{Layout: "coo"})
	_, err := Write(&racer{files, t, "x", x}, "x", x, Options{Layout: "coo"})
	refused(t, err, sqlerr.UniqueViolation, "\"x\"")
	same(t, "x", readAll(t, files, "x", ""), x)
	store(t, &racer{files, t, "y", x}, "z", x, Options{Layout: "coo"})
	same(t, "z", readAll(t, files, "z", ""), x)
}

// TestWriters: writers that create a table at once, and add columns to it, all store their tensor.
func TestWriters(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	dir := t.TempDir()
	var tensors []*Tensor
	var all sync.WaitGroup
	for i := range 6 {
		x := random(r, "float32", []int64{3, 4, 5, 2, 3, 2}[:1+i], 0.5, true)
		tensors = append(tensors, x)
		all.Go(func() {
			if _, err := Write(delta.NewLocal(dir), fmt.Sprint(i), x, Options{Layout: "coo"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, x := range tensors {
		same(t, "a tensor", readAll(t, delta.NewLocal(dir), fmt.Sprint(i), ""), x)
	}
}

// TestEdges: single numbers, elements in any order, twice at one place, zeros, shapes beyond int64.
func TestEdges(t *testing.T) {
	one := &Tensor{DType: "float64", Data: binary.LittleEndian.AppendUint64(nil, math.Float64bits(2.5))}
	for _, o := range []Options{{}, {Layout: "ftsf"}} {
		files := delta.Memory{}
		store(t, files, "x", one, o)
		same(t, "a number", readAll(t, files, "x", ""), one)
	}
	_, err := Write(delta.Memory{}, "x", one, Options{Layout: "coo"})
	refused(t, err, sqlerr.FeatureNotSupported, "rank 0")
	twice := &Tensor{DType: "int64", Shape: []int64{3, 3}, Coords: [][]int64{{2, 0, 2}, {1, 0, 1}}, Data: make([]byte, 24)}
	zeros := &Tensor{DType: "int64", Shape: []int64{3, 3}, Coords: [][]int64{{2, 0, 1}, {1, 0, 1}}, Data: make([]byte, 24)}
	zeros.Data[8] = 7
	huge := &Tensor{DType: "float32", Shape: []int64{1 << 40, 1 << 40, 5}, Coords: [][]int64{{3, 1 << 39}, {1 << 38, 0},
		{4, 1}}, Data: []byte{0, 0, 128, 63, 0, 0, 0, 128}}
	for _, layout := range []string{"coo", "csr", "csc", "csf", "bsgs"} {
		_, err := Write(delta.Memory{}, "x", twice, Options{Layout: layout})
		refused(t, err, sqlerr.UniqueViolation, "(2, 1)")
		files := delta.Memory{}
		w := store(t, files, "x", zeros, Options{Layout: layout})
		if got := readAll(t, files, "x", "[:]"); w.Elements != 1 || got.count() != 1 || got.Coords[0][0] != 0 {
			t.Errorf("%s: %v of one element and two zeros (%v)", layout, got, w)
		}
		if layout == "csc" { // its rows would be all but the last dimension
			_, err := Write(delta.Memory{}, "x", huge, Options{Layout: layout})
			refused(t, err, sqlerr.NumericOutOfRange, "int64")
			continue
		}
		files = delta.Memory{}
		store(t, files, "huge", huge, Options{Layout: layout, Replace: true})
		got := readAll(t, files, "huge", "")
		if got.count() != 2 || got.Data[7] != 128 || got.Coords[0][1] != 1<<39 || got.Coords[1][0] != 1<<38 {
			t.Errorf("%s: %v", layout, got)
		}
	}
	_, err = huge.Dense()
	refused(t, err, sqlerr.ProgramLimit, "bytes")
}

// TestBadTensors are refused.
func TestBadTensors(t *testing.T) {
	for _, x := range []*Tensor{{DType: "complex64"}, {DType: "int8", Shape: []int64{3}, Data: make([]byte, 2)},
		{DType: "int8", Shape: []int64{-1}}, {DType: "int8", Shape: []int64{3}, Coords: [][]int64{{3}}, Data: []byte{1}},
		{DType: "int8", Shape: []int64{3}, Coords: [][]int64{{1, 2}}, Data: []byte{1}}} {
		if _, err := Write(delta.Memory{}, "x", x, Options{}); err == nil {
			t.Errorf("%v is stored", x)
		}
	}
	x := random(rand.New(rand.NewPCG(4, 4)), "float32", []int64{3, 4}, 0.5, true)
	for _, o := range []Options{{Layout: "xyz"}, {Layout: "bsgs", Block: []int64{2}}, {Layout: "ftsf", ChunkRank: 3},
		{Layout: "bsgs", Block: []int64{2, 0}}, {Layout: "csr", Rows: 3}} {
		if _, err := Write(delta.Memory{}, "x", x, o); err == nil {
			t.Errorf("%v: it is stored", o)
		}
	}
	for _, s := range []string{"[1", "[-1]", "[1:2:3]", "[..., 1]", "[x]", "[1,,2]"} {
		if _, err := ParseSlice(s); err == nil {
			t.Errorf("slice %s", s)
		}
	}
	files := delta.Memory{}
	store(t, files, "x", x, Options{})
	for _, s := range []string{"[3]", "[0, 0, 0]"} {
		p, _ := ParseSlice(s)
		_, err := Read(latest(t, files), "x", p)
		refused(t, err, sqlerr.ArraySubscript)
	}
}

// rowsOf makes a table of rows by hand.
func rowsOf(t testing.TB, fields []interop.Field, rows ...[]any) delta.Memory {
	t.Helper()
	return tableOf(t, delta.WriteOptions{}, fields, rows)
}

func tableOf(t testing.TB, o delta.WriteOptions, fields []interop.Field, rows [][]any) delta.Memory {
	t.Helper()
	files := delta.Memory{}
	tx, err := delta.Create(files, fields, delta.TableOptions{}, o)
	for _, row := range rows {
		if err == nil {
			err = tx.Write(row)
		}
	}
	if err == nil {
		_, err = tx.Commit("WRITE")
	}
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// npy is a file of int16 numbers.
func npy(descr string, fortran bool, shape string, data []byte) []byte {
	order := map[bool]string{true: "True", false: "False"}[fortran]
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
	return slices.Concat([]byte("\x93NUMPY\x01\x00"), []byte{byte(len(head)), 0}, []byte(head), data)
}

// TestPaperChunks reads chunks as the paper has them: npy files, without an index.
func TestPaperChunks(t *testing.T) {
	fields := []interop.Field{field("id", "string"), field("chunk", "binary"), field("dim_count", "integer"),
		list("dimensions", "integer"), field("chunk_dim_count", "integer")}
	row := func(dims []int64, rank int64, chunk []byte) []any {
		return []any{"x", chunk, int64(len(dims)), dims, rank}
	}
	want := &Tensor{DType: "int16", Shape: []int64{2, 3}, Data: []byte{0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0}}
	big := []byte{0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5}
	columns := []byte{0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0}
	for name, chunk := range map[string][]byte{"plain": npy("<i2", false, "(2, 3)", want.Data),
		"big-endian": npy(">i2", false, "(2, 3)", big), "fortran": npy("<i2", true, "(2, 3)", columns)} {
		files := rowsOf(t, fields, row([]int64{2, 3}, 2, chunk))
		same(t, name, readAll(t, files, "x", ""), want)
		same(t, name, readAll(t, files, "x", "[1, 1:]"), partOf(want, Slice{{From: 1, One: true}, {From: 1, To: -1}}))
	}
	half := npy("<i2", false, "(3,)", want.Data[:6])
	_, err := Read(latest(t, rowsOf(t, fields, row([]int64{2, 3}, 1, half), row([]int64{2, 3}, 1, half))), "x", nil)
	refused(t, err, sqlerr.FeatureNotSupported, "2 chunks", "chunk_index")
	_, err = Read(latest(t, rowsOf(t, fields, row([]int64{2, 3}, 2, half))), "x", nil)
	refused(t, err, sqlerr.DataCorrupted, "(3)", "(2, 3)")
	_, err = Read(latest(t, rowsOf(t, fields, row([]int64{2, 3}, 2, want.Data))), "x", nil)
	refused(t, err, sqlerr.BadCopy, "npy")
}

// TestChunksCount: a chunk that is missing, or there twice, is no part of the tensor.
func TestChunksCount(t *testing.T) {
	fields := append(ftsf.common(), ftsf.fields(0, "")...)
	row := func(i int64, chunk []byte) []any {
		return []any{"x", "ftsf", "uint8", int64(2), []int64{3, 2}, int64(1), i, chunk}
	}
	good := rowsOf(t, fields, row(2, []byte{5, 6}), row(0, []byte{1, 2}), row(1, []byte{3, 4}))
	same(t, "in any order", readAll(t, good, "x", ""),
		&Tensor{DType: "uint8", Shape: []int64{3, 2}, Data: []byte{1, 2, 3, 4, 5, 6}})
	for want, rows := range map[string][][]any{
		"chunk 1 is missing":      {row(0, []byte{1, 2}), row(2, []byte{5, 6})},
		"chunk 2 is missing":      {row(0, []byte{1, 2}), row(1, []byte{5, 6})},
		"chunk 0 is there twice":  {row(0, []byte{1, 2}), row(1, []byte{3, 4}), row(0, []byte{1, 2}), row(2, []byte{5, 6})},
		"chunk 2 is there twice":  {row(2, []byte{1, 2}), row(2, []byte{3, 4})},
		"chunk 1 has 3 bytes":     {row(1, []byte{1, 2, 3})},
		"chunk 0 has 0 bytes":     {row(0, nil)},
		"elements of the tensor ": nil,
	} {
		if rows == nil {
			short := &Tensor{DType: "uint8", Shape: []int64{3, 2}, Elements: bytes.NewReader(make([]byte, 5))}
			_, err := Write(delta.Memory{}, "x", short, Options{})
			refused(t, err, sqlerr.IO, want, "chunk 2 of 3")
			continue
		}
		_, err := Read(latest(t, rowsOf(t, fields, rows...)), "x", nil)
		refused(t, err, sqlerr.DataCorrupted, want)
	}
}

// TestPaperSparse reads sparse layouts with the paper's columns alone.
func TestPaperSparse(t *testing.T) {
	want := &Tensor{DType: "float32", Shape: []int64{2, 2, 3}, Coords: [][]int64{{0, 1, 1}, {1, 0, 1}, {2, 0, 2}},
		Data: binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil,
			math.Float32bits(1)), math.Float32bits(2)), math.Float32bits(3))}
	shape := []int64{2, 2, 3}
	head := []interop.Field{field("id", "string"), field("layout", "string"), list("dense_shape", "integer")}
	tables := map[string]delta.Memory{
		"COO": rowsOf(t, append(head[:3:3], list("indices", "integer"), field("value", "float")),
			[]any{"x", "COO", shape, []int64{1, 1, 2}, float32(3)}, []any{"x", "COO", shape, []int64{0, 1, 2}, float32(1)},
			[]any{"x", "COO", shape, []int64{1, 0, 0}, float32(2)}),
		"CSR": rowsOf(t, append(head[:3:3], list("flattened_shape", "integer"), list("crow_indices", "integer"),
			list("col_indices", "integer"), list("value", "float")),
			[]any{"x", "CSR", shape, []int64{2, 6}, []int64{0, 1, 3}, []int64{5, 0, 5}, []float32{1, 2, 3}}),
		"CSC": rowsOf(t, append(head[:3:3], list("flattened_shape", "integer"), list("ccol_indices", "integer"),
			list("row_indices", "integer"), list("value", "float")),
			[]any{"x", "CSC", shape, []int64{4, 3}, []int64{0, 1, 1, 3}, []int64{2, 1, 3}, []float32{2, 1, 3}}),
		"BSGS": rowsOf(t, []interop.Field{field("id", "string"), list("dense_shape", "integer"),
			list("block_shape", "integer"), list("indices", "integer"), list("values", "float")},
			[]any{"x", shape, []int64{1, 1, 3}, []int64{0, 1, 0}, []float32{0, 0, 1}},
			[]any{"x", shape, []int64{1, 1, 3}, []int64{1, 0, 0}, []float32{2, 0, 0}},
			[]any{"x", shape, []int64{1, 1, 3}, []int64{1, 1, 0}, []float32{0, 0, 3}}),
	}
	for name, files := range tables {
		same(t, name, readAll(t, files, "x", ""), want)
		same(t, name, readAll(t, files, "x", "[1]"), partOf(dense(t, want), Slice{{From: 1, One: true}}))
	}
}

// rowList keeps rows.
type rowList [][]any

func (r *rowList) Write(row []any) error {
	*r = append(*r, slices.Clone(row))
	return nil
}

func (r *rowList) WriteColumns(n int, columns []any) error { return byRows(n, columns, r.Write) }

// TestDamagedRows changes numbers in the rows of each layout: they are refused or read as something, without a crash.
func TestDamagedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	x := random(r, "int16", []int64{4, 3, 5}, 0.4, false)
	for _, layout := range Names() {
		l, refusals := layouts[layout], 0
		for range 40 {
			var rows [][]any
			w := &writing{id: "x", t: x}
			if err := w.prepare(layout); err != nil {
				t.Fatal(err)
			}
			if err := w.emit(layout, (*rowList)(&rows)); err != nil {
				t.Fatal(err)
			}
			row := rows[r.IntN(len(rows))]
			damage(r, row[2+r.IntN(len(row)-2):])
			fields := append(l.common(), l.fields(3, "short")...)
			_, err := Read(latest(t, rowsOf(t, fields, rows...)), "x", nil)
			var e *sqlerr.Error
			if err != nil {
				if refusals++; !errors.As(err, &e) || e.Code == sqlerr.Internal {
					t.Errorf("%s: %v %s", layout, err, e.Detail)
				}
			}
		}
		if refusals == 0 {
			t.Errorf("%s: %d refused", layout, refusals)
		}
	}
}

// damage changes the first number, list or binary of some values.
func damage(r *rand.Rand, values []any) {
	number := func() int64 { return []int64{-1, 0, 1, 7, 1 << 14}[r.IntN(5)] }
	for i, v := range values {
		switch x := v.(type) {
		case int64:
			values[i] = number()
		case []int64:
			x = slices.Clone(x)
			if values[i] = x; len(x) > 0 && r.IntN(3) > 0 {
				x[r.IntN(len(x))] = number()
			} else if len(x) > 0 {
				values[i] = x[1:]
			}
		case []byte:
			values[i] = x[1:]
		default:
			continue
		}
		return
	}
}

// TestNaNBits: few different values lie in a dictionary, but not where these are NaN of different bits, or -0.
func TestNaNBits(t *testing.T) {
	for n, bits := range [][2]uint32{{0x7fc00001, 0x7fc00002}, {0x80000000, 0x3f800000}} {
		x := &Tensor{DType: "float32", Shape: []int64{40, 50}, Coords: make([][]int64, 2)}
		for i := range int64(400) {
			x.Coords[0], x.Coords[1] = append(x.Coords[0], i/10), append(x.Coords[1], i%10*5)
			x.Data = binary.LittleEndian.AppendUint32(x.Data, bits[i%2])
		}
		for _, layout := range []string{"coo", "csr", "csc", "csf", "bsgs"} {
			files := delta.Memory{}
			store(t, files, "x", x, Options{Layout: layout})
			same(t, fmt.Sprint(layout, n), readAll(t, files, "x", ""), x)
		}
	}
}
