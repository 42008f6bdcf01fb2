package layouts

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/interop/delta"
)

// python runs testdata/tensors.py and returns its lines.
func python(t testing.TB, args ...string) []string {
	t.Helper()
	c := exec.Command(need.Python(t), append([]string{"testdata/tensors.py"}, args...)...)
	c.Env = append(os.Environ(), "POLARS_MAX_THREADS=2", "TOKIO_WORKER_THREADS=2", "OPENBLAS_NUM_THREADS=1")
	var failure strings.Builder
	c.Stderr = &failure
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, failure.String())
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// shown is a tensor as tensors.py prints it.
func shown(t testing.TB, id string, x *Tensor) string {
	t.Helper()
	d := dense(t, x)
	shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(d.Shape), " ", "x"), "[]")
	return fmt.Sprintf("%s %s %s %x", id, d.DType, shape, sha256.Sum256(d.Data))
}

// agree checks that Python prints what is wanted, by either program.
func agree(t *testing.T, args []string, want []string) {
	t.Helper()
	got := python(t, args...)
	if len(got) != 2*len(want) {
		t.Fatalf("%d lines for %d tensors: %q", len(got), len(want), got)
	}
	for i, line := range got {
		if line != want[i/2] {
			t.Errorf("%s, not %s", line, want[i/2])
		}
	}
}

// quiet makes all NaN the same: Python's numbers do not keep their bits.
func quiet(data []byte) {
	for i := 0; i < len(data); i += 4 {
		if x := binary.LittleEndian.Uint32(data[i:]); x&0x7fffffff > 0x7f800000 {
			binary.LittleEndian.PutUint32(data[i:], 0x7fc00000)
		}
	}
}

// TestPython: deltalake and polars read each layout of relgrad's bit for bit, and relgrad tables of theirs.
func TestPython(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	args, want, dir := []string{"read"}, []string{}, t.TempDir()
	for _, layout := range Names() {
		path := filepath.Join(dir, layout)
		args = append(args, path)
		for i, shape := range [][]int64{{6, 7, 5}, {3, 4, 2, 9}, {11}} {
			x := random(r, "float32", shape, 0.4, false)
			quiet(x.Data)
			id := fmt.Sprint(layout, i)
			store(t, delta.NewLocal(path), id, x, Options{Layout: layout})
			want = append(want, shown(t, id, x), shown(t, id, x)) // by either
		}
	}
	for i, line := range python(t, args...) {
		if line != want[i] {
			t.Errorf("%s, not %s", line, want[i])
		}
	}
	dir = t.TempDir()
	lines := python(t, "write", dir)
	for _, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		files := delta.NewLocal(filepath.Join(dir, name))
		x := readAll(t, files, "x", "")
		if got := shown(t, name, x); got != line {
			t.Errorf("%s, not %s", got, line)
		}
		same(t, name, readAll(t, files, "x", "[2, 1:3]"), partOf(dense(t, x), Slice{{From: 2, One: true}, {From: 1, To: 3}}))
	}
	if len(lines) != 9 {
		t.Errorf("%d tables", len(lines))
	}
}

// TestPythonForms: both read elements of all types, tensors without elements or without any that is not zero, and
// single numbers.
func TestPythonForms(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	args, want, dir := []string{"read"}, []string{}, t.TempDir()
	for n, layout := range Names() {
		types, shapes := allTypes, [][]int64{{3, 4, 2}, {2, 3}, {3, 0, 2}}
		if layout == "ftsf" {
			types, shapes = append([]string{"bool", "float16", "uint64"}, types...), append(shapes, []int64{0}, []int64{})
		}
		for k, dtype := range types {
			if layout != "ftsf" && layout != "coo" && (n+k)%2 == 0 { // each type in half of the others
				continue
			}
			path := filepath.Join(dir, layout+dtype)
			args = append(args, path)
			for i, shape := range shapes {
				x := random(r, dtype, shape, []float64{0.5, 0, 1}[i%3], false)
				if dtype == "bool" {
					for k := range x.Data {
						x.Data[k] &= 1
					}
				}
				if dtype == "float32" {
					quiet(x.Data)
				}
				id := fmt.Sprint("t", i)
				store(t, delta.NewLocal(path), id, x, Options{Layout: layout})
				same(t, path, readAll(t, delta.NewLocal(path), id, ""), x)
				want = append(want, shown(t, id, x))
			}
		}
	}
	agree(t, args, want)
}

// TestPythonBetween: deltalake appends to tables of relgrad's, makes checkpoints and fewer files, relgrad appends again
// and makes a checkpoint, and both read all of it, where no commit before that is left.
func TestPythonBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 10))
	dir, tensors := t.TempDir(), map[string]*Tensor{}
	var paths, want []string
	for _, layout := range Names() {
		path := filepath.Join(dir, layout)
		paths, tensors[path] = append(paths, path), random(r, "float32", []int64{9, 7, 5}, 0.4, false)
		quiet(tensors[path].Data)
		store(t, delta.NewLocal(path), "x", tensors[path], Options{Layout: layout})
	}
	if got := python(t, append([]string{"change"}, paths...)...); len(got) != 1 || got[0] != "" {
		t.Fatal(got)
	}
	for i, layout := range Names() {
		path, files := paths[i], delta.NewLocal(paths[i])
		x := tensors[path]
		for _, id := range []string{"x", "copy"} {
			same(t, path, readAll(t, files, id, ""), x)
			same(t, path, readAll(t, files, id, "[4, 2:6]"), partOf(x, Slice{{From: 4, One: true}, {From: 2, To: 6}}))
		}
		y := random(r, "float32", []int64{4, 11}, 0.4, true)
		quiet(y.Data)
		store(t, files, "y", y, Options{Layout: layout})
		s := latest(t, files)
		if err := s.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		for v := range s.Version + 1 {
			if err := files.Delete(fmt.Sprintf("_delta_log/%020d.json", v)); err != nil {
				t.Fatal(err)
			}
		}
		same(t, path, readAll(t, files, "y", ""), y)
		same(t, path, readAll(t, files, "copy", ""), x)
		want = append(want, shown(t, "copy", x), shown(t, "x", x), shown(t, "y", y))
	}
	agree(t, append([]string{"read"}, paths...), want)
}
