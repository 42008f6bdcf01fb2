package device

import (
	"cmp"
	"slices"
	"sort"
)

// Extent is a piece of memory of so many bytes. It is needed from time From to time To, both included. Off is its
// offset.
type Extent struct{ Bytes, From, To, Off int }

// ManyExtents is the number from which PlanMemory lets only extents of one size share memory: that takes no longer than
// sorting.
const ManyExtents = 2000

// PlanMemory gives every extent an offset so that extents whose times overlap do not overlap in memory, and
// returns the bytes needed. Larger ones are placed first, each at the lowest gap that holds it.
func PlanMemory(ext []*Extent) int {
	if len(ext) > ManyExtents {
		return planBySize(ext)
	}
	order := append([]*Extent(nil), ext...)
	sort.SliceStable(order, func(i, j int) bool { return order[i].Bytes > order[j].Bytes })
	var placed []*Extent // sorted by offset
	total := 0
	for _, e := range order {
		e.Off = 0
		for _, p := range placed {
			if p.To < e.From || p.From > e.To {
				continue
			}
			if p.Off-e.Off >= e.Bytes {
				break
			}
			e.Off = max(e.Off, p.Off+p.Bytes)
		}
		at := sort.Search(len(placed), func(i int) bool { return placed[i].Off > e.Off })
		placed = append(placed, nil)
		copy(placed[at+1:], placed[at:])
		placed[at] = e
		total = max(total, e.Off+e.Bytes)
	}
	return total
}

// planBySize gives an extent the memory of one of the same size whose time is over.
func planBySize(ext []*Extent) int {
	byTime := slices.Clone(ext)
	slices.SortStableFunc(byTime, func(a, b *Extent) int { return cmp.Compare(a.From, b.From) })
	byEnd := slices.Clone(byTime)
	slices.SortStableFunc(byEnd, func(a, b *Extent) int { return cmp.Compare(a.To, b.To) })
	free, total, over := map[int][]int{}, 0, 0
	for _, e := range byTime {
		for ; byEnd[over].To < e.From; over++ {
			free[byEnd[over].Bytes] = append(free[byEnd[over].Bytes], byEnd[over].Off)
		}
		if list := free[e.Bytes]; len(list) > 0 {
			e.Off, free[e.Bytes] = list[len(list)-1], list[:len(list)-1]
			continue
		}
		e.Off = total
		total += e.Bytes
	}
	return total
}
