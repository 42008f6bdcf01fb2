package store

import (
	"errors"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/store/lite/kernelfunc"
	"github.com/relgrad/relgrad/store/numeric"
)

// goFunc is a SQL function written in Go. Its SQL name is "rg_" + name.
type goFunc struct {
	n    int // number of arguments, -1 for any
	pure bool
	f    lite.Scalar
}

// longBytes are the bytes of arguments from which a function may take long: a short text can hold a pattern that works for seconds. What
// kernels do grows with the square of their elements at most, where two are put against each other.
const (
	longBytes   = 4 << 10
	kernelBytes = 16 << 10
	powerBytes  = 200
)

// powers are functions of numerics whose work grows with a power of their digits.
var powers = names("npow nexp nln nlog nsqrt")

// growing are functions whose work does not follow from the length of their arguments.
var growing = names("repeat lpad rpad array_fill factorial nseries " +
	"einsum expand_to full zeros one_hot random_int random_uniform random_normal drop_mask dropout int_array diag put pad")

func names(list string) map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Fields(list) {
		out[n] = true
	}
	return out
}

// register installs everything that printed statements call.
func (db *DB) register() error {
	errs := []error{db.c.Collation("rg_numeric", numeric.Compare), db.c.Collation("rg_numeric_array", compareNumericArrays), db.c.Collation("rg_jsonb", compareJSONB)}
	for _, set := range []map[string]goFunc{numericFuncs, floatFuncs, textFuncs, arrayFuncs, timeFuncs} {
		for name, f := range set {
			from, renew := longBytes, func() lite.Scalar { return f.f }
			switch {
			case growing[name]:
				from = 0
			case powers[name]:
				from = powerBytes
			}
			errs = append(errs, db.c.Long("rg_"+name, f.n, f.pure, from, renew))
		}
	}
	for name, f := range db.sessionFuncs() {
		errs = append(errs, db.c.Func("rg_"+name, f.n, f.pure, f.f))
	}
	for name, a := range aggregateStates {
		errs = append(errs, db.c.Aggregate("rg_"+name, a.n, a.state))
	}
	for name := range known { // one array_agg for each type
		for _, t := range []Type{{Name: name}, {Name: name, Array: true}} {
			errs = append(errs, db.c.Aggregate("rg_array_agg "+t.String(), 1, func() lite.State { return &collect{typ: t} }))
		}
	}
	errs = append(errs, db.registerKernels(), kernelfunc.Register(db.c)) // the second for generated SQL
	return errors.Join(errs...)
}

// strict gives NULL for any NULL argument.
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
func giveValue(r lite.Result, x any, t Type) error {
	s, err := toStored(x, t)
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

// sessionFuncs depend on the session.
func (db *DB) sessionFuncs() map[string]goFunc {
	return map[string]goFunc{
		"now":             {0, false, func(a []lite.Cell, r lite.Result) error { r.Text(timeOut(db.now(), tTZ)); return nil }},
		"clock_timestamp": {0, false, clockTimestamp},
		"run_status":      {2, false, db.runStatus},
		"current_setting": {-1, false, func(a []lite.Cell, r lite.Result) error {
			if a[0].IsNull() {
				return nil
			}
			v, ok := db.Setting(a[0].String())
			switch {
			case ok:
				r.Text(v)
			case len(a) < 2 || a[1].IsNull() || a[1].Int() == 0:
				return sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", a[0].String())
			}
			return nil
		}},
		"set_config": {3, false, func(a []lite.Cell, r lite.Result) error {
			if a[0].IsNull() {
				return sqlerr.New(sqlerr.NullNotAllowed, "SET requires parameter name")
			}
			v := ""
			if !a[1].IsNull() {
				v = a[1].String()
			}
			if err := checkSetting(a[0].String(), v); err != nil {
				return err
			}
			db.Set(a[0].String(), v, !a[2].IsNull() && a[2].Int() != 0)
			r.Text(v)
			return nil
		}},
		"current_schema": {0, false, func(a []lite.Cell, r lite.Result) error {
			if p := db.searchPath(); len(p) > 0 {
				r.Text(p[0])
			}
			return nil
		}},
		"chunk":    {2, false, db.storeChunk},
		"nextval":  {1, false, db.nextIdentity},
		"proposed": {-1, false, db.proposed},
	}
}

// runStatus is what relgrad.run shows as the status of a run.
func (db *DB) runStatus(a []lite.Cell, r lite.Result) error {
	if a[1].IsNull() {
		return nil
	}
	status := a[1].String()
	if status == "running" && !a[0].IsNull() {
		on, err := db.trained(a[0].Int())
		if err != nil {
			return err
		}
		if !on {
			status = "interrupted"
		}
	}
	r.Text(status)
	return nil
}
