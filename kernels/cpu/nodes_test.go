package cpu

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// TestList: lists of processors are read as the system writes them, and nothing else is.
func TestList(t *testing.T) {
	for text, want := range map[string]Set{"": nil, "\n": nil, "0\n": {0}, "0-3\n": {0, 1, 2, 3},
		"0-1,8,10-11\n": {0, 1, 8, 10, 11}, "7-7": {7}} {
		if got, ok := list(text); !ok || !slices.Equal(got, want) {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"x", "3-1", "-1", "1-", "0,,1", "0-99999999", "1.5", "0 1", "0-65535,0-65535,0-65535"} {
		if got, ok := list(text); ok {
			t.Errorf("%q is read as %d processors", text, len(got))
		}
	}
}

// TestNodes: of each node the processors that the process may use, in the order of the nodes' numbers, each once.
func TestNodes(t *testing.T) {
	for _, c := range []struct {
		files   map[string]string
		allowed Set
		want    []Set
	}{
		{nil, Set{0, 1}, []Set{{0, 1}}},
		{nil, nil, nil},
		{map[string]string{"node0": "0-1\n"}, Set{0, 1}, []Set{{0, 1}}},
		{map[string]string{"node0": "0-3", "node1": "4-7", "node2": "", "node10": "8-9"}, Set{1, 2, 5, 6, 8, 9},
			[]Set{{1, 2}, {5, 6}, {8, 9}}},
		{map[string]string{"node0": "0,2", "node1": "1,3"}, Set{0, 1, 2, 3}, []Set{{0, 2}, {1, 3}}},
		{map[string]string{"node0": "0-1", "node1": "2-3"}, Set{2, 3}, []Set{{2, 3}}},
		{map[string]string{"node0": "0-1", "node1": "who knows", "nodes": "5"}, Set{0, 1, 2, 3}, []Set{{0, 1}, {2, 3}}},
		{map[string]string{"node0": "0-2", "node1": "2-3"}, Set{0, 1, 2, 3}, []Set{{0, 1, 2}, {3}}},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name, "cpulist"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := nodesIn(dir, c.allowed); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v of %v: %v, not %v", c.files, c.allowed, got, c.want)
		}
	}
}

// TestSplit: each site has processors, no two have the same one unless there are more sites than processors, none is
// left over, and a site's lie at one node where there are enough sites.
func TestSplit(t *testing.T) {
	var machines [][]Set
	for _, sizes := range [][]int{{1}, {2}, {3}, {16}, {2, 2}, {3, 1}, {1, 1, 1}, {8, 8}, {5, 2, 9}, {64, 64}, {1, 7}} {
		var nodes []Set
		next := 0
		for _, n := range sizes {
			var node Set
			for range n {
				node, next = append(node, next), next+3 // gaps, as where siblings are left out
			}
			nodes = append(nodes, node)
		}
		machines = append(machines, nodes)
	}
	for _, nodes := range machines {
		all := slices.Concat(nodes...)
		for sites := 1; sites <= 16; sites++ {
			name, got, used := fmt.Sprintf("%v at %d sites", nodes, sites), Split(nodes, sites), map[int]int{}
			if len(got) != sites {
				t.Fatalf("%s: %d sets", name, len(got))
			}
			for s, set := range got {
				at := slices.Index(all, set[0])
				if len(set) == 0 || !slices.Equal(set, all[at:at+len(set)]) {
					t.Errorf("%s: site %d has %v, no run", name, s, set)
				}
				inside := slices.ContainsFunc(nodes, func(n Set) bool {
					return slices.Contains(n, set[0]) && slices.Contains(n, set[len(set)-1])
				})
				if sites >= len(nodes) && !inside {
					t.Errorf("%s: site %d has %v of several nodes", name, s, set)
				}
				for _, p := range set {
					used[p]++
				}
			}
			most, fewest := 0, sites
			for _, p := range all {
				most, fewest = max(most, used[p]), min(fewest, used[p])
			}
			if sites <= len(all) && len(nodes) == 1 && (most != 1 || fewest != 1) {
				t.Errorf("%s: %v", name, got)
			}
			if each := (sites + len(all) - 1) / len(all); len(nodes) == 1 && most > each {
				t.Errorf("%s: %d sites share a processor: %v", name, most, got)
			}
		}
	}
	for _, c := range []struct {
		nodes []Set
		sites int
		want  []Set
	}{
		{[]Set{{0, 1}}, 2, []Set{{0}, {1}}},
		{[]Set{{0, 1, 2, 3, 4}}, 3, []Set{{0, 1}, {2, 3}, {4}}},
		{[]Set{{0, 1}}, 4, []Set{{0}, {0}, {1}, {1}}},
		{[]Set{{0, 2}, {1, 3}}, 1, []Set{{0, 2, 1, 3}}},
		{[]Set{{0, 1}, {2, 3}, {4, 5}}, 2, []Set{{0, 1}, {2, 3, 4, 5}}},
		{[]Set{{0, 1, 2}, {3}}, 2, []Set{{0, 1, 2}, {3}}},
		{[]Set{{0, 1, 2}, {3}}, 4, []Set{{0}, {1}, {2}, {3}}},
		{[]Set{{0, 1, 2, 3}, {4, 5, 6, 7}}, 4, []Set{{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
		{nil, 3, nil},
	} {
		if got := Split(c.nodes, c.sites); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v at %d sites: %v, not %v", c.nodes, c.sites, got, c.want)
		}
	}
}
