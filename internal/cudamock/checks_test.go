package cudamock

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/kernels/cuda"
)

// checked are kernels of two blocks of 64 threads over 128 numbers and as many bytes, and what a check says of each;
// "": nothing is wrong.
var checked = []struct{ name, check, body, want string }{
	{"write_behind_a_buffer", "memory", "x[t + 1] = t;", "heap-buffer-overflow"},
	{"read_before_a_buffer", "memory", "x[t] = x[t - 1];", "heap-buffer-overflow"},
	{"read_behind_a_shared_array", "memory", "__shared__ double s[64]; s[i] = i; __syncthreads(); x[t] = s[i + 1];",
		"index 64 out of bounds"},
	{"write_behind_a_shared_array", "memory", "__shared__ float s[64]; float *volatile p = s + 1; p[i] = i; x[t] = s[i];",
		"global-buffer-overflow"},
	{"write_behind_an_own_array", "memory", "double s[4] = {0, 1, 2, 3}; s[i % 5] = i; x[t] = s[n & 3];",
		"out of bounds"},
	{"misaligned_float4", "", "if (t < 32) x[64 + t] = ((float4 *) ((float *) x + t))->x;",
		"at an address that is not aligned"},
	{"misaligned_float4_said", "memory", "if (t < 32) x[64 + t] = ((float4 *) ((float *) x + t))->x;",
		"misaligned address"},
	{"overflow_of_an_integer", "memory", "x[t] = (int) (t + 1) * 0x7fffffff;", "signed integer overflow"},
	{"number_that_is_no_integer", "memory", "x[t] = (int) (x[t] + 1e10);", "outside the range"},
	{"sound_tile", "memory", "__shared__ float4 s[64]; s[i] = ((float4 *) x)[i]; __syncthreads(); " +
		"if (!(t / 64)) ((float4 *) x)[i] = s[63 - i];", ""},

	{"missing_barrier", "races", "__shared__ double s[64]; s[i] = 0; __syncthreads(); s[i] = i; x[t] = s[63 - i];",
		"what a thread of another warp has"},
	{"missing_barrier_behind_a_read", "races", "__shared__ double s[64]; for (int k = 0; k < 2; k++) { s[i] = k; " +
		"__syncthreads(); x[t] += s[63 - i]; }", "what a thread of another warp has"},
	{"two_threads_write_one_place", "races", "x[t & ~1] = 1;", "writes what another thread of its warp has written"},
	{"two_blocks_write_one_place", "races", "x[i] = t;", "writes what another block has written"},
	{"block_reads_what_another_writes", "races", "x[t] = t; b[t] = x[n - 1 - t] == 1;", "what another block has"},
	{"all_blocks_have_read_it", "races", "b[t] = x[0] == 1; if (t == 64) x[0] = 1;",
		"writes what another block has read"},
	{"shuffle_orders_no_memory", "races", "__shared__ int s[64]; s[i] = 0; __syncthreads(); s[i] = i; " +
		"x[t] = __shfl_xor_sync(~0u, i, 1) + s[i ^ 1];", "what another thread of its warp has"},
	{"half_of_a_warp_waits", "races", "__shared__ int s[64]; s[i] = 0; __syncthreads(); s[i] = i; " +
		"__syncwarp(i & 16 ? 0xffff0000 : 0xffff); x[t] = s[i ^ 16];", "what another thread of its warp has"},
	{"shared_memory_as_it_is", "races", "__shared__ int s[64]; if (i < 63) s[i] = 1; __syncthreads(); x[t] = s[i];",
		"reads what nobody has written"},
	{"atomic_beside_a_read", "races", "__shared__ int s[1]; if (i == 0) s[0] = 9; __syncthreads(); atomicMin(s, i); " +
		"x[t] = s[0];", "by an atomic operation what a"},
	{"sound_bytes", "races", "b[t] = 1; x[t] = 1;", ""},
	{"sound_barriers", "races", "__shared__ double s[64]; for (int k = 0; k < 2; k++) { s[i] = k; __syncthreads(); " +
		"x[t] = s[63 - i]; __syncthreads(); }", ""},
	{"sound_warps", "races", "__shared__ int s[64]; s[i] = i; __syncwarp(i & 16 ? 0xffff0000 : 0xffff); " +
		"int y = s[i ^ 1]; __syncwarp(); s[i ^ 16] = y; __syncwarp(); x[t] = s[i ^ 3];", ""},
	{"sound_atomics", "races", "__shared__ int s[1]; if (i == 0) s[0] = 9; __syncthreads(); atomicMin(s, i); " +
		"__syncthreads(); x[t] = s[0];", ""},
}

// TestChecks: each check finds mistakes of its kind, says where, and nothing in what is right.
func TestChecks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	for _, c := range checked {
		t.Run(c.name, func(t *testing.T) {
			seeds := []string{"0", "1"}
			if c.check == "memory" {
				seeds = seeds[:1]
			}
			for _, seed := range seeds {
				out, err := rerun(t, c.check, "^TestCheckedKernel$", []string{"RELGRAD_MOCK_KERNEL=" + c.name,
					"RELGRAD_MOCK_SEED=" + seed}, nil)
				text := string(out)
				if found := err != nil; found != (c.want != "") || !strings.Contains(text, c.want) {
					t.Errorf("%v, not %q:\n%s", err, c.want, out)
				}
				if c.want != "" && c.check != "" && !strings.Contains(text, place(c.name)) {
					t.Errorf("it does not say %s:\n%s", place(c.name), out)
				}
			}
		})
	}
}

// TestCheckedKernel runs one of the kernels; of one that is right there is a second launch, whose threads come later.
func TestCheckedKernel(t *testing.T) {
	if !Inside() {
		t.Skip("runs in TestChecks")
	}
	d, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	name := os.Getenv("RELGRAD_MOCK_KERNEL")
	m, err := d.Load(textOf(checkOf(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Unload()
	k, err := m.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Allocate(8 * 128)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free(x)
	b, err := d.Allocate(128)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free(b)
	for range 2 {
		if err := k.Launch(2, 64, uint64(x), uint64(b), 128); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Wait(); err != nil {
		t.Fatal(err)
	}
}

func checkOf(name string) string {
	for _, c := range checked {
		if c.name == name {
			return c.check
		}
	}
	return ""
}

// textOf is a text of all kernels of a check, each on one line.
func textOf(check string) string {
	out := "// Kernels of the check of " + check + "\n"
	for _, c := range checked {
		if c.check == check {
			out += "extern \"C\" __global__ void " + c.name + "(double *x, unsigned char *b, long long n) { " +
				"int i = threadIdx.x; long long t = blockIdx.x * 64 + i; " + c.body + " }\n"
		}
	}
	return out
}

// place is how a check says where a kernel's mistake is.
func place(name string) string {
	before, _, _ := strings.Cut(textOf(checkOf(name)), name)
	line := strings.Count(before, "\n") + 1
	if checkOf(name) == "memory" {
		return fmt.Sprintf("relgrad.cu:%d", line)
	}
	return fmt.Sprintf("in line %d: extern \"C\" __global__ void %s(", line, name)
}
