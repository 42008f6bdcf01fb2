package physical

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
)

// Sites are what a plan is made for.
type Sites struct {
	N int
	// Stored says where the rows of a Scan or an Opaque lie; nil, or false: by the hash of the identity, and at site 0
	// where that has no column, or Scans of the table differ in it.
	Stored func(n *ra.Node) (Placement, bool)
	// Result says where the rows of result i are to lie, by its columns; nil, or false: at site 0. The gradient of a
	// parameter belongs where the parameter lies.
	Result func(i int, of *ra.Node) (Placement, bool)
	// First says that only site 0 can be read from: results that no other placement is asked for lie there. Else they
	// lie at any one site.
	First bool
	// Spread is that of Plan; nil: by hash.
	Spread func(relation *ra.Node, by []ra.ColumnID) Function
	// Read is a column of a table, nil: it cannot be read. With it Choose knows how tables are spread, and tries ranges,
	// too.
	Read func(t *ra.Table, col int) *column.Column
	// Owned are pairs of columns that are to be spread alike: of a result, and of the table whose rows it belongs to.
	Owned [][2]ra.ColumnID
}

// Compile makes the plan of TRA's Table 1 (TRA 2021, §5.1): before Σ rows are shuffled by the group, before ⋈ all
// inputs but the last are broadcast, σ and λ run where the rows lie. What SQL adds: partners of semi-joins are
// broadcast, sums of gradients are shuffled by key, a union takes rows where they lie. The results are brought to
// where they are wanted.
func Compile(p *ra.Plan, on Sites) (*Plan, error) {
	c := &compiler{Sites: on, done: map[*ra.Node]*Node{}}
	out := &Plan{Sites: on.N, Spread: on.Spread}
	if out.Spread == nil {
		out.Spread = func(*ra.Node, []ra.ColumnID) Function { return Function{} }
	}
	c.plan = out
	logical := ra.Clone(p)
	c.keyless, c.looped = keyless(logical), looped(logical.Nodes()...)
	var err error
	ra.Walk(func(n *ra.Node) {
		if err == nil {
			c.done[n], err = c.node(n)
		}
	}, logical.Nodes()...)
	if err != nil {
		return nil, err
	}
	for i, r := range logical.Roots {
		root := Root{Name: r.Name, Node: c.done[r.Node], Cols: r.Cols, Place: c.wanted(i, r.Node), There: c.First}
		if !root.placed() {
			root.Node = c.exchange(exchange(root.Node, root.Place))
		}
		out.Roots = append(out.Roots, root)
	}
	return out, Validate(out)
}

type compiler struct {
	Sites
	plan    *Plan
	done    map[*ra.Node]*Node
	keyless map[string]bool
	looped  map[*ra.Node]bool
}

func (c *compiler) node(n *ra.Node) (*Node, error) {
	out := &Node{RA: n}
	for _, in := range n.Inputs {
		out.Inputs = append(out.Inputs, c.done[in])
	}
	if c.looped[n] {
		return out, c.alone(out)
	}
	switch n.Op {
	case ra.Scan, ra.Opaque:
		out.Place = c.stored(n)
		return out, nil
	case ra.Join, ra.SemiJoin, ra.AntiJoin:
		c.broadcast(out)
	case ra.Aggregate:
		out.Inputs[0] = c.shuffle(out.Inputs[0], n.Group)
	case ra.Window:
		out.Inputs[0] = c.shuffle(out.Inputs[0], n.Over.Partition)
	case ra.Add:
		for i, in := range out.Inputs {
			out.Inputs[i] = c.shuffle(in, byPosition(n, i, n.Key))
		}
	case ra.Union:
		c.unite(out)
	case ra.Select:
	default:
		return nil, sqlerr.Broken(room, "a %v cannot be run at several sites", n.Op)
	}
	return out, c.place(out)
}

// alone runs a Recursion, and what is in its step, at site 0: what they read is gathered there.
func (c *compiler) alone(n *Node) error {
	if len(n.Inputs) == 0 {
		n.Place = At(0)
		return nil
	}
	for i, in := range n.Inputs {
		if !in.Place.Equal(At(0)) {
			n.Inputs[i] = c.gather(in)
		}
	}
	return c.place(n)
}

// looped are the Recursions below roots, and what is in their steps.
func looped(roots ...*ra.Node) map[*ra.Node]bool {
	out := map[*ra.Node]bool{}
	for _, n := range ra.Loops(roots...) {
		out[n] = true
		for _, m := range n.Within() {
			out[m] = true
		}
	}
	return out
}

// place derives where the rows of n lie.
func (c *compiler) place(n *Node) (err error) {
	n.Place, err = derive(n, c.N)
	return err
}

func (c *compiler) stored(n *ra.Node) Placement {
	if c.Stored != nil {
		if p, ok := c.Stored(n); ok {
			return p
		}
	}
	if n.Op == ra.Opaque || len(n.Key) == 0 || c.keyless[n.Table.Schema+"."+n.Table.Name] {
		return At(0)
	}
	return Spread(c.plan.Spread(n, n.Key), n.Key...)
}

// keyless lists the tables that some Scan reads by another identity than others do: their rows lie in one way only.
func keyless(p *ra.Plan) map[string]bool {
	out, keys := map[string]bool{}, map[string][]int{}
	ra.Walk(func(n *ra.Node) {
		if n.Op != ra.Scan {
			return
		}
		name := n.Table.Schema + "." + n.Table.Name
		key := lists.Map(n.Key, func(id ra.ColumnID) int { return n.TableCols[n.Index(id)] })
		if before, ok := keys[name]; ok && !slices.Equal(before, key) {
			out[name] = true
		}
		keys[name] = key
	}, p.Nodes()...)
	return out
}

// wanted is where the rows of a result are to lie.
func (on Sites) wanted(i int, of *ra.Node) Placement {
	if on.Result != nil {
		if p, ok := on.Result(i, of); ok {
			if p.Kind == By && on.Spread != nil && p.Fn.Kind == Hash {
				p.Fn = on.Spread(of, lists.Map(p.By, func(s Same) ra.ColumnID { return s[0] }))
			}
			return p
		}
	}
	return At(0)
}

// broadcast makes all inputs but the last of a join replicated; of a semi-join the partners.
func (c *compiler) broadcast(n *Node) {
	kept := len(n.Inputs) - 1
	if n.RA.Op != ra.Join {
		kept = 0
	}
	for i, in := range n.Inputs {
		if i != kept && in.Place.once() {
			n.Inputs[i] = c.exchange(&Node{Op: Bcast, Inputs: []*Node{in}})
		}
	}
}

// unite takes one replica of inputs of a union that are replicated, where another is not.
func (c *compiler) unite(n *Node) {
	mixed := false
	for _, in := range n.Inputs {
		mixed = mixed || in.Place.once()
	}
	for i, in := range n.Inputs {
		if mixed && !in.Place.once() {
			n.Inputs[i] = c.shuffle(in, byPosition(n.RA, i, n.RA.Key))
		}
	}
}

// byPosition are the columns of input slot of n that correspond to columns of n.
func byPosition(n *ra.Node, slot int, ids []ra.ColumnID) (out []ra.ColumnID) {
	for _, id := range ids {
		out = append(out, n.Inputs[slot].Cols[n.Index(id)].ID)
	}
	return out
}

// shuffle spreads rows by columns. By none all lie at one site.
func (c *compiler) shuffle(in *Node, by []ra.ColumnID) *Node {
	if len(by) == 0 {
		return c.gather(in)
	}
	return c.exchange(&Node{Op: Shuf, By: by, Fn: c.plan.Spread(in.Relation(), by), Inputs: []*Node{in}})
}

func (c *compiler) gather(in *Node) *Node { return c.exchange(&Node{Op: Gather, Inputs: []*Node{in}}) }

// exchange places an exchange. It always can be: the rows of any relation may be moved.
func (c *compiler) exchange(n *Node) *Node {
	n.Place, _ = derive(n, c.N)
	return n
}
