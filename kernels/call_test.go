package kernels

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

func ints(x ...int64) Value { return IntArray(x...).Const }

func mat(rows int, x ...float64) Value {
	return ChunkValue(Float64, []int{rows, len(x) / rows}, x)
}

// Calls as SQL makes them, with all values known only at run time.
func TestCalls(t *testing.T) {
	i, f, s, b := IntValue, FloatValue, TextValue, BoolValue
	m := mat(2, 1, 2, 3, 4, 5, 6)
	r := Type{Kind: Float32}
	for _, c := range []struct {
		name string
		args []Value
		want string
	}{
		{"add", []Value{i(2), i(3)}, "5 bigint"},
		{"add", []Value{i(2), f(.5)}, "2.5 double precision"},
		{"add", []Value{{Type: r, X: 1}, {Type: r, X: 2}}, "3 real"},
		{"mul", []Value{i(2), ChunkValue(Float32, []int{2}, []float64{1, 2})}, "{2,4} real[2]"},
		{"div", []Value{i(-7), i(2)}, "-3 bigint"},
		{"mod", []Value{i(-7), i(3)}, "-1 bigint"},
		{"power", []Value{i(2), i(3)}, "8 double precision"},
		{"power", []Value{{Type: r, X: 2}, {Type: r, X: 3}}, "8 double precision"},
		{"abs", []Value{i(-3)}, "3 bigint"},
		{"abs", []Value{{Type: r, X: -3}}, "3 real"},
		{"sigmoid", []Value{{Type: r}}, "0.5 real"},
		{"exp", []Value{{Type: r}}, "1 double precision"},
		{"eq", []Value{f(math.NaN()), f(math.NaN())}, "true boolean"},
		{"gt", []Value{f(math.NaN()), f(math.Inf(1))}, "true boolean"},
		{"lt", []Value{s("a"), s("b")}, "true boolean"},
		{"and", []Value{b(false), NullOf(Type{Kind: Bool})}, "false boolean"},
		{"or", []Value{b(false), NullOf(Type{Kind: Bool})}, "NULL boolean"},
		{"not", []Value{NullOf(Type{Kind: Bool})}, "NULL boolean"},
		{"is_true", []Value{NullOf(Type{Kind: Bool})}, "false boolean"},
		{"is_distinct", []Value{NullOf(Type{Kind: Int}), i(1)}, "true boolean"},
		{"case", []Value{NullOf(Type{Kind: Bool}), i(1), f(2.5)}, "2.5 double precision"},
		{"case", []Value{b(true), i(1), f(2.5)}, "1 double precision"},
		{"coalesce", []Value{NullOf(Type{Kind: Int}), i(4)}, "4 bigint"},
		{"greatest", []Value{NullOf(Type{Kind: Int}), i(4), i(9)}, "9 bigint"},
		{"matmul", []Value{m, vec(1, 0, 1)}, "{4,10} double precision[2]"},
		{"matmul", []Value{m, mat(3, 1, 0, 0, 1, 1, 1)}, "{{4,5},{10,11}} double precision[2,2]"},
		{"transpose", []Value{m}, "{{1,4},{2,5},{3,6}} double precision[3,2]"},
		{"outer", []Value{vec(1, 2), vec(3, 4)}, "{{3,4},{6,8}} double precision[2,2]"},
		{"dot", []Value{vec(1, 2), vec(3, 4)}, "11 double precision"},
		{"einsum", []Value{s("ij , kj -> ik"), m, m}, "{{14,32},{32,77}} double precision[2,2]"},
		{"einsum", []Value{s("ij,kj"), m, m}, "{{14,32},{32,77}} double precision[2,2]"},
		{"einsum", []Value{s("ij->"), m}, "21 double precision"},
		{"einsum", []Value{s("i->ii"), vec(1, 2)}, "{{1,0},{0,2}} double precision[2,2]"},
		{"diag", []Value{mat(2, 1, 2, 3, 4)}, "{1,4} double precision[2]"},
		{"sum_elements", []Value{m}, "21 double precision"},
		{"sum_elements", []Value{m, i(1)}, "{{5,7,9}} double precision[1,3]"},
		{"mean_elements", []Value{m, i(2)}, "{{2},{5}} double precision[2,1]"},
		{"max_elements", []Value{m, i(1)}, "{{4,5,6}} double precision[1,3]"},
		{"max_elements", []Value{m}, "6 double precision"},
		{"max_elements", []Value{vec(math.Inf(1), math.NaN())}, "NaN double precision"},
		{"maximum", []Value{f(math.Inf(1)), f(math.NaN())}, "NaN double precision"},
		{"maximum", []Value{f(math.NaN()), f(math.Inf(1))}, "NaN double precision"},
		{"minimum", []Value{f(math.Inf(-1)), f(math.NaN())}, "NaN double precision"},
		{"minimum", []Value{f(math.NaN()), f(math.Inf(-1))}, "NaN double precision"},
		{"logsumexp", []Value{vec(1000, 1000)}, "1000.6931471805599 double precision"},
		{"norm", []Value{vec(3, 4)}, "5 double precision"},
		{"mse", []Value{vec(3, 4), vec(1, 4)}, "2 double precision"},
		{"argmax", []Value{vec(1, 5, 5)}, "1 bigint"},
		{"argmin", []Value{vec(3, 5, 1)}, "2 bigint"},
		{"softmax", []Value{mat(2, 1, 1, 1000, 0)}, "{{0.5,0.5},{1,0}} double precision[2,2]"},
		{"cross_entropy", []Value{vec(0, 0), i(1)}, "0.6931471805599453 double precision"},
		{"one_hot", []Value{i(2), i(3)}, "{0,0,1} double precision[3]"},
		{"concat_axis", []Value{m, mat(2, 7, 8), i(2)}, "{{1,2,3,7},{4,5,6,8}} double precision[2,4]"},
		{"reshape", []Value{m, ints(3, 2)}, "{{1,2},{3,4},{5,6}} double precision[3,2]"},
		{"subscript", []Value{m, i(2), i(1)}, "4 double precision"},
		{"zeros", []Value{ints(2)}, "{0,0} double precision[2]"},
		{"full", []Value{ints(2), i(7)}, "{7,7} double precision[2]"},
		{"random_uniform", []Value{ints(1), i(3), ints(4, 5)},
			fmt.Sprintf("{%v} double precision[1]", tensor.Uniform(3, tensor.HashKey(4, 5), 0))},
		{"random_normal", []Value{ints(1), i(3)},
			fmt.Sprintf("{%v} double precision[1]", tensor.Normal(3, tensor.HashKey(), 0))},
		{"random_int", []Value{i(1), i(3), ints()}, "0 bigint"},
		{"clip", []Value{vec(-1, .5, 3), i(0), i(1)}, "{0,0.5,1} double precision[3]"},
		{"leaky_relu", []Value{vec(-1, 1), f(.5)}, "{-0.5,1} double precision[2]"},
		{"dropout", []Value{vec(-1, 1), f(.5)}, "{-1,1} double precision[2]"},
		{"sum_elements", []Value{NullOf(Type{}), i(1)}, "NULL double precision"},
		{"lower", []Value{s("AbÉ")}, "'abé' text"},
		{"length", []Value{s("AbÉ")}, "3 bigint"},
		{"textcat", []Value{s("a"), s("b")}, "'ab' text"},
		{"like", []Value{s("abcabd"), s("%ab_")}, "true boolean"},
		{"like", []Value{s("a%c"), s(`a\%c`)}, "true boolean"},
		{"like", []Value{s("abc"), s(`a\%c`)}, "false boolean"},
		{"current_step", nil, "9 bigint"},
		{"current_epoch", nil, "3 bigint"},
		{"current_seed", nil, "5 bigint"},
	} {
		v, err := Lookup(c.name).EvalValues(&Env{Seed: 5, Step: 9, Epoch: 3}, c.args)
		if err != nil {
			t.Errorf("%s%v: %v", c.name, c.args, err)
			continue
		}
		if got := v.String() + " " + v.Type.String(); got != c.want {
			t.Errorf("%s%v: got %s, want %s", c.name, c.args, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	i, f, s := IntValue, FloatValue, TextValue
	m := mat(2, 1, 2, 3, 4, 5, 6)
	for _, c := range []struct {
		name string
		args []Value
		code string
		want string
	}{
		{"add", []Value{vec(1, 2), vec(1, 2, 3)}, sqlerr.ArraySubscript, "different shapes [2] + [3]"},
		{"add", []Value{s("a"), i(1)}, sqlerr.UndefinedFunction, "operator does not exist: text + bigint"},
		{"add", []Value{i(math.MaxInt64), i(1)}, sqlerr.NumericOutOfRange, "bigint out of range"},
		{"sub", []Value{i(math.MinInt64), i(1)}, sqlerr.NumericOutOfRange, "bigint out of range"},
		{"mul", []Value{i(-1), i(math.MinInt64)}, sqlerr.NumericOutOfRange, "bigint out of range"},
		{"mul", []Value{i(math.MinInt64), i(-1)}, sqlerr.NumericOutOfRange, "bigint out of range"},
		{"div", []Value{i(1), i(0)}, sqlerr.DivisionByZero, "division by zero"},
		{"mod", []Value{i(1), i(0)}, sqlerr.DivisionByZero, "division by zero"},
		{"gt", []Value{vec(1), vec(2)}, sqlerr.UndefinedFunction,
			"operator does not exist: double precision[1] > double precision[1]"},
		{"case", []Value{BoolValue(true), s("a"), i(1)}, sqlerr.DatatypeMismatch,
			"CASE types bigint and text cannot be matched"},
		{"matmul", []Value{m, m}, sqlerr.ArraySubscript, "different shapes [2,3] and [2,3] in matmul"},
		{"matmul", []Value{m}, sqlerr.UndefinedFunction, "matmul takes 2 arguments, not 1"},
		{"reshape", []Value{m}, sqlerr.UndefinedFunction, "reshape takes 2 arguments, not 1"},
		{"dot", []Value{vec(1), m}, sqlerr.ArraySubscript, "different shapes [1] and [2,3] in dot"},
		{"cross_entropy", []Value{vec(1, 2), i(2)}, sqlerr.ArraySubscript, "label 2 of cross_entropy is not in 0 to 1"},
		{"one_hot", []Value{i(-1), i(2)}, sqlerr.ArraySubscript, "label -1 of one_hot is not in 0 to 1"},
		{"sum_elements", []Value{m, i(3)}, sqlerr.ArraySubscript, "axis 3 of sum_elements is not in 1 to 2"},
		{"sum_elements", []Value{f(1)}, sqlerr.UndefinedFunction, "sum_elements(double precision) does not exist"},
		{"reshape", []Value{m, ints(4, 2)}, sqlerr.ArraySubscript, "shape [2,3] has 6 elements, shape [4,2] has 8"},
		{"zeros", []Value{ints(0)}, sqlerr.InvalidParameter,
			"shape ARRAY[0] of zeros: every length must be at least 1, the size at most 268435456"},
		{"zeros", []Value{ints(1<<40, 1<<40)}, sqlerr.InvalidParameter,
			"shape ARRAY[1099511627776,1099511627776] of zeros: every length must be at least 1, the size at most 268435456"},
		{"subscript", []Value{m, i(3), i(1)}, sqlerr.ArraySubscript, "subscript 3 of dimension 1 is outside 1:2"},
		{"subscript", []Value{m, i(3)}, sqlerr.ArraySubscript, "1 subscripts of a value of type double precision[2,3]"},
		{"einsum", []Value{s("...i->i"), vec(1)}, sqlerr.FeatureNotSupported, `einsum spec "...i->i" has an ellipsis`},
		{"einsum", []Value{s("i->j"), vec(1)}, sqlerr.InvalidParameter,
			`einsum spec "i->j": no operand has the label 'j' of the result`},
		{"einsum", []Value{s("ij,jk"), m}, sqlerr.InvalidParameter, `einsum spec "ij,jk" has 2 operands, not 1`},
		{"einsum", []Value{s("ij,ik->j"), m, mat(3, 1, 2, 3)}, sqlerr.ArraySubscript,
			`einsum ij,ik->j: label 'i' has the lengths 2 and 3`},
		{"einsum", []Value{s("i1->i"), m}, sqlerr.InvalidParameter, `einsum spec "i1->i" has '1', which is no letter`},
		{"random_int", []Value{i(0), i(0), ints()}, sqlerr.InvalidParameter, "random_int of 0 numbers"},
		{"dropout", []Value{vec(1), f(1)}, sqlerr.InvalidParameter, "dropout probability 1 is not in [0,1)"},
		{"glorot_uniform", []Value{ints(2), i(1), ints(), i(0), i(0)}, sqlerr.InvalidParameter,
			"glorot_uniform with fan_in 0 and fan_out 0"},
		{"reshape", []Value{vec(1), ints()}, sqlerr.InvalidParameter,
			"the shape of reshape has 0 dimensions, 1 to 6 are possible"},
		{"full", []Value{ints(2, 0), f(1)}, sqlerr.InvalidParameter,
			"shape ARRAY[2,0] of full: every length must be at least 1, the size at most 268435456"},
		{"one_hot", []Value{i(0), i(0)}, sqlerr.InvalidParameter, "the size of one_hot is 0, not in 1 to 268435456"},
	} {
		_, err := Lookup(c.name).EvalValues(&Env{}, c.args)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Message != c.want {
			t.Errorf("%s%v: %v %v, want %s %s", c.name, c.args, sqlerr.Code(err), err, c.code, c.want)
		}
	}
}

func TestCasts(t *testing.T) {
	for _, c := range []struct {
		v    Value
		to   Kind
		want string
	}{
		{FloatValue(2.5), Int, "2"}, {FloatValue(-3.5), Int, "-4"}, {FloatValue(math.NaN()), Int, sqlerr.NumericOutOfRange},
		{FloatValue(1e19), Int, sqlerr.NumericOutOfRange}, {IntValue(3), Float64, "3"}, {BoolValue(true), Int, "1"},
		{IntValue(-2), Bool, "true"},
		{TextValue(" 12 "), Int, "12"}, {TextValue("1_2"), Float64, sqlerr.InvalidText},
		{TextValue("x"), Int, sqlerr.InvalidText},
		{TextValue("9999999999999999999"), Int, sqlerr.NumericOutOfRange}, {TextValue("1.5"), Float32, "1.5"},
		{TextValue("NaN"), Float64, "NaN"},
		{TextValue("f"), Bool, "false"}, {FloatValue(0.1), Text, "'0.1'"}, {BoolValue(true), Text, "'true'"},
		{FloatValue(1), Bool, sqlerr.CannotCoerce},
		{Value{Type: Type{Kind: Float64}, X: 0.1}, Float32, "0.1"},
	} {
		e, err := Call(Lookup("cast"), Attr{Kind: c.to}, Const(c.v))
		var v Value
		if err == nil {
			v, err = e.Eval(&Env{}, nil)
		}
		got := v.String()
		if err != nil {
			got = sqlerr.Code(err)
		}
		if got != c.want {
			t.Errorf("cast(%v to %v): %s (%v), want %s", c.v, c.to, got, err, c.want)
		}
	}
}

func TestStaticArguments(t *testing.T) {
	x := col(0, Type{Shape: []int{2, 3}})
	_, err := Lookup("reshape").Apply(x, Build("int_array", col(1, Type{Kind: Int}), Const(IntValue(3))))
	if sqlerr.Code(err) != sqlerr.FeatureNotSupported || !strings.Contains(err.Error(), "must be a constant") {
		t.Errorf("got %v", err)
	}
	e, err := Lookup("sum_elements").Apply(x, Build("add", Const(IntValue(1)), Const(IntValue(1))))
	if err != nil || !e.Type.Shape.Equal(tensor.Shape{2, 1}) {
		t.Errorf("%v %v", e, err)
	}
	e, err = Slice(x, []Bound{{2, 2}})
	if err != nil || !e.Type.Shape.Equal(tensor.Shape{1, 3}) {
		t.Errorf("%v %v", e, err)
	}
	if _, err = Slice(x, []Bound{{1, 2}, {3, 4}}); sqlerr.Code(err) != sqlerr.ArraySubscript {
		t.Errorf("got %v", err)
	}
	// A computed index outside the shape is NULL, and contributes nothing.
	e, _ = Lookup("subscript").Apply(x, col(1, Type{Kind: Int}), Const(IntValue(1)))
	v, g := gradients(t, e, mat(2, 1, 2, 3, 4, 5, 6), IntValue(3))
	if !v.Null || sumSquares(g[0].F) != 0 {
		t.Errorf("%v %v", v, g[0])
	}
}

func TestDropMask(t *testing.T) {
	e := BuildAttr("drop_mask", Attr{Shape: []int{1000}, Num: 0.25, Int: 3}, Const(IntValue(7)))
	at := func(seed, stepNo int64) Value {
		v, err := e.Eval(&Env{Seed: seed, Step: stepNo}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	zeros := 0
	for _, x := range at(1, 1).F {
		if x == 0 {
			zeros++
		} else if x != 1/0.75 {
			t.Fatalf("mask has %v", x)
		}
	}
	if zeros < 200 || zeros > 300 {
		t.Errorf("%d of 1000 dropped, expected about 250", zeros)
	}
	if at(1, 1).String() != at(1, 1).String() || at(1, 1).String() == at(1, 2).String() ||
		at(1, 1).String() == at(2, 1).String() {
		t.Error("the mask must depend on seed and step, and on nothing else")
	}
}
