// Package optimizer drives the rewrite rules and lists what they did.
//
// # What
//
// Forward rewrites the query of a loss before it is differentiated, Whole the loss and its gradients, Alone one of these.
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
	Trace   func(rule string, plan *ra.Plan) // called after each rule that fired
}

// maxSteps bounds the number of rewrites of one plan: more means that two rules undo each other.
const maxSteps = 20000

// Forward optimizes a loss before differentiation. It returns the rewritten plan and how often each rule
// fired.
func Forward(b *ra.Builder, p *ra.Plan, opt Options) (*ra.Plan, map[string]int, error) {
	return run(b, p, opt, rules.Forward)
}

// Whole optimizes loss and gradients together.
func Whole(b *ra.Builder, p *ra.Plan, opt Options) (*ra.Plan, map[string]int, error) {
	return run(b, p, opt, rules.Forward, rules.Whole, rules.Final)
}

// Alone optimizes one root once more without the others: what they share need not be kept for them.
func Alone(p *ra.Plan, root int, opt Options) (*ra.Plan, map[string]int, error) {
	return Whole(ra.NewBuilder(p.Nodes()...), &ra.Plan{Roots: p.Roots[root : root+1]}, opt)
}

func run(b *ra.Builder, p *ra.Plan, opt Options, phases ...rules.Phase) (*ra.Plan, map[string]int, error) {
	plan, fired := ra.Clone(p), map[string]int{}
	steps, tried, validate := 0, 0, ra.Validate
	if len(phases) == 1 { // it will be differentiated
		validate = ra.ValidateForward
	}
	for _, ph := range phases {
		var set []rules.Rule
		for _, r := range rules.All() {
			// a whole-plan phase repeats the rules of the forward phase: eliminations open chances
			if (r.Phase == ph || ph == rules.Whole && r.Phase == rules.Forward) && !slices.Contains(opt.Disable, r.Name) {
				set = append(set, r)
			}
		}
		if opt.Shuffle != nil {
			opt.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
		}
		ctx := rules.NewContext(b, plan)
		for again := true; again; {
			again = false
			var order []*ra.Node
			ra.Walk(func(n *ra.Node) { order = append(order, n) }, plan.Nodes()...)
			for _, n := range order {
				try := ctx.Alive(n) && ctx.Try(n)
				for _, r := range set {
					for (try || r.Anywhere) && ctx.Alive(n) {
						if tried++; !r.Apply(ctx, n) {
							break
						}
						try = true
						fired[r.Name]++
						ctx.Changed(n)
						ctx.Update()
						again = ph != rules.Final
						if steps++; steps > maxSteps {
							return nil, nil, fmt.Errorf("optimizer: rules do not come to an end: %v", fired)
						}
						if opt.Trace != nil {
							opt.Trace(r.Name, plan)
						}
						if opt.Verify {
							err := validate(plan.Nodes()...)
							if err == nil {
								err = ctx.Verify()
							}
							if err != nil {
								return nil, nil, fmt.Errorf("optimizer: rule %s: %w", r.Name, err)
							}
						}
						if ph == rules.Final || len(n.Inputs) <= rjp.Wide {
							break
						}
					}
				}
			}
		}
	}
	return plan, fired, nil
}
