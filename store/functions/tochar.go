package functions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
)

// moment is the time that fills the patterns of to_char.
type moment struct {
	time.Time
	zone bool // it is a timestamp with time zone, in UTC
}

// charField fills one pattern. fill is false after FM, which omits padding.
type charField func(m moment, fill bool) string

// numberFields and wordFields are the patterns of to_char. Only those of numbers may be followed by TH. A pattern whose
// lower-case form differs has a second entry.
var numberFields, wordFields = map[string]charField{
	"HH": number(2, hour12), "HH12": number(2, hour12), "HH24": number(2, func(m moment) int { return m.Hour() }),
	"MI": number(2, func(m moment) int { return m.Minute() }), "SS": number(2, func(m moment) int { return m.Second() }),
	"MS": fraction(3), "US": fraction(6), "FF1": fraction(1), "FF2": fraction(2), "FF3": fraction(3), "FF4": fraction(4),
	"FF5": fraction(5), "FF6": fraction(6),
	"SSSS": number(0, secondOfDay), "SSSSS": number(0, secondOfDay),
	"Y,YYY": func(m moment, _ bool) string { return fmt.Sprintf("%d,%03d", m.Year()/1000, m.Year()%1000) },
	"YYYY":  number(4, func(m moment) int { return m.Year() }), "YYY": number(3,
		func(m moment) int { return m.Year() % 1000 }),
	"YY": number(2, func(m moment) int { return m.Year() % 100 }), "Y": number(1,
		func(m moment) int { return m.Year() % 10 }),
	"IYYY": number(4, isoYear), "IYY": number(3, func(m moment) int { return isoYear(m) % 1000 }),
	"IY": number(2, func(m moment) int { return isoYear(m) % 100 }), "I": number(1,
		func(m moment) int { return isoYear(m) % 10 }),
	"MM": number(2, func(m moment) int { return int(m.Month()) }), "DD": number(2, func(m moment) int { return m.Day() }),
	"DDD": number(3, func(m moment) int { return m.YearDay() }), "IDDD": number(3,
		func(m moment) int { return (isoWeek(m)-1)*7 + isoDay(m) }),
	"D": number(0, func(m moment) int { return int(m.Weekday()) + 1 }), "ID": number(0, isoDay),
	"W": number(0, func(m moment) int { return (m.Day()-1)/7 + 1 }), "WW": number(2,
		func(m moment) int { return (m.YearDay()-1)/7 + 1 }),
	"IW": number(2, isoWeek), "CC": number(2, func(m moment) int { return (m.Year()-1)/100 + 1 }),
	"J": number(0, julianDay), "Q": number(0, func(m moment) int { return (int(m.Month())-1)/3 + 1 }),
}, map[string]charField{
	"AM": word("AM", "PM"), "PM": word("AM", "PM"), "A.M.": word("A.M.", "P.M."), "P.M.": word("A.M.", "P.M."),
	"AD": same("AD"), "BC": same("AD"), "A.D.": same("A.D."), "B.C.": same("A.D."),
	"Month": padded(9, func(m moment) string { return m.Month().String() }), "Mon": padded(0,
		func(m moment) string { return m.Month().String()[:3] }),
	"Day": padded(9, func(m moment) string { return m.Weekday().String() }), "Dy": padded(0,
		func(m moment) string { return m.Weekday().String()[:3] }),
	"RM": padded(4, func(m moment) string { return romanMonths[m.Month()-1] }),
	"TZ": func(m moment, _ bool) string {
		if m.zone {
			return "UTC"
		}
		return ""
	},
	"TZH": same("+00"), "TZM": same("00"), "OF": same("+00"),
}

var romanMonths = strings.Fields("I II III IV V VI VII VIII IX X XI XII")

func number(width int, f func(moment) int) charField {
	return func(m moment, fill bool) string {
		if !fill {
			return strconv.Itoa(f(m))
		}
		return fmt.Sprintf("%0*d", width, f(m))
	}
}

// fraction returns the first decimals of a second, with or without FM.
func fraction(digits int) charField {
	return func(m moment, _ bool) string { return fmt.Sprintf("%06d", m.Nanosecond()/1000)[:digits] }
}

func padded(width int, f func(moment) string) charField {
	return func(m moment, fill bool) string {
		if !fill {
			return f(m)
		}
		return fmt.Sprintf("%-*s", width, f(m))
	}
}

func word(morning, evening string) charField {
	return func(m moment, _ bool) string {
		if m.Hour() >= 12 {
			return evening
		}
		return morning
	}
}

func same(s string) charField { return func(moment, bool) string { return s } }

func hour12(m moment) int      { return (m.Hour()+11)%12 + 1 }
func secondOfDay(m moment) int { return m.Hour()*3600 + m.Minute()*60 + m.Second() }
func isoYear(m moment) int     { y, _ := m.ISOWeek(); return y }
func isoWeek(m moment) int     { _, w := m.ISOWeek(); return w }
func isoDay(m moment) int      { return (int(m.Weekday())+6)%7 + 1 }

// julianDay counts days as Postgres does: from midnight, not from noon.
func julianDay(m moment) int {
	y, mo, d := m.Date()
	return 2440588 + int(time.Date(y, mo, d, 0, 0, 0, 0, time.UTC).Unix()/86400)
}

// charPattern is the text of a pattern and the function that fills it.
type charPattern struct {
	text   string
	f      charField
	number bool
}

// charPatterns are all patterns, long ones first. Postgres accepts each in upper and in lower case, and names also with
// an initial capital.
var charPatterns = func() []charPattern {
	var out []charPattern
	add := func(text string, f charField, number bool, change func(string) string) {
		out = append(out, charPattern{text, func(m moment, fill bool) string { return change(f(m, fill)) }, number})
	}
	asIs := func(s string) string { return s }
	for text, f := range numberFields {
		add(text, f, true, asIs)
		add(strings.ToLower(text), f, true, asIs)
	}
	for text, f := range wordFields {
		lower, upper := strings.ToLower(text), strings.ToUpper(text)
		add(upper, f, false, strings.ToUpper)
		if text != upper {
			add(text, f, false, asIs)
		}
		if text != "OF" && text != "TZH" && text != "TZM" {
			add(lower, f, false, strings.ToLower)
		}
	}
	slices.SortFunc(out, func(a, b charPattern) int { return len(b.text) - len(a.text) })
	return out
}()

// toChar is to_char of a time.
func toChar(a []lite.Cell, r lite.Result) error {
	x, err := columns.ParseTime(a[0].String())
	if err != nil || a[1].String() == "" { // an empty pattern gives NULL in Postgres
		return err
	}
	m := moment{x, strings.HasSuffix(a[0].String(), "+00")}
	var b strings.Builder
	for s := a[1].String(); s != ""; {
		if s, err = m.next(&b, s); err != nil {
			return err
		}
	}
	r.Text(b.String())
	return nil
}

// next fills the pattern with which s begins, or copies text, and returns the rest of s.
func (m moment) next(b *strings.Builder, s string) (string, error) {
	rest, noFill := s, false
	if strings.HasPrefix(s, "FM") || strings.HasPrefix(s, "fm") {
		rest, noFill = s[2:], true
	}
	for _, p := range []string{"TM", "tm", "FX", "fx", "of", "tzh", "tzm"} {
		if strings.HasPrefix(rest, p) {
			return "", noCharPattern(p)
		}
	}
	for _, p := range charPatterns {
		if !strings.HasPrefix(rest, p.text) {
			continue
		}
		text := p.f(m, !noFill)
		rest = rest[len(p.text):]
		switch end := rest[:min(2, len(rest))]; {
		case end == "SP" || end == "sp", !p.number && (end == "TH" || end == "th"):
			return "", noCharPattern(p.text + end)
		case end == "TH":
			text, rest = text+strings.ToUpper(ordinal(text)), rest[2:]
		case end == "th":
			text, rest = text+ordinal(text), rest[2:]
		}
		b.WriteString(text)
		return rest, nil
	}
	return literalText(b, rest), nil
}

func noCharPattern(p string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "the pattern \"%s\" of to_char is not supported by the embedded store",
		p).WithHint("Put text that is no pattern into double quotes.")
}

// ordinal is the English suffix of a number: st, nd, rd or th.
func ordinal(n string) string {
	if len(n) < 2 || n[len(n)-2] != '1' {
		switch n[len(n)-1] {
		case '1':
			return "st"
		case '2':
			return "nd"
		case '3':
			return "rd"
		}
	}
	return "th"
}

// literalText copies a character, or the content of quotes.
func literalText(b *strings.Builder, s string) string {
	switch {
	case s == "":
		return ""
	case s[0] == '"':
		i := 1
		for ; i < len(s) && s[i] != '"'; i++ {
			if s[i] == '\\' && i+1 < len(s) {
				i++
			}
			b.WriteByte(s[i])
		}
		return s[min(i+1, len(s)):]
	case strings.HasPrefix(s, `\"`):
		s = s[1:]
	}
	_, n := utf8.DecodeRuneInString(s)
	b.WriteString(s[:n])
	return s[n:]
}
