package functions

import (
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
)

// Signature is one overload of a function: its arguments, its result and how it is printed. In a template $1, $2 … are
// the arguments and $* all of them. Without a template the Go function rg_<name> is called.
type Signature struct {
	Name     string
	args     []catalog.Type
	min      int // the number of arguments that cannot be left out
	Variadic bool
	Ret      catalog.Type
	SQL      string
	Volatile bool
}

// Pseudo-types of signatures.
var (
	Any        = catalog.Type{Name: "any"}
	AnyArray   = catalog.Type{Name: "anyelement", Array: true}
	AnyElement = catalog.Type{Name: "anyelement"}
)

// Signatures by name, built from the table below.
var Signatures = map[string][]*Signature{}

// functionTable lists the functions of Postgres that the store has: name(args) result [= template]. An argument in
// brackets is optional. "any..." takes any number of arguments of any type.
const functionTable = `
abs(int2) int2 = rg_int(abs($1), 2)
abs(int4) int4 = rg_int(abs($1), 4)
abs(int8) int8 = rg_int(abs($1), 8)
abs(numeric) numeric = rg_nabs($1)
abs(real) real = (abs($1) + 0.0)
abs(float8) float8 = (abs($1) + 0.0)
sign(numeric) numeric = rg_nsign($1)
sign(float8) float8 = rg_fsign($1)
floor(numeric) numeric = rg_nfloor($1)
floor(float8) float8 = rg_math('floor', $1)
ceil(numeric) numeric = rg_nceil($1)
ceil(float8) float8 = rg_math('ceil', $1)
ceiling(numeric) numeric = rg_nceil($1)
ceiling(float8) float8 = rg_math('ceil', $1)
round(numeric, int4) numeric = rg_nround($1, $2)
round(numeric) numeric = rg_nround($1, 0)
round(float8) float8 = rg_math('round', $1)
trunc(numeric, int4) numeric = rg_ntrunc($1, $2)
trunc(numeric) numeric = rg_ntrunc($1, 0)
trunc(float8) float8 = rg_math('trunc', $1)
sqrt(numeric) numeric = rg_nsqrt($1)
sqrt(float8) float8 = rg_math('sqrt', $1)
cbrt(float8) float8 = rg_math('cbrt', $1)
exp(numeric) numeric = rg_nexp($1)
exp(float8) float8 = rg_math('exp', $1)
ln(numeric) numeric = rg_nln($1)
ln(float8) float8 = rg_math('ln', $1)
log(numeric) numeric = rg_nlog('10', $1)
log(float8) float8 = rg_math('log10', $1)
log(numeric, numeric) numeric = rg_nlog($1, $2)
log10(numeric) numeric = rg_nlog('10', $1)
log10(float8) float8 = rg_math('log10', $1)
power(numeric, numeric) numeric = rg_npow($1, $2)
power(float8, float8) float8 = rg_fpow($1, $2)
pow(numeric, numeric) numeric = rg_npow($1, $2)
pow(float8, float8) float8 = rg_fpow($1, $2)
mod(int2, int2) int2 = rg_imod($1, $2)
mod(int4, int4) int4 = rg_imod($1, $2)
mod(int8, int8) int8 = rg_imod($1, $2)
mod(numeric, numeric) numeric = rg_nmod($1, $2)
div(numeric, numeric) numeric = rg_nquot($1, $2)
gcd(int4, int4) int4 = rg_gcd4($1, $2)
gcd(int8, int8) int8 = rg_gcd8($1, $2)
lcm(int4, int4) int4 = rg_lcm4($1, $2)
lcm(int8, int8) int8 = rg_lcm8($1, $2)
factorial(int8) numeric
pi() float8 = 3.141592653589793
degrees(float8) float8 = rg_math('degrees', $1)
radians(float8) float8 = rg_math('radians', $1)
sin(float8) float8 = rg_math('sin', $1)
cos(float8) float8 = rg_math('cos', $1)
tan(float8) float8 = rg_math('tan', $1)
cot(float8) float8 = rg_math('cot', $1)
sind(float8) float8 = rg_math('sind', $1)
cosd(float8) float8 = rg_math('cosd', $1)
tand(float8) float8 = rg_math('tand', $1)
cotd(float8) float8 = rg_math('cotd', $1)
asin(float8) float8 = rg_math('asin', $1)
acos(float8) float8 = rg_math('acos', $1)
atan(float8) float8 = rg_math('atan', $1)
atan2(float8, float8) float8
sinh(float8) float8 = rg_math('sinh', $1)
cosh(float8) float8 = rg_math('cosh', $1)
tanh(float8) float8 = rg_math('tanh', $1)
asinh(float8) float8 = rg_math('asinh', $1)
acosh(float8) float8 = rg_math('acosh', $1)
atanh(float8) float8 = rg_math('atanh', $1)
scale(numeric) int4 = rg_nscale($1)
width_bucket(float8, float8, float8, int4) int4
random() float8 volatile
gen_random_uuid() uuid volatile
lower(text) text
upper(text) text
initcap(text) text
length(text) int4 = length($1)
char_length(text) int4 = length($1)
character_length(text) int4 = length($1)
octet_length(text) int4 = length(CAST($1 AS BLOB))
substr(text, int4, [int4]) text = rg_substr($*)
substring(text, int4, [int4]) text = rg_substr($*)
substring(text, text) text = rg_regex_substr($1, $2)
left(text, int4) text
right(text, int4) text
lpad(text, int4, [text]) text
rpad(text, int4, [text]) text
ltrim(text, [text]) text
rtrim(text, [text]) text
btrim(text, [text]) text
replace(text, text, text) text
translate(text, text, text) text
position(text, text) int4
strpos(text, text) int4 = rg_position($1, $2)
split_part(text, text, int4) text
concat(any...) text
concat_ws(text, any...) text
format(text, any...) text
repeat(text, int4) text
reverse(text) text
starts_with(text, text) bool
md5(text) text
ascii(text) int4
chr(int4) text
to_hex(int4) text = rg_to_hex($1 & 4294967295)
to_hex(int8) text
quote_literal(text) text
quote_ident(text) text
regexp_replace(text, text, text, [text]) text
regexp_like(text, text) bool = rg_regex($1, $2, 0)
regexp_match(text, text) text[]
regexp_split_to_array(text, text) text[]
string_to_array(text, text, [text]) text[]
array_to_string(anyarray, text, [text]) text = rg_array_to_string($t, $*)
array_length(anyarray, int4) int4
array_ndims(anyarray) int4
array_dims(anyarray) text
array_lower(anyarray, int4) int4
array_upper(anyarray, int4) int4 = rg_array_length($1, $2)
cardinality(anyarray) int4
array_append(anyarray, anyelement) anyarray = rg_array_cat($t, 'ae', $1, $2)
array_prepend(anyelement, anyarray) anyarray = rg_array_cat($t, 'ea', $1, $2)
array_cat(anyarray, anyarray) anyarray = rg_array_cat($t, 'aa', $1, $2)
array_position(anyarray, anyelement) int4 = rg_array_position($t, $1, $2)
array_remove(anyarray, anyelement) anyarray = rg_array_remove($t, $1, $2)
array_fill(anyelement, int4[]) anyarray = rg_array_fill($t, $1, $2)
now() timestamptz stable
current_timestamp() timestamptz = rg_now()
clock_timestamp() timestamptz volatile
localtimestamp() timestamp = substr(rg_now(), 1, length(rg_now()) - 3)
current_date() date = substr(rg_now(), 1, 10)
date_part(text, date) float8 = CAST(rg_date_part($1, $2) AS REAL)
date_part(text, timestamp) float8 = CAST(rg_date_part($1, $2) AS REAL)
date_part(text, timestamptz) float8 = CAST(rg_date_part($1, $2) AS REAL)
extract(text, date) numeric = rg_date_field($1, $2)
extract(text, timestamp) numeric = rg_date_part($1, $2)
extract(text, timestamptz) numeric = rg_date_part($1, $2)
date_trunc(text, timestamp) timestamp
date_trunc(text, timestamptz) timestamptz = (rg_date_trunc($1, $2) || '+00')
make_date(int4, int4, int4) date
to_timestamp(float8) timestamptz
date(timestamp) date = substr($1, 1, 10)
to_char(timestamp, text) text
to_char(timestamptz, text) text
version() text = 'PostgreSQL 16 (relgrad embedded store on SQLite)'
current_schema() text
current_database() text = 'relgrad'
current_user() text = 'relgrad'
session_user() text = 'relgrad'
user() text = 'relgrad'
current_setting(text, [bool]) text stable
set_config(text, text, bool) text volatile
pg_typeof(any) regtype = $t
num_nulls(any...) int4
num_nonnulls(any...) int4
json_valid(text) bool = json_valid($1)
row_number() int8 window
rank() int8 window
dense_rank() int8 window
percent_rank() float8 window
cume_dist() float8 window
ntile(int4) int4 window
lag(anyelement, [int4], [anyelement]) anyelement window
lead(anyelement, [int4], [anyelement]) anyelement window
lag(anyarray, [int4], [anyarray]) anyarray window
lead(anyarray, [int4], [anyarray]) anyarray window
first_value(anyelement) anyelement window
last_value(anyelement) anyelement window
nth_value(anyelement, int4) anyelement window
first_value(anyarray) anyarray window
last_value(anyarray) anyarray window
nth_value(anyarray, int4) anyarray window
`

// aggregateTable lists aggregates; f(int2|int4) stands for several overloads. In a template @ marks the place of FILTER
// and OVER. Keys of ORDER BY follow $*.
const aggregateTable = `
count(any) int8 = count($1)@
sum(int2) int8 = sum($1)@
sum(int4) int8 = sum($1)@
sum(int8) numeric = rg_sum_int($1)@
sum(numeric) numeric = rg_sum_numeric($1)@
sum(real) real = rg_f4(rg_fsum(sum($1)@, min($1)@, max($1)@))
sum(float8) float8 = rg_fsum(sum($1)@, min($1)@, max($1)@)
avg(int2|int4|int8) numeric = rg_avg_int($1)@
avg(numeric) numeric = rg_avg_numeric($1)@
avg(float8) float8 = rg_fsum(avg($1)@, min($1)@, max($1)@)
min(int2) int2 = min($1)@
min(int4) int4 = min($1)@
min(int8) int8 = min($1)@
min(numeric) numeric = min($1 COLLATE rg_numeric)@
min(real) real = min($1)@
min(float8) float8 = min($1)@
min(text) text = min($1 COLLATE BINARY)@
min(date) date = min($1 COLLATE BINARY)@
min(timestamp) timestamp = min($1 COLLATE BINARY)@
min(timestamptz) timestamptz = min($1 COLLATE BINARY)@
max(int2) int2 = max($1)@
max(int4) int4 = max($1)@
max(int8) int8 = max($1)@
max(numeric) numeric = max($1 COLLATE rg_numeric)@
max(real) real = max($1)@
max(float8) float8 = max($1)@
max(text) text = max($1 COLLATE BINARY)@
max(date) date = max($1 COLLATE BINARY)@
max(timestamp) timestamp = max($1 COLLATE BINARY)@
max(timestamptz) timestamptz = max($1 COLLATE BINARY)@
bool_and(bool) bool = min($1)@
bool_or(bool) bool = max($1)@
every(bool) bool = min($1)@
bit_and(int8) int8 = rg_bit_and$frame($1)@
bit_or(int8) int8 = rg_bit_or$frame($1)@
stddev_pop(int2|int4|int8|numeric) numeric = rg_spread_numeric$frame($1, 'stddev_pop')@
stddev_samp(int2|int4|int8|numeric) numeric = rg_spread_numeric$frame($1, 'stddev_samp')@
stddev(int2|int4|int8|numeric) numeric = rg_spread_numeric$frame($1, 'stddev_samp')@
var_pop(int2|int4|int8|numeric) numeric = rg_spread_numeric$frame($1, 'var_pop')@
var_samp(int2|int4|int8|numeric) numeric = rg_spread_numeric$frame($1, 'var_samp')@
variance(int2|int4|int8|numeric) numeric = rg_spread_numeric$frame($1, 'var_samp')@
stddev_pop(float8) float8 = rg_spread$frame($1, 'stddev_pop')@
stddev_samp(float8) float8 = rg_spread$frame($1, 'stddev_samp')@
stddev(float8) float8 = rg_spread$frame($1, 'stddev_samp')@
var_pop(float8) float8 = rg_spread$frame($1, 'var_pop')@
var_samp(float8) float8 = rg_spread$frame($1, 'var_samp')@
variance(float8) float8 = rg_spread$frame($1, 'var_samp')@
corr(float8, float8) float8 = rg_corr$frame($1, $2, 'corr')@
percentile_cont(float8, float8) float8 = rg_percentile($1, $2, 'cont', $desc)@
percentile_disc(float8, float8) float8 = rg_percentile($1, $2, 'disc', $desc)@
percentile_disc(float8, real) real = rg_percentile($1, $2, 'disc', $desc)@
percentile_disc(float8, int2) int2 = rg_percentile($1, $2, 'whole', $desc)@
percentile_disc(float8, int4) int4 = rg_percentile($1, $2, 'whole', $desc)@
percentile_disc(float8, int8) int8 = rg_percentile($1, $2, 'whole', $desc)@
percentile_disc(float8, numeric) numeric = rg_percentile($1, $2, 'numeric', $desc)@
percentile_disc(float8, text) text = rg_percentile($1, $2, 'text', $desc)@
percentile_disc(float8, date) date = rg_percentile($1, $2, 'text', $desc)@
percentile_disc(float8, timestamp) timestamp = rg_percentile($1, $2, 'text', $desc)@
percentile_disc(float8, timestamptz) timestamptz = rg_percentile($1, $2, 'text', $desc)@
covar_pop(float8, float8) float8 = rg_corr$frame($1, $2, 'covar_pop')@
covar_samp(float8, float8) float8 = rg_corr$frame($1, $2, 'covar_samp')@
regr_slope(float8, float8) float8 = rg_corr$frame($1, $2, 'regr_slope')@
regr_intercept(float8, float8) float8 = rg_corr$frame($1, $2, 'regr_intercept')@
regr_r2(float8, float8) float8 = rg_corr$frame($1, $2, 'regr_r2')@
regr_count(float8, float8) int8 = count(CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN 1 END)@
regr_avgx(float8, float8) float8 = rg_corr$frame($1, $2, 'regr_avgx')@
regr_avgy(float8, float8) float8 = rg_corr$frame($1, $2, 'regr_avgy')@
regr_sxx(float8, float8) float8 = rg_corr$frame($1, $2, 'regr_sxx')@
regr_syy(float8, float8) float8 = rg_corr$frame($1, $2, 'regr_syy')@
regr_sxy(float8, float8) float8 = rg_corr$frame($1, $2, 'regr_sxy')@
product(float8) float8 = rg_product$frame($1)@
accuracy(int8, int8|float8, float8|text, text|bool, bool|uuid, uuid) float8 = rg_accuracy$frame($1 = $2, 1)@
accuracy(date, date|timestamp, timestamp|timestamptz, timestamptz) float8 = rg_accuracy$frame($1 = $2, 1)@
accuracy(numeric, numeric) float8 = rg_accuracy$frame($1 = $2 COLLATE rg_numeric, 1)@
accuracy(bool, float8) float8 = rg_accuracy$frame($1, $2)@
rmse(float8, float8) float8 = rg_rmse$frame($1, $2)@
log_loss(float8, float8|float8, bool) float8 = rg_log_loss$frame($1, $2)@
f1(float8, float8|bool, float8|bool, bool) float8 = rg_f1$frame($1, $2)@
auc(float8, float8|float8, bool) float8 = rg_auc$frame($1, $2)@
ndcg(float8, float8) float8 = rg_ndcg$frame($1, $2, 'all')@
ndcg(float8, float8, int8) float8 = rg_ndcg$frame($1, $2, $3)@
string_agg(text, text) text = rg_joined(group_concat($*)@)
vector_agg(int8, real, int8) real[] = rg_vector_agg($1, $2, $3, 1)@
vector_agg(int8, float8, int8) float8[] = rg_vector_agg($1, $2, $3, 0)@
`

// Aggregates are the overloads of aggregates by name.
var Aggregates = map[string][]*Signature{}

// WindowFunctions are functions that need OVER.
var WindowFunctions = map[string]bool{}

// ChunkAggregates fold chunks element by element; the result has the argument's type.
var ChunkAggregates = map[string]string{"sum": "rg_chunk_sum($1)@", "avg": "rg_chunk_avg($1)@",
	"max_agg": "rg_chunk_max$frame($1)@", "min_agg": "rg_chunk_min$frame($1)@"}

func init() {
	for _, line := range strings.Split(strings.TrimSpace(functionTable), "\n") {
		s := parseSignature(line)
		Signatures[s.Name] = append(Signatures[s.Name], s)
	}
	for _, line := range strings.Split(strings.TrimSpace(aggregateTable), "\n") {
		for _, l := range alternatives(line) {
			s := parseSignature(l)
			Aggregates[s.Name] = append(Aggregates[s.Name], s)
		}
	}
}

// alternatives expands f(int2|int4) to two lines.
func alternatives(line string) []string {
	open, end := strings.IndexByte(line, '('), strings.IndexByte(line, ')')
	if !strings.Contains(line[open:end], "|") {
		return []string{line}
	}
	return lists.Map(strings.Split(line[open+1:end], "|"), func(a string) string { return line[:open+1] + a + line[end:] })
}

// parseSignature parses a line of the tables. A mistake in them panics when the program starts.
func parseSignature(line string) *Signature {
	head, tmpl, _ := strings.Cut(line, " = ")
	open, end := strings.IndexByte(head, '('), strings.IndexByte(head, ')')
	s := &Signature{Name: head[:open], SQL: tmpl}
	s.min = -1
	if list := head[open+1 : end]; list != "" {
		for i, a := range strings.Split(list, ", ") {
			if strings.HasPrefix(a, "[") {
				a = strings.Trim(a, "[]")
				if strings.HasSuffix(list, "[]") && a == "" {
					panic(line)
				}
				if s.min < 0 {
					s.min = i
				}
			}
			if v, ok := strings.CutSuffix(a, "..."); ok {
				a, s.Variadic = v, true
			}
			s.args = append(s.args, shortType(a))
		}
	}
	if s.min < 0 {
		s.min = len(s.args)
		if s.Variadic && s.Name == "format" { // other variadic functions need at least one argument more
			s.min--
		}
	}
	words := strings.Fields(head[end+1:])
	s.Ret = shortType(words[0])
	if len(words) > 1 {
		switch words[1] {
		case "window":
			WindowFunctions[s.Name] = true
			s.SQL = s.Name + "($*)@"
		case "volatile":
			s.Volatile = true
		}
	}
	if s.SQL == "" {
		s.SQL = "rg_" + s.Name + "($*)"
	}
	return s
}

func shortType(s string) catalog.Type {
	name, arr := strings.CutSuffix(s, "[]")
	switch name {
	case "int2":
		name = "smallint"
	case "int4":
		name = "integer"
	case "int8":
		name = "bigint"
	case "float8":
		name = "double precision"
	case "bool":
		name = "boolean"
	case "timestamptz":
		name = "timestamp with time zone"
	case "anyarray":
		return AnyArray
	}
	return catalog.Type{Name: name, Array: arr}
}

// IsAggregate reports whether a function of this name is an aggregate.
func IsAggregate(name string) bool {
	return Aggregates[name] != nil || name == "array_agg" || ChunkAggregates[name] != ""
}

// SetReturning are the functions that return rows.
var SetReturning = map[string]bool{"generate_series": true, "unnest": true, "string_to_table": true,
	"regexp_split_to_table": true, "generate_subscripts": true}

// IsSetReturning reports whether a function returns rows.
func IsSetReturning(name string) bool { return SetReturning[name] }

// Resolve chooses an overload as Postgres does (manual, section 10.3): exact matches first, then preferred
// types, then text for untyped literals. nil: none fits; ambiguous: several do.
func Resolve(cands []*Signature, args []catalog.Type) (best *Signature, ambiguous bool) {
	var list []*Signature
	for _, c := range cands {
		if c.fits(args) {
			list = append(list, c)
		}
	}
	list = mostBy(list, func(c *Signature) int { return c.score(args, func(f, t catalog.Type) bool { return f.Is(t) }) })
	list = mostBy(list, func(c *Signature) int {
		return c.score(args, func(f, t catalog.Type) bool { return f.Is(t) || !f.IsUnknown() && preferred(t) })
	})
	list = mostBy(list, func(c *Signature) int {
		return c.score(args, func(f, t catalog.Type) bool { return f.IsUnknown() && t.Is(catalog.Text) })
	})
	list = mostBy(list, func(c *Signature) int {
		return c.score(args, func(f, t catalog.Type) bool { return f.IsUnknown() && preferred(t) })
	})
	switch len(list) {
	case 0:
		return nil, false
	case 1:
		return list[0], false
	}
	return nil, true
}

func preferred(t catalog.Type) bool {
	return t.Is(catalog.Float8) || t.Is(catalog.Text) || t.Is(catalog.Bool) || t.Is(catalog.TimestampTZ)
}

func mostBy(list []*Signature, score func(*Signature) int) []*Signature {
	best, out := -1, list[:0:0]
	for _, c := range list {
		n := score(c)
		if n > best {
			best, out = n, out[:0:0]
		}
		if n == best {
			out = append(out, c)
		}
	}
	return out
}

// Arg is the declared type of argument i.
func (c *Signature) Arg(i int) catalog.Type {
	if i >= len(c.args) {
		return c.args[len(c.args)-1]
	}
	return c.args[i]
}

func (c *Signature) fits(args []catalog.Type) bool {
	if len(args) < c.min || len(args) > len(c.args) && !c.Variadic {
		return false
	}
	for i, a := range args {
		t := c.Arg(i)
		switch {
		case t.Is(Any):
		case t.Is(AnyArray):
			if !a.Array && !a.IsUnknown() {
				return false
			}
		case t.Is(AnyElement):
			if a.Array {
				return false
			}
		case !catalog.Implicit(a, t):
			return false
		}
	}
	return true
}

func (c *Signature) score(args []catalog.Type, match func(f, t catalog.Type) bool) int {
	n := 0
	for i, a := range args {
		if match(a, c.Arg(i)) {
			n++
		}
	}
	return n
}
