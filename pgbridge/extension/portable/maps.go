package portable

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/relgrad/relgrad/pgbridge/extension"
)

// elementwise is an element-wise kernel: its element in terms of the elements x, y, z of the arguments.
type elementwise struct {
	element string
	sign    string // the operator, for messages
}

// maps are the element-wise kernels by symbol.
var maps = map[string]elementwise{
	"chunk_add": {"relgrad.impl_add(x, y)", "+"},
	"chunk_sub": {"relgrad.impl_add(x, -y)", "-"},
	"chunk_mul": {"relgrad.impl_mul(x, y)", "*"},
	"chunk_div": {"relgrad.impl_div(x, y)", "/"},
	"chunk_neg": {"-x", "-"},
	"power":     {"relgrad.impl_pow(x, y)", "^"},

	"abs":        {element: "abs(x)"},
	"square":     {element: "relgrad.impl_mul(x, x)"},
	"sqrt":       {element: "relgrad.impl_sqrt(x)"},
	"relu":       {element: "CASE WHEN x <= 0 THEN 0 ELSE x END"},
	"exp":        {element: "relgrad.impl_exp(x)"},
	"ln":         {element: "relgrad.impl_ln(x)"},
	"log":        {element: "relgrad.impl_log10(x)"},
	"sin":        {element: "CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE sin(x) END"},
	"cos":        {element: "CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE cos(x) END"},
	"tan":        {element: "CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE tan(x) END"},
	"sinh":       {element: "sinh(x)"},
	"cosh":       {element: "cosh(x)"},
	"tanh":       {element: "tanh(x)"},
	"asin":       {element: "CASE WHEN abs(x) <= 1 THEN asin(x) ELSE 'NaN' END"},
	"acos":       {element: "CASE WHEN abs(x) <= 1 THEN acos(x) ELSE 'NaN' END"},
	"atan":       {element: "atan(x)"},
	"erf":        {element: "relgrad.impl_erf(x)"},
	"erfc":       {element: "relgrad.impl_erfc(x)"},
	"log1p":      {element: "relgrad.impl_log1p(x)"},
	"expm1":      {element: "relgrad.impl_expm1(x)"},
	"log2":       {element: "relgrad.impl_log2(x)"},
	"log10":      {element: "relgrad.impl_log10(x)"},
	"cbrt":       {element: "cbrt(x)"},
	"asinh":      {element: "asinh(x)"},
	"acosh":      {element: "CASE WHEN x >= 1 THEN acosh(x) ELSE 'NaN' END"},
	"atanh":      {element: "CASE WHEN abs(x) <= 1 THEN atanh(x) ELSE 'NaN' END"},
	"atan2":      {element: "atan2(x, y)"},
	"hypot":      {element: "relgrad.impl_hypot(x, y)"},
	"cot":        {element: "CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE cot(x) END"},
	"degrees":    {element: "relgrad.impl_div(x, 0.017453292519943295)"},
	"radians":    {element: "relgrad.impl_mul(x, 0.017453292519943295)"},
	"sind":       {element: "CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE sind(x) END"},
	"cosd":       {element: "CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE cosd(x) END"},
	"tand":       {element: "CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE tand(x) END"},
	"cotd":       {element: "CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE cotd(x) END"},
	"lgamma":     {element: "relgrad.impl_lgamma(x)"},
	"digamma":    {element: "relgrad.impl_digamma(x)"},
	"logsigmoid": {element: "-(relgrad.impl_larger(-x, 0) + relgrad.impl_log1p(relgrad.impl_exp(-abs(x))))"},
	"sigmoid":    {element: "relgrad.impl_sigmoid(x)"},
	"silu":       {element: "relgrad.impl_mul(x, relgrad.impl_sigmoid(x))"},
	"elu":        {element: "CASE WHEN x > 0 THEN x ELSE relgrad.impl_expm1(x) END"},
	"gelu":       {element: "relgrad.impl_mul(x, relgrad.impl_normal_cdf(x))"},
	"softplus":   {element: "relgrad.impl_larger(x, 0) + relgrad.impl_log1p(relgrad.impl_exp(-abs(x)))"},
	"softsign":   {element: "CASE WHEN abs(x) = 'Infinity' THEN sign(x) ELSE x / (1 + abs(x)) END"},
	"sign":       {element: "CASE WHEN x = 'NaN' THEN x ELSE sign(x) END"},

	"maximum":         {element: "relgrad.impl_larger(x, y)"},
	"minimum":         {element: "relgrad.impl_smaller(x, y)"},
	"greater":         {element: "CASE WHEN x > y AND x <> 'NaN' THEN 1 ELSE 0::double precision END"},
	"bce_with_logits": {element: "relgrad.impl_bce(x, y)"},
	"huber":           {element: "relgrad.impl_huber(x, y)"},
	"clip":            {element: "relgrad.impl_smaller(relgrad.impl_larger(x, y), z)"},
	"leaky_relu":      {element: "CASE WHEN x > 0 THEN x ELSE relgrad.impl_mul(y, x) END"},
	"gen_eq_mask":     {element: "CASE WHEN x = y AND x <> 'NaN' THEN 1 ELSE 0::double precision END"},
	"gen_select":      {element: "CASE WHEN x <> 0 THEN y ELSE z END"},

	"gen_sech2":         {element: "4 * relgrad.impl_slope(relgrad.impl_mul(2, x))"},
	"gen_sigmoid_slope": {element: "relgrad.impl_slope(x)"},
	"gen_asin_slope": {element: "relgrad.impl_div(1, relgrad.impl_sqrt(relgrad.impl_mul(relgrad.impl_add(1, -x), " +
		"relgrad.impl_add(1, x))))"},
	"gen_asinh_slope": {element: "relgrad.impl_hypot_slope(1, x)"},
	"gen_acosh_slope": {element: "relgrad.impl_div(relgrad.impl_div(1, relgrad.impl_sqrt(relgrad.impl_add(x, -1))), " +
		"relgrad.impl_sqrt(relgrad.impl_add(x, 1)))"},
	"gen_atanh_slope": {element: "relgrad.impl_div(1, relgrad.impl_mul(relgrad.impl_add(1, -x), relgrad.impl_add(1, x)))"},
	"gen_hypot_slope": {element: "relgrad.impl_hypot_slope(x, y)"},
	"gen_polygamma":   {element: "relgrad.impl_polygamma(x::int, y)"},
	"gen_atan_slope":  {element: "relgrad.impl_atan_slope(x)"},
	"gen_gauss":       {element: "relgrad.impl_bell(x, 1)"},
	"gen_normal_pdf":  {element: "relgrad.impl_mul(relgrad.impl_bell(x, 0.5), 0.3989422804014327)"},
	"gen_normal_cdf":  {element: "relgrad.impl_normal_cdf(x)"},
	"gen_bce_slope":   {element: "relgrad.impl_bce_slope(x, y)"},
}

// absent are the values of second arguments that a call leaves out.
var absent = map[string]string{"leaky_relu": "0.01"}

var variable = regexp.MustCompile(`\b[xyz]\b`)

// with puts texts in place of x, y and z.
func (e elementwise) with(symbol string, args []string) string {
	return variable.ReplaceAllStringFunc(e.element, func(v string) string {
		if i := int(v[0] - 'x'); i < len(args) {
			return args[i]
		}
		return absent[symbol]
	})
}

// kernelName is how messages name a symbol.
func kernelName(symbol string, e elementwise) string {
	switch {
	case strings.HasPrefix(symbol, "chunk_"):
		return "operator " + e.sign
	case strings.HasPrefix(symbol, "gen_"):
		return strings.TrimPrefix(symbol, "gen_")
	}
	return symbol
}

// text is the body of a function of double precision numbers and chunks.
func (e elementwise) text(f *extension.Function) string {
	if f.Result == number {
		args := make([]string, len(f.Args))
		for i, a := range f.Args {
			args[i] = a.Name
		}
		return block(nil, "RETURN "+e.with(f.Symbol, args)+";")
	}
	name := kernelName(f.Symbol, e)
	shape := ""
	var declare, columns, lists []string
	for i, a := range f.Args {
		d, check, list := fmt.Sprintf("d%d", i+1), "'{}'", "ARRAY["+a.Name+"]"
		if a.Type == chunk {
			check, list = fmt.Sprintf("relgrad.impl_chunk(%s, '%s')", a.Name, name), a.Name
		}
		declare = append(declare, fmt.Sprintf("%s int[] := %s", d, check))
		columns = append(columns, fmt.Sprintf("e%d", i+1))
		lists = append(lists, fmt.Sprintf("relgrad.impl_spread(%s, %s, dims)", list, d))
		if i == 0 {
			shape = d
		} else {
			shape = fmt.Sprintf("relgrad.impl_broadcast(%s, %s, '%s', '%s')", shape, d, name, e.sign)
		}
	}
	declare = append(declare, "dims int[] := "+shape)
	return block(declare,
		fmt.Sprintf(
			"RETURN relgrad.impl_build(ARRAY(SELECT %s FROM unnest(%s) WITH ORDINALITY AS t(%s, o) ORDER BY o), dims);",
			e.with(f.Symbol, columns), strings.Join(lists, ", "), strings.Join(columns, ", ")))
}
