package cuda

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestProductsOnTheMock runs the tests of products on a double of cuBLASLt.
func TestProductsOnTheMock(t *testing.T) {
	cudamock.Rerun(t, "^Test(Products|ProductsAreExact|ProductsAgain|ProductsThatFail)$", nil)
}

// multiplies opens a device that has cuBLASLt.
func multiplies(t *testing.T) *Device {
	d := gpu(t)
	if err := d.Library(); err != nil {
		d.Close()
		need.Absent(t, "cublaslt", err.Error())
	}
	return d
}

// put copies numbers to a device, in double precision or in single, behind off more.
func put(t *testing.T, d *Device, x []float64, wide bool, off int) Address {
	t.Helper()
	b := bytes64(x)
	if !wide {
		single := make([]float32, len(x))
		for i := range x {
			single[i] = float32(x[i])
		}
		b = bytesOf(single)
	}
	each := len(b) / max(len(x), 1)
	at, err := d.Allocate(len(b) + off*each)
	if err == nil {
		err = d.Upload(at+Address(off*each), b)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Free(at) })
	return at + Address(off*each)
}

func bytes64(x []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x))
}

// get copies n numbers from a device.
func get(t *testing.T, d *Device, at Address, n int, wide bool) []float64 {
	t.Helper()
	out, single := make([]float64, n), make([]float32, n)
	b := bytes64(out)
	if !wide {
		b = bytesOf(single)
	}
	if err := d.Download(b, at); err != nil {
		t.Fatal(err)
	}
	for i := range single {
		if !wide {
			out[i] = float64(single[i])
		}
	}
	return out
}

// drawn are n numbers between -1 and 1, of single precision.
func drawn(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(float32(2*rng.Float64() - 1))
	}
	return x
}

// products are what m says, plainly; to what was in out before it adds.
func products(m Matrices, x, y, before []float64) []float64 {
	out := slices.Clone(before)
	for b := range m.Batch {
		for i := range m.M {
			for j := range m.N {
				sum := 0.0
				for q := range m.K {
					a, c := i*m.LdX+q, q*m.LdY+j
					if m.XT {
						a = q*m.LdX + i
					}
					if m.YT {
						c = j*m.LdY + q
					}
					sum += x[b*m.X+a] * y[b*m.Y+c]
				}
				out[b*m.Out+i*m.N+j] += sum
			}
		}
	}
	return out
}

// TestProducts: products of all forms are those of plain loops.
func TestProducts(t *testing.T) {
	d := multiplies(t)
	t.Cleanup(d.Close)
	rng := rand.New(rand.NewSource(5))
	for form := range 64 {
		m := Matrices{Wide: form&1 > 0, XT: form&2 > 0, YT: form&4 > 0, M: 33, N: 20, K: 17, Batch: 1}
		more := 0
		if form&8 > 0 { // rows of a larger matrix
			more = 7
		}
		m.LdX, m.LdY = m.K+more, m.N+more
		if m.XT {
			m.LdX = m.M + more
		}
		if m.YT {
			m.LdY = m.K + more
		}
		if form&16 > 0 {
			m.Batch, m.Y, m.Out = 3, 40*40, m.M*m.N+1
			if form&32 > 0 {
				m.X = 40*41 + 1
			}
		}
		x, y := drawn(rng, 3*41*41), drawn(rng, 3*41*41)
		before := drawn(rng, 3*(m.M*m.N+1))
		at := [3]Address{put(t, d, x, m.Wide, form%3), put(t, d, y, m.Wide, 0), put(t, d, before, m.Wide, form%5)}
		p, err := d.Multiplier(m, at[0], at[1], at[2])
		if err != nil || p == nil {
			t.Fatalf("%+v: %v, %v", m, p, err)
		}
		nothing := make([]float64, len(before))
		want := products(m, x, y, nothing)
		for i, add := range []bool{false, true, true} {
			if err := p.Launch(at[0], at[1], at[2], add); err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				want = products(m, x, y, want)
			}
		}
		got, bound := get(t, d, at[2], len(before), m.Wide), 1e-5
		if m.Wide {
			bound = 1e-13
		}
		for b := range m.Batch {
			for i := range m.M * m.N {
				if at := b*m.Out + i; math.Abs(got[at]-want[at]) > bound {
					t.Fatalf("%+v: number %d of product %d is %g, not %g", m, i, b, got[at], want[at])
				}
			}
			if b+1 < m.Batch && got[(b+1)*m.Out-1] != before[(b+1)*m.Out-1] {
				t.Fatalf("%+v: what lies behind product %d is written", m, b)
			}
		}
	}
}

// TestProductsAreExact: numbers are not rounded to TF32, which would make errors of 3e-4 of the largest number.
func TestProductsAreExact(t *testing.T) {
	d := multiplies(t)
	t.Cleanup(d.Close)
	const n = 512
	rng := rand.New(rand.NewSource(6))
	x, y := drawn(rng, n*n), drawn(rng, n*n)
	at := [3]Address{put(t, d, x, false, 0), put(t, d, y, false, 0), put(t, d, make([]float64, n*n), false, 0)}
	p, err := d.Multiplier(Matrices{M: n, N: n, K: n, LdX: n, LdY: n, Batch: 1}, at[0], at[1], at[2])
	if err == nil {
		err = p.Launch(at[0], at[1], at[2], false)
	}
	if err != nil {
		t.Fatal(err)
	}
	most, off := 0.0, 0.0
	for i, z := range get(t, d, at[2], n*n, false)[:n*n/8] {
		want := 0.0
		for q := range n {
			want += x[i/n*n+q] * y[q*n+i%n]
		}
		most, off = max(most, math.Abs(want)), max(off, math.Abs(z-want))
	}
	t.Logf("off by %.2g of the largest number", off/most)
	if off/most > 1e-5 {
		t.Errorf("a product of real is off by %g of its largest number, %g", off, most)
	}
}

// TestProductsAgain: a product has the same bits each time, also in a recording, and its algorithm is chosen once.
func TestProductsAgain(t *testing.T) {
	d := multiplies(t)
	t.Cleanup(d.Close)
	const n = 130
	rng := rand.New(rand.NewSource(7))
	at := [3]Address{put(t, d, drawn(rng, n*n), false, 0), put(t, d, drawn(rng, n*n), false, 0),
		put(t, d, make([]float64, n*n), false, 0)}
	m := Matrices{M: n, N: n, K: n, LdX: n, LdY: n, Batch: 1}
	p, err := d.Multiplier(m, at[0], at[1], at[2])
	if err != nil {
		t.Fatal(err)
	}
	if same, err := d.Multiplier(m, at[0], at[1], at[2]); err != nil || same != p {
		t.Errorf("another algorithm is chosen for the same product: %v", err)
	}
	once := func() error { return p.Launch(at[0], at[1], at[2], false) }
	if err := once(); err != nil {
		t.Fatal(err)
	}
	first := get(t, d, at[2], n*n, false)
	g, err := d.Record(once)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Forget()
	for range 5 {
		if err := d.Fill(at[2], 0xff, 4*n*n); err != nil {
			t.Fatal(err)
		}
		if err := g.Launch(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(get(t, d, at[2], n*n, false), first) {
			t.Fatal("the same product has other bits")
		}
	}
}

// one makes a product, and tells how far it has come.
func one(d *Device, at Address) (where string, err error) {
	if err := d.Library(); err != nil {
		return "library", err
	}
	p, err := d.Multiplier(Matrices{M: 8, N: 8, K: 8, LdX: 8, LdY: 8, Batch: 1}, at, at+256, at+512)
	if err != nil {
		return "choose", err
	}
	if p == nil {
		return "none", nil
	}
	return "launch", p.Launch(at, at+256, at+512, false)
}

// TestProductsThatFail: where the library cannot begin, or has no algorithm, that is told, and the device works on; an
// error of a product is one of the device.
func TestProductsThatFail(t *testing.T) {
	if !cudamock.Inside() {
		t.Skip("needs injected errors")
	}
	for _, tc := range []struct{ fail, where, want string }{
		{"cublasLtCreate 1 1", "library", "cuBLASLt begins"},
		{"cublasLtMatmulAlgoGetHeuristic 1 15", "library", "no algorithm"},
		{"cublasLtMatrixLayoutCreate 2 3", "library", "not enough memory"},
		{"cublasLtMatmul 1 13", "library", "a product is launched"},
		{"cublasLtMatmulAlgoGetHeuristic 2 15", "none", ""},
		{"cublasLtMatmulAlgoGetHeuristic 2 7", "choose", "an unsupported value"},
		{"cublasLtMatmulPreferenceCreate 2 3", "choose", "not enough memory"},
		{"cublasLtMatmul 2 13", "launch", "a product is launched"},
	} {
		t.Setenv("RELGRAD_MOCK_FAIL", tc.fail)
		d := gpu(t)
		at, err := d.Allocate(4 * 3 * 64)
		if err != nil {
			t.Fatal(err)
		}
		where, err := one(d, at)
		text := fmt.Sprint(err)
		if e, ok := err.(*sqlerr.Error); ok {
			text += e.Detail
		}
		if where != tc.where || !strings.Contains(text, tc.want) {
			t.Errorf("%s: at %s: %s", tc.fail, where, text)
		}
		t.Setenv("RELGRAD_MOCK_FAIL", "")
		if err := d.Try(); err != nil {
			t.Errorf("%s, then: %v", tc.fail, err)
		}
		d.Free(at)
		d.Close()
	}
}

// TestWithoutLibrary: why cuBLASLt is not used is told: it is off, is not there, is another library, or a variable has
// it round numbers.
func TestWithoutLibrary(t *testing.T) {
	if os.Getenv("RELGRAD_CUDA_TEST") != "" {
		t.Log(NoLibrary(), LibraryVersion())
		return
	}
	for _, tc := range []struct{ variable, value, want string }{
		{"RELGRAD_CUBLASLT", "off", "RELGRAD_CUBLASLT is off [0 0 0]"},
		{"RELGRAD_CUBLASLT", "libabsent.so.7", "libabsent.so.7: cannot open shared object file"},
		{"RELGRAD_CUBLASLT", "libm.so.6", "libm.so.6: undefined symbol: cublasLtGetVersion"},
		{"NVIDIA_TF32_OVERRIDE", "1", "NVIDIA_TF32_OVERRIDE is 1, by which it may round numbers"},
		{"CUBLAS_EMULATE_SINGLE_PRECISION", "1", "CUBLAS_EMULATE_SINGLE_PRECISION is 1"},
		{"CUBLAS_EMULATE_DOUBLE_PRECISION", "1", "CUBLAS_EMULATE_DOUBLE_PRECISION is 1"},
		{"CUBLAS_EMULATION_STRATEGY", "eager", "CUBLAS_EMULATION_STRATEGY is eager"},
	} {
		c := exec.Command(os.Args[0], "-test.run=^TestWithoutLibrary$", "-test.v")
		c.Env = append(os.Environ(), "RELGRAD_CUDA_TEST=1", tc.variable+"="+tc.value)
		out, err := c.CombinedOutput()
		found := strings.HasPrefix(tc.value, "lib") && strings.Contains(string(out), "<nil>") // behind those of the variable
		if err != nil || !strings.Contains(string(out), tc.want) && !found {
			t.Errorf("%s=%s: %v\n%s", tc.variable, tc.value, err, out)
		}
	}
}

// TestLibrary: NVIDIA's own cuBLASLt has all functions that are called, and takes the descriptions of products as they
// are written here. No device is needed.
func TestLibrary(t *testing.T) {
	if cudamock.Inside() {
		t.Skip("asks NVIDIA's library")
	}
	if err := NoLibrary(); err != nil {
		need.Absent(t, "cublaslt", err.Error())
	}
	if v := LibraryVersion(); v[0] != 12 && v[0] != 13 {
		t.Errorf("version %d", v)
	}
	for form := range 8 {
		m := Matrices{Wide: form&1 > 0, XT: form&2 > 0, YT: form&4 > 0, M: 3, N: 4, K: 5, LdX: 5, LdY: 5, Batch: 2,
			X: 30, Out: 12}
		p, err := wanted{m, [3]uint32{4, 16, 256}}.describe()
		if err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		p.drop()
	}
}
