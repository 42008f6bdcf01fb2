package sqlgen

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/ra"
)

// A database inlines a CTE that is read once, or NOT MATERIALIZED, into the queries that read it. Two costs of this
// grow faster than the text and are bounded here: many joins become one large join, and Postgres walks through the
// whole statement for each CTE that it inlines.

// maxJoined is the number of relations up to which a join is inlined into another one. Each step of a recurrence joins
// the step before: inlined, they are one join of hundreds of relations with one class of equal keys, which took
// Postgres 100 s to plan at 600 relations. It chooses the order of at most 8 relations (join_collapse_limit) anyway.
const maxJoined = 8

// joined is the number of relations in n's FROM after inlining.
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

// maxPasted is the number of CTEs up to which the database may inline them itself. In a longer text the CTEs that it
// would inline are printed in FROM: of 11 s Postgres took 9 for walking through a text of 2,000 CTEs.
const maxPasted = 150

// maxDepth is the number of queries nested in each other in FROM.
const maxDepth = 8

// source is an item of FROM that reads a node. Whether it is the node's name or its query is known only when all bodies
// are printed, so a mark holds the place until then: see texts.
func (p *printer) source(n *ra.Node, alias string) string {
	return mark + p.names[n] + mark + alias + mark
}

// mark is a character that no SQL text holds.
const mark = "\x00"

// texts prints the CTEs of some nodes, inputs first. Nodes in tables are only read from there; roots keep their names.
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

// paster replaces names by queries.
type paster struct {
	long    bool
	queries map[string]string // by name: of nodes that are not CTEs
	depth   map[string]int    // by name: how deep queries are nested in them
}

// resolve replaces the marks in a text and returns how deep queries are then nested in it.
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
