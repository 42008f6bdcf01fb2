package session

import (
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// textForms are Postgres's own types whose values a loss can compare, by the names that format_type gives.
var textForms = map[string]kernels.Named{
	"text": {}, "character varying": {}, "name": {}, "bpchar": {}, // comparable as their collation says: see collated
	"uuid": {}, "macaddr": {}, "macaddr8": {}, "time without time zone": {}, `"bit"`: {}, "bit varying": {},
	"bytea": {NoText: "the text of a bytea follows bytea_output",
		Read: own.Replace(`(E'\\x' || pg_catalog.encode($, 'hex'))`)},
	"date":                        {Read: dateText, Keyed: true},
	"timestamp without time zone": {Read: timeText("$", ""), Keyed: true},
	"timestamp with time zone": {Read: timeText("(pg_catalog.timezone('UTC', $))", "+00"), Keyed: true,
		NoText: "the text of a timestamp with time zone follows the session's TimeZone"},
	"interval": {Read: intervalText, Keyed: true, ByKey: true,
		NoText: "the text of an interval follows the session's IntervalStyle"},
	// equal values have equal texts, but the texts are in another order
	"inet": unordered("inet"), "cidr": unordered("cidr"), "time with time zone": unordered("time with time zone"),
	"pg_lsn": unordered("pg_lsn"), "int4range": unordered("int4range"), "int8range": unordered("int8range"),
}

func unordered(name string) kernels.Named {
	return kernels.Named{Order: "values of type " + name + " cannot be put in order in a loss"}
}

// carried is a type whose values a loss can only pass on.
func carried(name string) *kernels.Named {
	why := "values of type " + name + " cannot be compared in a loss"
	return &kernels.Named{Name: name, Equal: why, Order: why,
		NoText: "values of type " + name + " cannot be cast to text in a loss"}
}

// own qualifies the operators in SQL of our own, because a schema on the search path may have operators of the same
// names.
var own = strings.NewReplacer(" || ", " OPERATOR(pg_catalog.||) ", " - ", " OPERATOR(pg_catalog.-) ", " + ",
	" OPERATOR(pg_catalog.+) ", " * ", " OPERATOR(pg_catalog.*) ", " < ", " OPERATOR(pg_catalog.<) ", " > ",
	" OPERATOR(pg_catalog.>) ", " >= ", " OPERATOR(pg_catalog.>=) ", " = ", " OPERATOR(pg_catalog.=) ")

// farDay is SQL for the key of a day outside the years 1 to 9999; see kernels.EarlyKey.
func farDay(early, day string) string {
	key := kernels.LateKey
	if early != "" {
		key = kernels.EarlyKey
	}
	return "'" + key + "' || pg_catalog.lpad(((" + day + " - '0001-01-01'::pg_catalog.date)::pg_catalog.int8 + " +
		strconv.Itoa(kernels.FarDays) +
		")::pg_catalog.text, 10, '0')"
}

// eras is SQL for the text of a day or time x: text itself in the years 1 to 9999, otherwise after a key that sorts it
// before or after these.
func eras(x, day, time, text string) string {
	return own.Replace("CASE WHEN NOT pg_catalog.isfinite(" + x + ") THEN " + x + "::pg_catalog.text" +
		" WHEN " + x + " < '0001-01-01'::pg_catalog.date THEN " + farDay("early", day) + time +
		" || E'\\x1f' || " + text + " || ' BC'" +
		" WHEN " + x + " >= '10000-01-01'::pg_catalog.date THEN " + farDay("", day) + time + " || E'\\x1f' || " + text +
		" ELSE " + text + " END")
}

// dateText is a date's text under any DateStyle.
var dateText = eras("$", "$", "", "pg_catalog.to_char($, 'YYYY-MM-DD')")

// timeText is the text of a timestamp x under any DateStyle, with the zone behind it.
func timeText(x, zone string) string {
	return eras(x, x+"::pg_catalog.date", " || pg_catalog.to_char("+x+", ' HH24:MI:SS.US')",
		"pg_catalog.rtrim(pg_catalog.rtrim(pg_catalog.to_char("+x+", 'YYYY-MM-DD HH24:MI:SS.US'), '0'), '.') || '"+zone+"'")
}

// intervalText begins with the interval in microseconds, with months of 30 days and days of 24 hours, as Postgres
// compares intervals.
var intervalText = func() string {
	sum := "1000000000000000000000000::pg_catalog.numeric"
	for _, part := range [][2]string{{"year", "31104000000000"}, {"month", "2592000000000"}, {"day", "86400000000"},
		{"hour", "3600000000"}, {"minute", "60000000"}, {"microseconds", "1"}} {
		sum += " + (pg_catalog.date_part('" + part[0] + "', $)::pg_catalog.numeric * " + part[1] + "::pg_catalog.numeric)"
	}
	return own.Replace("(CASE WHEN pg_catalog.isfinite($) THEN pg_catalog.lpad((" + sum + ")::pg_catalog.text, 26, '0')" +
		" WHEN $ > '0'::pg_catalog.interval THEN 'i' ELSE '-' END || E'\\x1f' || $::pg_catalog.text)")
}()

// enumText begins with the place of the label in the enum, which stays when labels are added. The place is a float4.
// Its bits as hexadecimal digits have the order of the numbers; for negative numbers the opposite order.
func enumText(oid int64) string {
	return own.Replace("(SELECT CASE WHEN e.enumsortorder >= 0::pg_catalog.float4 THEN '1' || " +
		"pg_catalog.encode(pg_catalog.float4send(e.enumsortorder), 'hex')" +
		" ELSE '0' || pg_catalog.translate(pg_catalog.encode(pg_catalog.float4send(e.enumsortorder), 'hex'), " +
		"'0123456789abcdef', 'fedcba9876543210') END" +
		" || E'\\x1f' || e.enumlabel::pg_catalog.text FROM pg_catalog.pg_enum e WHERE e.enumtypid = " +
		strconv.FormatInt(oid, 10) +
		"::pg_catalog.oid AND e.enumlabel = $::pg_catalog.text::pg_catalog.name)")
}

// madeOf is SQL for the first four fields that typed reads: those of a type, or of a domain's base type.
func madeOf(oid, mod string) string {
	return `(WITH RECURSIVE made(oid, mod) AS (SELECT ` + oid + `, ` + mod + ` UNION ALL SELECT t.typbasetype, t.typtypmod
	  FROM made
     JOIN pg_catalog.pg_type t ON t.oid = made.oid AND t.typtype = 'd')
    SELECT pg_catalog.concat(pg_catalog.format_type(made.oid, made.mod), E'\x01', t.typtype, E'\x01', made.oid, E'\x01',
      CASE WHEN t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace THEN 'p' END)
    FROM made JOIN pg_catalog.pg_type t ON t.oid = made.oid AND NOT t.typtype = 'd')`
}

// collates is SQL for the other four fields that typed reads, about collation k: its name; how it compares (b: byte by
// byte, d: as the database's, else otherwise); n if it takes different texts for equal; t if it is turkic.
var collates = `CASE WHEN k.oid IS NULL THEN NULL WHEN k.collnamespace = 'pg_catalog'::pg_catalog.regnamespace ` +
	`THEN k.collname::pg_catalog.text
   ELSE pg_catalog.concat(k.collnamespace::pg_catalog.regnamespace, '.', k.collname) END, E'\x01', CASE WHEN ` +
	`k.collprovider = 'd' THEN 'd'
   WHEN k.collnamespace = 'pg_catalog'::pg_catalog.regnamespace AND k.collname = ANY (ARRAY['C', 'POSIX', ` +
	`'ucs_basic', 'pg_c_utf8']::pg_catalog.name[])
     OR k.collprovider = 'c' AND k.collcollate = ANY (ARRAY['C', 'POSIX', 'C.UTF-8', 'C.utf8']) THEN 'b' END,
   E'\x01', CASE WHEN NOT k.collisdeterministic THEN 'n' END,
   E'\x01', CASE WHEN ` + turkic("k", "coll") + ` THEN 't' END`

// turkic is SQL that tells whether a row x of pg_collation or pg_database is for a language in which i is not the small
// letter of I. prefix begins the names of the row's columns.
func turkic(x, prefix string) string {
	field := func(name string) string {
		return "pg_catalog.jsonb_extract_path_text(pg_catalog.to_jsonb(" + x + "), '" + prefix + name + "')"
	}
	return "pg_catalog.regexp_match(pg_catalog.concat_ws(' ', '', " + field("ctype") + ", " + field("iculocale") + ", " +
		field("locale") + "), ' (tr|az)([^a-z]|$)', 'i') IS NOT NULL"
}
