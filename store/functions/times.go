package functions

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/store/numeric"
	"github.com/relgrad/relgrad/tensor"
)

// maxDays is more than the days between any two dates of the store, whose years are 1 to 9999.
const maxDays = 4e6

var timeFuncs = map[string]function{
	"date_add": text(2, func(a []lite.Cell) (string, error) {
		d, err := columns.ParseTime(a[0].String())
		if err != nil {
			return "", err
		}
		if n := a[1].Int(); n < maxDays && n > -maxDays {
			d = d.AddDate(0, 0, int(n))
		} else {
			return "", columns.ErrDate()
		}
		return columns.TimeOut(d, catalog.Date), columns.InYears(d)
	}),
	"date_sub": {2, true, strict(func(a []lite.Cell, r lite.Result) error {
		x, err := columns.ParseTime(a[0].String())
		if err != nil {
			return err
		}
		y, err := columns.ParseTime(a[1].String())
		r.Int((x.Unix() - y.Unix()) / 86400) // a Duration overflows after 292 years
		return err
	})},
	"date_part": text(2, datePart),
	"date_field": text(2, func(a []lite.Cell) (string, error) {
		switch f := strings.ToLower(a[0].String()); f {
		case "hour", "minute", "second":
			return "", sqlerr.New(sqlerr.FeatureNotSupported, "unit \"%s\" not supported for type date", f)
		case "epoch":
			x, err := columns.ParseTime(a[1].String())
			return strconv.FormatInt(x.Unix(), 10), err
		}
		return datePart(a)
	}),
	"date_trunc": text(2, dateTrunc),
	"make_date": text(3, func(a []lite.Cell) (string, error) {
		y, m, d := int(a[0].Int()), int(a[1].Int()), int(a[2].Int())
		x := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
		if x.Year() != y || int(x.Month()) != m || x.Day() != d || y < 1 || y > 9999 {
			return "", sqlerr.New("22008", "date field value out of range: %d-%02d-%02d", y, m, d)
		}
		return columns.TimeOut(x, catalog.Date), nil
	}),
	"to_timestamp": text(1, func(a []lite.Cell) (string, error) {
		x := a[0].Float()
		if !(x > -1e11 && x < 1e12) {
			return "", sqlerr.New("22008", "timestamp out of range: \"%s\"", tensor.FormatFloat(x, tensor.Float64)).
				WithHint("The embedded store keeps the years 1 to 9999.")
		}
		sec, part := math.Modf(x)
		t := time.UnixMicro(int64(sec)*1e6 + int64(math.RoundToEven(part*1e6)))
		return columns.TimeOut(t, catalog.TimestampTZ), columns.InYears(t.UTC())
	}),
	"to_char": {2, true, strict(toChar)},
	"tmodify": text(3, func(a []lite.Cell) (string, error) {
		x, err := columns.ParseTime(a[0].String())
		if err != nil {
			return "", err
		}
		x = atPrecision(x, int(a[2].Int()))
		return columns.TimeOut(x, catalog.Type{Name: a[1].String()}), columns.InYears(x)
	}),
}

// atPrecision rounds to so many decimals of a second, halves away from the year 2000 (AdjustTimestampForTypmod).
func atPrecision(x time.Time, digits int) time.Time {
	scale := int64(math.Pow10(6 - digits))
	us := x.UnixMicro() - y2000
	if us >= 0 {
		us = (us + scale/2) / scale * scale
	} else {
		us = -((-us + scale/2) / scale * scale)
	}
	return time.UnixMicro(us + y2000).UTC()
}

// y2000 is the microsecond from which Postgres counts times.
const y2000 = 946684800 * 1000000

func datePart(a []lite.Cell) (string, error) {
	x, err := columns.ParseTime(a[1].String())
	if err != nil {
		return "", err
	}
	_, week := x.ISOWeek()
	isoYear, _ := x.ISOWeek()
	micro := func(us int64, scale int) string {
		n, _ := numeric.Int(us).Div(numeric.Int(1000000))
		return n.Round(scale).String()
	}
	sec := int64(x.Second())*1e6 + int64(x.Nanosecond()/1000)
	switch f := strings.ToLower(a[0].String()); f {
	case "year":
		return strconv.Itoa(x.Year()), nil
	case "month":
		return strconv.Itoa(int(x.Month())), nil
	case "day":
		return strconv.Itoa(x.Day()), nil
	case "hour":
		return strconv.Itoa(x.Hour()), nil
	case "minute":
		return strconv.Itoa(x.Minute()), nil
	case "second":
		return micro(sec, 6), nil
	case "epoch":
		return micro(x.UnixMicro(), 6), nil
	case "dow":
		return strconv.Itoa(int(x.Weekday())), nil
	case "isodow":
		return strconv.Itoa((int(x.Weekday())+6)%7 + 1), nil
	case "doy":
		return strconv.Itoa(x.YearDay()), nil
	case "week":
		return strconv.Itoa(week), nil
	case "isoyear":
		return strconv.Itoa(isoYear), nil
	case "quarter":
		return strconv.Itoa((int(x.Month())-1)/3 + 1), nil
	default:
		return "", sqlerr.New(sqlerr.InvalidParameter, "unit \"%s\" not recognized for a time", f)
	}
}

func dateTrunc(a []lite.Cell) (string, error) {
	x, err := columns.ParseTime(a[1].String())
	if err != nil {
		return "", err
	}
	y, m, d := x.Date()
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	switch f := strings.ToLower(a[0].String()); f {
	case "year":
		x = day(y, 1, 1)
	case "quarter":
		x = day(y, (m-1)/3*3+1, 1)
	case "month":
		x = day(y, m, 1)
	case "week":
		x = day(y, m, d-(int(x.Weekday())+6)%7)
	case "day":
		x = day(y, m, d)
	case "hour", "minute", "second":
		x = x.Truncate(map[string]time.Duration{"hour": time.Hour, "minute": time.Minute, "second": time.Second}[f])
	default:
		return "", sqlerr.New(sqlerr.InvalidParameter, "unit \"%s\" not recognized for a time", f)
	}
	return columns.TimeOut(x, catalog.Timestamp), nil
}
