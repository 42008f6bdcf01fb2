package cuda

import (
	_ "embed"
	"encoding/binary"
	"math"

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
