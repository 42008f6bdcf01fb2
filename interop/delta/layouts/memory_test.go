package layouts

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/interop/delta"
)

// TestMain reads a table, where a test has started this program for that, and prints the most memory that it has had.
func TestMain(m *testing.M) {
	dir := os.Getenv("RELGRAD_TEST_TABLE")
	if dir == "" {
		os.Exit(m.Run())
	}
	rows, err := readTable(dir, os.Getenv("RELGRAD_TEST_READ"))
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

// readTable reads all rows of a table, some of its columns, or slices of its tensor one after the other.
func readTable(dir, what string) (n int64, err error) {
	s, err := delta.Open(delta.NewLocal(dir), delta.Latest())
	if err != nil {
		return 0, err
	}
	if what == "slices" {
		for ; err == nil; n += 8 {
			var t *Tensor
			if t, err = Read(s, "x", Slice{{From: n, To: n + 8}}); err == nil && t.Shape[0] < 8 {
				return n + t.Shape[0], nil
			}
		}
		return 0, err
	}
	names := strings.Fields(what)
	if what == "all" {
		names = nil
		for _, f := range s.Fields() {
			names = append(names, f.Name)
		}
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
	return n - 1, nil
}

// TestMemory: a reader takes at most 100 MB, and four times the largest group of rows, of a table that is larger: of
// 160 MB, or as many as RELGRAD_TEST_MEGABYTES says. With 2000 the groups have 16 MB, the most that are written.
func TestMemory(t *testing.T) {
	megabytes := int64(160)
	if s := os.Getenv("RELGRAD_TEST_MEGABYTES"); s != "" {
		if _, err := fmt.Sscan(s, &megabytes); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	const chunk = 1 << 18 // bytes of a row
	n := megabytes << 20 / chunk
	r := rand.New(rand.NewChaCha8([32]byte{1}))
	store(t, delta.NewLocal(dir), "x", &Tensor{DType: "uint8", Shape: []int64{n, chunk}, Elements: noisy{r}},
		Options{Layout: "ftsf"})
	group := min(max(n*chunk/64, 1<<19), 16<<20) // as (*writing).parquet says
	bound := (100e6 + 4*float64(group)) / 1024
	for _, what := range []string{"all", "id chunk", "chunk_index", "slices"} {
		c := exec.Command(os.Args[0])
		c.Env, c.Stderr = append(os.Environ(), "RELGRAD_TEST_TABLE="+dir, "RELGRAD_TEST_READ="+what), os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		var rows, most int64
		if _, err := fmt.Sscan(string(out), &rows, &most); err != nil || rows != n {
			t.Fatalf("%s: %d rows of %d, %v: %s", what, rows, n, err, out)
		}
		t.Logf("%d MB, groups of %d bytes, %s: %d kB of %.0f", megabytes, group, what, most, bound)
		if float64(most) > bound {
			t.Errorf("%s: %d kB, of at most %.0f", what, most, bound)
		}
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
