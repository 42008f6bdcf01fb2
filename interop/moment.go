package interop

import (
	"fmt"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Years that Postgres's types can hold; year 0 is 1 BC.
const (
	firstYear         = -4712
	lastTimestampYear = 294276
	lastDateYear      = 5874897
)

// date adds a day, counted from 1970, in Postgres's text form.
func (b *builder) date(days int64) error {
	day := time.Unix(days*86400, 0).UTC()
	text := moment(day, false)
	last := lastDateYear
	switch {
	case b.texts():
		return b.text(text)
	case strings.HasPrefix(b.typ, "timestamp"):
		last = lastTimestampYear
	case b.typ != "date":
		return mismatch("a date", b.typ)
	}
	if y := day.Year(); y < firstYear || y > last {
		return outOfRange(text, b.typ)
	}
	return b.text(text)
}

// timestamp adds a time, in units since 1970. zone: it is an instant, not the reading of a local clock. It refuses what
// the type cannot hold: nanoseconds, a time of day, the zone.
func (b *builder) timestamp(n int64, unit time.Duration, zone bool) error {
	per := int64(time.Second / unit)
	sec, frac := n/per, n%per
	if frac < 0 {
		sec, frac = sec-1, frac+per
	}
	if sec > 1e13 || sec < -1e13 { // package time is wrong beyond that
		return outOfRange(fmt.Sprintf("a timestamp of %d seconds since 1970", sec), b.typ)
	}
	at := time.Unix(sec, frac*int64(unit)).UTC()
	text := moment(at, true)
	if zone {
		text += "+00"
	}
	if at.Year() <= 0 {
		text += " BC"
	}
	zoned := strings.HasSuffix(b.typ, "with time zone")
	switch {
	case b.texts():
		return b.text(text)
	case b.typ == "date":
		if zone || sec%86400 != 0 || frac != 0 {
			return inexact(text, b.typ)
		}
	case !strings.HasPrefix(b.typ, "timestamp"):
		return mismatch("a timestamp", b.typ)
	case zone && !zoned:
		return sqlerr.New(sqlerr.DatatypeMismatch, "%s has a time zone, which %s would drop", text, b.typ).
			WithHint("Read it into a column of type timestamp with time zone, or of type text.")
	case at.Nanosecond()%1000 != 0:
		return sqlerr.New(sqlerr.NumericOutOfRange, "%s is not exactly representable as %s, which counts microseconds", text,
			b.typ).WithHint("Read it into a column of type text, or round it where the file is written.")
	}
	if y := at.Year(); y < firstYear || y > lastTimestampYear {
		return outOfRange(text, b.typ)
	}
	return b.text(text)
}

// texts reports whether elements are texts, which can hold any date.
func (b *builder) texts() bool { return b.typ == "text" || strings.HasPrefix(b.typ, "character") }

// moment prints a day, and with clock the time too.
func moment(t time.Time, clock bool) string {
	y, era := t.Year(), ""
	if y <= 0 {
		y = 1 - y
		if !clock {
			era = " BC"
		}
	}
	s := fmt.Sprintf("%04d-%02d-%02d", y, t.Month(), t.Day())
	if clock {
		s += t.Format(" 15:04:05.999999999")
	}
	return s + era
}
