package kernelfunc

import (
	"strings"
	"testing"

	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

func text(c *lite.Cell) string {
	switch c.Kind() {
	case lite.Integer, lite.Float:
		return tensor.FormatFloat(c.Float(), tensor.Float64)
	case lite.Text:
		return c.String()
	case lite.Blob:
		t, err := tensor.Decode(c.Bytes())
		if err != nil {
			return err.Error()
		}
		return t.DType.String() + t.String()
	}
	return "NULL"
}

// Calls as generated SQL and as a careless user writes them: the result, or part of the error.
func TestCalls(t *testing.T) {
	c, err := lite.Open(":memory:", false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := Register(c); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"relgrad_chunk('{{1,2},{3,1e-07}}', 'shape=[2,2] kind=real')":   "real{{1,2},{3,1e-07}}",
		"relgrad_full(0.5, 'shape=[2]')":                                "double precision{0.5,0.5}",
		"relgrad_full(NULL, 'shape=[2]')":                               "NULL",
		"relgrad_zeros('shape=[1,2] kind=real')":                        "real{{0,0}}",
		"relgrad_sum_to(relgrad_full(2.0, 'shape=[2,3]'), 'shape=[3]')": "double precision{4,4,4}",
		"relgrad_exp(0.0)":                                              "1",
		"relgrad_greatest(NULL, 1, 2)":                                  "2",
		"relgrad_greatest(NULL, NULL)":                                  "NULL",
		"relgrad_mul(relgrad_full(2.0, 'shape=[2]'), NULL)":             "NULL",
		"relgrad_double('12.50')":                                       "12.5",
		"relgrad_double('1e400')":                                       "Infinity",
		"relgrad_double('NaN')":                                         "!not a number",
		"relgrad_double('x')":                                           "!malformed numeric",
		"relgrad_real_text(0.100000001490116)":                          "0.1",
		"relgrad_int_array(1, -2)":                                      "[1,-2]",
		"relgrad_random_int(10, 1, '[2,3]')":                            "9",
		"relgrad_random_int(10, 1, 'x')":                                "!malformed bigint[]",
		"relgrad_sqrt(-1.0)":                                            "!the result of sqrt is not a number",
		"relgrad_exp(x'00')":                                            "!not a chunk",
		"relgrad_exp()":                                                 "!exp takes 1 argument, not 0",
		"relgrad_sum_to()":                                              "!lacks its static arguments",
		"relgrad_sum_to(1.0, 'colour=[3]')":                             "!malformed attributes",
		"relgrad_zeros('shape=[1000000,1000000]')":                      "!cannot be made",
		"relgrad_zeros('')":                                             "!cannot be made",
		"relgrad_zeros()":                                               "!internal error",
		"relgrad_chunk('{1,2}', 'shape=[3]')":                           "!2 elements for a chunk of shape [3]",
		"relgrad_chunk('{1,a}', 'shape=[2]')":                           "!malformed element",
		"relgrad_one_hot(5, 'int=3')":                                   "!label 5",
		"relgrad_drop_mask(7, 1, 2, 'num=0.5 int=3')":                   "2",
		"relgrad_sum(x) FROM (SELECT 1.5 AS x UNION ALL SELECT NULL UNION ALL SELECT 2)": "3.5",
		"relgrad_sum(x) FROM (SELECT 1 AS x WHERE FALSE)":                                "NULL",

		"relgrad_sum(x) FROM (SELECT 9e999 AS x UNION ALL SELECT -9e999)": "!the result of sum is not a number",
		"relgrad_sum(x) FROM (SELECT relgrad_full(1.0, 'shape=[2] kind=real') AS x UNION ALL SELECT relgrad_full(2.0, " +
			"'shape=[2] kind=real'))": "real{3,3}",
		"relgrad_sum(x) FROM (SELECT relgrad_zeros('shape=[2]') AS x UNION ALL " +
			"SELECT relgrad_zeros('shape=[3]'))": "!sum of different types",
		"relgrad_sum(x) OVER (ORDER BY x ROWS 1 PRECEDING) FROM " +
			"(SELECT 1.0 AS x UNION ALL SELECT 2.0 UNION ALL SELECT 3.0)": "!moving window",
	} {
		got := ""
		err := c.Query("SELECT "+sql, nil, func(cells []lite.Cell) error { got = text(&cells[0]); return nil })
		if err != nil {
			got = "!" + err.Error()
		}
		if part, ok := strings.CutPrefix(want, "!"); ok && (err == nil || !strings.Contains(got, part)) || !ok &&
			got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}
