package executor

import (
	"math/rand"
	"testing"
)

// TestPlanMemory: what is needed at one time does not overlap in memory, however many extents there are.
func TestPlanMemory(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for n := 1; n < 4*manyExtents; n = 2*n + 1 {
		ext := make([]*extent, n)
		most := 0
		for i := range ext {
			from := r.Intn(n)
			ext[i] = &extent{bytes: 64 << r.Intn(4), from: from, to: min(n, from+r.Intn(50))}
			most += ext[i].bytes
		}
		total := planMemory(ext)
		at := make([]map[int]bool, n+1) // by time: the memory in use, in units of 64 bytes
		for _, e := range ext {
			if e.off < 0 || e.off+e.bytes > total {
				t.Fatalf("%d extents: %+v is outside of %d bytes", n, *e, total)
			}
			for time := e.from; time <= e.to; time++ {
				if at[time] == nil {
					at[time] = map[int]bool{}
				}
				for unit := e.off / 64; unit < (e.off+e.bytes)/64; unit++ {
					if at[time][unit] {
						t.Fatalf("%d extents: %+v overlaps another", n, *e)
					}
					at[time][unit] = true
				}
			}
		}
		if n > 200 && total > most/2 {
			t.Errorf("%d extents of %d bytes take %d: nothing is shared", n, most, total)
		}
	}
}
