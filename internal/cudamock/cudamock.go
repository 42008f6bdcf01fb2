// Package cudamock has tests run on a double of NVIDIA's driver, so that kernels run where there is no such device.
//
// # What
//
// Library makes the double (src/mock.cpp), a shared library, with the C++ compiler. It compiles the very texts of
// kernels as C++ (src/shim.h) and runs them with a fibre for each thread; it is cuBLASLt, too (src/blaslt.h). Rerun
// runs the tests of a package again on it, in a process of its own; Card runs them on the graphics processor of the
// machine. With RELGRAD_MOCK_CHECK=memory kernels run on the double under AddressSanitizer and
// UndefinedBehaviorSanitizer; with RELGRAD_MOCK_CHECK=races it looks at all that they read and write whether barriers
// order it (src/races.h). make gpu-sanitize does both.
//
// # Invariants
//
// Nothing but tests uses it. What a device refuses it refuses: launches beyond the limits, copies beyond the ends of
// memory, what may not be recorded. What a device leaves undefined ends the process with a message, or fails the
// launch: a shuffle that reads lanes which are not there, threads that wait for others that never come, a product by an
// algorithm that was chosen for another, memory that is left when a device is closed. Memory that nobody has written
// holds NaN. Work runs as late as it may.
//
// # Errors
//
// The compiler's messages.
//
// # Where to add
//
// A function of the driver: beside the others in src/mock.cpp; of cuBLASLt: in src/blaslt.h. A function of the language
// of kernels: src/shim.h; one that changes memory by an atomic operation says so to the check for races, as atomicMin
// does. A kind of mistake that a check finds: a kernel of checked in checks_test.go.
package cudamock

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

//go:embed src/mock.cpp
var mock string

//go:embed src/shim.h
var shim string

//go:embed src/races.h
var races string

//go:embed src/blaslt.h
var blaslt string

// Library makes the double, unless it has been made before, and returns its path.
func Library() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	return LibraryIn(base)
}

// LibraryIn makes the double below a folder, where it keeps what it compiles, too.
func LibraryIn(base string) (string, error) {
	h := fnv.New64a()
	h.Write([]byte(mock + shim + races + blaslt))
	dir := filepath.Join(base, "relgrad-cudamock", fmt.Sprintf("%016x", h.Sum64()))
	lib := filepath.Join(dir, "libmock.so")
	if _, err := os.Stat(lib); err == nil {
		return lib, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, text := range map[string]string{"mock.cpp": mock, "shim.h": shim, "races.h": races, "blaslt.h": blaslt} {
		own := filepath.Join(dir, fmt.Sprintf("%s.%d", name, os.Getpid())) // another process may be reading it
		if err := os.WriteFile(own, []byte(text), 0o644); err != nil {
			return "", err
		}
		if err := os.Rename(own, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	own := fmt.Sprintf("%s.%d", lib, os.Getpid())
	out, err := exec.Command("g++", "-std=c++17", "-O1", "-g", "-shared", "-fPIC", fmt.Sprintf("-DRG_SHIM=%q",
		filepath.Join(dir, "shim.h")), fmt.Sprintf("-DRG_CACHE=%q", dir), "-o", own, filepath.Join(dir, "mock.cpp"),
		"-ldl", "-lpthread").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("the double of the driver is not compiled: %w\n%s", err, out)
	}
	return lib, os.Rename(own, lib)
}

// Env makes the double, unless the test is skipped for want of a compiler, and returns the variables by which a process
// finds it.
func Env(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		need.Absent(t, "g++", err.Error())
	}
	lib, err := Library()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"RELGRAD_CUDA_DRIVER=" + lib, "RELGRAD_NVRTC=" + lib, "RELGRAD_CUBLASLT=" + lib,
		"RELGRAD_CUDA_CACHE=off"}
}

// inside is set in the process that Rerun starts, onCard in the one that Card starts.
const (
	inside = "RELGRAD_MOCK_INSIDE"
	onCard = "RELGRAD_ON_CARD"
)

// Inside reports whether this process runs on the double.
func Inside() bool { return os.Getenv(inside) != "" }

// checking is the variable by which a person has kernels checked while they run: "memory" or "races".
const checking = "RELGRAD_MOCK_CHECK"

// checks returns the variables of a process whose kernels are checked.
//
// With "memory" the libraries of AddressSanitizer and UndefinedBehaviorSanitizer are loaded before the process begins:
// reads and writes outside of buffers and of arrays, addresses that are not aligned, and what C++ leaves undefined end
// it. Segmentation faults are left to the double, which counts leaks, too.
//
// With "races" the compiler adds the calls of ThreadSanitizer, which the double answers itself: that one's library
// knows no blocks, and remembers only some of the threads that have read a place.
func checks(t *testing.T, of string) []string {
	t.Helper()
	switch of {
	case "":
		return nil
	case "races":
		return []string{"RELGRAD_MOCK_SANITIZE=-g1 -fsanitize=thread --param tsan-instrument-func-entry-exit=0"}
	case "memory":
		var libs []string
		for _, name := range []string{"libasan.so", "libubsan.so"} {
			path, err := exec.Command("g++", "-print-file-name="+name).Output()
			if err != nil || !filepath.IsAbs(strings.TrimSpace(string(path))) {
				need.Absent(t, "sanitizers", fmt.Sprintf("g++ has no %s: %q, %v", name, path, err))
			}
			libs = append(libs, strings.TrimSpace(string(path)))
		}
		return []string{"LD_PRELOAD=" + strings.Join(libs, ":"),
			"RELGRAD_MOCK_SANITIZE=-g1 -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all " +
				"-fsanitize-sections=rg_shared",
			"ASAN_OPTIONS=detect_leaks=0:handle_segv=0:use_sigaltstack=0:redzone=256:quarantine_size_mb=64",
			"UBSAN_OPTIONS=print_stacktrace=1"}
	}
	t.Fatalf("%s is %q, neither memory nor races", checking, of)
	return nil
}

// Devices reports whether this process has been started to run tests on a graphics processor, or on the double.
func Devices() bool { return Inside() || os.Getenv(onCard) != "" }

// Card runs tests of the package, those that match, again on the graphics processor that the driver finds, in a
// subtest "card". It is skipped where there is none: absent says why.
func Card(t *testing.T, absent func() error, match string, args ...string) {
	t.Helper()
	if Devices() {
		return
	}
	t.Run("card", func(t *testing.T) {
		if err := absent(); err != nil {
			need.Absent(t, "cuda", err.Error())
		}
		out, err := run(append(os.Environ(), onCard+"=1"), match, args)
		passed(t, out, err)
	})
}

// Rerun runs tests of the package, those that match, again on the double, with these variables and arguments, in a
// subtest "double". There none may be skipped. It reports whether they have run and passed.
func Rerun(t *testing.T, match string, env []string, args ...string) (ran bool) {
	t.Helper()
	if Devices() {
		return false
	}
	t.Run("double", func(t *testing.T) {
		out, err := rerun(t, os.Getenv(checking), match, env, args)
		passed(t, out, err)
		ran = !t.Failed()
	})
	return ran
}

// run runs tests in a process of its own.
func run(env []string, match string, args []string) ([]byte, error) {
	c := exec.Command(os.Args[0], append([]string{"-test.v", "-test.run=" + match}, args...)...)
	c.Env = env
	return c.CombinedOutput()
}

// passed looks at what such a process has printed. No test may be skipped.
func passed(t *testing.T, out []byte, err error) {
	t.Helper()
	passed := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "--- PASS"):
			passed++
		case strings.HasPrefix(line, "--- SKIP"):
			t.Errorf("skipped where there is a device: %s", line)
		}
	}
	if err != nil || passed == 0 {
		t.Errorf("%v, %d tests passed\n%s", err, passed, out)
	}
}

// rerun runs tests in a process on the double, whose kernels are checked, and returns what it prints.
func rerun(t *testing.T, check, match string, env, args []string) ([]byte, error) {
	t.Helper()
	own := append(Env(t), inside+"=1")
	return run(slices.Concat(os.Environ(), own, checks(t, check), env), match, args)
}
