package csvfile

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/numeric"
	"github.com/relgrad/relgrad/tensor"
)

// kinds is a set of types, in the order in which they are preferred.
type kinds uint16

const (
	boolean kinds = 1 << iota
	integer
	bigint
	double
	exact // numeric
	date
	timestamp
	instant // with time zone
	chunk
	text
)

const all = text<<1 - 1

var typeNames = []string{"boolean", "integer", "bigint", "double precision", "numeric", "date", "timestamp",
	"timestamp with time zone", "double precision[]", "text"}

// finder finds the type of a column: the first that holds all its values.
type finder struct {
	kinds  kinds
	some   bool // a value was there
	nulls  bool // a NULL was there
	shape  tensor.Shape
	reason string // which value made the type wide

	values  int    // that are not NULL
	others  kinds  // of the values that a narrower type than text holds
	odd     int    // values that only text holds
	oddText string // the first of them
	oddAt   string // and its place
	same    bool   // they are all that text
}

func newFinder() *finder { return &finder{kinds: all, others: all} }

// add takes a value into account.
func (f *finder) add(s []byte, at *records) {
	before := f.kinds
	k := kindsOf(s)
	if k&chunk != 0 && f.kinds&chunk != 0 {
		k = f.chunk(string(s), k)
	}
	f.count(s, k, at)
	f.kinds &= k
	wide := f.kinds == text || f.kinds&(integer|bigint|double) == 0 && f.kinds&exact != 0
	if f.kinds != before && wide && (f.some || f.kinds != text) {
		f.reason = placeOf(s, at)
	}
	f.some = true
}

// count counts a value of the types k.
func (f *finder) count(s []byte, k kinds, at *records) {
	f.values++
	switch {
	case k != text:
		f.others &= k
	case f.odd == 0:
		f.odd, f.oddText, f.same = 1, string(s), true
		f.oddAt = placeOf(s, at)
	default:
		f.odd++
		f.same = f.same && string(s) == f.oddText
	}
}

// word is a text that may stand for a missing value.
var word = regexp.MustCompile(`^[A-Za-z ./?#<>_-]{1,20}$`)

func placeOf(s []byte, at *records) string {
	return fmt.Sprintf("\"%s\" in line %d of %s", clip(s), at.csv.Line, at.r.files[at.file])
}

// why tells which value made the type wide: the first that a type does not hold that held all before, or the first of
// those that are text where most values have another type. A word that stands there for NULL is read so.
func (f *finder) why() string {
	why, mostly := f.reason, f.others&^text != 0 && f.odd > 0 && 2*f.odd <= f.values
	if why == "" && mostly {
		why = f.oddAt
	}
	if mostly && f.same && word.MatchString(f.oddText) {
		why += fmt.Sprintf("; --null '%s' makes it NULL", f.oddText)
	}
	return why
}

// chunk notes the shape of an array: a column of chunks has one.
func (f *finder) chunk(s string, k kinds) kinds {
	shape := shapeOf(s)
	switch {
	case shape == nil, f.shape != nil && !f.shape.Equal(shape):
		return k &^ chunk
	}
	f.shape = shape
	return k
}

func (f *finder) typeName() string {
	if !f.some {
		return "text"
	}
	return typeNames[bits.TrailingZeros16(uint16(f.kinds))]
}

func clip(s []byte) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(string(s[:40]), "") + "…"
	}
	return string(s)
}

// kindsOf lists the types that hold a value without loss.
func kindsOf(s []byte) kinds {
	s = bytes.Trim(s, " \t\n\r\f\v")
	if len(s) == 0 {
		return text
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9' || c == '.':
		if len(s) >= 10 && s[4] == '-' {
			return text | timeKinds(string(s))
		}
		return text | numberKinds(s)
	case c == '-':
		return text | numberKinds(s)
	case c == '{':
		return text | chunk
	}
	switch string(s) {
	case "t", "f", "true", "false", "True", "False", "TRUE", "FALSE":
		return text | boolean
	case "NaN", "nan", "inf", "Inf", "Infinity", "infinity":
		return text | double
	}
	return text
}

func isNumber(s string) bool { return kindsOf([]byte(s))&(integer|double|exact) != 0 }

// number is the text of a number in its parts.
type number struct {
	digits  []byte // without the zeros before the first that is not 0
	whole   int    // digits before the point
	exp     int
	integer bool // neither a point nor an exponent
	minus   bool
}

// scan splits a number as Postgres and everybody else write it; false: it is none, or has more zeros in front than a
// number has, or a plus sign.
func scan(s []byte) (n number, ok bool) {
	if s[0] == '-' {
		n.minus, s = true, s[1:]
	}
	i := 0
	digits := func() {
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			if s[i] != '0' || len(n.digits) > 0 {
				n.digits = append(n.digits, s[i])
			}
		}
	}
	digits()
	whole := i
	if n.whole = len(n.digits); whole > 1 && s[0] == '0' {
		return n, false
	}
	n.integer = i == len(s)
	count := i
	if i < len(s) && s[i] == '.' {
		i++
		zeros := i
		for ; zeros < len(s) && s[zeros] == '0' && len(n.digits) == 0; zeros++ {
			n.whole--
		}
		digits()
		count = i - 1
	}
	if count == 0 {
		return n, false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		e, err := strconv.Atoi(string(s[i+1:]))
		if err != nil || len(s)-i > 8 {
			return n, false
		}
		n.exp, i = e, len(s)
	}
	return n, i == len(s)
}

// numberKinds lists the types of numbers that hold a number's value.
func numberKinds(s []byte) kinds {
	if bytes.EqualFold(s, []byte("-inf")) || bytes.EqualFold(s, []byte("-infinity")) {
		return double
	}
	n, ok := scan(s)
	if !ok {
		return 0
	}
	k := kinds(0)
	if len(n.digits) == 0 {
		if n.minus { // only a float has a negative zero
			return double
		}
		if n.integer {
			return integer | bigint | double | exact
		}
		return double | exact
	}
	const room = 1000 // digits of a numeric, more or less
	if n.exp < room && n.exp > -room && len(n.digits) < room {
		if _, err := numeric.Parse(string(s)); err == nil {
			k |= exact
		}
	}
	if n.integer {
		v, err := strconv.ParseInt(string(s), 10, 64)
		if err != nil {
			return k
		}
		if k |= bigint; v == int64(int32(v)) {
			k |= integer
		}
		if v <= 1<<53 && v >= -1<<53 {
			k |= double
		}
		return k
	}
	if n.inDouble(s) {
		k |= double
	}
	return k
}

// inDouble reports whether a double precision gives the digits of a number back: those of the double, rounded to as
// many, are the number's. So it holds what a program printed that had a double, with however many digits.
func (n *number) inDouble(s []byte) bool {
	digits := bytes.TrimRight(n.digits, "0")
	first := n.whole + n.exp // the power of ten above the first digit
	if len(digits) <= 15 && first > -300 && first < 300 {
		return true
	}
	x, err := strconv.ParseFloat(string(s), 64)
	if err != nil || x == 0 || math.IsInf(x, 0) || len(digits) > 800 {
		return false
	}
	mantissa, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', len(digits)-1, 64), "e")
	return strings.Replace(mantissa, ".", "", 1) == string(digits)
}

// timeKinds lists the types of days and times that hold a value in ISO form.
func timeKinds(s string) kinds {
	if len(s) == 10 {
		if t, err := time.Parse("2006-01-02", s); err == nil && t.Year() > 0 {
			return date | timestamp
		}
		return 0
	}
	if _, fraction, ok := strings.Cut(s, "."); strings.Contains(s, ",") ||
		ok && strings.IndexFunc(fraction+"Z", func(r rune) bool { return r < '0' || r > '9' }) > 6 {
		return 0
	}
	s = strings.Replace(s, "T", " ", 1)
	for _, l := range []struct {
		layout string
		is     kinds
	}{{"2006-01-02 15:04:05", timestamp}, {"2006-01-02 15:04", timestamp}, {"2006-01-02 15:04:05Z07:00", instant},
		{"2006-01-02 15:04:05-07", instant}} {
		if t, err := time.Parse(l.layout, s); err == nil && t.Year() > 0 {
			return l.is
		}
	}
	return 0
}

// shapeOf is the shape of an array of numbers that double precision holds; nil: it is none.
func shapeOf(s string) tensor.Shape {
	for _, x := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("{}, ", r) }) {
		if numberKinds([]byte(x))&double == 0 {
			return nil
		}
	}
	t := catalog.TypeOf("double precision[]")
	v, err := columns.TextIn(s, t)
	if err != nil {
		return nil
	}
	stored, err := columns.ToStored(v, t)
	b, ok := stored.([]byte)
	if err != nil || !ok {
		return nil
	}
	_, shape, _, err := tensor.Header(b)
	if err != nil || shape.Size() == 0 {
		return nil
	}
	return append(tensor.Shape{}, shape...)
}
