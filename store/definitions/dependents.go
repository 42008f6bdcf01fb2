package definitions

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
)

// Dependents lists the views that read a relation, or with col that column, directly or through other views.
func (c *Set) Dependents(k Key, col string) []*catalog.ViewDef {
	var out []*catalog.ViewDef
	for _, v := range c.queries() {
		for _, d := range v.Deps {
			if d.Schema == k.Schema && d.Name == k.Name && d.Col == col && !d.Function {
				out = append(out, v)
				break
			}
		}
	}
	for i := 0; i < len(out); i++ {
		for _, v := range c.dependentsDirect(Key{out[i].Schema, out[i].Name}) {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	slices.SortFunc(out, func(x, y *catalog.ViewDef) int { return strings.Compare(x.Name, y.Name) })
	return out
}

func (c *Set) dependentsDirect(k Key) []*catalog.ViewDef {
	var out []*catalog.ViewDef
	for _, v := range c.queries() {
		if slices.ContainsFunc(v.Deps, func(d catalog.Dep) bool {
			return d.Schema == k.Schema && d.Name == k.Name && !d.Function
		}) {
			out = append(out, v)
		}
	}
	return out
}

// Callers lists the views that call a function, by name.
func (c *Set) Callers(k Key) []Key {
	calls := map[Key]bool{}
	for _, v := range c.queries() {
		if slices.Contains(v.Deps, catalog.Dep{Schema: k.Schema, Name: k.Name, Function: true}) {
			calls[Key{v.Schema, v.Name}] = true
		}
	}
	return SortedKeys(calls, func(Key) bool { return true })
}

// Query finds a view, or the query of a materialized view; nil: there is none.
func (c *Set) Query(k Key) *catalog.ViewDef {
	if t := c.Tables[k]; t != nil {
		return t.Matview
	}
	return c.Views[k]
}

// queries lists views and the queries of materialized views.
func (c *Set) queries() []*catalog.ViewDef {
	var out []*catalog.ViewDef
	for _, v := range c.Views {
		out = append(out, v)
	}
	for _, t := range c.Tables {
		if t.Matview != nil {
			out = append(out, t.Matview)
		}
	}
	return out
}

// Kind is the kind of a view, for messages.
func (c *Set) Kind(v *catalog.ViewDef) string {
	if t := c.Tables[Key{v.Schema, v.Name}]; t != nil {
		return "materialized view"
	}
	return "view"
}
