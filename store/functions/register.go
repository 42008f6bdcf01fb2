package functions

import (
	"errors"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/store/lite/kernelfunc"
	"github.com/relgrad/relgrad/store/numeric"
)

// function is a SQL function written in Go. Its SQL name is "rg_" + name.
type function struct {
	n    int // number of arguments, -1 for any
	pure bool
	f    lite.Scalar
}

// Bytes of arguments from which a function may take long. A short text can be a pattern that runs for seconds; the work
// of a kernel grows at most with the square of its elements; powerBytes is for powers.
const (
	longBytes   = 4 << 10
	kernelBytes = 16 << 10
	powerBytes  = 200
)

// powers are functions of numerics whose work grows with a power of the digits.
var powers = names("npow nexp nln nlog nsqrt")

// growing are functions whose work does not depend on the length of the arguments.
var growing = names("repeat lpad rpad array_fill factorial nseries " +
	"einsum expand_to full zeros one_hot drop_mask dropout diag put pad")

// shaped are kernels whose first argument is the shape of their result.
var shaped = names("random_uniform random_normal")

func names(list string) map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Fields(list) {
		out[n] = true
	}
	return out
}

// Register installs the functions of printed statements that do not depend on a session.
func Register(c *lite.Conn) error {
	errs := []error{c.Collation("rg_numeric", numeric.Compare),
		c.Collation("rg_numeric_array", columns.CompareNumericArrays), c.Collation("rg_jsonb", columns.CompareJSONB)}
	for _, set := range []map[string]function{numericFuncs, floatFuncs, textFuncs, arrayFuncs, timeFuncs} {
		for name, f := range set {
			long := lite.LongFrom(longBytes)
			switch {
			case growing[name]:
				long = func([]lite.Cell) bool { return true }
			case powers[name]:
				long = lite.LongFrom(powerBytes)
			}
			errs = append(errs, c.Long("rg_"+name, f.n, f.pure, long, func() lite.Scalar { return f.f }))
		}
	}
	for name, a := range aggregateStates {
		errs = append(errs, aggregate(c, "rg_"+name, "", a))
	}
	for name := range columns.Storage { // one array_agg for each type
		for _, t := range []catalog.Type{{Name: name}, {Name: name, Array: true}} {
			a := aggregateDef{1, func() lite.State { return &collect{typ: t} }}
			errs = append(errs, aggregate(c, "rg_array_agg", " "+t.String(), a))
		}
	}
	errs = append(errs, registerKernels(c), kernelfunc.Register(c)) // the second registers those of generated SQL
	return errors.Join(errs...)
}

// aggregate registers an aggregate, and as name_frame that over frames.
func aggregate(c *lite.Conn, name, suffix string, a aggregateDef) error {
	return errors.Join(c.Aggregate(name+suffix, a.n, a.state),
		c.Aggregate(name+"_frame"+suffix, a.n, func() lite.State { return &framed{state: a.state, now: a.state()} }))
}

// strict makes a function NULL for any NULL argument.
func strict(f lite.Scalar) lite.Scalar {
	return func(a []lite.Cell, r lite.Result) error {
		for i := range a {
			if a[i].IsNull() {
				return nil
			}
		}
		return f(a, r)
	}
}

// giveValue returns a Go value of a type.
func giveValue(r lite.Result, x any, t catalog.Type) error {
	s, err := columns.ToStored(x, t)
	if err != nil {
		return err
	}
	switch v := s.(type) {
	case int64:
		r.Int(v)
	case float64:
		r.Float(v)
	case string:
		r.Text(v)
	case []byte:
		r.Blob(v)
	}
	return nil
}
