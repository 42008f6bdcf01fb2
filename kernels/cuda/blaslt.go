package cuda

/*
#include <stdlib.h>
#include "blaslt.h"
*/
import "C"

import (
	"os"
	"sync"
	"unsafe"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// library opens cuBLASLt once. It may compute products of real in single precision only, so that it is not used where a
// variable of NVIDIA's has it do otherwise.
var library = sync.OnceValue(func() error {
	if err := rounding(); err != nil {
		return err
	}
	return first("RELGRAD_CUBLASLT", func(n *C.char) *C.char { return C.rg_open_blaslt(n) }, "libcublasLt.so.13",
		"libcublasLt.so.12")
})

// rounding says which variable has cuBLASLt compute with fewer digits than its compute types say: those of NVIDIA's
// documentation of cuBLAS, of TF32 and of emulation.
func rounding() error {
	for _, v := range []struct{ name, harmless string }{
		{"NVIDIA_TF32_OVERRIDE", "0"},
		{"CUBLAS_EMULATE_SINGLE_PRECISION", "0"},
		{"CUBLAS_EMULATE_DOUBLE_PRECISION", "0"},
		{"CUBLAS_EMULATION_STRATEGY", ""},
	} {
		if x := os.Getenv(v.name); x != "" && x != v.harmless {
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s is %s, by which it may round numbers", v.name, x)
		}
	}
	return nil
}

// NoLibrary says why there is no cuBLASLt; nil: there is.
func NoLibrary() error { return library() }

// LibraryVersion is that of cuBLASLt, where there is one.
func LibraryVersion() [3]int {
	if library() != nil {
		return [3]int{}
	}
	v := int(C.rg_blaslt_version())
	return [3]int{v / 10000, v / 100 % 100, v % 100}
}

// mostWorkspace is how much memory an algorithm of the library may use: what NVIDIA advises for Hopper.
const mostWorkspace = 32 << 20

// multiplying is cuBLASLt on a device, from the first product on.
type multiplying struct {
	tried  bool
	why    error // why it is not used
	handle unsafe.Pointer
	chosen map[wanted]*Multiplier

	// workspace is what algorithms share, of so many bytes. One that needs more has it made anew, while those before keep
	// theirs: recordings hold its address.
	workspace      Address
	workspaceBytes int
	workspaces     []Address
}

// Matrices are those of products that are made at once: of each, out has M rows of N numbers, which are sums of K.
type Matrices struct {
	Wide      bool // numbers are of double precision, else of single
	XT, YT    bool // x lies in memory as K rows of M numbers, y as N rows of K
	M, N, K   int
	LdX, LdY  int // numbers from a row in memory to the next
	Batch     int // so many products
	X, Y, Out int // numbers from a product's matrix to the next one's; 0: x or y is the same for all
}

// wanted is what an algorithm is chosen for.
type wanted struct {
	Matrices
	align [3]uint32
}

// Multiplier computes products of such matrices, always by the same algorithm.
type Multiplier struct {
	d         *Device
	c         C.rg_multiplier
	workspace Address
}

// failedLibrary is the error of a call of cuBLASLt; nil where there is none.
func failedLibrary(doing string, status C.int) error {
	const allocFailed = 3 // CUBLAS_STATUS_ALLOC_FAILED
	switch {
	case status < 0:
		return failed(doing, -status)
	case status == 0:
		return nil
	case status == allocFailed:
		return sqlerr.New(sqlerr.OutOfMemory, "the device has not enough memory: %s", doing)
	}
	return sqlerr.New(sqlerr.System, "the device failed: %s", doing).
		WithDetail("cuBLASLt says: %s (status %d).", C.GoString(C.rg_blaslt_message(status)), int(status))
}

// Library says why products are not made by cuBLASLt on this device; nil: they can be. The first call tries one.
func (d *Device) Library() error {
	if m := &d.products; !m.tried {
		m.tried = true
		m.why = d.beginProducts()
	}
	return d.products.why
}

func (d *Device) beginProducts() error {
	if err := library(); err != nil {
		return err
	}
	m := &d.products
	if err := failedLibrary("cuBLASLt begins", C.rg_blaslt_begin(&d.c, &m.handle)); err != nil {
		m.handle = nil
		return err
	}
	m.chosen = map[wanted]*Multiplier{}
	return d.tryProduct()
}

// endProducts gives back what products need.
func (d *Device) endProducts() {
	m := &d.products
	for _, p := range m.chosen {
		p.drop()
	}
	for _, at := range m.workspaces {
		d.Free(at)
	}
	if m.handle != nil {
		C.rg_blaslt_end(&d.c, m.handle)
	}
	*m = multiplying{}
}

// Multiplier has cuBLASLt choose how it computes products of such matrices at such addresses; the choice stays for as
// long as the device is open. It is nil where the library has no algorithm for them.
func (d *Device) Multiplier(m Matrices, x, y, out Address) (*Multiplier, error) {
	if err := d.Library(); err != nil {
		return nil, err
	}
	return d.choose(m, x, y, out)
}

func (d *Device) choose(m Matrices, x, y, out Address) (*Multiplier, error) {
	w := wanted{m, [3]uint32{m.aligned(x, m.X), m.aligned(y, m.Y), m.aligned(out, m.Out)}}
	if p, ok := d.products.chosen[w]; ok {
		return p, nil
	}
	p, err := w.describe()
	if err != nil {
		return nil, err
	}
	p.d = d
	var found C.int
	err = failedLibrary("an algorithm of a product is chosen", C.rg_choose(&d.c, d.products.handle, &p.c, &found))
	if err != nil {
		return nil, err
	}
	if found == 0 {
		p = nil
	} else if p.workspace, err = d.products.room(d, int(p.c.found.workspace)); err != nil {
		p.drop()
		return nil, err
	}
	d.products.chosen[w] = p
	return p, nil
}

// room is a workspace of so many bytes.
func (m *multiplying) room(d *Device, bytes int) (Address, error) {
	if bytes > m.workspaceBytes {
		bytes = max(bytes, min(2*m.workspaceBytes, mostWorkspace))
		at, err := d.Allocate(bytes)
		if err != nil {
			return 0, err
		}
		m.workspace, m.workspaceBytes, m.workspaces = at, bytes, append(m.workspaces, at)
	}
	return m.workspace, nil
}

// describe tells the library of products, without a device.
func (w wanted) describe() (*Multiplier, error) {
	p := &Multiplier{}
	c := C.rg_matrices{wide: flag(w.Wide), xt: flag(w.XT), yt: flag(w.YT), m: C.int64_t(w.M), n: C.int64_t(w.N),
		k: C.int64_t(w.K), ldx: C.int64_t(w.LdX), ldy: C.int64_t(w.LdY), batch: C.int(w.Batch)}
	for i, step := range []int{w.X, w.Y, w.Out} {
		c.step[i], c.align[i] = C.int64_t(step), C.uint32_t(w.align[i])
	}
	return p, failedLibrary("a product is described", C.rg_describe_product(&c, mostWorkspace, &p.c))
}

// drop gives a description back.
func (p *Multiplier) drop() {
	if p != nil {
		C.rg_drop_product(&p.c)
	}
}

// aligned is what all matrices of an operand begin at multiples of, up to 256 bytes.
func (m Matrices) aligned(at Address, step int) uint32 {
	bytes := 4
	if m.Wide {
		bytes = 8
	}
	bits := uint64(at) | 256
	if m.Batch > 1 {
		bits |= uint64(step * bytes)
	}
	return uint32(bits & -bits)
}

func flag(x bool) C.int {
	if x {
		return 1
	}
	return 0
}

// Launch computes the products, or adds them to out, behind what has been launched before.
func (p *Multiplier) Launch(x, y, out Address, add bool) error {
	calls.products.Add(1)
	d := p.d
	return failedLibrary("a product is launched", C.rg_multiply(&d.c, d.products.handle, &p.c, C.uint64_t(x),
		C.uint64_t(y), C.uint64_t(out), flag(add), C.uint64_t(p.workspace), p.c.found.workspace))
}
