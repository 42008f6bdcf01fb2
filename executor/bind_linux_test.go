package executor

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// masks are the different lists of processors that threads of the process may use.
func masks(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, _ := os.ReadFile(file) // a thread may have ended
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				found[strings.TrimSpace(rest)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// TestBoundSites: where that is asked for, each of several sites has threads that may use its processors alone; with
// the program they end. Results are the same bits. Of one site, and where the machine has one memory node and nothing
// is asked for, no thread is bound.
func TestBoundSites(t *testing.T) {
	before := masks(t)
	var want []*column.Column
	for _, c := range []struct {
		bind  Binding
		sites int
		bound bool
	}{{BindNever, 2, false}, {Bind, 2, true}, {BindNodes, 2, len(cpu.Nodes()) > 1}, {Bind, 1, false}, {Bind, 5, true}} {
		src, plan, placed := summed(t, max(c.sites, 2), true)
		var p *Program
		var err error
		if opt := (Options{Workers: 4, Bind: c.bind}); c.sites == 1 {
			p, err = Compile(context.Background(), plan, src, opt)
		} else {
			p, err = CompileSites(context.Background(), placed, src, opt)
		}
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := p.Run(context.Background(), kernels.Env{}); err != nil {
				t.Fatal(err)
			}
		}
		likeOracle(t, "bound", p, plan, src, 1e-12)
		got := masks(t)
		if more := len(got) > len(before); more != (c.bound && len(slices.Concat(cpu.Nodes()...)) > 1) {
			t.Errorf("%d sites, binding %d: threads may use %v, before it %v", c.sites, c.bind, got, before)
		}
		if out, err := p.Result(0); err != nil {
			t.Fatal(err)
		} else if c.sites == 2 && want == nil {
			want = out
		} else if c.sites == 2 && !reflect.DeepEqual(vectorRows(out), vectorRows(want)) {
			t.Errorf("bound sites give other bits")
		}
		p.Close()
		for begin := time.Now(); !slices.Equal(masks(t), before); time.Sleep(time.Millisecond) {
			if time.Since(begin) > 5*time.Second {
				t.Fatalf("behind the program threads may use %v, before it %v", masks(t), before)
			}
		}
	}
}
