package functions

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
)

// text makes a strict function of n arguments that returns a text.
func text(n int, f func(a []lite.Cell) (string, error)) function {
	return function{n, true, strict(func(a []lite.Cell, r lite.Result) error {
		s, err := f(a)
		if err == nil {
			r.Text(s)
		}
		return err
	})}
}

func pure1(f func(string) string) function {
	return text(1, func(a []lite.Cell) (string, error) { return f(a[0].String()), nil })
}

func boolText(n int, f func(a []lite.Cell) (bool, error)) function {
	return function{n, true, strict(func(a []lite.Cell, r lite.Result) error {
		ok, err := f(a)
		r.Bool(ok)
		return err
	})}
}

var textFuncs = map[string]function{
	"lower": pure1(strings.ToLower), "upper": pure1(strings.ToUpper), "initcap": pure1(initcap),
	"reverse":       pure1(reverseText),
	"joined":        pure1(joined),
	"md5":           pure1(func(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) }),
	"quote_literal": pure1(sqltext.Text), "quote_ident": pure1(quoteIdent),
	"substr": text(-1, substr),
	"left": text(2, func(a []lite.Cell) (string, error) {
		r, n := []rune(a[0].String()), int(a[1].Int())
		if n < 0 {
			n = max(0, len(r)+n)
		}
		return string(r[:min(n, len(r))]), nil
	}),
	"right": text(2, func(a []lite.Cell) (string, error) {
		r, n := []rune(a[0].String()), int(a[1].Int())
		if n < 0 {
			return string(r[min(-n, len(r)):]), nil
		}
		return string(r[max(0, len(r)-n):]), nil
	}),
	"lpad": text(-1, func(a []lite.Cell) (string, error) { return pad(a, true) }), "rpad": text(-1,
		func(a []lite.Cell) (string, error) { return pad(a, false) }),
	"ltrim": text(-1, trimmer(strings.TrimLeft)), "rtrim": text(-1, trimmer(strings.TrimRight)), "btrim": text(-1,
		trimmer(strings.Trim)),
	"translate": text(3, translate), "split_part": text(3, splitPart),
	"repeat": text(2, func(a []lite.Cell) (string, error) {
		s, n := a[0].String(), max(0, a[1].Int())
		if int64(len(s))*n > 1<<29 {
			return "", sqlerr.New(sqlerr.ProgramLimit, "requested length too large")
		}
		return strings.Repeat(s, int(n)), nil
	}),
	"replace": text(3, func(a []lite.Cell) (string, error) { // SQLite's own takes hours for long texts
		s, from, to := a[0].String(), a[1].String(), a[2].String()
		if from == "" {
			return s, nil
		}
		if n := strings.Count(s, from); len(s)+n*(len(to)-len(from)) > 1<<29 {
			return "", sqlerr.New(sqlerr.ProgramLimit, "requested length too large")
		}
		return strings.ReplaceAll(s, from, to), nil
	}),
	"position": {2, true, strict(func(a []lite.Cell, r lite.Result) error { // likewise
		s := a[0].Bytes()
		if at := bytes.Index(s, a[1].Bytes()); at >= 0 {
			r.Int(int64(utf8.RuneCount(s[:at])) + 1)
		} else {
			r.Int(0)
		}
		return nil
	})},
	"starts_with": boolText(2, func(a []lite.Cell) (bool, error) {
		return strings.HasPrefix(a[0].String(), a[1].String()), nil
	}),
	"chr": text(1, func(a []lite.Cell) (string, error) {
		if n := a[0].Int(); n < 0 {
			return "", sqlerr.New(sqlerr.InvalidParameter, "character number must be positive")
		} else if n == 0 || !utf8.ValidRune(rune(n)) {
			return "", sqlerr.New(sqlerr.ProgramLimit, "requested character %d is not valid", n)
		}
		return string(rune(a[0].Int())), nil
	}),
	"to_hex": text(1, func(a []lite.Cell) (string, error) { return strconv.FormatUint(uint64(a[0].Int()), 16), nil }),
	"ascii": {1, true, strict(func(a []lite.Cell, r lite.Result) error {
		c, _ := utf8.DecodeRune(a[0].Bytes())
		if len(a[0].Bytes()) == 0 {
			c = 0
		}
		r.Int(int64(c))
		return nil
	})},
	"concat": {-1, true, func(a []lite.Cell, r lite.Result) error {
		var b strings.Builder
		for i := range a {
			b.Write(a[i].Bytes())
		}
		r.Text(b.String())
		return nil
	}},
	"concat_ws": {-1, true, func(a []lite.Cell, r lite.Result) error {
		if a[0].IsNull() {
			return nil
		}
		var p []string
		for i := range a[1:] {
			if !a[i+1].IsNull() {
				p = append(p, a[i+1].String())
			}
		}
		r.Text(strings.Join(p, a[0].String()))
		return nil
	}},
	"format": {-1, true, formatCall},
	"num_nulls": {-1, true, func(a []lite.Cell, r lite.Result) error {
		r.Int(int64(len(a) - nonNulls(a)))
		return nil
	}},
	"num_nonnulls": {-1, true, func(a []lite.Cell, r lite.Result) error { r.Int(int64(nonNulls(a))); return nil }},
	"like": boolText(3, func(a []lite.Cell) (bool, error) {
		s, p := a[0].String(), a[1].String()
		if a[2].Int() != 0 {
			s, p = strings.ToLower(s), strings.ToLower(p)
		}
		return like(s, p)
	}),
	"regex": boolText(3, func(a []lite.Cell) (bool, error) {
		re, err := regex(a[1].String(), a[2].Int() != 0)
		if err != nil {
			return false, err
		}
		return re.Match(a[0].Bytes()), nil
	}),
	"regex_substr":          {2, true, strict(regexSubstr)},
	"regexp_replace":        text(-1, regexpReplace),
	"regexp_match":          {2, true, strict(regexMatch)},
	"regexp_split_to_array": {2, true, strict(regexSplit)},
	"varchar": text(2, func(a []lite.Cell) (string, error) {
		s, n := a[0].String(), int(a[1].Int())
		if utf8.RuneCountInString(s) > n {
			if r := []rune(s); strings.TrimRight(string(r[n:]), " ") == "" {
				return string(r[:n]), nil
			}
			return "", sqlerr.New("22001", "value too long for type character varying(%d)", n)
		}
		return s, nil
	}),
	"cast": {3, true, strict(func(a []lite.Cell, r lite.Result) error {
		f, t := catalog.TypeOf(a[1].String()), catalog.TypeOf(a[2].String())
		x, err := columns.FromCell(&a[0], f)
		if err != nil {
			return err
		}
		if x, err = columns.Convert(x, f, t); err != nil {
			return err
		}
		return giveValue(r, x, t)
	})},
}

func nonNulls(a []lite.Cell) int {
	n := 0
	for i := range a {
		n += columns.Bit(!a[i].IsNull())
	}
	return n
}

func anys(list []string) []any { return lists.Map(list, func(s string) any { return s }) }

// joined is the value of group_concat. Over a frame SQLite has a NUL, which no text can hold, for the empty text.
func joined(s string) string { return strings.TrimPrefix(s, "\x00") }

func initcap(s string) string {
	up := true
	return strings.Map(func(r rune) rune {
		c := unicode.ToLower(r)
		if up {
			c = unicode.ToUpper(r)
		}
		up = !unicode.IsLetter(r) && !unicode.IsDigit(r)
		return c
	}, s)
}

func reverseText(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func quoteIdent(s string) string { return print.QualifiedName("", s) }

func substr(a []lite.Cell) (string, error) {
	r, from := []rune(a[0].String()), a[1].Int()-1
	to := int64(len(r))
	if len(a) > 2 {
		if a[2].Int() < 0 {
			return "", sqlerr.New("22011", "negative substring length not allowed")
		}
		to = min(to, from+a[2].Int())
	}
	from = max(0, from)
	if from >= to {
		return "", nil
	}
	return string(r[from:to]), nil
}

func pad(a []lite.Cell, left bool) (string, error) {
	r, n, fill := []rune(a[0].String()), int(a[1].Int()), []rune(" ")
	if len(a) > 2 {
		fill = []rune(a[2].String())
	}
	if n > 1<<28 {
		return "", sqlerr.New(sqlerr.ProgramLimit, "requested length too large")
	}
	if len(r) >= n || len(fill) == 0 {
		return string(r[:min(len(r), max(n, 0))]), nil
	}
	p := make([]rune, n-len(r))
	for i := range p {
		p[i] = fill[i%len(fill)]
	}
	if left {
		return string(p) + string(r), nil
	}
	return string(r) + string(p), nil
}

func trimmer(f func(s, cut string) string) func([]lite.Cell) (string, error) {
	return func(a []lite.Cell) (string, error) {
		cut := " "
		if len(a) > 1 {
			cut = a[1].String()
		}
		return f(a[0].String(), cut), nil
	}
}

func translate(a []lite.Cell) (string, error) {
	from, to := []rune(a[1].String()), []rune(a[2].String())
	return strings.Map(func(r rune) rune {
		for i, f := range from {
			if f == r {
				if i < len(to) {
					return to[i]
				}
				return -1
			}
		}
		return r
	}, a[0].String()), nil
}

func splitPart(a []lite.Cell) (string, error) {
	n := int(a[2].Int())
	if n == 0 {
		return "", sqlerr.New(sqlerr.InvalidParameter, "field position must not be zero")
	}
	p := []string{a[0].String()}
	if sep := a[1].String(); sep != "" {
		p = strings.Split(p[0], sep)
	}
	if n < 0 {
		n += len(p) + 1
	}
	if n < 1 || n > len(p) {
		return "", nil
	}
	return p[n-1], nil
}

func formatCall(a []lite.Cell, r lite.Result) error {
	if a[0].IsNull() {
		return nil
	}
	var b strings.Builder
	s, next := a[0].String(), 1
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return sqlerr.New(sqlerr.InvalidParameter, "unterminated format() type specifier")
		}
		if s[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if next >= len(a) {
			return sqlerr.New(sqlerr.InvalidParameter, "too few arguments for format()")
		}
		x := ""
		if !a[next].IsNull() {
			x = a[next].String()
		}
		switch s[i] {
		case 's':
			b.WriteString(x)
		case 'I':
			if a[next].IsNull() {
				return sqlerr.New(sqlerr.NullNotAllowed, "null values cannot be formatted as an SQL identifier")
			}
			b.WriteString(quoteIdent(x))
		case 'L':
			if a[next].IsNull() {
				x = "NULL"
			} else {
				x = sqltext.Text(x)
			}
			b.WriteString(x)
		default:
			return sqlerr.New(sqlerr.InvalidParameter, "unrecognized format() type specifier \"%c\"", s[i])
		}
		next++
	}
	r.Text(b.String())
	return nil
}

// randomUUID is gen_random_uuid(), of version 4.
func randomUUID(a []lite.Cell, r lite.Result) error {
	var id [16]byte
	rand.Read(id[:]) // never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	r.Text(columns.UUIDText(id))
	return nil
}
