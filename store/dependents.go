package store

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
)

// dependents lists the views that read a relation (or, with col, that column), also through other views.
func (c *definitions) dependents(k objectKey, col string) []*catalog.ViewDef {
	var out []*catalog.ViewDef
	for _, v := range c.queries() {
		for _, d := range v.Deps {
			if d.Schema == k.schema && d.Name == k.name && d.Col == col && !d.Function {
				out = append(out, v)
				break
			}
		}
	}
	for i := 0; i < len(out); i++ {
		for _, v := range c.dependentsDirect(objectKey{out[i].Schema, out[i].Name}) {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	slices.SortFunc(out, func(x, y *catalog.ViewDef) int { return strings.Compare(x.Name, y.Name) })
	return out
}

func (c *definitions) dependentsDirect(k objectKey) []*catalog.ViewDef {
	var out []*catalog.ViewDef
	for _, v := range c.queries() {
		if slices.ContainsFunc(v.Deps, func(d catalog.Dep) bool {
			return d.Schema == k.schema && d.Name == k.name &&
				!d.Function
		}) {
			out = append(out, v)
		}
	}
	return out
}

// callers lists the views that call a function, by name.
func (c *definitions) callers(k objectKey) []objectKey {
	calls := map[objectKey]bool{}
	for _, v := range c.queries() {
		if slices.Contains(v.Deps, catalog.Dep{Schema: k.schema, Name: k.name, Function: true}) {
			calls[objectKey{v.Schema, v.Name}] = true
		}
	}
	return keysOf(calls, func(objectKey) bool { return true })
}

// query finds a view or the query of a materialized view, nil for none.
func (c *definitions) query(k objectKey) *catalog.ViewDef {
	if t := c.tables[k]; t != nil {
		return t.Matview
	}
	return c.views[k]
}

// queries lists what is kept as a view: views and materialized views.
func (c *definitions) queries() []*catalog.ViewDef {
	var out []*catalog.ViewDef
	for _, v := range c.views {
		out = append(out, v)
	}
	for _, t := range c.tables {
		if t.Matview != nil {
			out = append(out, t.Matview)
		}
	}
	return out
}

// kind names what a view is in messages.
func (c *definitions) kind(v *catalog.ViewDef) string {
	if t := c.tables[objectKey{v.Schema, v.Name}]; t != nil {
		return "materialized view"
	}
	return "view"
}
