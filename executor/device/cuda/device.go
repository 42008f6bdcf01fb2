package cuda

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cuda"
	"github.com/relgrad/relgrad/tensor"
)

// Device is a graphics processor.
type Device struct {
	// LargeProduct is from how many operations on cuBLASLt makes a product, where that is there; PartsAtOnce is how many
	// bytes of parts of its sums are made before they are added; StagedAtOnce is how many bytes of columns move between
	// the processors and the device before the host waits.
	LargeProduct float64
	PartsAtOnce  int
	StagedAtOnce int

	d      *cuda.Device
	mem    []memory // sorted by the host's address
	texts  texts
	stop   cuda.Address // not 0: what has been found has not been looked at, so that no kernel changes a parameter
	unseen bool         // a run has been left, and nobody has looked at what it has found
	room   room
	spare  map[int][]*pack // by their bytes
	staged staging
	host   device.Device // runs what the device has no kernel for
}

// memory is a buffer on the device, and the host's buffer that stands for it.
type memory struct {
	room  room
	host  *tensor.Buffer
	at    uintptr // where the host's bytes begin
	bytes int
	own   cuda.Address
}

// Open opens device number n. host runs what it has no kernel for, in the host's memory, and is closed with the device;
// also where that cannot be opened.
func Open(n int, host device.Device) (*Device, error) {
	d, err := cuda.Open(n)
	if err != nil {
		host.Close()
		return nil, err
	}
	own := &Device{LargeProduct: largeProduct, PartsAtOnce: partsAtOnce, StagedAtOnce: 1 << 24, d: d, host: host}
	if own.stop, err = own.take(8); err != nil {
		own.Close()
		return nil, err
	}
	return own, nil
}

// goOn has kernels change parameters again, behind all that has been launched.
func (d *Device) goOn() error {
	if err := d.d.Wait(); err != nil {
		return err
	}
	d.unseen = false
	return d.d.Fill(d.stop, 0, 8)
}

// Count is how many devices there are. The error says why there can be none.
func Count() (int, error) {
	all, err := cuda.Devices()
	return len(all), err
}

// Has reports whether lowering may choose a form. Others are made of those that the device has.
func (d *Device) Has(form string) bool { return forms[form] }

// Computes reports whether the device has a kernel for a call: there are no texts on it.
func (d *Device) Computes(x *kernels.Expr) bool {
	return x.Type.Kind != kernels.Text &&
		!slices.ContainsFunc(x.Args, func(a *kernels.Expr) bool { return a.Type.Kind == kernels.Text })
}

// forms are those that it has.
var forms = map[string]bool{"map": true, "sum": true, "adder": true, "one below the other": true, "re-chunked": true,
	"exchanged": true, "windowed": true, "GEMM": true, "GEMM of outer products": true, "GEMM of sums": true}

// Describe says what the device is.
func (d *Device) Describe() string {
	return fmt.Sprintf("cuda:%d, %s, compute capability %d.%d", d.d.Number, d.d.Name, d.d.Major, d.d.Minor)
}

// Allocate makes zeroed memory on the device. The host's memory, which stands for it, takes no room until it is read.
func (d *Device) Allocate(bytes int) (*tensor.Buffer, error) {
	b, err := tensor.NewBuffer(bytes)
	if err != nil {
		return nil, column.OutOfMemory(err)
	}
	if err := d.sweep(); err != nil {
		return nil, err
	}
	own, err := d.take(len(b.Bytes()))
	if err != nil {
		b.Free()
		return nil, err
	}
	m := memory{host: b, own: own, bytes: len(b.Bytes())}
	if m.bytes > 0 {
		m.at = uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes())))
	}
	at, _ := slices.BinarySearchFunc(d.mem, m.at, func(x memory, at uintptr) int {
		if x.at < at {
			return -1
		}
		return 1
	})
	d.mem = slices.Insert(d.mem, at, m)
	return b, nil
}

// sweep frees the memory whose buffers have been freed.
func (d *Device) sweep() (err error) {
	d.mem = slices.DeleteFunc(d.mem, func(m memory) bool {
		gone := m.host.Bytes() == nil
		if gone {
			if e := d.give(m.own); err == nil {
				err = e
			}
		}
		return gone
	})
	return err
}

// find is where a part of a host's buffer lies on the device; ok is false for other memory of the host.
func (d *Device) find(x []byte) (at cuda.Address, ok bool) {
	if len(x) == 0 {
		return 0, false
	}
	p := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	i, exact := slices.BinarySearchFunc(d.mem, p, func(m memory, p uintptr) int {
		switch {
		case m.at < p:
			return -1
		case m.at > p:
			return 1
		}
		return 0
	})
	if !exact {
		i--
	}
	if i < 0 || p-d.mem[i].at >= uintptr(d.mem[i].bytes) || d.mem[i].host.Bytes() == nil {
		return 0, false
	}
	return d.mem[i].own + cuda.Address(p-d.mem[i].at), true
}

func (d *Device) Fetch(c *column.Column) error {
	return d.move(c, func(x []byte, at cuda.Address) error {
		if at >= nowhere {
			return nil
		}
		return d.d.Download(x, at)
	})
}

func (d *Device) Store(c *column.Column) error {
	return d.move(c, func(x []byte, at cuda.Address) error { return d.upload(at, x) })
}

// move calls f for what a column has in the device's memory.
func (d *Device) move(c *column.Column, f func(x []byte, at cuda.Address) error) error {
	for _, x := range [][]byte{c.Bytes(), c.Valid()} {
		if at, ok := d.find(x); ok {
			if err := f(x, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// Copy copies by way of the host.
func (d *Device) Copy(to, from *column.Column) error {
	if err := d.Fetch(from); err != nil {
		return err
	}
	to.Fill(from)
	return d.Store(to)
}

func (d *Device) Join(p *device.Port) { d.host.Join(p) }

func (d *Device) Held() int64 { return d.host.Held() }

func (d *Device) Close() {
	d.texts.close()
	for _, m := range d.mem {
		d.give(m.own)
	}
	d.give(d.stop)
	d.dropSpare()
	d.staged.pinned.Free()
	d.mem = nil
	d.host.Close()
	d.d.Close()
}

// onHost runs instructions on the processors: what they read is fetched, what they make is stored.
func (d *Device) onHost(in *device.Instr, run func() error) error {
	var reads, writes []*column.Column
	for _, v := range in.T.Loads() {
		reads = append(reads, v.Data)
	}
	for _, v := range written(in) {
		writes = append(writes, v.Data)
	}
	if x, ok := in.Form.(*device.Exchange); !ok {
		reads = append(reads, writes...) // an update changes what it writes
	} else if x.Sent != nil {
		reads = append(reads, x.Sent.Data)
	}
	if err := d.staged.fetch(d, reads); err != nil {
		return err
	}
	if err := run(); err != nil {
		return err
	}
	return d.staged.store(d, writes)
}
