// Package cudamock has tests run on a double of NVIDIA's driver, so that kernels run where there is no such device.
//
// # What
//
// Library makes the double (src/mock.cpp), a shared library, with the C++ compiler. It compiles the very texts of
// kernels as C++ (src/shim.h) and runs them with a fibre for each thread. Rerun runs the tests of a package again on
// it, in a process of its own.
//
// # Invariants
//
// Nothing but tests uses it. What a device refuses it refuses: launches beyond the limits, copies beyond the ends of
// memory, what may not be recorded. What a device leaves undefined ends the process with a message, or fails the
// launch: a shuffle that reads lanes which are not there, threads that wait for others that never come, memory that is
// left when a device is closed. Memory that nobody has written holds NaN. Work runs as late as it may.
//
// # Errors
//
// The compiler's messages.
//
// # Where to add
//
// A function of the driver: beside the others in src/mock.cpp. A function of the language of kernels: src/shim.h.
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
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

//go:embed src/mock.cpp
var mock string

//go:embed src/shim.h
var shim string

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
	h.Write([]byte(mock + shim))
	dir := filepath.Join(base, "relgrad-cudamock", fmt.Sprintf("%016x", h.Sum64()))
	lib := filepath.Join(dir, "libmock.so")
	if _, err := os.Stat(lib); err == nil {
		return lib, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, text := range map[string]string{"mock.cpp": mock, "shim.h": shim} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
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

// inside is set in the process that Rerun starts.
const inside = "RELGRAD_MOCK_INSIDE"

// Inside reports whether this process runs on the double.
func Inside() bool { return os.Getenv(inside) != "" }

// Rerun runs tests of the package, those that match, again on the double, with these variables and arguments. There
// none may be skipped.
func Rerun(t *testing.T, match string, env []string, args ...string) {
	t.Helper()
	if Inside() {
		return
	}
	if _, err := exec.LookPath("g++"); err != nil {
		need.Absent(t, "g++", err.Error())
	}
	lib, err := Library()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], append([]string{"-test.v", "-test.run=" + match}, args...)...)
	c.Env = append(append(os.Environ(), inside+"=1", "RELGRAD_CUDA_DRIVER="+lib, "RELGRAD_NVRTC="+lib,
		"RELGRAD_CUDA_CACHE=off"), env...)
	out, err := c.CombinedOutput()
	passed := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "--- PASS"):
			passed++
		case strings.HasPrefix(line, "--- SKIP"):
			t.Errorf("skipped on the double of the driver: %s", line)
		}
	}
	if err != nil || passed == 0 {
		t.Errorf("%v, %d tests passed\n%s", err, passed, out)
	}
}
