package executor

import (
	"math/rand"
	"testing"

	"github.com/relgrad/relgrad/executor/device"
)

// TestPlanMemory: what is needed at one time does not overlap in memory, however many extents there are.
func TestPlanMemory(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewSource(1))
	for n := 1; n < 4*device.ManyExtents; n = 2*n + 1 {
		ext := make([]*device.Extent, n)
		most := 0
		for i := range ext {
			from := r.Intn(n)
			ext[i] = &device.Extent{Bytes: 64 << r.Intn(4), From: from, To: min(n, from+r.Intn(50))}
			most += ext[i].Bytes
		}
		total := device.PlanMemory(ext)
		at := make([]map[int]bool, n+1) // by time: the memory in use, in units of 64 bytes
		for _, e := range ext {
			if e.Off < 0 || e.Off+e.Bytes > total {
				t.Fatalf("%d extents: %+v is outside of %d bytes", n, *e, total)
			}
			for time := e.From; time <= e.To; time++ {
				if at[time] == nil {
					at[time] = map[int]bool{}
				}
				for unit := e.Off / 64; unit < (e.Off+e.Bytes)/64; unit++ {
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
