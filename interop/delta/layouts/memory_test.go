package layouts

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/interop/delta"
)

var megabytes = flag.Int64("megabytes", 160, "TestMemory: the size of the table")

// TestMain reads a table, where a test has started this program for that, and prints the most memory that it has had.
func TestMain(m *testing.M) {
	dir := os.Getenv("RELGRAD_TEST_TABLE")
	if dir == "" {
		os.Exit(m.Run())
	}
	rows, err := readTable(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if most, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Println(rows, strings.TrimSuffix(strings.TrimSpace(most), " kB"))
		}
	}
}

// readTable reads all rows of a table, and a slice of its tensor.
func readTable(dir string) (n int64, err error) {
	s, err := delta.Open(delta.NewLocal(dir), delta.Latest())
	if err != nil {
		return 0, err
	}
	names := make([]string, 0)
	for _, f := range s.Fields() {
		names = append(names, f.Name)
	}
	rows, err := s.Scan(names, nil)
	if err != nil {
		return 0, err
	}
	for row := make([]any, len(names)); err == nil; n++ {
		err = rows.Next(row)
	}
	if err != io.EOF {
		return 0, err
	}
	_, err = Read(s, "x", Slice{{From: 3, To: 6}})
	return n - 1, err
}

// TestMemory: a reader takes at most 100 MB, and four times the largest group of rows, of a table that is larger.
// With -megabytes=2000, whose groups have 16 MB, it is missed so far: about 200 MB, of 163.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	const chunk = 1 << 18 // bytes of a row
	n := *megabytes << 20 / chunk
	r := rand.New(rand.NewChaCha8([32]byte{1}))
	store(t, delta.NewLocal(dir), "x", &Tensor{DType: "uint8", Shape: []int64{n, chunk}, Elements: noisy{r}},
		Options{Layout: "ftsf"})
	c := exec.Command(os.Args[0])
	c.Env, c.Stderr = append(os.Environ(), "RELGRAD_TEST_TABLE="+dir), os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows, most int64
	if _, err := fmt.Sscan(string(out), &rows, &most); err != nil || rows != n {
		t.Fatalf("%d rows of %d, %v: %s", rows, n, err, out)
	}
	group := min(max(n*chunk/64, 1<<19), 16<<20) // as (*writing).parquet says
	bound := 100e6 + 4*float64(group)
	t.Logf("%d MB, groups of %d bytes: %d kB", *megabytes, group, most)
	if 1024*float64(most) > bound {
		t.Errorf("%d kB, of at most %.0f", most, bound/1024)
	}
}

// noisy gives random bytes.
type noisy struct{ r *rand.Rand }

func (n noisy) Read(b []byte) (int, error) {
	for i := 0; i+8 <= len(b); i += 8 {
		u := n.r.Uint64()
		for k := range 8 {
			b[i+k] = byte(u >> (8 * k))
		}
	}
	return len(b), nil
}
