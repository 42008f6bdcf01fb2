package sqlgen

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/ra"
)

// A database pastes a CTE that is read once, or NOT MATERIALIZED, into the queries that read it. Two things of
// that grow faster than the text, and are bounded here: joins that become one large join, and Postgres's walk
// through the whole statement for each CTE that it pastes.

// maxJoined is the number of relations up to which a join is pasted into another one. Each step of a recurrence
// joins the step before: pasted into each other they are one join of hundreds of relations, whose equal keys
// form one class; planning that took Postgres 100 s at 600 relations. It chooses the order of at most 8
// (join_collapse_limit) in any case.
const maxJoined = 8

// joined is the number of relations that stand in FROM once what is pasted into n's query has been pasted.
func (p *printer) joined(n *ra.Node) int {
	if k, ok := p.width[n]; ok {
		return k
	}
	k := 0
	for _, in := range n.Inputs {
		if (in.Op == ra.Select || in.Op == ra.Join) && p.hint(in) != "MATERIALIZED " && (p.uses[in] == 1 || p.pasted(in)) {
			k += p.joined(in)
		} else {
			k++
		}
	}
	p.width[n] = k
	return k
}

// maxPasted is the number of CTEs up to which the database pastes them itself. In a longer text those that it
// would paste stand in FROM already: Postgres took 9 of 11 s for walks through a text of 2,000 CTEs.
const maxPasted = 150

// maxDepth is the number of queries that then stand in each other.
const maxDepth = 8

// source is an item of FROM that reads a node. Whether it is a name or the node's query shows when all bodies
// are printed, so that a mark stands in its place until then: see texts.
func (p *printer) source(n *ra.Node, alias string) string {
	return mark + p.names[n] + mark + alias + mark
}

// mark is a character that no SQL text holds.
const mark = "\x00"

// texts prints the CTEs of some nodes, inputs first. Those in tables are no more than a read of a table; the
// roots keep their names.
func (p *printer) texts(nodes []*ra.Node, bodies map[*ra.Node]string, tables map[*ra.Node]bool,
	roots ...*ra.Node) []string {
	t := &paster{long: p.o.InFrom || len(nodes) > maxPasted, queries: map[string]string{}, depth: map[string]int{}}
	var out []string
	for _, n := range nodes {
		body, depth := t.resolve(bodies[n])
		hint := p.hint(n)
		if tables[n] {
			hint = "NOT MATERIALIZED "
		}
		if hint != "MATERIALIZED " && !tables[n] && p.once(n) {
			body += "\n" + p.d.Fence()
		}
		if t.long && !slices.Contains(roots, n) && (hint == "NOT MATERIALIZED " || hint == "" && p.uses[n] == 1) {
			if depth < maxDepth {
				t.queries[p.names[n]], t.depth[p.names[n]] = body, depth+1
				continue
			}
			hint = "MATERIALIZED "
		}
		out = append(out, p.cte(n, hint, body))
	}
	return out
}

// paster puts queries in the place of names.
type paster struct {
	long    bool
	queries map[string]string // of the nodes that are no CTEs
	depth   map[string]int    // how many queries stand in each other in them
}

// resolve replaces the marks in a text, and gives the depth of what then stands in it.
func (t *paster) resolve(body string) (string, int) {
	parts, depth := strings.Split(body, mark), 0 // text, name, alias, text, …
	if len(parts) == 1 {
		return body, 0
	}
	var b strings.Builder
	for i := 0; i < len(parts)-1; i += 3 {
		b.WriteString(parts[i])
		name, alias := parts[i+1], parts[i+2]
		switch q, ok := t.queries[name]; {
		case ok:
			depth = max(depth, t.depth[name])
			b.WriteString("(\n" + indent(q) + "\n) AS " + alias)
		case alias != name:
			b.WriteString(name + " AS " + alias)
		default:
			b.WriteString(name)
		}
	}
	b.WriteString(parts[len(parts)-1])
	return b.String(), depth
}
