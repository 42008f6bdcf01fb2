package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/tensor"
)

// fixture is an entry of interop_npy's manifest: what NumPy itself says of an array.
type fixture struct {
	DType  string
	Shape  []int
	Values []string
}

// TestNumpyFiles compares files written by NumPy with the values that its manifest lists.
func TestNumpyFiles(t *testing.T) {
	dir := filepath.Join(need.Data(t), "interop_npy")
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]fixture
	if err := json.Unmarshal(text, &manifest); err != nil || len(manifest) == 0 {
		t.Fatalf("%d entries (%v)", len(manifest), err)
	}
	for name, want := range manifest {
		t.Run(name, func(t *testing.T) { checkFixture(t, filepath.Join(dir, name+".npy"), "v", want) })
	}
	for _, pack := range []string{"pack.npz", "pack_deflate.npz"} {
		f, r := openTest(t, filepath.Join(dir, pack), Options{Whole: true})
		defer f.Close()
		if len(r.Columns()) == 0 {
			t.Errorf("%s: no arrays", pack)
		}
		for _, c := range r.Columns() {
			if want, ok := manifest[c.Name]; ok {
				checkFixture(t, filepath.Join(dir, pack), c.Name, want)
				continue
			}
			if _, err := readAll(r, []Column{c}); err != nil {
				t.Errorf("%s, %s: %v", pack, c.Name, err)
			}
		}
	}
	for _, bad := range []string{"reject_py3-objarr.npy", "reject_py3-objarr.npz"} {
		if _, err := tryOpen(filepath.Join(dir, bad), Options{}); err == nil || !strings.Contains(err.Error(), bad) ||
			!strings.Contains(err.Error(), "'|O'") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// checkFixture reads an array whole, where it is not empty, and compares its elements.
func checkFixture(t *testing.T, path, name string, want fixture) {
	t.Helper()
	empty := tensor.Shape(want.Shape).Size() == 0
	f, r := openTest(t, path, Options{Whole: !empty})
	defer f.Close()
	for _, c := range r.Columns() {
		if c.Name != name {
			continue
		}
		rows, err := readAll(r, []Column{c})
		if err != nil {
			t.Fatal(err)
		}
		if empty {
			if len(rows) != 0 {
				t.Errorf("%d rows of an empty array", len(rows))
			}
			return
		}
		shape, got := flatten(t, rows[0][0])
		if !tensor.Shape(shape).Equal(want.Shape) || len(got) != len(want.Values) {
			t.Fatalf("%s: shape %v with %d elements, want %v with %d", path, shape, len(got), want.Shape, len(want.Values))
		}
		for i, w := range want.Values {
			if !sameNumber(got[i], w) {
				t.Errorf("%s: element %d is %v, want %s", path, i, got[i], w)
			}
		}
		return
	}
	t.Errorf("%s: no array %s", path, name)
}

func sameNumber(got any, want string) bool {
	switch x := got.(type) {
	case bool:
		return strings.EqualFold(strconv.FormatBool(x), want)
	case int64:
		return strconv.FormatInt(x, 10) == want
	case float64:
		w, err := strconv.ParseFloat(want, 64)
		return err == nil && (math.Float64bits(w) == math.Float64bits(x) || math.IsNaN(w) && math.IsNaN(x))
	}
	return false
}

// flatten gives a value's shape and elements.
func flatten(t *testing.T, v any) (shape []int, all []any) {
	switch x := v.(type) {
	case []byte:
		c, err := tensor.Decode(x)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.Data {
			all = append(all, e)
		}
		return c.Shape, all
	case []any:
		for _, e := range x {
			s, l := flatten(t, e)
			shape, all = append([]int{len(x)}, s...), append(all, l...)
		}
		return shape, all
	}
	return nil, []any{v}
}

func tryOpen(path string, o Options) (Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return Open(FormatOf(path), f, st.Size(), filepath.Base(path), o)
}

func openTest(t *testing.T, path string, o Options) (io.Closer, Reader) {
	t.Helper()
	r, err := tryOpen(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, r
}

// readAll reads columns of a file into memory.
func readAll(r Reader, want []Column) (out [][]any, err error) {
	rows, err := r.Rows(want)
	if err != nil {
		return nil, err
	}
	for {
		row := make([]any, len(want))
		if err := rows.Next(row); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				row[i] = append([]byte(nil), b...)
			}
		}
		if out = append(out, row); len(out) > 1<<20 {
			return nil, fmt.Errorf("more than %d rows", len(out))
		}
	}
}
