package cuda

/*
#include <stdlib.h>
#include "driver.h"
*/
import "C"

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Device is a graphics processor that has been opened. It is for one goroutine at a time.
type Device struct {
	Info
	c      C.rg_device
	ring   *Pinned // from which small data are copied
	filled int     // its bytes that may not have been copied yet
	writes bool    // a graph is being recorded

	products multiplying
}

// small is how many bytes are copied to the device without waiting for that, ringBytes how many of all such copies.
const small, ringBytes = 4 << 10, 64 << 10

// Open opens device number n.
func Open(n int) (*Device, error) {
	all, err := Devices()
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= len(all) {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "there is no device cuda:%d", n).WithDetail("Devices: %d.", len(all))
	}
	d := &Device{Info: all[n]}
	if err := failed("it is opened", C.rg_open_device(C.int(n), &d.c)); err != nil {
		return nil, err
	}
	if d.ring, err = d.Pin(ringBytes); err != nil {
		C.rg_close_device(C.int(n), &d.c)
		return nil, err
	}
	return d, nil
}

// Close gives the device back. What was allocated there is gone once nobody has it open.
func (d *Device) Close() {
	d.endProducts()
	d.ring.Free()
	C.rg_close_device(C.int(d.Number), &d.c)
}

// Address is a place in a device's memory.
type Address uint64

// Allocate makes zeroed memory.
func (d *Device) Allocate(bytes int) (Address, error) {
	at, err := d.Reserve(bytes)
	if err != nil {
		return 0, err
	}
	if err := failed("memory is cleared", C.rg_fill(&d.c, C.uint64_t(at), 0, C.size_t(max(bytes, 1)))); err != nil {
		d.Free(at)
		return 0, err
	}
	return at, nil
}

// Reserve makes memory that holds anything.
func (d *Device) Reserve(bytes int) (Address, error) {
	if bytes < 0 {
		return 0, sqlerr.Broken("kernels/cuda", "%d bytes cannot be allocated", bytes)
	}
	var at C.uint64_t
	bytes = max(bytes, 1)
	if err := failed(fmt.Sprintf("%d bytes are allocated", bytes), C.rg_allocate(&d.c, C.size_t(bytes), &at)); err != nil {
		return 0, err
	}
	return Address(at), nil
}

// Free gives memory back.
func (d *Device) Free(at Address) error {
	return failed("memory is freed", C.rg_free(&d.c, C.uint64_t(at)))
}

// Room is how many bytes are free, and how many there are.
func (d *Device) Room() (free, all int64, err error) {
	var f, a C.size_t
	err = failed("its memory is asked for", C.rg_room(&d.c, &f, &a))
	return int64(f), int64(a), err
}

// Fill sets bytes of memory to x, behind what has been launched before.
func (d *Device) Fill(at Address, x byte, bytes int) error {
	return failed("memory is filled", C.rg_fill(&d.c, C.uint64_t(at), C.uchar(x), C.size_t(bytes)))
}

// Upload copies bytes to the device, Download from it. The bytes may change once Upload has returned; those of Download
// are there.
func (d *Device) Upload(to Address, from []byte) error {
	switch n := len(from); {
	case n == 0:
		return nil
	case d.writes: // a graph would copy what lies there later
		return sqlerr.Broken("kernels/cuda", "%d bytes are uploaded while a graph is recorded", n)
	case n <= small:
		if d.filled+n > ringBytes {
			if err := d.Wait(); err != nil {
				return err
			}
		}
		at := d.ring.Bytes[d.filled : d.filled+n]
		d.filled += copy(at, from)
		calls.copies.Add(1)
		return failed("data are copied to it", C.rg_send(&d.c, C.uint64_t(to), unsafe.Pointer(&at[0]), C.size_t(n)))
	}
	calls.copies.Add(1)
	return failed("data are copied to it",
		C.rg_upload(&d.c, C.uint64_t(to), unsafe.Pointer(unsafe.SliceData(from)), C.size_t(len(from))))
}

// UploadBeside is Upload while the device computes, to memory that nothing has read or written that has been launched.
func (d *Device) UploadBeside(to Address, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	d.copies()
	return failed("data are copied to it",
		C.rg_upload_beside(&d.c, C.uint64_t(to), unsafe.Pointer(unsafe.SliceData(from)), C.size_t(len(from))))
}

func (d *Device) Download(to []byte, from Address) error {
	if len(to) == 0 {
		return nil
	}
	d.filled = 0
	calls.copies.Add(1)
	return failed("data are copied from it",
		C.rg_download(&d.c, unsafe.Pointer(unsafe.SliceData(to)), C.uint64_t(from), C.size_t(len(to))))
}

// Wait waits until all that has been launched has run. An error of a kernel shows here, or at a copy.
func (d *Device) Wait() error {
	d.filled = 0
	calls.waits.Add(1)
	return failed("kernels run", C.rg_wait(&d.c))
}

// Mark is a place in the order of what runs on a device.
type Mark struct {
	d *Device
	c unsafe.Pointer
}

// Mark makes a mark, which lies before everything.
func (d *Device) Mark() (*Mark, error) {
	m := &Mark{d: d}
	return m, failed("a mark is made", C.rg_mark(&d.c, &m.c))
}

// Set moves the mark behind what has been launched so far.
func (m *Mark) Set() error { return failed("a mark is set", C.rg_set(&m.d.c, m.c)) }

// Await waits until all before the mark has run. An error of a kernel shows here, as at Wait.
func (m *Mark) Await() error {
	calls.waits.Add(1)
	return failed("kernels run", C.rg_await(&m.d.c, m.c))
}

// Free gives the mark back.
func (m *Mark) Free() error {
	if m == nil || m.c == nil {
		return nil
	}
	at := m.c
	m.c = nil
	return failed("a mark is freed", C.rg_unmark(&m.d.c, at))
}

// Pinned is memory of the host that the device copies from and to by itself, also in a recording.
type Pinned struct {
	Bytes []byte
	d     *Device
}

// copies counts a copy, unless it is recorded.
func (d *Device) copies() {
	if !d.writes {
		calls.copies.Add(1)
	}
}

// Pin makes such memory.
func (d *Device) Pin(bytes int) (*Pinned, error) {
	var at unsafe.Pointer
	if err := failed("memory of the host is pinned", C.rg_pin(&d.c, C.size_t(max(bytes, 1)), &at)); err != nil {
		return nil, err
	}
	return &Pinned{unsafe.Slice((*byte)(at), bytes), d}, nil
}

// Free gives the memory back.
func (p *Pinned) Free() error {
	if p == nil || p.Bytes == nil {
		return nil
	}
	at := unsafe.Pointer(unsafe.SliceData(p.Bytes))
	p.Bytes = nil
	return failed("memory of the host is freed", C.rg_unpin(&p.d.c, at))
}

// Send copies n bytes from off on to the device, behind what has been launched before. They must stay until that is
// done.
func (p *Pinned) Send(to Address, off, n int) error {
	p.d.copies()
	return failed("data are copied to it",
		C.rg_send(&p.d.c, C.uint64_t(to), unsafe.Pointer(&p.Bytes[off : off+n][0]), C.size_t(n)))
}

// SendBeside is Send while the device computes: it waits for nothing. What is launched behind Join runs when all that
// has been sent so is there.
func (p *Pinned) SendBeside(to Address, off, n int) error {
	p.d.copies()
	return failed("data are copied to it",
		C.rg_send_beside(&p.d.c, C.uint64_t(to), unsafe.Pointer(&p.Bytes[off : off+n][0]), C.size_t(n)))
}

// Join has what is launched next wait for what has been sent beside it.
func (d *Device) Join() error { return failed("work waits for data", C.rg_join(&d.c)) }

// Receive copies n bytes from the device to off and on. They are there after Wait.
func (p *Pinned) Receive(off, n int, from Address) error {
	p.d.copies()
	return failed("data are copied from it",
		C.rg_receive(&p.d.c, unsafe.Pointer(&p.Bytes[off : off+n][0]), C.uint64_t(from), C.size_t(n)))
}

// Compile compiles kernels for a compute capability to machine code.
func Compile(text string, major, minor int) ([]byte, error) {
	return compile(text, major, minor, false)
}

// Usage compiles kernels and tells what the compiler says of them: registers, memory of the stack, spilled registers.
func Usage(text string, major, minor int) (string, error) {
	out, err := compile(text, major, minor, true)
	return string(out), err
}

func compile(text string, major, minor int, messages bool) ([]byte, error) {
	if err := compiler(); err != nil {
		return nil, err
	}
	source, target := C.CString(text), C.CString(fmt.Sprintf("--gpu-architecture=sm_%d%d", major, minor))
	defer C.free(unsafe.Pointer(source))
	defer C.free(unsafe.Pointer(target))
	var out *C.char
	var bytes C.size_t
	verbose := C.int(0)
	if messages {
		verbose = 1
	}
	code := C.rg_compile(source, target, verbose, &out, &bytes)
	defer C.free(unsafe.Pointer(out))
	if code != 0 {
		return nil, sqlerr.Broken("kernels/cuda", "kernels do not compile: %s\n%s",
			C.GoString(C.rg_nvrtc_message(code)), C.GoString(out))
	}
	return C.GoBytes(unsafe.Pointer(out), C.int(bytes)), nil
}

// Module is a set of kernels on a device.
type Module struct {
	d *Device
	c unsafe.Pointer
}

// Load compiles kernels for the device.
func (d *Device) Load(text string) (*Module, error) {
	if dir := os.Getenv("RELGRAD_CUDA_TEXTS"); dir != "" {
		if err := keepText(dir, text); err != nil {
			return nil, err
		}
	}
	code, err := d.code(text)
	if err != nil {
		return nil, err
	}
	m := &Module{d: d}
	at := C.CBytes(code)
	defer C.free(at)
	return m, failed("kernels are loaded", C.rg_load(&d.c, at, &m.c))
}

// Unload gives the kernels back.
func (m *Module) Unload() error { return failed("kernels are unloaded", C.rg_unload(&m.d.c, m.c)) }

// keepText writes a text to a folder, under a name that is the same for the same text.
func keepText(dir, text string) error {
	h := fnv.New64a()
	h.Write([]byte(text))
	err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%016x.cu", h.Sum64())), []byte(text), 0o644)
	if err != nil {
		return sqlerr.New(sqlerr.System, "a text of kernels is not written: %v", err).Wrap(err)
	}
	return nil
}

// Kernel is a function of a module.
type Kernel struct {
	d *Device
	c unsafe.Pointer
}

// Kernel finds a function by its name.
func (m *Module) Kernel(name string) (*Kernel, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	k := &Kernel{d: m.d}
	return k, failed("kernel "+name+" is found", C.rg_function(&m.d.c, m.c, text, &k.c))
}

// Launch runs so many blocks of threads, behind what has been launched before. Each argument is 8 bytes: an address, a
// whole number, or a float64's bits.
func (k *Kernel) Launch(blocks, threads int, args ...uint64) error {
	if blocks < 1 || blocks > math.MaxInt32 || threads < 1 || threads > 1024 {
		return sqlerr.Broken("kernels/cuda", "%d blocks of %d threads cannot be launched", blocks, threads)
	}
	var at *C.uint64_t
	if len(args) > 0 {
		at = (*C.uint64_t)(unsafe.Pointer(&args[0]))
	}
	calls.kernels.Add(1)
	return failed("a kernel is launched",
		C.rg_launch(&k.d.c, k.c, C.unsigned(blocks), C.unsigned(threads), at, C.int(len(args))))
}

// Graph is what has been launched in a piece of a program, to be launched again at once.
type Graph struct {
	d *Device
	c unsafe.Pointer
}

// Record makes a graph of what f launches. f must allocate nothing and wait for nothing.
func (d *Device) Record(f func() error) (g *Graph, err error) {
	runtime.LockOSThread() // a recording is its thread's
	defer runtime.UnlockOSThread()
	if err := failed("recording begins", C.rg_record(&d.c)); err != nil {
		return nil, err
	}
	made := &Graph{d: d}
	d.writes = true
	defer func() { // where f panics, too
		d.writes = false
		code := C.rg_recorded(&d.c, &made.c)
		switch {
		case code != 0:
			err = cmp.Or(err, failed("recording ends", code))
		case err != nil || g == nil:
			C.rg_forget(&d.c, made.c)
		}
		if err != nil {
			g = nil
		}
	}()
	if err := f(); err != nil {
		return nil, err
	}
	return made, nil
}

// Launch launches all of it.
func (g *Graph) Launch() error {
	calls.graphs.Add(1)
	return failed("a graph is launched", C.rg_replay(&g.d.c, g.c))
}

// Forget gives the graph back.
func (g *Graph) Forget() error { return failed("a graph is forgotten", C.rg_forget(&g.d.c, g.c)) }
