package sqlsite

import (
	"context"
	"fmt"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlgen"
)

// Database is the database beside a site.
type Database interface {
	catalog.Database
	catalog.Pusher
	catalog.Filler
}

// Options are how a site computes.
type Options struct {
	// Prefix begins the names of temporary tables: others in the session have other names.
	Prefix string
	// Parts are those at the site of tables that are spread, by Key.
	Parts map[string][]catalog.Part
	Key   func(t *ra.Table) string
	// Steps says that more than one will be computed.
	Steps bool
	// Snapshot says that all statements see the same state of the tables.
	Snapshot bool
	// Within calls a function in which the database may be asked; nil: it always may.
	Within func(func() error) error
	// Opaque prints sub-queries; nil: there are none at the site.
	Opaque func(ctx context.Context, n *ra.Node, env *kernels.Env) (string, error)
}

// Site is a site's part of a plan.
type Site struct {
	db     Database
	o      Options
	turns  device.Turns
	number int
	sites  int

	exchanges []*exchange
	rest      *query                // the results; nil: they lie elsewhere
	results   []ra.Root             // of the rest
	alias     map[*ra.Node]*ra.Node // of what an exchange brings from the site itself: what it takes
	kept      map[*ra.Node]*keep
	flow      func(n *ra.Node) bool // whether a relation of the plan may be another one at each step
	made      map[*ra.Node]bool     // the same, of relations that the plan does not have
	holds     []string              // conditions that parts at the site are as they were when the loss was planned
	tables    []string              // temporary tables, in order
	creates   []string              // of these, by the statements that make them
	next      ra.ColumnID
	step      int64 // how many have begun
}

// New makes site number of a plan.
func New(plan *physical.Plan, number int, turns device.Turns, db Database, o Options) (*Site, error) {
	f := executor.FragmentOf(plan, number)
	if len(f.Results) != 0 && len(f.Results) != len(plan.Roots) {
		return nil, sqlerr.Broken(room, "%d of %d results lie at site %d", len(f.Results), len(plan.Roots), number)
	}
	s := &Site{db: db, o: o, turns: turns, number: number, sites: plan.Sites, alias: map[*ra.Node]*ra.Node{},
		kept: map[*ra.Node]*keep{}, flow: f.Varies, made: map[*ra.Node]bool{}}
	if s.o.Within == nil {
		s.o.Within = func(g func() error) error { return g() }
	}
	s.next = firstFree(f)
	for i, x := range f.Exchanges {
		s.exchanges = append(s.exchanges, s.exchange(i, x))
	}
	if len(f.Results) > 0 {
		s.results, s.rest = f.Plan.Roots, &query{}
		for _, r := range f.Plan.Roots {
			s.rest.roots = append(s.rest.roots, r.Node)
		}
	}
	for _, n := range f.Nothing {
		s.empty(n)
	}
	if err := s.place(); err != nil {
		return nil, err
	}
	s.share()
	return s, nil
}

const room = "engine/sqlsite"

// firstFree is the first column that no relation of a fragment has.
func firstFree(f *executor.Fragment) (next ra.ColumnID) {
	ra.Walk(func(n *ra.Node) {
		for _, c := range n.Cols {
			next = max(next, c.ID+1)
		}
	}, f.Nodes()...)
	return next
}

// fresh is a column of its own.
func (s *Site) fresh(name string, t kernels.Type) ra.Column {
	s.next++
	return ra.Column{ID: s.next - 1, Name: name, Type: t}
}

// table reads rows of n, with some columns, from a temporary table that is made when the first step begins.
func (s *Site) table(n *ra.Node, ids []ra.ColumnID) (scan *ra.Node, name string) {
	name = fmt.Sprintf("%s%d", s.o.Prefix, len(s.tables)+1)
	scan, create := sqlgen.TempTable(name, n, ids)
	s.tables, s.creates = append(s.tables, name), append(s.creates, create)
	return scan, name
}

// Step runs the exchanges of a step: all in the first one, then those of what may have changed. Behind it the results
// can be computed.
func (s *Site) Step(ctx context.Context, env kernels.Env) error {
	if s.step++; s.step == 1 {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	for _, x := range s.exchanges {
		if s.step > 1 && !x.Varies {
			continue
		}
		if x.Node.Op == physical.Halo && (s.step == 1 || x.PerStep) {
			if err := s.ask(ctx, x, &env); err != nil {
				return err
			}
		}
		if err := s.say(ctx, x, &env); err != nil {
			return err
		}
	}
	if s.rest == nil {
		return nil
	}
	return s.o.Within(func() error { return s.need(ctx, s.rest, &env) })
}

// begin makes the temporary tables, and checks what the plan rests on.
func (s *Site) begin(ctx context.Context) error {
	return s.o.Within(func() error {
		for i, name := range s.tables {
			if err := s.run(ctx, s.db.DropTemp(name), s.creates[i]); err != nil {
				return err
			}
		}
		if !s.o.Snapshot {
			return nil
		}
		for _, cond := range s.holds {
			if err := s.run(ctx, "SELECT WHERE "+cond); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Site) run(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := s.db.RunSQL(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// Rest is the plan of the results, of which all that exchanges bring lies in temporary tables.
func (s *Site) Rest() *ra.Plan {
	out, c := &ra.Plan{}, s.cutter(nil)
	for _, r := range s.results {
		r.Node = c.node(r.Node)
		out.Roots = append(out.Roots, r)
	}
	return out
}

// Holding are conditions that each statement checks which reads tables at the site.
func (s *Site) Holding() []string { return s.holds }

// Drop drops the temporary tables.
func (s *Site) Drop(ctx context.Context) error {
	for _, name := range s.tables {
		if err := s.run(ctx, s.db.DropTemp(name)); err != nil {
			return err
		}
	}
	return nil
}
