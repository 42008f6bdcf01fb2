package cuda

import (
	_ "embed"
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

//go:embed try.cu
var trial string

// Try compiles a kernel, runs it on the device by itself and as a graph, and looks at what it has computed: whether
// kernels can run there at all. It leaves nothing behind.
func (d *Device) Try() (err error) {
	const n, times = 1000, 3
	m, err := d.Load(trial)
	if err != nil {
		return err
	}
	defer m.Unload()
	k, err := m.Kernel("twice")
	if err != nil {
		return err
	}
	at, err := d.Allocate(8 * n)
	if err != nil {
		return err
	}
	defer d.Free(at)
	x := make([]byte, 8*n)
	for i := range n {
		binary.LittleEndian.PutUint64(x[8*i:], math.Float64bits(float64(i)))
	}
	if err := d.Upload(at, x); err != nil {
		return err
	}
	once := func() error { return k.Launch((n+255)/256, 256, uint64(at), n) }
	if err := once(); err != nil {
		return err
	}
	g, err := d.Record(once)
	if err != nil {
		return err
	}
	defer g.Forget()
	for range times - 1 {
		if err := g.Launch(); err != nil {
			return err
		}
	}
	if err := d.Download(x, at); err != nil {
		return err
	}
	for i := range n {
		want := math.Ldexp(float64(i), times)
		if y := math.Float64frombits(binary.LittleEndian.Uint64(x[8*i:])); y != want {
			return sqlerr.New(sqlerr.System, "the device computes %g where %g is right", y, want)
		}
	}
	return nil
}

// tryProduct has cuBLASLt make a product whose numbers need all digits of single precision: TF32 keeps 10 bits of 23.
func (d *Device) tryProduct() error {
	const m, n, k = 128, 128, 64
	x, y, out := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
	for i := range m {
		x[i*k+i%k] = 1 + float32(i)/(1<<16)
	}
	for i := range y {
		y[i] = 1
	}
	var at [3]Address
	for i, v := range [][]float32{x, y, out} {
		var err error
		if at[i], err = d.Allocate(4 * len(v)); err != nil {
			return err
		}
		defer d.Free(at[i])
		if err := d.Upload(at[i], bytesOf(v)); err != nil {
			return err
		}
	}
	p, err := d.choose(Matrices{M: m, N: n, K: k, LdX: k, LdY: n, Batch: 1}, at[0], at[1], at[2])
	switch {
	case err != nil:
		return err
	case p == nil:
		return sqlerr.New(sqlerr.FeatureNotSupported, "cuBLASLt has no algorithm for products of real")
	}
	if err := p.Launch(at[0], at[1], at[2], false); err != nil {
		return err
	}
	if err := d.Download(bytesOf(out), at[2]); err != nil {
		return err
	}
	for i, got := range out {
		if want := x[i/n*k+i/n%k]; got != want {
			return sqlerr.New(sqlerr.System, "cuBLASLt computes %g where %g is right", got, want)
		}
	}
	return nil
}

func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
