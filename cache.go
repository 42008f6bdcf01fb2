package relgrad

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// planCache keeps compiled losses between the calls of a session, with their structure: gradient() in a loop
// reads values again, nothing else. An entry holds as long as definitions, keys and attributes of every
// table it reads stand; new values of parameters are reloaded.
type planCache struct{ entries []*cached }

type cached struct {
	c        *compiled
	key      string
	view     *catalog.ViewDef // of a view's program: its definition
	versions map[*ra.Table]catalog.Version
	settings map[string]string
	names    map[lookup]object
	memory   int64 // the budget that the program was made for
}

// cachedShare of the memory is what compiled losses may hold that are not in use.
const cachedShare = 4

// makeRoom closes the programs that have been kept longest until the others hold no more than their share of the
// memory, and returns what these hold besides the one that is in use.
func (db *Engine) makeRoom(inUse *executor.Program) (bytes int64) {
	var others []*cached
	for _, e := range db.cache.entries {
		if e.c.prog != nil && e.c.prog != inUse {
			bytes += e.c.prog.Holds()
			others = append(others, e)
		}
	}
	for budget := db.memory(); budget > 0 && bytes > budget/cachedShare; others = others[1:] {
		bytes -= others[0].c.prog.Holds()
		db.cache.drop(others[0])
	}
	return bytes
}

// maxCached bounds the compiled losses of a session; the oldest goes first.
const maxCached = 24

func (p *planCache) clear() {
	for _, e := range p.entries {
		e.close()
	}
	p.entries = nil
}

// key tells compiled losses apart. What a text means depends on the session's settings.
func (db *Engine) key(r request) string {
	k := db.Meaning() + "\x00" + r.loss
	for _, p := range r.params {
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
	if e.c.prog != nil {
		e.c.prog.Close()
	}
}

// session returns a compiled loss for a call of gradient() or backward(), from the cache where it can.
func (db *Engine) session(ctx context.Context, r request) (*compiled, error) {
	db.Refresh()
	if e := db.cache.find(db.key(r)); e != nil {
		if db.fresh(ctx, e) {
			return e.c, nil
		}
		db.cache.drop(e)
	}
	e := &cached{key: db.key(r)}
	var err error
	e.names, e.settings, err = db.cat.notes(func() error {
		e.c, err = db.compile(ctx, r)
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

// remember puts a compiled query into the cache, with the versions of what it reads. An entry without a
// program says that the engine does not run the query as long as the tables that were looked up stay as they are.
func (db *Engine) remember(e *cached) error {
	e.versions, e.memory = map[*ra.Table]catalog.Version{}, db.memory()
	var err error
	note := func(t *ra.Table) {
		v, verr := db.Version(t.Schema, t.Name)
		if e.versions[t] = v; verr != nil {
			err = verr
		}
	}
	if c := e.c; c.prog != nil {
		ra.Walk(func(n *ra.Node) {
			if n.Op == ra.Scan {
				note(n.Table)
			}
		}, c.res.Plan.Nodes()...)
		if len(bind.Opaques(c.res.Plan.Nodes()...)) > 0 { // reads tables that we do not know of
			e.key = ""
		}
	} else {
		for _, o := range e.names {
			if o.table != "" {
				note(&ra.Table{Schema: o.schema, Name: o.table})
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

// fresh brings an entry up to date, or reports that it must be compiled again.
func (db *Engine) fresh(ctx context.Context, e *cached) bool {
	if e.memory != db.memory() {
		return false
	}
	for l, o := range e.names {
		if db.cat.resolve(l) != o {
			return false
		}
	}
	for name, v := range e.settings {
		if now, _ := db.Setting(name); now != v {
			return false
		}
	}
	for t, old := range e.versions {
		now, err := db.Version(t.Schema, t.Name)
		switch {
		case err != nil:
			return false
		case now.Keys != old.Keys:
			return false
		case now.Values == old.Values:
			continue
		case e.c.prog == nil: // there may be many rows by now
			return false
		}
		def := db.Definition(t.Schema, t.Name)
		for i, col := range t.Cols {
			if !col.Type.Shape.Equal(def.Cols[i].Shape) {
				return false
			}
			if !col.IsValue() || col.NoType != "" || isKey(t, i) {
				continue
			}
			q := e.c.prog.Param(t, i)
			if q == nil { // a value that is no parameter: computed once per run
				return false
			}
			nulls := slices.Clone(q.Valid)
			if err := e.c.prog.Reload(ctx, t, i); err != nil || !slices.Equal(nulls, q.Valid) { // NULLs are structure
				return false
			}
		}
		e.versions[t] = now
	}
	return true
}
