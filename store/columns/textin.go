package columns

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store/numeric"
	"github.com/relgrad/relgrad/tensor"
)

const blanks = " \t\n\r\v\f"

// TextIn reads a text as a value of type t, as Postgres's input functions do.
func TextIn(s string, t catalog.Type) (any, error) {
	if t.Array {
		return arrayIn(s, t)
	}
	switch t.Name {
	case "text":
		return s, nil
	case "name":
		return parse.Identifier(s), nil
	case "smallint", "integer", "bigint":
		return intIn(s, t)
	case "real", "double precision":
		return floatIn(s, t)
	case "numeric":
		n, err := numeric.Parse(s)
		return n.String(), err
	case "boolean":
		return boolIn(s)
	case "date", "timestamp", "timestamp with time zone":
		return timeIn(s, t)
	case "json", "jsonb":
		return jsonIn(s, t)
	case "uuid":
		return uuidIn(s)
	case "regtype":
		return regtypeIn(s)
	}
	return nil, sqlerr.New(sqlerr.CannotCoerce, "cannot cast type text to %s", t)
}

// regtypeIn returns the name under which format_type prints a type.
func regtypeIn(s string) (any, error) {
	name := strings.TrimSpace(s)
	t := catalog.TypeOf(strings.ToLower(name))
	if Storage[t.Name] == "" && !OtherTypes[t.Name] {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", name)
	}
	return t.String(), nil
}

// Literal converts the text of a literal to the form in which a column stores it.
func Literal(of *kernels.Named, text string) (string, error) {
	v, err := TextIn(text, catalog.Type{Name: strings.TrimSuffix(of.Name, " without time zone")})
	s, _ := v.(string)
	return s, err
}

func intIn(s string, t catalog.Type) (any, error) {
	n, err := strconv.ParseInt(strings.Trim(s, blanks), 10, t.Size()*8)
	if err != nil {
		if e := err.(*strconv.NumError); e.Err == strconv.ErrRange {
			return nil, sqlerr.New(sqlerr.NumericOutOfRange, "value \"%s\" is out of range for type %s", s, t)
		}
		return nil, badInput(t, s)
	}
	return n, nil
}

func floatIn(s string, t catalog.Type) (any, error) {
	p := strings.Trim(s, blanks)
	if strings.ContainsAny(p, "_xXpP") {
		return nil, badInput(t, s)
	}
	bits := 64
	if t.Is(catalog.Float4) {
		bits = 32
	}
	x, err := strconv.ParseFloat(p, bits)
	switch {
	case err == nil && x == 0 && strings.ContainsAny(mantissa(p), "123456789"):
		return nil, sqlerr.New(sqlerr.NumericOutOfRange, "\"%s\" is out of range for type %s", p, t)
	case err == nil:
		return x, nil
	case err.(*strconv.NumError).Err == strconv.ErrRange:
		return nil, sqlerr.New(sqlerr.NumericOutOfRange, "\"%s\" is out of range for type %s", p, t)
	}
	return nil, badInput(t, s)
}

func mantissa(s string) string {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i]
	}
	return s
}

func boolIn(s string) (any, error) {
	if p := strings.ToLower(strings.Trim(s, blanks)); p != "" {
		for _, w := range []string{"true", "yes", "on", "1"} {
			if strings.HasPrefix(w, p) && p != "o" {
				return true, nil
			}
		}
		for _, w := range []string{"false", "no", "off", "0"} {
			if strings.HasPrefix(w, p) && p != "o" {
				return false, nil
			}
		}
	}
	return nil, badInput(catalog.Bool, s)
}

// timeLayouts are the ISO formats that are read; Postgres reads more.
var timeLayouts = []string{"2006-01-02 15:04:05.999999Z07:00", "2006-01-02 15:04:05.999999-07",
	"2006-01-02 15:04:05.999999", "2006-01-02 15:04", "2006-01-02", "20060102", "2006/01/02"}

// timeIn reads a date or time and prints it in the stored form, which sorts as text.
func timeIn(s string, t catalog.Type) (any, error) {
	p := strings.Replace(strings.Trim(s, blanks), "T", " ", 1)
	for _, l := range timeLayouts {
		if x, err := time.Parse(l, p); err == nil {
			us := math.RoundToEven(float64(x.Nanosecond()) / 1e3)
			x = x.Add(time.Duration(us)*time.Microsecond - time.Duration(x.Nanosecond()))
			return TimeOut(x, t), InYears(x.UTC())
		}
	}
	if t.Is(catalog.Date) && len(p) >= 8 && len(p) <= 10 && strings.Count(p, "-") == 2 {
		if x, err := time.Parse("2006-1-2", p); err == nil {
			return TimeOut(x, t), nil
		}
		return nil, sqlerr.New("22008", "date/time field value out of range: \"%s\"", s)
	}
	e := badInput(t, s).(*sqlerr.Error)
	e.Code, e.Hint = "22007", "The embedded store reads ISO dates: 2024-05-31, 2024-05-31 17:30:00."
	return nil, e
}

// TimeOut prints a time in the stored form of type t.
func TimeOut(x time.Time, t catalog.Type) string {
	if t.Is(catalog.Date) {
		return x.Format("2006-01-02")
	}
	if t.Is(catalog.TimestampTZ) {
		x = x.UTC()
	}
	s := x.Format("2006-01-02 15:04:05")
	if us := x.Nanosecond() / 1000; us > 0 {
		s += strings.TrimRight("."+strconv.Itoa(1000000 + us)[1:], "0")
	}
	if t.Is(catalog.TimestampTZ) {
		s += "+00"
	}
	return s
}

// ParseTime reads the stored form of any time type.
func ParseTime(s string) (time.Time, error) {
	for _, l := range timeLayouts {
		if x, err := time.Parse(l, s); err == nil {
			return x, nil
		}
	}
	return time.Time{}, badInput(catalog.Timestamp, s)
}

// arrayIn reads an array literal, {1,2,{…}}.
func arrayIn(s string, t catalog.Type) (any, error) {
	p := &arrayParser{s: strings.Trim(s, blanks), t: t.Elem()}
	if strings.HasPrefix(p.s, "[") {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"array literal \"%s\" has bounds; subscripts begin at 1 in the embedded store", s)
	}
	list, ok := p.array(0)
	if p.err != nil {
		return nil, p.err
	}
	if !ok || p.i != len(p.s) {
		return nil, sqlerr.New(sqlerr.InvalidText, "malformed array literal: \"%s\"", s)
	}
	return MakeArray(list, t.Elem())
}

type arrayParser struct {
	s   string
	i   int
	t   catalog.Type
	err error
}

func (p *arrayParser) skip() {
	for p.i < len(p.s) && strings.IndexByte(blanks, p.s[p.i]) >= 0 {
		p.i++
	}
}

// array reads from '{' to its '}'.
func (p *arrayParser) array(depth int) ([]any, bool) {
	if p.i >= len(p.s) || p.s[p.i] != '{' || depth > tensor.MaxRank {
		return nil, false
	}
	p.i++
	list := []any{}
	p.skip()
	if p.i < len(p.s) && p.s[p.i] == '}' {
		p.i++
		return list, true
	}
	for {
		p.skip()
		x, ok := p.element(depth)
		if l, nested := x.([]any); !ok || p.err != nil || nested && len(l) == 0 {
			return nil, false
		}
		list = append(list, x)
		p.skip()
		if p.i >= len(p.s) {
			return nil, false
		}
		p.i++
		switch p.s[p.i-1] {
		case '}':
			return list, true
		case ',':
		default:
			return nil, false
		}
	}
}

func (p *arrayParser) element(depth int) (any, bool) {
	if p.i >= len(p.s) {
		return nil, false
	}
	if p.s[p.i] == '{' {
		return p.array(depth + 1)
	}
	text, quoted, ok := p.word()
	if !ok {
		return nil, false
	}
	if !quoted {
		if text == "" {
			return nil, false
		}
		if strings.EqualFold(text, "null") {
			return nil, true
		}
	}
	if p.t.IsFloat() && !quoted { // the common case, without boxing errors
		if f, err := strconv.ParseFloat(text, 64); err == nil && p.t.Is(catalog.Float8) && !math.IsInf(f, 0) {
			return f, true
		}
	}
	x, err := TextIn(text, p.t)
	p.err = err
	return x, err == nil
}

func (p *arrayParser) word() (text string, quoted, ok bool) {
	var b strings.Builder
	if p.s[p.i] == '"' {
		for p.i++; p.i < len(p.s); p.i++ {
			switch c := p.s[p.i]; {
			case c == '"':
				p.i++
				return b.String(), true, true
			case c == '\\' && p.i+1 < len(p.s):
				p.i++
				b.WriteByte(p.s[p.i])
			default:
				b.WriteByte(c)
			}
		}
		return "", true, false
	}
	start := p.i
	for p.i < len(p.s) && strings.IndexByte(",{}\"\\", p.s[p.i]) < 0 {
		p.i++
	}
	if p.i < len(p.s) && (p.s[p.i] == '"' || p.s[p.i] == '{' || p.s[p.i] == '\\') {
		return "", false, false
	}
	return strings.TrimRight(p.s[start:p.i], blanks), false, true
}

// ErrDate refuses a date that is out of range.
func ErrDate() error {
	return sqlerr.New("22008", "date out of range").WithHint("The embedded store keeps the years 1 to 9999.")
}

// InYears refuses years whose stored form would not sort as text.
func InYears(t time.Time) error {
	if y := t.Year(); y < 1 || y > 9999 {
		return ErrDate()
	}
	return nil
}
