package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlgen"
)

// On a server with the portable tier (package migrations) there is no engine behind gradient(). The texts of a loss and
// its gradient are compiled from outside and stored together with what they depend on.

// dependency is a row of relgrad.compiled.definitions: an object from which a text was made, and its description by
// relgrad.impl_describe at that time.
type dependency struct {
	Kind   string          `json:"kind"` // relation, function, setting, query or scalar
	Name   string          `json:"name"` // or the text of a query
	Names  []string        `json:"names"`
	Arrays []bool          `json:"arrays"` // of a query: which columns are arrays
	OID    string          `json:"oid,omitempty"`
	Was    json.RawMessage `json:"was"`
}

// portable makes texts that run without an engine.
type portable struct{ *Engine }

// CompileText makes the SQL texts of a loss and of its gradient by a parameter (table or table.column). It stores them
// in relgrad.compiled, in the open transaction, where gradient() and backward() of the portable tier find them. Its
// errors are those of Gradient, and a server without the portable tier.
func (db *Engine) CompileText(ctx context.Context, loss, param string) error {
	return portable{db}.compile(ctx, loss, param)
}

func (s portable) compile(ctx context.Context, loss, param string) error {
	found, err := s.RunSQL(ctx, "SELECT to_regclass('relgrad.compiled') IS NOT NULL")
	if err != nil {
		return err
	}
	if found.Rows[0][0] != true {
		return sqlerr.New(sqlerr.ObjectNotPrereqState, "this server does not have relgrad's portable tier").
			WithHint("relgrad pg install --db DSN installs it. With the extension gradients need no compilation.")
	}
	var c *Compiled
	s.Catalogue.literals = false
	names, settings, err := s.Catalogue.Notes(func() error {
		c, err = s.Plan(ctx, Request{Loss: loss, Params: []string{param}, Draw: true})
		return err
	})
	if err != nil {
		return Plain(err)
	}
	if s.Catalogue.literals { // settings decided what literals mean
		for _, name := range []string{"DateStyle", "IntervalStyle", "TimeZone", "lc_monetary"} {
			settings[name] = ""
		}
	}
	// texts of values are valid only under the settings by which they read back
	if slices.ContainsFunc(slices.Collect(maps.Values(c.query.Scans)), carriesLoose) {
		settings["DateStyle"], settings["extra_float_digits"] = "", ""
	}
	ref, _, err := bind.ParseParam(ctx, s.Catalogue, param)
	if err != nil {
		return Plain(err)
	}
	value, gradient, err := s.texts(ctx, c)
	if err != nil {
		return Plain(err)
	}
	path, _ := s.Setting("search_path")
	list, err := s.dependencies(ctx, c, names, settings, path)
	if err != nil {
		return err
	}
	definitions, err := json.Marshal(list)
	if err != nil {
		return err
	}
	_, err = s.RunSQL(ctx, fmt.Sprintf(`INSERT INTO relgrad.compiled (loss, param, "column", path, draws, value, gradient,
  definitions)
VALUES (relgrad.impl_loss(%s), %s, %s, %s, %t, %s, %s, %s)
ON CONFLICT (owner, loss, param, "column") DO UPDATE SET path = excluded.path, draws = excluded.draws,
  value = excluded.value, gradient = excluded.gradient, definitions = excluded.definitions, at = excluded.at`,
		sqltext.Text(loss), sqltext.Text(fullName(c.Tables[0].Schema, c.Tables[0].Name)), sqltext.Text(ref.Column),
		sqltext.Text(path), c.query.Draws, sqltext.Text(value), sqltext.Text(gradient),
		sqltext.Text(string(definitions))))
	return err
}

// carriesLoose reports whether a scan reads values whose texts depend on settings.
func carriesLoose(n *ra.Node) bool {
	return slices.ContainsFunc(n.Cols, func(c ra.Column) bool { return c.Type.Of != nil && c.Type.Of.Loose })
}

// texts prints the loss and its gradient by the first parameter, as queries for any step and seed.
func (s portable) texts(ctx context.Context, c *Compiled) (value, gradient string, err error) {
	folded, err := s.Folded(ctx, c)
	if err != nil {
		return "", "", err
	}
	// impl_changed checks the same before a text runs, though in backward() with an earlier snapshot
	o := sqlgen.Options{Typed: true, Inexact: s.Database.(catalog.Pusher).Inexact(),
		Holds: append(s.Holding(c), folded...), Seed: "relgrad.current_seed()", Step: "relgrad.current_step()",
		Epoch:  "relgrad.current_epoch()",
		Opaque: func(n *ra.Node) (string, error) { return s.Subquery(ctx, n) }}
	if value, err = rootSQL(ctx, c.Res.Plan, 0, s.Dialect(), o); err != nil {
		return "", "", err
	}
	text, err := rootSQL(ctx, c.Res.Plan, 1, s.Dialect(), o)
	if err != nil {
		return "", "", err
	}
	t := c.Tables[0]
	gradient, err = s.Database.(catalog.Presenter).
		PresentQuery(s.named(c, 0, s.guarded(c, text)), fullName(t.Schema, t.Name))
	return value, gradient, err
}

// guarded makes the text of a gradient raise an error where an element is not finite, since nobody checks its rows.
func (s portable) guarded(c *Compiled, text string) string {
	root, t, d := c.Res.Plan.Roots[1], c.Tables[0], s.Dialect()
	var items, key []string
	for j, k := range c.Res.Cols[0] {
		if name := d.Ident(root.Node.Col(root.Cols[j]).Name); k >= 0 && slices.Contains(t.Key, k) {
			value := "f." + name
			if t.Cols[k].Type.Kind == kernels.Text {
				value = "pg_catalog.quote_literal(" + value + ")"
			}
			key = append(key, sqltext.Text(t.Cols[k].Name+" = ")+", "+value)
		}
	}
	place := "''"
	if len(key) > 0 {
		place = "pg_catalog.concat(', key (', " + strings.Join(key, ", ', ', ") + ", ')')"
	}
	for j, k := range c.Res.Cols[0] {
		col := root.Node.Col(root.Cols[j])
		item := "f." + d.Ident(col.Name)
		if k >= 0 && slices.Contains(c.Cols[0], k) {
			item = fmt.Sprintf("CASE WHEN relgrad.impl_finite(%s) THEN %s ELSE relgrad.impl_not_finite(%s, %s) END AS %s", item,
				d.Output(col.Type, item), item,
				"pg_catalog.concat("+sqltext.Text("parameter "+t.Name+"."+t.Cols[k].Name)+", "+place+")", d.Ident(col.Name))
			if col.Type.IsChunk() && col.Type.Kind == kernels.Float32 {
				item = strings.Replace(item, ") END AS ", ")::real[] END AS ", 1)
			}
		}
		items = append(items, item)
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM (\n" + strings.TrimRight(text, "\n") + "\n" + d.Fence() +
		") AS f"
}

// dependencies describes all that the plan was made from.
func (s portable) dependencies(ctx context.Context, c *Compiled, names map[Lookup]Object, settings map[string]string,
	path string) ([]dependency, error) {
	var list []dependency
	for _, o := range names {
		switch {
		case o.view != nil:
			list = append(list, dependency{Kind: "relation", Name: fullName(o.view.Schema, o.view.Name)})
		case o.Table != "":
			list = append(list, dependency{Kind: "relation", Name: fullName(o.Schema, o.Table)})
		case o.function != nil:
			list = append(list, dependency{Kind: "function", Name: fullName(o.function.Schema, o.function.Name)})
		}
	}
	for name := range settings {
		list = append(list, dependency{Kind: "setting", Name: name})
	}
	for _, n := range bind.Opaques(c.Res.Plan.Nodes()...) {
		d, q := dependency{Kind: "query"}, n.Query.(*bind.OpaqueQuery)
		if q.Scalar {
			d.Kind = "scalar"
		}
		text, err := s.Catalogue.db.Native(ctx, q.Select, q.Text)
		if err != nil {
			return nil, err
		}
		d.Name = text
		for i := range q.Types {
			d.Names, d.Arrays = append(d.Names, n.Cols[i].Name), append(d.Arrays, n.Cols[i].Type.Shape != nil)
		}
		list = append(list, d)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Kind+"\x00"+list[i].Name < list[j].Kind+"\x00"+list[j].Name })
	list = slices.CompactFunc(list, func(a, b dependency) bool { return a.Kind == b.Kind && a.Name == b.Name })
	for i := range list {
		if err := s.describe(ctx, &list[i], path); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// describe asks the server for its present description of a dependency.
func (s portable) describe(ctx context.Context, d *dependency, path string) error {
	if d.Names == nil {
		d.Names, d.Arrays = []string{}, []bool{}
	}
	names := lists.Map(d.Names, sqltext.Text)
	oid := "''"
	if d.Kind == "relation" {
		oid = "to_regclass(" + sqltext.Text(d.Name) + ")::pg_catalog.oid::pg_catalog.text"
	}
	res, err := s.RunSQL(ctx,
		fmt.Sprintf("SELECT relgrad.impl_describe(%s, %s, %s, ARRAY[%s]::pg_catalog.text[], '{%s}')::pg_catalog.text, %s",
			sqltext.Text(d.Kind), sqltext.Text(d.Name), sqltext.Text(path),
			strings.Join(names, ", "), strings.Trim(strings.ReplaceAll(fmt.Sprint(d.Arrays), " ", ","), "[]"), oid))
	if err != nil {
		return err
	}
	was, ok := res.Rows[0][0].(string)
	if !ok {
		return sqlerr.New(sqlerr.Internal, "internal error: %s %s, which the loss reads, has no description", d.Kind, d.Name)
	}
	d.Was, d.OID = json.RawMessage(was), res.Rows[0][1].(string)
	return nil
}

// fullName is a quoted name with its schema.
func fullName(schema, name string) string {
	d := sqlgen.Postgres{}
	return d.Table(&ra.Table{Schema: schema, Name: name})
}
