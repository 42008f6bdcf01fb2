package cpu

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// mask is what a thread of the process may use; nil where it has ended.
func mask(thread string) (out Set) {
	text, err := os.ReadFile("/proc/self/task/" + thread + "/status")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			out, _ = list(rest)
		}
	}
	return out
}

// masks are those of all threads.
func masks(t *testing.T) (out []Set) {
	t.Helper()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range threads {
		if m := mask(e.Name()); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// unbound waits until all threads may use what the process may.
func unbound(t *testing.T) {
	t.Helper()
	other := func(m Set) bool { return !slices.Equal(m, allowed()) }
	for begin := time.Now(); slices.ContainsFunc(masks(t), other); time.Sleep(time.Millisecond) {
		if time.Since(begin) > 5*time.Second {
			t.Fatalf("threads are bound behind the work: %v of %v", masks(t), allowed())
		}
	}
}

// TestBound: who leads and who helps work on the crew's processors only, in several crews at once; neither the first
// thread nor one of others is bound, and behind the work no thread is.
func TestBound(t *testing.T) {
	all, first := allowed(), fmt.Sprint(os.Getpid())
	unbound(t)
	for range 8 {
		var crews []*Crew
		var ended sync.WaitGroup
		sets := Split(Nodes(), 4)
		for s, on := range sets {
			if !native { // nobody waits awake, and none is bound
				on = all
			}
			c := NewCrew(s, 3, on, false)
			crews = append(crews, c)
			ended.Add(1)
			c.Lead(func() {
				defer ended.Done()
				for range 20 {
					c.Together(3, func(w int) {
						time.Sleep(50 * time.Microsecond) // none does another's
						if got := mask(fmt.Sprint(unix.Gettid())); !slices.Equal(got, on) {
							t.Errorf("worker %d of site %d works on %v, not %v", w, s, got, on)
						}
					})
				}
			})
		}
		ended.Wait()
		if got := mask(first); !slices.Equal(got, all) {
			t.Fatalf("the first thread is bound to %v", got)
		}
		for _, c := range crews {
			c.Close()
		}
	}
	unbound(t)
}

// TestBoundRefused: where the system does not bind a thread, the work is done.
func TestBoundRefused(t *testing.T) {
	for _, on := range []Set{{1023}, {5000}, {}} {
		c, done, ended := NewCrew(0, 2, on, false), make([]int, 2), make(chan struct{})
		c.Lead(func() {
			c.Together(2, func(w int) { done[w]++ })
			close(ended)
		})
		<-ended
		if c.Close(); done[0] != 1 || done[1] != 1 {
			t.Errorf("on %v workers have worked %v times", on, done)
		}
	}
	unbound(t)
}
