package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine/sqlsite"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/encoded"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlgen"
)

// Where databases compute a loss of which tables lie at several servers, each computes what its rows give. What is left
// for this session's is a plan over tables that are all here.

// Queries are the statements of a loss at the servers where its tables lie.
type Queries struct {
	*leading
	db     *pusher
	site   *sqlsite.Site
	spread *spread
	Res    *optimizer.Result // the loss, of which the plan is what is left
	over   bool              // it computes nothing more
}

// Queries has the servers ready where the tables of a loss lie; nil: all are here. steps: it is for a training run.
func (db *pusher) Queries(ctx context.Context, c *Compiled, steps bool) (q *Queries, err error) {
	if err := db.guard(c, false); err != nil {
		return nil, err
	}
	if err := db.sweep(ctx); err != nil {
		return nil, err
	}
	s, found, err := db.choose(ctx, c)
	if s == nil || err != nil {
		return nil, err
	}
	q = &Queries{leading: db.leads(s), db: db, spread: s}
	defer func() {
		if err != nil {
			q.Close()
			q = nil
		}
	}()
	for _, server := range s.servers {
		line, err := db.Database.(catalog.Parted).OpenLine(ctx, server)
		if err != nil {
			return q, err
		}
		q.lines = append(q.lines, line)
	}
	texts, err := q.openings(found.Plan, s, opening{SQL: true, Steps: steps})
	if err != nil {
		return q, err
	}
	if _, err = q.do(ctx, texts, func(ctx context.Context) (err error) {
		q.site, err = sqlsite.New(found.Plan, 0, q.conductor, db.Database.(sqlsite.Database), sqlsite.Options{
			Prefix: prefix(q.number), Parts: s.at(0), Key: tableKey, Steps: steps, Opaque: db.RowsText})
		return err
	}); err != nil {
		return q, err
	}
	c.placed = found
	*db.left = append(*db.left, q)
	rest := *c.Res
	rest.Plan, q.Res, c.queries = q.site.Rest(), &rest, q
	return q, nil
}

// explainQueries prints what each server would run for a loss of which tables lie at several; "": all are here.
func (db *pusher) explainQueries(ctx context.Context, c *Compiled) (string, error) {
	s, found, err := db.choose(ctx, c)
	if s == nil || err != nil {
		return "", err
	}
	var b strings.Builder
	opaque := func(n *ra.Node) (string, error) { return db.Catalogue.print(ctx, n) }
	for n := range found.Plan.Sites {
		where := "this server"
		if n > 0 {
			where = "server " + s.servers[n-1]
		}
		site, err := sqlsite.New(found.Plan, n, nil, db.Database.(sqlsite.Database), sqlsite.Options{Prefix: prefix(0),
			Parts: s.at(n), Key: tableKey, Steps: true, Snapshot: n > 0,
			Opaque: func(_ context.Context, n *ra.Node, _ *kernels.Env) (string, error) { return opaque(n) }})
		if err != nil {
			return "", err
		}
		text, err := site.Explain(ctx, kernels.Env{})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "-- at %s\n%s", where, text)
		rest := site.Rest()
		for i, r := range rest.Roots {
			text, err := sqlgen.SQL(rest, i, db.Dialect(), sqlgen.Options{Opaque: opaque})
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "-- %s\n%s;\n", rootName(i, r), strings.TrimRight(text, "\n"))
		}
	}
	return b.String(), nil
}

// prefix begins the names of a program's temporary tables.
func prefix(number uint64) string { return fmt.Sprintf("relgrad_site%d_", number) }

// stepOrder is a command for the databases of a program.
type stepOrder struct {
	Env    kernels.Env
	Counts bool // nothing is computed: what exchanges have moved is told
}

// Step runs what a step computes at several servers. Behind it the plan that is left can be computed.
func (q *Queries) Step(ctx context.Context, env kernels.Env) error {
	if err := q.db.Draw(env); err != nil { // sub-queries at this server may read the step
		return err
	}
	text, err := encoded.Append(nil, stepOrder{Env: env}, nil)
	if err == nil {
		_, err = q.leading.Do(ctx, text, func(ctx context.Context) error { return q.site.Step(ctx, env) })
	}
	return err
}

// exchanged tells what the last step has moved.
func (q *Queries) exchanged(ctx context.Context) ([]executor.Exchanged, error) {
	text, err := encoded.Append(nil, stepOrder{Counts: true}, nil)
	if err != nil {
		return nil, err
	}
	replies, err := q.leading.Do(ctx, text, func(context.Context) error { return nil })
	if err != nil {
		return nil, err
	}
	counts := [][]sqlsite.Count{q.site.Counts()}
	for i, r := range replies[1:] {
		var c []sqlsite.Count
		if _, err := encoded.Read(r, &c, nil); err != nil {
			return nil, err
		}
		if len(c) != len(counts[0]) {
			return nil, sqlerr.Broken("engine", "site %d has counted %d exchanges of %d", i+1, len(c), len(counts[0]))
		}
		counts = append(counts, c)
	}
	return q.site.Exchanged(counts), nil
}

// analyzeQueries runs some steps of a loss of which tables lie at several servers, and tells what they move; "": all
// tables are here.
func (db *pusher) analyzeQueries(ctx context.Context, c *Compiled, step int64) (string, error) {
	q, err := db.Queries(ctx, c, true)
	if q == nil || err != nil {
		return "", err
	}
	begin := time.Now()
	for i := range int64(analyzeSteps) {
		if err := q.Step(ctx, kernels.Env{Step: step + i, Epoch: step + i}); err != nil {
			return "", errors.Join(err, q.Drop(ctx))
		}
	}
	each := time.Since(begin) / analyzeSteps
	list, err := q.exchanged(ctx)
	if err != nil {
		return "", errors.Join(err, q.Drop(ctx))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%sa step of the databases, until what is left can be computed here, takes %v on average of %d\n",
		q.spread, each, analyzeSteps)
	for _, x := range list {
		b.WriteString(x.String() + "\n")
	}
	return b.String(), q.Drop(ctx)
}

// Close ends the sessions at servers. The temporary tables of this session stay until others are made, or Drop.
func (q *Queries) Close() {
	q.leading.Close()
	q.lines, q.over = nil, true
}

// Drop is Close, and drops the temporary tables.
func (q *Queries) Drop(ctx context.Context) error {
	q.Close()
	return q.db.sweep(ctx)
}

// sweep drops the temporary tables of those that compute nothing more.
func (db *pusher) sweep(ctx context.Context) error {
	for i, q := range slices.Backward(*db.left) {
		if !q.over {
			continue
		}
		if err := q.site.Drop(ctx); err != nil {
			return err
		}
		*db.left = slices.Delete(*db.left, i, i+1)
	}
	return nil
}

// holding are the conditions that hold for tables of which parts are elsewhere, as far as this server can tell.
func (q *Queries) holding(t *ra.Table) (conds []string, spread bool) {
	if q.spread.parts[tableKey(t)] == nil {
		return nil, false
	}
	rows := *t
	rows.Cols = nil
	if text := q.db.Database.(catalog.Pusher).Planned(&rows); text != "" {
		conds = append(conds, q.db.Database.(catalog.Pusher).HasChanged(text))
	}
	return conds, true
}

// siteQueries are the statements of a site that another one leads.
type siteQueries struct{ *sqlsite.Site }

// queries opens them.
func (p *member) queries(plan *physical.Plan, o opening) error {
	db, ok := p.db.Database.(sqlsite.Database)
	if !ok {
		return sqlerr.New(sqlerr.FeatureNotSupported, "this database computes no gradients itself")
	}
	return p.Within(func() error {
		site, err := sqlsite.New(plan, o.Site, p, db, sqlsite.Options{Prefix: prefix(0), Parts: o.Parts, Key: tableKey,
			Steps: o.Steps, Snapshot: true, Within: p.Within})
		if err == nil {
			p.program = &siteQueries{site}
		}
		return err
	})
}

// Obey implements obedient.
func (q *siteQueries) Obey(ctx context.Context, command []byte) ([]byte, error) {
	var o stepOrder
	if _, err := encoded.Read(command, &o, nil); err != nil {
		return nil, err
	}
	if o.Counts {
		return encoded.Append(nil, q.Counts(), nil)
	}
	return nil, q.Step(ctx, o.Env)
}

// Close implements obedient: the tables end with the session.
func (q *siteQueries) Close() {}
