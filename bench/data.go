package bench

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// dataset is a folder of data files that is being written.
type dataset struct {
	dir  string
	size map[string]int // sizes of the workload
	err  error
	kept map[string][]Column // the tables; set only by a test
}

// stream returns random numbers, the same ones for the same name.
func stream(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), 20))
}

// need checks a condition on the sizes; if it fails the generator stops.
func (d *dataset) need(ok bool, what string) bool {
	if !ok && d.err == nil {
		d.err = sqlerr.New(sqlerr.InvalidParameter, "these sizes do not go together: %s is needed, with %v", what, d.size)
	}
	return ok
}

// or returns a size, or a default where the workload has none.
func (d *dataset) or(name string, otherwise int) int {
	if n, ok := d.size[name]; ok {
		return n
	}
	return otherwise
}

// table writes a table's columns to NAME.npz.
func (d *dataset) table(name string, columns ...Column) {
	if d.kept != nil {
		d.kept[name] = columns
	}
	if d.err == nil {
		d.err = writeNpz(filepath.Join(d.dir, name+".npz"), columns...)
	}
}

func ints(name string, n int, f func(i int) int) Column {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(f(i))
	}
	return Column{name, []int{n}, x}
}

func floats(name string, shape []int, f func() float64) Column {
	n := 1
	for _, s := range shape {
		n *= s
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(f())
	}
	return Column{name, shape, x}
}

// glorot draws the weights of a layer (Glorot and Bengio, AISTATS 2010).
func glorot(r *rand.Rand, name string, shape ...int) Column {
	in, out := shape[len(shape)-2], shape[len(shape)-1]
	limit := math.Sqrt(6 / float64(in+out))
	return floats(name, shape, func() float64 { return limit * (2*r.Float64() - 1) })
}

func zeros(name string, shape ...int) Column { return floats(name, shape, func() float64 { return 0 }) }

// folder returns the folder of a workload's data. It makes the data if they are absent or incomplete.
func (w *Workload) folder(root string, v Values) (string, error) {
	name := w.Name
	if w.SameData != "" {
		name = w.SameData
	}
	size := map[string]int{}
	for _, n := range w.Size {
		name += fmt.Sprintf("-%s%s", n.Name, number(v[n.Name]))
		if size[n.Name] = int(v[n.Name]); float64(size[n.Name]) != v[n.Name] ||
			v[n.Name] < min(n.Full, 1) || v[n.Name] > 1e9 {
			return "", sqlerr.New(sqlerr.InvalidParameter, "%s = %s: a whole number from %s on is needed, up to 1e9", n.Name,
				number(v[n.Name]), number(min(n.Full, 1)))
		}
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(root, "part")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	d := &dataset{dir: part, size: size}
	w.Data(d)
	if d.err != nil {
		return "", d.err
	}
	return dir, os.Rename(part, dir)
}

// number prints a number for scripts and programs.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
