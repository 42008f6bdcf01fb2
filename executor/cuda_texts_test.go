package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels/cuda"
)

var (
	kernelText  = regexp.MustCompile(`(?s)extern "C" __global__ void __launch_bounds__\([\d, ]+\) (\w+)\(.*?\n}\n`)
	kernelUsage = regexp.MustCompile(`entry function '(\w+)'.*\n.*\n.* (\d+) bytes stack frame, (\d+) bytes spill stores`)
	// onStack are what the compiler itself keeps on the stack: of large arguments, of sine and its like
	onStack = regexp.MustCompile(`\b(sin|cos|tan|lgamma)\(`)
)

// TestCompiledKernels: NVIDIA's compiler makes code of all kernels of the tests, those that are generated too, for four
// targets; none has a stack, but for what a function of the compiler needs, or spills registers.
func TestCompiledKernels(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles all kernels of other tests")
	}
	if _, err := cuda.Usage(`extern "C" __global__ void f() {}`, 9, 0); err != nil {
		need.Absent(t, "nvrtc", err.Error())
	}
	dir := t.TempDir()
	cudamock.Rerun(t, "^(TestKernels|TestRandomPlans|TestTraining|TestPerStep)$",
		[]string{"RELGRAD_MOCK_MEMORY=16000000000", "RELGRAD_CUDA_TEXTS=" + dir}, "-test.short", "-device=cuda", "-plans=12")
	files, err := filepath.Glob(filepath.Join(dir, "*.cu"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d texts: %v", len(files), err)
	}
	prelude, bodies, known := "", []string{}, map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all := kernelText.FindAllStringSubmatchIndex(string(text), -1)
		prelude = string(text[:all[0][0]])
		for _, at := range all {
			body := string(text[at[0]:at[2]]) + "NAME" + string(text[at[3]:at[1]])
			if !known[body] {
				known[body] = true
				bodies = append(bodies, body)
			}
		}
	}
	t.Logf("%d kernels", len(bodies))
	const each = 64
	for lo := 0; lo < len(bodies); lo += each {
		text := &strings.Builder{}
		text.WriteString(prelude)
		part := bodies[lo:min(lo+each, len(bodies))]
		for i, b := range part {
			text.WriteString(strings.Replace(b, "NAME", fmt.Sprintf("k_%d", i), 1))
		}
		for _, target := range [][2]int{{7, 5}, {8, 0}, {9, 0}, {10, 0}} {
			out, err := cuda.Usage(text.String(), target[0], target[1])
			if err != nil {
				t.Fatalf("sm_%d%d: %v", target[0], target[1], err)
			}
			usage := kernelUsage.FindAllStringSubmatch(out, -1)
			if len(usage) != len(part) {
				t.Fatalf("sm_%d%d: of %d kernels the compiler tells the usage of %d", target[0], target[1], len(part),
					len(usage))
			}
			for _, u := range usage {
				i := 0
				fmt.Sscanf(u[1], "k_%d", &i)
				if (u[2] != "0" && !onStack.MatchString(part[i])) || u[3] != "0" {
					t.Errorf("sm_%d%d: %s bytes of stack, %s bytes spilled by\n%s", target[0], target[1], u[2], u[3], part[i])
				}
			}
		}
	}
}
