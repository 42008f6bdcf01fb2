// Package optimizer drives the rewrite rules and lists what they did.
//
// # What
//
// Forward rewrites the query of a loss before it is differentiated, Whole the loss with its gradients, Alone one root
// of these.
//
// # Invariants
//
// The plan given is not changed; the result computes the same rows of the same columns. Rules are applied
// until none fires; their order within a phase does not matter.
//
// # Errors
//
// A rule that breaks a plan is an internal error that names it (only with Options.Verify).
//
// # Where to add
//
// Rules belong to optimizer/rules.
package optimizer

import (
	"context"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/optimizer/rules"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/rjp"
)

// Options control the optimizer.
type Options struct {
	Disable []string                         // names of rules that are switched off
	Verify  bool                             // validate the plan after each rule
	Shuffle func(n int, swap func(i, j int)) // order of the rules within a phase, for tests; nil: by name
	Trace   func(rule string, plan *ra.Plan) // called after each rule that has fired
	Tried   *int                             // counts how often rules look at nodes; nil: not counted
}

// Limits of rewrites of a plan: beyond them, two rules must be undoing each other.
const (
	maxSteps     = 20000
	stepsPerNode = 50 // and for each input of a node
)

// Forward optimizes a loss before differentiation. It returns the rewritten plan and how often each rule fired.
func Forward(ctx context.Context, b *ra.Builder, p *ra.Plan, opt Options) (*ra.Plan, map[string]int, error) {
	return run(ctx, b, p, opt, rules.Forward)
}

// Whole optimizes loss and gradients together.
func Whole(ctx context.Context, b *ra.Builder, p *ra.Plan, opt Options) (*ra.Plan, map[string]int, error) {
	return run(ctx, b, p, opt, rules.Forward, rules.Whole, rules.Final)
}

// Alone optimizes one root again without the others: parts shared with them need not be kept.
func Alone(ctx context.Context, p *ra.Plan, root int, opt Options) (*ra.Plan, map[string]int, error) {
	return Whole(ctx, ra.NewBuilder(p.Nodes()...), &ra.Plan{Roots: p.Roots[root : root+1]}, opt)
}

// driver applies the rules of one phase after the other to a plan.
type driver struct {
	ctx      context.Context
	b        *ra.Builder
	plan     *ra.Plan
	opt      Options
	validate func(...*ra.Node) error
	most     int // most rewrites: beyond this, two rules must be undoing each other
	steps    int
	fired    map[string]int
}

func run(ctx context.Context, b *ra.Builder, p *ra.Plan, opt Options,
	phases ...rules.Phase) (*ra.Plan, map[string]int, error) {
	d := &driver{ctx: ctx, b: b, plan: ra.Clone(p), opt: opt, validate: ra.Validate, most: maxSteps,
		fired: map[string]int{}}
	if len(phases) == 1 { // the plan will be differentiated
		d.validate = ra.ValidateForward
	}
	ra.Walk(func(n *ra.Node) { d.most += stepsPerNode * (1 + len(n.Inputs)) }, d.plan.Nodes()...)
	for _, ph := range phases {
		if err := d.phase(ph); err != nil {
			return nil, nil, err
		}
	}
	return d.plan, d.fired, nil
}

// rules lists the rules of a phase in the order of trying.
func (d *driver) rules(ph rules.Phase) (set []rules.Rule) {
	for _, r := range rules.All() {
		// the whole-plan phase repeats the forward rules, because its eliminations let some of them fire again
		if (r.Phase == ph || ph == rules.Whole && r.Phase == rules.Forward) && !slices.Contains(d.opt.Disable, r.Name) {
			set = append(set, r)
		}
	}
	if d.opt.Shuffle != nil {
		d.opt.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
	}
	return set
}

// phase walks over the plan until no rule fires.
func (d *driver) phase(ph rules.Phase) error {
	set, known := d.rules(ph), rules.NewContext(d.b, d.plan)
	for again := true; again; {
		again = false
		var order []*ra.Node
		ra.Walk(func(n *ra.Node) { order = append(order, n) }, d.plan.Nodes()...)
		for _, n := range order {
			if err := d.ctx.Err(); err != nil {
				return err
			}
			fired, err := d.node(known, set, n, ph == rules.Final)
			if err != nil {
				return err
			}
			again = again || fired && ph != rules.Final
		}
	}
	if d.opt.Verify && ph != rules.Final {
		return d.settled(set)
	}
	return nil
}

// node tries each rule once on a node. On a node with very many inputs it repeats the rules, because they take one
// input at a time. If once is set, it only tries the rules that need one walk.
func (d *driver) node(known *rules.Context, set []rules.Rule, n *ra.Node, once bool) (any bool, err error) {
	try := known.Alive(n) && known.Try(n)
	for _, r := range set {
		if err := d.ctx.Err(); err != nil { // a node with very many inputs takes long
			return any, err
		}
		for (try || r.Anywhere) && known.Alive(n) {
			if d.opt.Tried != nil {
				*d.opt.Tried++
			}
			if !r.Apply(known, n) {
				break
			}
			try, any = true, true
			known.Changed(n)
			known.Update()
			if err := d.applied(known, r.Name); err != nil {
				return any, err
			}
			if once || len(n.Inputs) <= rjp.Wide {
				break
			}
			if err := d.ctx.Err(); err != nil {
				return any, err
			}
		}
	}
	return any, nil
}

// applied counts a rule that has fired and, under Verify, checks the plan.
func (d *driver) applied(known *rules.Context, rule string) error {
	d.fired[rule]++
	if d.steps++; d.steps > d.most {
		return fmt.Errorf("optimizer: rules do not come to an end: %v", d.fired)
	}
	if d.opt.Trace != nil {
		d.opt.Trace(rule, d.plan)
	}
	if !d.opt.Verify {
		return nil
	}
	err := d.validate(d.plan.Nodes()...)
	if err == nil {
		err = known.Verify()
	}
	if err != nil {
		return fmt.Errorf("optimizer: rule %s: %w", rule, err)
	}
	return nil
}

// settled checks that no rule fires any more, even on nodes below which nothing has changed.
func (d *driver) settled(set []rules.Rule) error {
	plan := ra.Clone(d.plan)
	known := rules.NewContext(d.b, plan)
	var order []*ra.Node
	ra.Walk(func(n *ra.Node) { order = append(order, n) }, plan.Nodes()...)
	for _, n := range order {
		for _, r := range set {
			if r.Apply(known, n) {
				return fmt.Errorf("optimizer: rule %s was not tried on a %v", r.Name, n.Op)
			}
		}
	}
	return nil
}
