package delta

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// Values of partition columns are texts in the log:
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md#partition-value-serialization

// value reads the value of a partition column. The empty text is NULL.
func value(f *interop.Field, text *string) (any, error) {
	if text == nil || *text == "" {
		return nil, nil
	}
	s := *text
	bad := func() (any, error) {
		return nil, corrupt("partition column \"%s\" of type %s has the value \"%s\"", f.Name, f.Type, s)
	}
	switch f.Type {
	case "string":
		return s, nil
	case "binary":
		if b, ok := latin1(s); ok {
			return b, nil
		}
		return bad()
	case "boolean":
		if s == "true" || s == "false" {
			return s == "true", nil
		}
	case "byte", "short", "integer", "long":
		n, err := strconv.ParseInt(s, 10, map[string]int{"byte": 8, "short": 16, "integer": 32, "long": 64}[f.Type])
		if err != nil {
			return bad()
		}
		return n, nil
	case "float", "double":
		x, err := strconv.ParseFloat(s, map[string]int{"float": 32, "double": 64}[f.Type])
		if err != nil {
			return bad()
		}
		if f.Type == "float" {
			return float32(x), nil
		}
		return x, nil
	case "date", "timestamp", "timestamp_ntz":
		if v, err := f.Accept(s); err == nil {
			return v, nil
		}
		return bad()
	}
	if _, _, decimal := f.Decimal(); decimal {
		if _, ok := jsonNumber(s); ok {
			return s, nil
		}
	}
	return bad()
}

// latin1 reads bytes that are written as the characters U+0000 to U+00FF.
func latin1(s string) (b []byte, ok bool) {
	for _, r := range s {
		if r > 255 {
			return nil, false
		}
		b = append(b, byte(r))
	}
	return b, true
}

func jsonNumber(s string) (n json.Number, ok bool) {
	err := json.Unmarshal([]byte(s), &n)
	return n, err == nil
}

// valueText writes the value of a partition column.
func valueText(f *interop.Field, v any) (*string, error) {
	s := ""
	switch x := v.(type) {
	case nil:
		return nil, nil
	case string:
		if s = x; x == "" {
			return nil, sqlerr.New(sqlerr.InvalidParameter,
				"partition column \"%s\" has an empty text, which Delta Lake takes for NULL", f.Name)
		}
	case []byte:
		r := make([]rune, len(x))
		for i, b := range x {
			r[i] = rune(b)
		}
		s = string(r)
	case bool:
		s = strconv.FormatBool(x)
	case int64:
		s = strconv.FormatInt(x, 10)
	case float32:
		s = floatText(float64(x), 32)
	case float64:
		s = floatText(x, 64)
	case interop.Day:
		s = time.Unix(int64(x)*86400, 0).UTC().Format("2006-01-02")
	case interop.Moment:
		s = time.UnixMicro(int64(x)).UTC().Format("2006-01-02 15:04:05.000000")
		if f.Type == "timestamp" {
			s = time.UnixMicro(int64(x)).UTC().Format("2006-01-02T15:04:05.000000Z")
		}
	default:
		return nil, unsupported("tables are not partitioned by columns of type %s as is \"%s\"", f.Type, f.Name)
	}
	return &s, nil
}

func floatText(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 0):
		return map[bool]string{true: "Infinity", false: "-Infinity"}[x > 0]
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}

// folder is where the files of a partition lie, in the manner of Hive: some programs read the values from it.
// There is none where a name would be too long.
func folder(columns []string, values map[string]*string) string {
	const longest = 250
	var steps []string
	for _, c := range columns {
		text := "__HIVE_DEFAULT_PARTITION__"
		if v := values[c]; v != nil {
			text = hive(*v)
		}
		steps = append(steps, hive(c)+"="+text)
		if len(steps[len(steps)-1]) > longest {
			return ""
		}
	}
	return path.Join(steps...)
}

// hive escapes a name of a folder.
func hive(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < 32 || c == 127 || strings.IndexByte("\"#%'*/:=?\\{[]^", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
