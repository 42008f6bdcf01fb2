package need

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pythonPackages are what other programs read and write tables with. The versions are those with which tests were made.
var pythonPackages = []string{"deltalake==1.6.6", "polars==2.1.0", "pyarrow==26.0.1", "numpy==2.4.6"}

// Python gives the interpreter of an environment with deltalake, polars, pyarrow and numpy. It is made once, in the
// user's folder of caches; the test is skipped where there is no Python or the packages cannot be had.
func Python(t testing.TB) string {
	t.Helper()
	base, err := os.UserCacheDir()
	if err != nil {
		Absent(t, "python", err.Error())
	}
	sum := sha256.Sum256([]byte(strings.Join(pythonPackages, " ")))
	dir := filepath.Join(base, "relgrad-python", fmt.Sprintf("%x", sum[:4]))
	python := filepath.Join(dir, "bin", "python")
	if _, err := os.Stat(python); err == nil {
		return python
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		Absent(t, "python", err.Error())
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		Absent(t, "python", err.Error())
	}
	defer os.RemoveAll(made)
	install := append([]string{"-m", "pip", "install", "-q", "--disable-pip-version-check"}, pythonPackages...)
	for _, c := range []*exec.Cmd{exec.Command("python3", "-m", "venv", made),
		exec.Command(filepath.Join(made, "bin", "python"), install...)} {
		if out, err := c.CombinedOutput(); err != nil {
			Absent(t, "python", fmt.Sprintf("%s: %v: %.200s", strings.Join(c.Args, " "), err, out))
		}
	}
	if err := os.Rename(made, dir); err != nil {
		if _, other := os.Stat(python); other != nil { // another test was faster
			Absent(t, "python", err.Error())
		}
	}
	return python
}
