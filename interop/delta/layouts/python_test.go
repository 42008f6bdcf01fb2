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
	if len(lines) != 7 {
		t.Errorf("%d tables", len(lines))
	}
}
