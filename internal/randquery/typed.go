package randquery

import (
	"fmt"
	"math/rand"
	"strings"
)

// Losses over a server's own types. The oracle knows five kinds of values, a server dozens, in the order of collations
// and under settings: here the server is the oracle. A Typed query says how its database is made, what its session
// sets, and its loss; who runs it compares the engines with the server's value of the loss, and gradients with its
// central differences.

// Typed is a random loss over tables of a server's own types.
type Typed struct {
	Seed     int64
	ICU      bool     // the database's collation is ICU's en-US
	Script   []string // makes the tables: a with the parameter a.x and the number n of its rows, b
	Settings []string // of the session, as SET takes them
	Loss     string
	Uses     map[string]int // types, operations and settings drawn
}

// TypedSetup makes the types and collations of all typed queries in a database.
const TypedSetup = `CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); CREATE TYPE pair AS (a int, b text);
  CREATE TYPE span AS RANGE (subtype = date);
CREATE COLLATION digits (provider = icu, locale = 'en-u-kn-true');
  CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN d_mood AS mood; CREATE DOMAIN d_date AS date CHECK (VALUE > '0100-01-01 BC');
  CREATE DOMAIN d_num AS numeric(8, 2); CREATE DOMAIN d_text AS text COLLATE "C"; CREATE DOMAIN dd_date AS d_date;
DO $$ BEGIN CREATE EXTENSION citext; EXCEPTION WHEN OTHERS THEN CREATE DOMAIN citext AS text; END $$`

// typ is a type of columns.
type typ struct {
	name         string // as declared
	cast         string // in '…'::cast; "" is name
	values       []string
	weight       int
	key          bool // has equality
	order        bool // has an order
	text, number bool
	none         bool // no min, max or greatest
	hard         bool // loss refuses to compare it, or to put it in order
	icu          bool // so in a database whose collation is ICU's
}

// typs are the types. Of their values some are written differently and equal, and the order of the texts is not theirs.
var typs = []typ{
	{name: "mood", values: []string{"sad", "ok", "happy"}, weight: 6, key: true, order: true},
	{name: "d_mood", values: []string{"sad", "ok", "happy"}, weight: 2, key: true, order: true},
	{name: "date", values: []string{"2020-02-01", "2019-12-31", "0044-03-15 BC", "12000-01-01", "infinity", "-infinity",
		"1999-12-31"}, weight: 6, key: true, order: true},
	{name: "d_date", values: []string{"2020-02-01", "2019-12-31", "10000-01-01", "0044-03-15 BC"}, weight: 2,
		key: true, order: true},
	{name: "dd_date", values: []string{"2020-02-01", "2019-12-31", "10000-01-01"}, weight: 1, key: true, order: true},
	{name: "timestamp", values: []string{"2020-02-01 10:00:00", "2020-02-01 09:00:00.5", "0001-01-01 00:00:00 BC",
		"infinity", "-infinity", "12000-05-05 00:00:00", "2020-02-01 00:00:00"}, weight: 4, key: true, order: true},
	{name: "timestamptz", values: []string{"2020-11-01 05:30:00+00", "2020-11-01 06:30:00+00", "2020-11-01 01:30:00-04",
		"1999-01-08 04:05:06+08", "infinity", "-infinity", "2020-03-29 01:00:00+00"}, weight: 6, key: true, order: true},
	{name: "uuid", values: []string{"00000000-0000-0000-0000-000000000001", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
		"a0eebc999c0b4ef8bb6d6bb9bd380a12", "ffffffff-0000-0000-0000-000000000000"}, weight: 4, key: true, order: true},
	{name: "varchar(8)", cast: "varchar", values: []string{"a", "B", "b", "A", "ab", "10", "9", "é", "z ", "", "a\tb"},
		weight: 5, key: true, order: true, text: true, icu: true},
	{name: "text", values: []string{"a", "B", "b", "A", "ab", "10", "9", "é", "z", "", " ", "a b", "a\tb", "日本"},
		weight: 5, key: true, order: true, text: true, icu: true},
	{name: `text COLLATE "C"`, cast: "text", values: []string{"a", "B", "b", "A", "10", "9", "é"}, weight: 2, key: true,
		order: true, text: true},
	{name: `text COLLATE "en-x-icu"`, cast: "text", values: []string{"a", "B", "b", "A", "10", "9", "é"}, weight: 3,
		key: true, order: true, text: true, hard: true},
	{name: "text COLLATE digits", cast: "text", values: []string{"a10", "a9", "B", "b", "10", "9"}, weight: 3, key: true,
		order: true, text: true, hard: true},
	{name: "text COLLATE nocase", cast: "text", values: []string{"a", "A", "B", "b", "c"}, weight: 2, key: true,
		order: true, text: true, hard: true},
	{name: "d_text", values: []string{"a", "B", "b", "10", "9"}, weight: 1, key: true, order: true, text: true},
	{name: "citext", values: []string{"a", "A", "B", "b", "c"}, weight: 3, key: true, order: true, text: true, hard: true},
	{name: "char(4)", cast: "bpchar", values: []string{"a", "ab", "B", "10", "9", "b"}, weight: 4, key: true, order: true,
		text: true, icu: true},
	{name: "name", values: []string{"a", "B", "b", "10", "9"}, weight: 1, key: true, order: true, text: true, none: true},
	{name: `"char"`, values: []string{"a", "B", "b"}, weight: 1, key: true, order: true, none: true, hard: true},
	{name: "inet", values: []string{"10.0.0.1", "9.0.0.0/8", "192.168.0.1/24", "192.168.0.1", "::1", "10.0.0.1/32"},
		weight: 5, key: true, order: true, hard: true},
	{name: "cidr", values: []string{"10.0.0.0/8", "9.0.0.0/8", "10.0.0.0/16", "::/0"}, weight: 2, key: true, order: true,
		none: true, hard: true},
	{name: "macaddr", values: []string{"08:00:2b:01:02:03", "0800.2b01.0204", "00:00:00:00:00:01"}, weight: 1, key: true,
		order: true, none: true},
	{name: "interval", values: []string{"24 hours", "1 day", "30 days", "1 mon", "-1 day", "1 year", "00:00:00", "9 days"},
		weight: 6, key: true, order: true},
	{name: "numeric", values: []string{"1.0", "1.00", "10", "9", "-0.5", "0.1", "12345678901234567890.5",
		"12345678901234567890.50", "1.00000000000000001"}, weight: 5, key: true, order: true, number: true},
	{name: "numeric(8,2)", cast: "numeric", values: []string{"1.0", "1.5", "10", "9", "-0.5", "0.1"}, weight: 3, key: true,
		order: true, number: true},
	{name: "d_num", values: []string{"1.0", "1.5", "10", "9", "-0.5"}, weight: 1, key: true, order: true, number: true},
	{name: "money", values: []string{"10.00", "9.00", "-1.00", "1000.50"}, weight: 3, key: true, order: true, hard: true},
	{name: "time", values: []string{"10:00", "09:00", "24:00:00", "09:00:00.000001"}, weight: 3, key: true, order: true},
	{name: "timetz", values: []string{"10:00+00", "12:00+02", "09:00-05", "10:00+01"}, weight: 3, key: true,
		order: true, hard: true},
	{name: "bit(4)", values: []string{"1010", "0101", "0000"}, weight: 2, key: true, order: true, none: true},
	{name: "varbit", values: []string{"1", "10", "01", ""}, weight: 2, key: true, order: true, none: true},
	{name: "bytea", values: []string{`\x00`, `\xff`, `\x61`, `\x`}, weight: 2, key: true, order: true, none: true},
	{name: "jsonb", values: []string{"1", "10", "9", `"a"`, `{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, "null", "[1, 2]",
		"1.0"}, weight: 4, key: true, order: true, none: true, hard: true},
	{name: "json", values: []string{"1", `{"a": 1}`, "[1, 2]"}, weight: 1},
	{name: "boolean", values: []string{"t", "f"}, weight: 2, key: true, order: true, none: true},
	{name: "bigint", values: []string{"9007199254740993", "9007199254740992", "-1", "10", "9"}, weight: 3, key: true,
		order: true, number: true},
	{name: "smallint", values: []string{"1", "2", "10", "9", "-3"}, weight: 1, key: true, order: true, number: true},
	{name: "oid", values: []string{"4294967295", "1", "10"}, weight: 1, key: true, order: true},
	{name: "int4range", values: []string{"[1,5)", "[1,4]", "empty", "[10,20)", "[9,)"}, weight: 2, key: true, order: true,
		none: true, hard: true},
	{name: "span", values: []string{"[2020-01-01,2020-02-01)", "[2019-12-31,2020-02-01)", "(,)"}, weight: 1, key: true,
		order: true, none: true, hard: true},
	{name: "int[]", values: []string{"{1,10}", "{1,9}", "{}"}, weight: 1, key: true, order: true, hard: true},
	{name: "text[]", values: []string{"{a,B}", "{a,b}", "{10}"}, weight: 1, key: true, order: true, hard: true},
	{name: "pair", values: []string{"(1,a)", "(10,a)", "(9,B)"}, weight: 2, key: true, order: true,
		none: true, hard: true},
	{name: "pg_lsn", values: []string{"16/B374D848", "9/0", "A/0"}, weight: 1, key: true, order: true, hard: true},
	{name: "tsvector", values: []string{"a b", "b a", "c"}, weight: 1, key: true, order: true, none: true, hard: true},
	{name: "point", values: []string{"(1,2)", "(0,0)"}, weight: 1},
}

// typedSettings are what a session sets.
var typedSettings = []string{"DateStyle = 'SQL, DMY'", "DateStyle = 'German, YMD'", "DateStyle = 'German, MDY'",
	"DateStyle = 'Postgres, MDY'", "DateStyle = 'ISO, DMY'", "TimeZone = 'America/New_York'", "TimeZone = 'Asia/Kolkata'",
	"TimeZone = 'Europe/Berlin'", "IntervalStyle = sql_standard", "IntervalStyle = iso_8601",
	"IntervalStyle = postgres_verbose", "bytea_output = escape", "extra_float_digits = -5",
	"quote_all_identifiers = on", "standard_conforming_strings = off", "transform_null_equals = on",
	"enable_hashagg = off", "enable_sort = off", "enable_mergejoin = off", "enable_hashjoin = off",
	"force_parallel_mode = on", "plan_cache_mode = force_custom_plan", "work_mem = '64kB'",
	"search_path = relgrad, public", "search_path = pg_catalog, public, relgrad", "jit = off"}

// col is a value of SQL with its type.
type col struct {
	sql  string
	t    int
	null bool
}

// typedGen draws one typed query.
type typedGen struct {
	r    *rand.Rand
	q    *Typed
	a, b []col // columns of the tables
	n    int   // names
}

// GenerateTyped draws a typed query from its seed.
func GenerateTyped(seed int64) *Typed {
	g := &typedGen{r: rand.New(rand.NewSource(seed)), q: &Typed{Seed: seed, Uses: map[string]int{}}}
	g.q.ICU = seed%2 == 0
	g.tables()
	for range g.r.Intn(4) {
		set := typedSettings[g.r.Intn(len(typedSettings))]
		g.q.Settings = append(g.q.Settings, set)
		g.use("setting " + strings.SplitN(set, " ", 2)[0])
	}
	g.q.Loss = g.loss()
	return g.q
}

func (g *typedGen) use(what string) { g.q.Uses[what]++ }

func (g *typedGen) one(n int) bool { return g.r.Intn(n) == 0 }

func (g *typedGen) name(prefix string) string {
	g.n++
	return fmt.Sprintf("%s%d", prefix, g.n)
}

// typ draws a type that ok accepts.
func (g *typedGen) typ(ok func(t *typ) bool) int {
	sum := 0
	for i := range typs {
		if ok(&typs[i]) {
			sum += typs[i].weight
		}
	}
	at := g.r.Intn(sum)
	for i := range typs {
		if !ok(&typs[i]) {
			continue
		}
		if at -= typs[i].weight; at < 0 {
			return i
		}
	}
	return 0
}

// tables draws a (k, g, h, n, x) and b (id, k, g, h, y): columns of one name have one type, mostly.
func (g *typedGen) tables() {
	any := func(*typ) bool { return true }
	types := []int{g.typ(func(t *typ) bool {
		return t.key && (!t.number || !strings.Contains(t.name, "num") || g.one(8))
	}), g.typ(any), g.typ(any)}
	var cols []string
	for i, name := range []string{"k", "g", "h"} {
		null := i > 0 && g.one(2)
		g.a = append(g.a, col{"a." + name, types[i], null})
		t := types[i]
		if g.one(12) { // another one, that it may be compared with
			t = g.typ(any)
		}
		g.b = append(g.b, col{"b." + name, t, true})
		g.use("type " + typs[types[i]].name)
		cols = append(cols, name+" "+typs[types[i]].name)
	}
	keyed := g.one(8)
	key := "k " + typs[types[0]].name + " PRIMARY KEY"
	if keyed {
		key = cols[0]
	}
	g.q.Script = append(g.q.Script, fmt.Sprintf("CREATE TABLE a (%s, %s, %s, n int%s, x double precision NOT NULL)", key,
		cols[1], cols[2], map[bool]string{true: " PRIMARY KEY", false: " UNIQUE NOT NULL"}[keyed]))
	var bs []string
	for i, name := range []string{"k", "g", "h"} {
		bs = append(bs, name+" "+typs[g.b[i].t].name)
	}
	g.q.Script = append(g.q.Script, "CREATE TABLE b (id int PRIMARY KEY, "+strings.Join(bs, ", ")+", y double precision)")
	for i := range 4 + g.r.Intn(4) {
		g.q.Script = append(g.q.Script, fmt.Sprintf("INSERT INTO a VALUES (%s, %s, %s, %d, %v) ON CONFLICT DO NOTHING",
			g.value(types[0], false), g.value(types[1], g.a[1].null), g.value(types[2], g.a[2].null), i, g.float()))
	}
	for i := range 3 + g.r.Intn(5) {
		g.q.Script = append(g.q.Script, fmt.Sprintf("INSERT INTO b VALUES (%d, %s, %s, %s, %v)", i, g.value(g.b[0].t, true),
			g.value(g.b[1].t, true), g.value(g.b[2].t, true), g.float()))
	}
}

// float draws a number that moves exactly by a small power of two.
func (g *typedGen) float() float64 { return float64(g.r.Intn(128)-64) / 32 }

// value draws a constant of a table.
func (g *typedGen) value(t int, null bool) string {
	if null && g.one(5) {
		return "NULL"
	}
	return "'" + typs[t].values[g.r.Intn(len(typs[t].values))] + "'"
}

// literal draws a constant of a loss: untyped, typed, or cast.
func (g *typedGen) literal(t int) string {
	v := "'" + typs[t].values[g.r.Intn(len(typs[t].values))] + "'"
	if strings.Contains(v, `\`) {
		v = "E" + strings.ReplaceAll(v, `\`, `\\`)
	}
	name := typs[t].cast
	if name == "" {
		name = typs[t].name
	}
	switch {
	case typs[t].number && g.one(2):
		return strings.Trim(v, "'")
	case g.one(3):
		g.use("literal cast")
		return v + "::" + name
	}
	g.use("literal untyped")
	return v
}
