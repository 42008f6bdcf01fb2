package executor

import "sort"

// extent is a piece of memory that is needed from one point of time to another, both included.
type extent struct{ bytes, from, to, off int }

// planMemory gives every extent an offset so that extents whose times overlap do not overlap in memory, and
// returns the bytes needed. Larger ones are placed first, each at the lowest gap that holds it.
func planMemory(ext []*extent) int {
	order := append([]*extent(nil), ext...)
	sort.SliceStable(order, func(i, j int) bool { return order[i].bytes > order[j].bytes })
	var placed []*extent // sorted by offset
	total := 0
	for _, e := range order {
		e.off = 0
		for _, p := range placed {
			if p.to < e.from || p.from > e.to {
				continue
			}
			if p.off-e.off >= e.bytes {
				break
			}
			e.off = max(e.off, p.off+p.bytes)
		}
		at := sort.Search(len(placed), func(i int) bool { return placed[i].off > e.off })
		placed = append(placed, nil)
		copy(placed[at+1:], placed[at:])
		placed[at] = e
		total = max(total, e.off+e.bytes)
	}
	return total
}
