package physical

import (
	"slices"

	"github.com/relgrad/relgrad/ra"
)

// Rule is an equivalence of physical plans: what a result holds stays the same, where rows lie may change.
type Rule struct {
	Name string // that of TRA, and which of its forms
	// Doc says what it does and when it must not fire.
	Doc string
	// find looks whether the rule fires at a node, and returns what then changes the node, its inputs and its relation in
	// place; nil: it does not fire. It changes nothing itself.
	find func(c *ruleContext, n *Node) (change func())
}

// ruleContext is the plan that a rule looks at.
type ruleContext struct {
	*Plan
	readers map[*Node]int
	b       *ra.Builder
}

func (p *Plan) context() *ruleContext {
	whole := p.locals()
	of := make([]*ra.Node, len(whole))
	for i, n := range whole {
		of[i] = n.RA
	}
	return &ruleContext{Plan: p, readers: p.readers(), b: ra.NewBuilder(of...)}
}

var all = []Rule{
	{"R2-1", "Of several exchanges in sequence only the last counts, and an exchange to where rows lie already goes. " +
		"Must not fire on parts that are not added up.", lastExchange},
	{"R2-2", "A selection is made before its rows are moved. Must not fire where the selection computes something " +
		"(R2-3), nor where others read the rows that were moved.", selectFirst},
	{"R2-3 up", "Rows are computed before they are moved, where that makes them no wider. A SHUF must not be moved " +
		"where the columns that it goes by are not passed as they are, no exchange where others read its rows.",
		computeFirst},
	{"R2-3 down", "Rows are moved before they are computed, where computing makes them wider. A SHUF must not be moved " +
		"where the columns that it goes by are computed, no exchange where others read the computed rows.", moveFirst},
	{"R2-4", "Rows are summed where they lie, if groups lie at one site each. Must not fire where the columns by which " +
		"the rows lie are not all among the group.", sumInPlace},
	{"R2-5", "Sums are taken at each site first, and of their parts where these come together (two phases). Must not " +
		"fire where the rows are parts already, are replicated, or where groups lie at one site each, nor where the rows " +
		"are moved by other columns than the group.", twoPhases},
	{"R2-6 last", "A join reads its last input where it lies, the others are broadcast. Must not fire where the last " +
		"input is replicated, where an input is not added up, nor without an equality.", broadcastOthers(false)},
	{"R2-6 first", "A join, or semi-join, reads its first input where it lies, the others are broadcast. Must not fire " +
		"where R2-6 last must not.", broadcastOthers(true)},
	{"R2-6 shuffle", "A join reads inputs that are shuffled by columns that it equates. Must not fire where no " +
		"equality reaches all inputs, where one is not added up, nor where rows with equal columns would be spread unlike.",
		shuffleAll},
	{"R2-7", "The inputs of a join are shuffled instead of its rows. Must not fire where the join does not equate the " +
		"columns of the SHUF between all inputs, nor where others read its rows.", shuffleInputs},
}

// Rules returns the rules.
func Rules() []Rule { return slices.Clone(all) }

// Apply applies the rule to a node of a plan and returns the new plan, with nodes of its own; the same plan and false
// where the rule does not fire, or where the plan could not be run after it: a rule may move rows away from where a
// reader needs them. Results that are spread then are gathered where they were.
func (r Rule) Apply(p *Plan, n *Node) (*Plan, bool) {
	if r.find(p.context(), n) == nil {
		return p, false
	}
	out, copies := p.clone()
	r.find(out.context(), copies[n])()
	if out.place() != nil {
		return p, false
	}
	for i, root := range out.Roots {
		if root.Node.Place.Kind != Single {
			at := p.Roots[i].Node.Place.Site
			out.Roots[i].Node = &Node{Op: Gather, Site: at, Inputs: []*Node{root.Node}, Place: At(at)}
		}
	}
	if Validate(out) != nil {
		return p, false
	}
	return out, true
}

// place derives where the rows of all nodes lie.
func (p *Plan) place() (err error) {
	for _, n := range p.Nodes() {
		if n.Place, err = derive(n, p.Sites); err != nil {
			return err
		}
	}
	return nil
}

// Everywhere applies the rule to each node at which it fires, inputs first, at most once to each node of the plan as it
// is. It returns how often it has fired.
func (r Rule) Everywhere(p *Plan) (*Plan, int) {
	fired, next := 0, 0
	for next < len(p.Nodes()) {
		out, ok := r.Apply(p, p.Nodes()[next])
		if next++; ok {
			p, fired = out, fired+1
		}
	}
	return p, fired
}

// LogicalRules are R1 rules that the optimizer has: they change what is computed at each site, and know nothing of
// sites.
var LogicalRules = []struct{ Name, Rule, Doc string }{
	{"R1-1", "MergeJoins", "σσ is one σ: always."},
	{"R1-2", "MergeJoins", "λλ is one λ: a Select gives one row for each of its input. Not where a column would be " +
		"computed more often."},
	{"R1-3", "MergeJoins", "λσ is σλ: a Select is both, in this order. A condition above it that reads a computed " +
		"column would compute it, so there the rule does not fire."},
	{"R1-4", "PushAggregateBelowJoin", "λ out of Σ: f(x ⊕ y) = f(x) ⊕ f(y) is asked of f, so ⊕ is a sum and f linear. " +
		"(The form in which f runs once on the finished group is a Select above an Aggregate.)"},
	{"R1-5", "PushSelectBelowAggregate", "σ below Σ: the condition reads columns of the group only."},
	{"R1-6", "PushSelectBelowJoin", "σ below ⋈: the condition reads columns of one input only, joined ones among them."},
	{"R1-7", "MergeJoins", "λ into ⋈: the λ above a join becomes its kernel. Not where a column would be computed more " +
		"often. (The form f(g(x, y)) = g(f(x), f(y)) is no rule yet.)"},
}
