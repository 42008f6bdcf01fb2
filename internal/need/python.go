package need

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// pythonPackages are what other programs read and write tables with. The versions are those with which tests were made.
var pythonPackages = []string{"deltalake==1.6.6", "polars==2.1.0", "pyarrow==26.0.1", "numpy==2.4.6"}

// Python gives the interpreter of an environment with deltalake, polars, pyarrow and numpy. It is made once, in the
// user's folder of caches; the test is skipped where there is no Python or the packages cannot be had.
func Python(t testing.TB) string {
	t.Helper()
	Time(t)
	python, err := findPython()
	if err != nil {
		Absent(t, "python", err.Error())
	}
	return python
}

// RunPython runs a program of these tests in that environment, with few threads, and returns what it prints.
func RunPython(t testing.TB, program string, args ...string) string {
	t.Helper()
	c := exec.Command(Python(t), append([]string{program}, args...)...)
	c.Env = append(os.Environ(), "TZ=UTC", "POLARS_MAX_THREADS=2", "TOKIO_WORKER_THREADS=2", "ARROW_NUM_THREADS=2")
	var failure strings.Builder
	c.Stderr = &failure
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, failure.String())
	}
	return string(text)
}

var findPython = sync.OnceValues(func() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	base = filepath.Join(base, "relgrad-python")
	sum := sha256.Sum256([]byte(strings.Join(pythonPackages, " ")))
	dir := filepath.Join(base, fmt.Sprintf("%x", sum[:4]))
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644) // other tests wait and find it
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	python := filepath.Join(dir, "bin", "python")
	if _, err := os.Stat(python); err == nil {
		return python, nil
	}
	made, err := os.MkdirTemp(base, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made)
	install := append([]string{"-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries=1",
		"--timeout=20"}, pythonPackages...)
	for _, c := range []*exec.Cmd{exec.Command("python3", "-m", "venv", made),
		exec.Command(filepath.Join(made, "bin", "python"), install...)} {
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %v: %.200s", strings.Join(c.Args, " "), err, out)
		}
	}
	return python, os.Rename(made, dir)
})
