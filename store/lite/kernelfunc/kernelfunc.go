//go:build cgo

package kernelfunc

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

// Register adds all functions to a connection.
func Register(c *lite.Conn) error {
	var errs []error
	for _, d := range kernels.All() {
		if !d.IsMacro() {
			errs = append(errs, c.Func("relgrad_"+d.Name, -1, true, kernel(d)))
		}
	}
	for name, f := range helpers {
		errs = append(errs, c.Func("relgrad_"+name, -1, true, f))
	}
	errs = append(errs, c.Aggregate("relgrad_sum", 1, func() lite.State { return newSum() }),
		c.Aggregate("relgrad_sum_frame", 1, func() lite.State { return &frameSum{} }),
		c.Aggregate("relgrad_max_agg", 1, func() lite.State { return &fold{name: "max_agg", add: extreme(1)} }),
		c.Aggregate("relgrad_min_agg", 1, func() lite.State { return &fold{name: "min_agg", add: extreme(-1)} }))
	return errors.Join(errs...)
}

func kernel(d *kernels.Def) lite.Scalar {
	var last string // attributes seldom change between rows
	var attr kernels.Attr
	draws, static := d.PerStep || d.PerCall, d.Static()
	return func(cells []lite.Cell, res lite.Result) error {
		n := len(cells)
		if static {
			n--
		}
		if draws {
			n -= 2
		}
		if n < 0 {
			return sqlerr.New(sqlerr.UndefinedFunction, "relgrad_%s lacks its static arguments", d.Name)
		}
		if static {
			if s := cells[len(cells)-1].Bytes(); string(s) != last {
				a, err := kernels.DecodeAttr(string(s))
				if err != nil {
					return err
				}
				last, attr = string(s), a
			}
		}
		env := kernels.Env{}
		if draws {
			env.Seed, env.Step = cells[n].Int(), cells[n+1].Int()
		}
		args := make([]kernels.Value, n)
		for i := range args {
			v, err := Value(&cells[i], d.IsArray(i))
			if err != nil {
				return err
			}
			args[i] = v
		}
		v, err := d.EvalAttr(&env, attr, args)
		if err != nil {
			return err
		}
		return Give(res, v, d.Name)
	}
}

// Value decodes an argument by its own type. array: a text is a bigint[].
func Value(c *lite.Cell, array bool) (kernels.Value, error) {
	switch c.Kind() {
	case lite.Integer:
		return kernels.IntValue(c.Int()), nil
	case lite.Float:
		return kernels.FloatValue(c.Float()), nil
	case lite.Blob:
		t, err := tensor.Decode(c.Bytes())
		if err != nil {
			return kernels.Value{}, sqlerr.New(sqlerr.DataCorrupted, "%v", err)
		}
		return kernels.ChunkValue(kernels.KindOf(t.DType), t.Shape, t.Data), nil
	case lite.Text:
		if !array {
			return kernels.TextValue(c.String()), nil
		}
		ints := []int64{}
		if err := json.Unmarshal(c.Bytes(), &ints); err != nil {
			return kernels.Value{}, sqlerr.New(sqlerr.DataCorrupted, "malformed bigint[] %q", c.String())
		}
		return kernels.IntArray(ints...).Const, nil
	}
	return kernels.NullOf(kernels.Type{Kind: kernels.Float64}), nil
}

// Give returns a value. If it is a scalar NaN, it fails with an error that names the function what.
func Give(res lite.Result, v kernels.Value, what string) error {
	switch t := v.Type; {
	case v.Null:
	case v.Ints != nil:
		b, err := json.Marshal(v.Ints)
		if err != nil {
			return err
		}
		res.Text(string(b))
	case t.IsChunk():
		res.Blob((&tensor.Tensor{DType: t.Kind.DType(), Shape: t.Shape, Data: v.F}).Encode())
	case t.Kind == kernels.Text:
		res.Text(v.T)
	case !t.IsFloat():
		res.Int(v.I)
	case math.IsNaN(v.X):
		return notANumber(what)
	default:
		res.Float(v.X)
	}
	return nil
}

func notANumber(what string) error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "the result of %s is not a number", what).
		WithDetail("SQLite holds no NaN outside of arrays.")
}
