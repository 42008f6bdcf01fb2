package cpu

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Set lists processors by their numbers.
type Set []int

// Nodes lists the processors that this process could use when it began, by the memory node that is near them; nil where
// the system does not tell.
var Nodes = sync.OnceValue(func() []Set { return nodesIn("/sys/devices/system/node", allowed()) })

// nodesIn reads a folder with a folder for each node, such as node0, whose file cpulist lists its processors. Those
// that no node has are one node more.
func nodesIn(dir string, allowed Set) (nodes []Set) {
	if len(allowed) == 0 {
		return nil
	}
	lists, _ := filepath.Glob(filepath.Join(dir, "node[0-9]*", "cpulist"))
	number := func(file string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "node"))
		if err != nil {
			return -1
		}
		return n
	}
	slices.SortFunc(lists, func(a, b string) int { return number(a) - number(b) })
	left := slices.Clone(allowed)
	for _, file := range lists {
		text, err := os.ReadFile(file)
		all, ok := list(string(text))
		if err != nil || !ok || number(file) < 0 {
			continue
		}
		var node Set
		left = slices.DeleteFunc(left, func(p int) bool {
			if slices.Contains(all, p) {
				node = append(node, p)
				return true
			}
			return false
		})
		if len(node) > 0 {
			nodes = append(nodes, node)
		}
	}
	if len(left) > 0 {
		nodes = append(nodes, left)
	}
	return nodes
}

// mostProcessors is more than a machine has.
const mostProcessors = 1 << 16

// list reads a list such as 0-3,8,10-11; ok is false where it is none.
func list(text string) (out Set, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, true
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.ParseUint(first, 10, 16)
		to := from
		if isRange && err == nil {
			to, err = strconv.ParseUint(last, 10, 16)
		}
		if err != nil || to < from || len(out) > mostProcessors {
			return nil, false
		}
		for p := from; p <= to; p++ {
			out = append(out, int(p))
		}
	}
	return out, true
}

// Split deals processors to so many sites. A site's lie at one node, in a run, unless there are fewer sites than nodes:
// then each has whole nodes. A node with twice as many processors as another has twice as many sites, as far as that
// comes out even. More sites than processors share some.
func Split(nodes []Set, sites int) (out []Set) {
	if len(nodes) == 0 {
		return nil
	}
	if sites < len(nodes) {
		for s := range sites {
			out = append(out, slices.Concat(nodes[s*len(nodes)/sites:(s+1)*len(nodes)/sites]...))
		}
		return out
	}
	at := make([]int, len(nodes)) // how many sites a node has
	for s := range sites {
		next := s // each has one
		if s >= len(nodes) {
			next = 0
			for n := range nodes {
				if len(nodes[n])*at[next] > len(nodes[next])*at[n] {
					next = n
				}
			}
		}
		at[next]++
	}
	for n, node := range nodes {
		for s := range at[n] {
			if at[n] > len(node) {
				p := s * len(node) / at[n]
				out = append(out, node[p:p+1])
				continue
			}
			from, to := (s*len(node)+at[n]-1)/at[n], ((s+1)*len(node)+at[n]-1)/at[n] // the first ones have one more
			out = append(out, node[from:to])
		}
	}
	return out
}
