package executor

import (
	"cmp"
	"slices"
	"sort"
)

// extent is a piece of memory that is needed from one point of time to another, both included.
type extent struct{ bytes, from, to, off int }

// manyExtents is the number from which planMemory shares memory between extents of one size only, which takes no
// longer than to sort them.
const manyExtents = 2000

// planMemory gives every extent an offset so that extents whose times overlap do not overlap in memory, and
// returns the bytes needed. Larger ones are placed first, each at the lowest gap that holds it.
func planMemory(ext []*extent) int {
	if len(ext) > manyExtents {
		return planBySize(ext)
	}
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

// planBySize gives extents of one size each other's memory when its time is over.
func planBySize(ext []*extent) int {
	byTime := slices.Clone(ext)
	slices.SortStableFunc(byTime, func(a, b *extent) int { return cmp.Compare(a.from, b.from) })
	byEnd := slices.Clone(byTime)
	slices.SortStableFunc(byEnd, func(a, b *extent) int { return cmp.Compare(a.to, b.to) })
	free, total, over := map[int][]int{}, 0, 0
	for _, e := range byTime {
		for ; byEnd[over].to < e.from; over++ {
			free[byEnd[over].bytes] = append(free[byEnd[over].bytes], byEnd[over].off)
		}
		if list := free[e.bytes]; len(list) > 0 {
			e.off, free[e.bytes] = list[len(list)-1], list[:len(list)-1]
			continue
		}
		e.off = total
		total += e.bytes
	}
	return total
}
