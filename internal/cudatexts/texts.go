// Package cudatexts checks the texts of kernels with NVIDIA's compiler, where that is: no device is needed.
//
// # What
//
// A device keeps the texts that it compiles where RELGRAD_CUDA_TEXTS names a folder. Check compiles each kernel there
// once for each of Targets, and looks at what the compiler says of it and, with nvdisasm, at the code.
//
// # Invariants
//
// It compiles the very texts that ran, only under other names.
//
// # Errors
//
// Tests are skipped loudly where there is no NVRTC; RELGRAD_REQUIRE=nvrtc turns that into failures, nvdisasm likewise.
//
// # Where to add
//
// A target: Targets. What code must hold: a check in disassembled.
package cudatexts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// Targets are the compute capabilities for which kernels must compile.
var Targets = [][2]int{{7, 5}, {8, 0}, {9, 0}, {10, 0}}

var (
	kernelText  = regexp.MustCompile(`(?s)extern "C" __global__ void __launch_bounds__\([\d, ]+\) (\w+)\(.*?\n}\n`)
	kernelUsage = regexp.MustCompile(`entry function '(\w+)'.*\n.*\n.* (\d+) bytes stack frame, (\d+) bytes spill stores`)
	// onStack are what the compiler itself keeps on the stack: of large arguments, of sine and its like
	onStack = regexp.MustCompile(`\b(sin|cos|tan|k_cot|lgamma)\(`)
	// called are the functions that the compiler does not write out where they are called
	called = regexp.MustCompile(`\b(sin|cos|tan|k_cot|lgamma|pow)\(`)
	// generic is a function that raises to powers, by a call: beside it the instructions that move 16 bytes have generic
	// addresses
	generic = regexp.MustCompile(`\bk_polygamma\(`)
)

// Needed skips a test where there is no NVRTC.
func Needed(t *testing.T) {
	t.Helper()
	if _, err := cuda.Usage(`extern "C" __global__ void f() {}`, 9, 0); err != nil {
		need.Absent(t, "nvrtc", err.Error())
	}
}

// each is how many kernels are compiled together.
const each = 64

// Check compiles the kernels of all texts in a folder: none may have a stack, but for what a function of the compiler
// needs, or spill registers; where numbers are to be read and written 16 bytes at a time, the code does so.
func Check(t *testing.T, dir string) {
	t.Helper()
	prelude, bodies := read(t, dir)
	t.Logf("%d kernels", len(bodies))
	for lo := 0; lo < len(bodies); lo += each {
		text := &strings.Builder{}
		text.WriteString(prelude)
		part := bodies[lo:min(lo+each, len(bodies))]
		for i, b := range part {
			text.WriteString(strings.Replace(b, "NAME", fmt.Sprintf("k_%d", i), 1))
		}
		for _, target := range Targets {
			compiled(t, text.String(), part, target)
		}
		disassembled(t, text.String(), part)
	}
}

// read finds the kernels of all texts, each once, with a name that is to be replaced.
func read(t *testing.T, dir string) (prelude string, bodies []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.cu"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d texts: %v", len(files), err)
	}
	known := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all := kernelText.FindAllStringSubmatchIndex(string(text), -1)
		if len(all) == 0 { // the text that tries a device
			continue
		}
		prelude = string(text[:all[0][0]])
		for _, at := range all {
			body := string(text[at[0]:at[2]]) + "NAME" + string(text[at[3]:at[1]])
			if !known[body] {
				known[body] = true
				bodies = append(bodies, body)
			}
		}
	}
	if len(bodies) == 0 {
		t.Fatalf("no kernels in %d texts", len(files))
	}
	return prelude, bodies
}

// compiled compiles kernels for a target, and looks at their stacks and registers.
func compiled(t *testing.T, text string, bodies []string, target [2]int) {
	t.Helper()
	out, err := cuda.Usage(text, target[0], target[1])
	if err != nil {
		t.Fatalf("sm_%d%d: %v", target[0], target[1], err)
	}
	usage := kernelUsage.FindAllStringSubmatch(out, -1)
	if len(usage) != len(bodies) {
		t.Fatalf("sm_%d%d: of %d kernels the compiler tells the usage of %d", target[0], target[1], len(bodies),
			len(usage))
	}
	for _, u := range usage {
		i := 0
		fmt.Sscanf(u[1], "k_%d", &i)
		if (u[2] != "0" && !onStack.MatchString(bodies[i])) || u[3] != "0" {
			t.Errorf("sm_%d%d: %s bytes of stack, %s bytes spilled by\n%s", target[0], target[1], u[2], u[3], bodies[i])
		}
	}
}

// disassembler is the program that shows code, named by RELGRAD_NVDISASM or on the path; "": there is none.
func disassembler() string {
	path, err := exec.LookPath("nvdisasm")
	if own := os.Getenv("RELGRAD_NVDISASM"); own != "" {
		path, err = own, nil
	}
	if err != nil {
		return ""
	}
	return path
}

// disassembled looks at the code of kernels: where four numbers are read or written at once, some instruction moves 16
// bytes.
func disassembled(t *testing.T, text string, bodies []string) {
	t.Helper()
	program := disassembler()
	if program == "" {
		t.Run("code", func(t *testing.T) { need.Absent(t, "nvdisasm", "nvdisasm is not there") })
		return
	}
	code, err := cuda.Compile(text, 9, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kernels.cubin")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "-c", file).Output()
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	parts := map[string]string{}
	for _, p := range strings.Split(string(out), "\n.text.")[1:] {
		name, code, _ := strings.Cut(p, ":")
		parts[name] = code
	}
	for i, b := range bodies {
		code := parts[fmt.Sprintf("k_%d", i)]
		if code == "" {
			t.Fatalf("nvdisasm shows no code of kernel %d", i)
		}
		if called.MatchString(b) { // calls keep the compiler from unrolling the loop
			continue
		}
		load, store := "LDG.E.128", "STG.E.128"
		if generic.MatchString(b) {
			load, store = "LD.E.128", "ST.E.128"
		}
		reads := strings.Contains(code, ".CONSTANT") // else nothing that it reads matters, as where x = x is asked
		if strings.Contains(b, "k_load(") && reads && !strings.Contains(code, load) {
			t.Errorf("no load of 16 bytes in\n%s\n%s", b, code)
		}
		if strings.Contains(b, "k_store(") && !strings.Contains(code, store) {
			t.Errorf("no store of 16 bytes in\n%s\n%s", b, code)
		}
	}
}
