package tensors

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/bench"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/interop/delta/layouts"
)

// Options of a measurement.
type Options struct {
	Rounds int
	Quick  bool // small tensors, which measure nothing and show that all of it runs
	Alone  bool // without other programs
	Root   string
	Python string
	Peers  string // the folder of the peers' programs
	Log    io.Writer
}

// Op is what is timed.
type Op int

// What is timed: the three are done in this order.
const (
	Write Op = iota
	Read
	Slice
	ops
)

func (o Op) String() string { return [...]string{"write", "full read", "slice"}[o] }

// repeats is how often an operation runs in a turn, whose time is the median.
func (o Op) repeats() int { return [...]int{1, 1, 5}[o] }

// Cell is a program that stores a tensor in one form.
type Cell struct {
	Program, Form string
	Bytes         int64
	Seconds       [ops][]float64 // by round
	Version       string
	Missing       string // what is not installed
	Failed        string
}

// Result is the measurement of a tensor.
type Result struct {
	*Input
	Raw     int64 // bytes: of a sparse tensor int64 coordinates and its elements
	Cells   []*Cell
	Missing string
}

// cells are the programs and forms of a tensor, in their order: relgrad cuts the tensor as deltalake then does.
func (in *Input) cells(alone bool) (all []*Cell) {
	add := func(program string, forms ...string) {
		for _, f := range forms {
			if program == "relgrad" || !alone {
				all = append(all, &Cell{Program: program, Form: f})
			}
		}
	}
	if in.Sparse {
		for _, f := range []string{"coo", "csr", "csc", "csf", "bsgs"} {
			add("relgrad", f)
			add("deltalake", f)
		}
		add("TileDB", "sparse")
		add("NumPy", "npz")
		return all
	}
	add("relgrad", "ftsf")
	add("deltalake", "ftsf", "blob")
	add("zarr", "chunks")
	add("TileDB", "dense")
	add("NumPy", "npy")
	return all
}

// Measure measures a tensor. Where the context ends, its error is returned.
func Measure(ctx context.Context, in *Input, o Options) (*Result, error) {
	res := &Result{Input: in}
	if in.Real != "" && os.Getenv("RELGRAD_DATA") == "" {
		res.Missing = "missing: real data (RELGRAD_DATA)"
		fmt.Fprintf(o.Log, "%s: %s\n", in.Name, res.Missing)
		return res, nil
	}
	x, err := in.make(in, o.Quick)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	inOrder(x)
	root := filepath.Join(o.Root, "tensors", in.Name)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	m := &measuring{Options: o, Result: res, x: x, root: root}
	res.Cells = in.cells(o.Alone)
	if res.Raw, err = m.files(); err != nil {
		return nil, err
	}
	if !o.Alone {
		m.peer = &peer{python: o.Python, program: filepath.Join(o.Peers, "tensors.py")}
		defer m.peer.end()
	}
	m.want[Read], m.want[Slice] = m.found(x), m.found(m.part())
	for round := range o.Rounds + 1 {
		for op := range ops {
			if err := m.turns(ctx, op, round); err != nil {
				return nil, err
			}
		}
	}
	return res, nil
}

// measuring is a measurement at work.
type measuring struct {
	Options
	*Result
	x    *layouts.Tensor
	root string
	peer *peer
	want [ops]found
}

// turns has each program do one thing.
func (m *measuring) turns(ctx context.Context, op Op, round int) error {
	for i := range m.Cells {
		if round%2 == 0 && op != Write { // relgrad writes before those that cut the tensor alike
			i = len(m.Cells) - 1 - i
		}
		c := m.Cells[i]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.Missing != "" || c.Failed != "" {
			continue
		}
		do := m.theirs
		if c.Program == "relgrad" {
			do = m.ours
		}
		seconds, err := do(ctx, c, op)
		switch {
		case errors.Is(err, bench.ErrMissing):
			c.Missing = err.Error()
		case err != nil:
			c.Failed = err.Error()
		case round > 0: // the first one warms up
			c.Seconds[op] = append(c.Seconds[op], seconds)
		}
		fmt.Fprintf(m.Log, "%s, round %d: %s %s %s in %s%s%s\n", m.Name, round, c.Program, c.Form, op,
			bench.Seconds(seconds), c.Missing, c.Failed)
	}
	return nil
}

// place is the folder of a cell.
func (m *measuring) place(c *Cell) string { return filepath.Join(m.root, c.Program+"-"+c.Form) }

// ours does one thing by relgrad.
func (m *measuring) ours(_ context.Context, c *Cell, op Op) (float64, error) {
	place := m.place(c)
	if op == Write {
		if err := os.RemoveAll(place); err != nil {
			return 0, err
		}
	}
	var took []float64
	for range op.repeats() {
		runtime.GC()
		begin := time.Now()
		files := delta.NewLocal(place)
		if op == Write {
			_, err := layouts.Write(files, "x", m.x, layouts.Options{Layout: c.Form})
			if took = append(took, time.Since(begin).Seconds()); err != nil {
				return 0, err
			}
			c.Bytes, err = folderSize(place)
			return took[0], err
		}
		s, err := delta.Open(files, delta.Latest())
		if err != nil {
			return 0, err
		}
		var part layouts.Slice
		if op == Slice {
			part = layouts.Slice{{From: m.From, To: m.To}}
		}
		y, err := layouts.Read(s, "x", part)
		took = append(took, time.Since(begin).Seconds())
		if err != nil {
			return 0, err
		}
		if err := m.found(y).same(m.want[op]); err != nil {
			return 0, err
		}
	}
	return bench.Median(took), nil
}

// found is what a tensor has, to compare those that programs read.
type found struct {
	Count int64   // of elements that are not zero
	Sum   float64 // of their absolute values
}

func (f found) same(want found) error {
	if f.Count != want.Count || !(math.Abs(f.Sum-want.Sum) <= 1e-9*want.Sum) {
		return fmt.Errorf("%d elements of sum %g, not %d of sum %g", f.Count, f.Sum, want.Count, want.Sum)
	}
	return nil
}

func (m *measuring) found(t *layouts.Tensor) (f found) {
	if t.DType == "uint8" {
		for _, b := range t.Data {
			if f.Sum += float64(b); b != 0 {
				f.Count++
			}
		}
		return f
	}
	for i := 0; i < len(t.Data); i += 4 {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(t.Data[i:])))
		if f.Sum += math.Abs(v); v != 0 {
			f.Count++
		}
	}
	return f
}

// part is the slice, cut from the tensor in memory.
func (m *measuring) part() *layouts.Tensor {
	width := int64(interop.ElementSize(m.x.DType))
	if !m.x.Sparse() {
		inner := int64(len(m.x.Data)) / m.x.Shape[0]
		return &layouts.Tensor{DType: m.x.DType, Data: m.x.Data[m.From*inner : m.To*inner]}
	}
	out := &layouts.Tensor{DType: m.x.DType}
	for i, c := range m.x.Coords[0] {
		if c >= m.From && c < m.To {
			out.Data = append(out.Data, m.x.Data[int64(i)*width:int64(i+1)*width]...)
		}
	}
	return out
}

// files writes the elements for other programs and returns the size of a plain file of them.
func (m *measuring) files() (raw int64, err error) {
	raw = int64(len(m.x.Data))
	err = os.WriteFile(filepath.Join(m.root, "data.bin"), m.x.Data, 0o644)
	for d, c := range m.x.Coords {
		if err != nil {
			break
		}
		b := make([]byte, 0, 8*len(c))
		for _, i := range c {
			b = binary.LittleEndian.AppendUint64(b, uint64(i))
		}
		raw += int64(len(b))
		err = os.WriteFile(filepath.Join(m.root, fmt.Sprintf("c%d.bin", d)), b, 0o644)
	}
	return raw, err
}

// inOrder sorts the elements of a sparse tensor by their indices, as all programs get them.
func inOrder(x *layouts.Tensor) {
	if !x.Sparse() {
		return
	}
	perm := make([]int, len(x.Coords[0]))
	for i := range perm {
		perm[i] = i
	}
	slices.SortFunc(perm, func(a, b int) int {
		for _, c := range x.Coords {
			if c[a] != c[b] {
				return int(c[a] - c[b])
			}
		}
		return 0
	})
	data := make([]byte, 0, len(x.Data))
	for _, i := range perm {
		data = append(data, x.Data[4*i:4*i+4]...)
	}
	x.Data = data
	for d, c := range x.Coords {
		x.Coords[d] = make([]int64, len(c))
		for k, i := range perm {
			x.Coords[d][k] = c[i]
		}
	}
}

func folderSize(dir string) (n int64, err error) {
	err = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// Named are the tensors of these names, or all.
func Named(names []string) (list []*Input) {
	for _, in := range Inputs {
		if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, in.Name) }) {
			list = append(list, in)
		}
	}
	return list
}
