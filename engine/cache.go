package engine

import (
	"context"
	"slices"
	"strconv"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// planCache keeps compiled losses, with their structure, between the calls of a session, so that gradient() in a loop
// only reads values again. An entry is valid while the definitions, keys and attributes of all tables that it reads
// stay the same. New values of parameters are reloaded.
type planCache struct{ entries []*cached }

type cached struct {
	c        *Compiled
	key      string
	view     *catalog.ViewDef // definition of the view, if it is a view's program
	versions map[*ra.Table]catalog.Version
	settings map[string]string
	names    map[Lookup]Object
	memory   int64 // the budget for which the program was made
}

// maxCached bounds the compiled losses of a session. The oldest is dropped first.
const maxCached = 24

func (p *planCache) clear() {
	for _, e := range p.entries {
		e.close()
	}
	p.entries = nil
}

// key identifies a compiled loss. It includes settings, since what a text means depends on them.
func (db *compiler) key(r Request) string {
	limits, _ := db.Setting("relgrad.server_limits")
	k := db.Meaning() + "\x00" + r.Loss + "\x00" + strconv.Itoa(db.sites()) + "\x00" + db.deviceName() + "\x00" + limits
	for _, p := range r.Params {
		k += "\x00" + p
	}
	return k
}

func (p *planCache) find(key string) *cached {
	for _, e := range p.entries {
		if e.key == key {
			return e
		}
	}
	return nil
}

func (p *planCache) drop(e *cached) {
	for i := range p.entries {
		if p.entries[i] == e {
			e.close()
			p.entries = append(p.entries[:i:i], p.entries[i+1:]...)
			return
		}
	}
}

func (e *cached) close() {
	if e.c.Prog != nil {
		e.c.Prog.Close()
	}
}

// kept returns a compiled loss for a call of gradient() or backward(), if possible from the cache.
func (db *compiler) kept(ctx context.Context, r Request) (*Compiled, error) {
	db.Refresh()
	if e := db.cache.find(db.key(r)); e != nil {
		if db.fresh(ctx, e) {
			return e.c, nil
		}
		db.cache.drop(e)
	}
	e := &cached{key: db.key(r)}
	var err error
	e.names, e.settings, err = db.Catalogue.Notes(func() error {
		e.c, err = db.Compile(ctx, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := db.remember(e); err != nil {
		e.close()
		return nil, err
	}
	return e.c, nil
}

// remember adds a compiled query to the cache, with the versions of the tables that it reads. An entry without a
// program means that the engine does not run the query while these tables stay the same.
func (db *compiler) remember(e *cached) error {
	e.versions, e.memory = map[*ra.Table]catalog.Version{}, db.memory()
	var err error
	note := func(t *ra.Table) {
		v, verr := db.Version(t.Schema, t.Name)
		if e.versions[t] = v; verr != nil {
			err = verr
		}
	}
	if c := e.c; c.Prog != nil {
		ra.Walk(func(n *ra.Node) {
			if n.Op == ra.Scan {
				note(n.Table)
			}
		}, c.Res.Plan.Nodes()...)
		if len(bind.Opaques(c.Res.Plan.Nodes()...)) > 0 { // it reads tables that we do not know
			e.key = ""
		}
	} else {
		for _, o := range e.names {
			if o.Table != "" {
				note(&ra.Table{Schema: o.Schema, Name: o.Table})
			}
		}
	}
	if err != nil {
		return err
	}
	db.cache.entries = append(db.cache.entries, e)
	if len(db.cache.entries) > maxCached {
		db.cache.entries[0].close()
		db.cache.entries = db.cache.entries[1:]
	}
	return nil
}

// fresh updates an entry. It returns false if the query must be compiled again.
func (db *compiler) fresh(ctx context.Context, e *cached) bool {
	if e.memory != db.memory() || db.Moved(e.names, e.settings) || e.c.Prog.Ended() {
		return false
	}
	for t, old := range e.versions {
		now, err := db.Version(t.Schema, t.Name)
		switch {
		case err != nil, now.Keys != old.Keys:
			return false
		case now.Values == old.Values:
			continue
		case e.c.Prog == nil: // the number of rows may have grown meanwhile
			return false
		}
		def := db.Definition(t.Schema, t.Name)
		for i, col := range t.Cols {
			if !col.Type.Shape.Equal(def.Cols[i].Shape) {
				return false
			}
			if !col.IsValue() || col.NoType != "" || IsKey(t, i) {
				continue
			}
			q := e.c.Prog.Param(t, i)
			if q == nil { // not a parameter: it is computed once per run
				return false
			}
			nulls := slices.Clone(q.Valid)
			if err := e.c.Prog.Reload(ctx, t, i); err != nil || !slices.Equal(nulls, q.Valid) { // NULLs are structure
				return false
			}
		}
		e.versions[t] = now
	}
	return true
}

// Moved reports whether a name or setting has another meaning than when a query was compiled.
func (db *compiler) Moved(names map[Lookup]Object, settings map[string]string) bool {
	for l, o := range names {
		if db.Catalogue.Resolve(l) != o {
			return true
		}
	}
	for name, v := range settings {
		if now, _ := db.Setting(name); now != v {
			return true
		}
	}
	return false
}

// KeptView returns the program of a view, from the cache or made from its plan. ok is false where the engine does not
// run the view, which the cache remembers too.
func (db *compiler) KeptView(ctx context.Context, v *catalog.ViewDef, plan func() (*ra.Plan, error)) (*executor.Program,
	bool) {
	key := "\x00view " + v.Schema + "." + v.Name
	if e := db.cache.find(key); e != nil {
		if e.view == v && db.fresh(ctx, e) {
			return e.c.Prog, e.c.Prog != nil
		}
		db.cache.drop(e)
	}
	c := &Compiled{}
	e := &cached{key: key, c: c, view: v}
	var err error
	e.names, e.settings, err = db.Catalogue.Notes(func() error {
		p, err := plan()
		if err == nil && p != nil {
			c.Res = &optimizer.Result{Plan: p}
			c.Prog, err = executor.Compile(ctx, p, db.Catalogue, db.options(nil))
		}
		return err
	})
	if err != nil {
		c.Prog = nil
	}
	if err := db.remember(e); err != nil {
		return nil, false
	}
	return c.Prog, c.Prog != nil
}
