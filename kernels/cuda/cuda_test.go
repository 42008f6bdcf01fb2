package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// gpu opens the first device, or skips the test where there is none.
func gpu(t *testing.T) *Device {
	if err := Absent(); err != nil {
		need.Absent(t, "cuda", err.Error())
	}
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", d.Info)
	return d
}

// TestOnTheMock runs the tests again on a double of the driver, threads in their own order and in drawn ones.
func TestOnTheMock(t *testing.T) {
	for _, seed := range []string{"0", "1", "2"} {
		cudamock.Rerun(t,
			"^Test(Device|Uploads|NewMemory|TooMuchMemory|WrongAddress|UploadAmidRecording|KernelsThatDoNotCompile|Cache)$",
			[]string{"RELGRAD_MOCK_SEED=" + seed})
	}
}

// TestDevice: kernels are compiled, launched, recorded and launched again; what they compute is right. Calls of the
// driver are counted: each Try copies in and out, launches a kernel, records it and launches the graph twice.
func TestDevice(t *testing.T) {
	d := gpu(t)
	defer d.Close()
	before := Count()
	for range 10 {
		if err := d.Try(); err != nil {
			t.Fatal(err)
		}
	}
	if n, want := Count().Since(before), (Calls{Graphs: 20, Kernels: 20, Copies: 20}); n != want {
		t.Errorf("%+v, not %+v", n, want)
	}
}

// TestCache: a module is compiled once; a kept one that is damaged is compiled again.
func TestCache(t *testing.T) {
	t.Setenv("RELGRAD_CUDA_CACHE", t.TempDir())
	d := gpu(t)
	defer d.Close()
	at, err := d.Allocate(8)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free(at)
	text := func(n int) string {
		return fmt.Sprintf("extern \"C\" __global__ void number(double *x) { *x = %d; }\n", n)
	}
	number := func(n int) float64 {
		m, err := d.Load(text(n))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Unload()
		k, err := m.Kernel("number")
		if err == nil {
			err = k.Launch(1, 1, uint64(at))
		}
		x := make([]float64, 1)
		if err == nil {
			err = d.Download(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 8), at)
		}
		if err != nil {
			t.Fatal(err)
		}
		return x[0]
	}
	one, two := number(1), number(2)
	if one != 1 || two != 2 {
		t.Fatalf("numbers 1 and 2 are %g and %g", one, two)
	}
	kept, err := os.ReadFile(d.cached(text(2)))
	if err == nil {
		err = os.WriteFile(d.cached(text(1)), kept, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if x := number(1); x != 2 {
		t.Errorf("a module was compiled though one was kept: %g", x)
	}
	kept[len(kept)-1]++
	for _, damaged := range [][]byte{kept, kept[:40], kept[:7], nil} {
		if err := os.WriteFile(d.cached(text(1)), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if x := number(1); x != 1 {
			t.Errorf("of a damaged module of %d bytes the number is %g", len(damaged), x)
		}
	}
}

// TestUploads: bytes may change once Upload has returned, however many are on their way.
func TestUploads(t *testing.T) {
	d := gpu(t)
	defer d.Close()
	for _, n := range []int{1, small, small + 1, 3 * small} {
		times := 3 * ringBytes / n
		if n == 1 {
			times = 300
		}
		at, err := d.Allocate(n * times)
		if err != nil {
			t.Fatal(err)
		}
		want, piece := make([]byte, n*times), make([]byte, n)
		for i := range want {
			want[i] = byte(i / n % 251)
		}
		for i := range times {
			copy(piece, want[i*n:])
			if err := d.Upload(at+Address(i*n), piece); err != nil {
				t.Fatal(err)
			}
			clear(piece)
		}
		got := make([]byte, len(want))
		if err := d.Download(got, at); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d uploads of %d bytes are other bytes on the device", times, n)
		}
		if err := d.Free(at); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUploadAmidRecording: a graph would copy what lies there when it is launched.
func TestUploadAmidRecording(t *testing.T) {
	d := gpu(t)
	defer d.Close()
	at, err := d.Allocate(8)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free(at)
	if _, err := d.Record(func() error { return d.Upload(at, make([]byte, 8)) }); sqlerr.Code(err) != sqlerr.Internal {
		t.Error(err)
	}
	if err := d.Upload(at, make([]byte, 8)); err != nil {
		t.Error(err)
	}
}

// TestNewMemory: memory is zero, also where it has been used before.
func TestNewMemory(t *testing.T) {
	d := gpu(t)
	defer d.Close()
	for range 5 {
		at, err := d.Allocate(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]byte, 1<<20)
		if err := d.Download(x, at); err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if x[i] != 0 {
				t.Fatalf("byte %d is %d", i, x[i])
			}
			x[i] = 0xff
		}
		if err := d.Upload(at, x); err != nil {
			t.Fatal(err)
		}
		if err := d.Free(at); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTooMuchMemory: memory that does not suffice is an error of its own, and the device works on.
func TestTooMuchMemory(t *testing.T) {
	d := gpu(t)
	defer d.Close()
	if _, err := d.Allocate(1 << 50); sqlerr.Code(err) != sqlerr.OutOfMemory {
		t.Errorf("2^50 bytes: %v", err)
	}
	if err := d.Try(); err != nil {
		t.Error(err)
	}
}

// TestWrongAddress: a kernel that writes where nothing is ends the device's use, and the error says so. It runs in a
// process of its own.
func TestWrongAddress(t *testing.T) {
	if os.Getenv("RELGRAD_CUDA_WRONG") == "" {
		gpu(t).Close()
		c := exec.Command(os.Args[0], "-test.run=^TestWrongAddress$", "-test.v")
		c.Env = append(os.Environ(), "RELGRAD_CUDA_WRONG=1")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "works again in a new process") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	d := gpu(t)
	m, err := d.Load(trial)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("twice")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(1, 32, 8, 32); err != nil {
		t.Fatal(err)
	}
	err = d.Wait()
	if sqlerr.Code(err) != sqlerr.System {
		t.Fatalf("a kernel wrote to address 8: %v", err)
	}
	if e := (*sqlerr.Error)(nil); errors.As(err, &e) {
		t.Log(e.Message, e.Detail, e.Hint)
	}
	if _, err := d.Allocate(8); sqlerr.Code(err) != sqlerr.System {
		t.Errorf("an allocation behind it: %v", err)
	}
}

// TestKernelsThatDoNotCompile: the compiler's messages are in the error.
func TestKernelsThatDoNotCompile(t *testing.T) {
	if err := compiler(); err != nil {
		need.Absent(t, "nvrtc", err.Error())
	}
	if _, err := Compile("extern \"C\" __global__ void f() { x = 1; }", 9, 0); err == nil ||
		!strings.Contains(err.Error(), "undefined") && !strings.Contains(err.Error(), "was not declared") {
		t.Error(err)
	}
	for _, minor := range []int{0, 6, 9} {
		if out, err := Compile(trial, 8, minor); err != nil || len(out) == 0 {
			t.Errorf("8.%d: %d bytes, %v", minor, len(out), err)
		}
	}
}

// TestLibraries: what stands in the variable is tried first, and the error names all that was tried, with the reason.
func TestLibraries(t *testing.T) {
	if v := os.Getenv("RELGRAD_CUDA_TEST"); v != "" {
		_, err := Devices()
		t.Log(err)
		return
	}
	for _, tc := range []struct{ variable, want string }{
		{"off", "RELGRAD_CUDA_DRIVER is off"},
		{"libabsent.so.7:libcuda-absent.so", "libabsent.so.7: cannot open shared object file"},
		{"libm.so.6", "libm.so.6: undefined symbol: cuInit"},
	} {
		c := exec.Command(os.Args[0], "-test.run=^TestLibraries$", "-test.v")
		c.Env = append(os.Environ(), "RELGRAD_CUDA_TEST=1", "RELGRAD_CUDA_DRIVER="+tc.variable)
		out, err := c.CombinedOutput()
		found := tc.variable != "off" && strings.Contains(string(out), "<nil>") // the driver, behind those of the variable
		if err != nil || !strings.Contains(string(out), tc.want) && !found {
			t.Errorf("%s: %v\n%s", tc.variable, err, out)
		}
	}
}
