package digits

import (
	"math/big"

	"github.com/relgrad/relgrad/kernels"
)

// number is the definition of a kernel of numbers.
type number func(x []dual) dual

// lanes is the definition of a kernel of vectors: from all elements of each argument to all elements of the result.
type lanes func(a [][]dual, at kernels.Attr) []dual

var one = num(1)

func unary(f func(x dual) dual) number { return func(x []dual) dual { return f(x[0]) } }

func sigmoid(x dual) dual {
	if x.v.Sign() < 0 {
		e := x.exp()
		return e.div(one.add(e))
	}
	return one.div(one.add(x.neg().exp()))
}

func softplus(x dual) dual { return maximum(x, num(0)).add(one.add(x.abs().neg().exp()).ln()) }
func cdf(x dual) dual      { return one.add(x.div(num(2).sqrt()).erf()).mul(num(0.5)) }
func sinh(x dual) dual     { return x.exp().sub(x.neg().exp()).mul(num(0.5)) }
func cosh(x dual) dual     { return x.exp().add(x.neg().exp()).mul(num(0.5)) }
func asin(x dual) dual     { return x.div(one.sub(x.mul(x)).sqrt()).atan() }

func degrees(x dual) dual { return x.mul(constant(quo(pi, of(180)))) }
func hypot(x []dual) dual { return x[0].mul(x[0]).add(x[1].mul(x[1])).sqrt() }

func cbrt(x dual) dual {
	y := x.abs().ln().div(num(3)).exp()
	if x.v.Sign() < 0 {
		return y.neg()
	}
	return y
}

func asinh(x dual) dual {
	if x.v.Sign() < 0 { // of positive numbers nothing cancels
		return asinh(x.neg()).neg()
	}
	return x.add(one.add(x.mul(x)).sqrt()).ln()
}

// from is 1 where x is not below y; nothing is defined elsewhere.
func from(x, y dual) dual {
	if x.cmp(y) < 0 {
		panic(big.ErrNaN{})
	}
	return one
}

func acosh(x dual) dual {
	return x.mul(from(x, one)).add(x.mul(x).sub(one).sqrt()).ln()
}

func atanh(x dual) dual { return one.add(x).div(one.sub(x)).ln().mul(num(0.5)) }

func atan2(x []dual) dual {
	a := x[0].div(x[1]).atan()
	switch {
	case x[1].v.Sign() > 0:
		return a
	case x[0].v.Sign() < 0:
		return a.sub(constant(pi))
	}
	return a.add(constant(pi))
}

// maximum is the larger number. It is not differentiable where the two are equal.
func maximum(x, y dual) dual {
	switch x.cmp(y) {
	case 0:
		panic(big.ErrNaN{})
	case 1:
		return x
	}
	return y
}

func pdf(x dual) dual { return x.mul(x).mul(num(-0.5)).exp().div(constant(mul(of(2), pi)).sqrt()) }

func huber(x []dual) dual {
	if x[1].v.Sign() <= 0 {
		panic(big.ErrNaN{})
	}
	if a := x[0].abs(); maximum(a, x[1]) == a {
		return x[1].mul(a.sub(x[1].mul(num(0.5))))
	}
	return x[0].mul(x[0]).mul(num(0.5))
}

// numbers are the element-wise kernels.
var numbers = map[string]number{
	"add": func(x []dual) dual { return x[0].add(x[1]) }, "sub": func(x []dual) dual { return x[0].sub(x[1]) },
	"mul": func(x []dual) dual { return x[0].mul(x[1]) }, "div": func(x []dual) dual { return x[0].div(x[1]) },
	"neg": unary(dual.neg), "power": func(x []dual) dual { return x[0].pow(x[1]) },
	"abs": unary(dual.abs), "exp": unary(dual.exp), "ln": unary(dual.ln), "sqrt": unary(dual.sqrt), "sin": unary(dual.sin),
	"cos":  unary(dual.cos),
	"log":  unary(func(x dual) dual { return x.ln().div(num(10).ln()) }),
	"tan":  unary(func(x dual) dual { return x.sin().div(x.cos()) }),
	"tanh": unary(func(x dual) dual { return num(2).mul(sigmoid(x.add(x))).sub(one) }),
	"sinh": unary(sinh), "cosh": unary(cosh), "asin": unary(asin), "atan": unary(dual.atan),
	"acos": unary(func(x dual) dual { return constant(half(pi)).sub(asin(x)) }),
	"erf":  unary(dual.erf), "erfc": unary(func(x dual) dual { return one.sub(x.erf()) }),
	"log1p": unary(func(x dual) dual { return one.add(x).ln() }), "expm1": unary(dual.expm1),
	"log2": unary(func(x dual) dual { return x.ln().div(num(2).ln()) }), "cbrt": unary(cbrt),
	"asinh": unary(asinh), "acosh": unary(acosh), "atanh": unary(atanh),
	"asinh_slope": unary(func(x dual) dual { return one.div(one.add(x.mul(x)).sqrt()) }),
	"acosh_slope": unary(func(x dual) dual { return one.div(x.mul(x).sub(from(x, one)).sqrt()) }),
	"atanh_slope": unary(func(x dual) dual { return one.div(from(one, x.abs()).sub(x.mul(x))) }),
	"cot":         unary(func(x dual) dual { return x.cos().div(x.sin()) }),
	"sind":        unary(func(x dual) dual { return degrees(x).sin() }),
	"cosd":        unary(func(x dual) dual { return degrees(x).cos() }),
	"tand":        unary(func(x dual) dual { return degrees(x).sin().div(degrees(x).cos()) }),
	"cotd":        unary(func(x dual) dual { return degrees(x).cos().div(degrees(x).sin()) }),
	"hypot":       hypot, "hypot_slope": func(x []dual) dual { return x[0].div(hypot(x)) }, "atan2": atan2,
	"lgamma": unary(dual.lgamma), "digamma": unary(func(x dual) dual { return x.polygamma(0) }),
	"polygamma": func(x []dual) dual {
		n, _ := x[0].v.Int64()
		return x[1].polygamma(int(n))
	},
	"sigmoid": unary(sigmoid), "square": unary(func(x dual) dual { return x.mul(x) }),
	"silu":     unary(func(x dual) dual { return x.mul(sigmoid(x)) }),
	"gelu":     unary(func(x dual) dual { return x.mul(cdf(x)) }),
	"softplus": unary(softplus),
	"softsign": unary(func(x dual) dual { return x.div(one.add(x.abs())) }),
	"relu":     unary(func(x dual) dual { return maximum(x, num(0)) }),
	"elu": unary(func(x dual) dual {
		if x.v.Sign() > 0 {
			return x
		}
		return x.expm1()
	}),
	"maximum": func(x []dual) dual { return maximum(x[0], x[1]) }, "minimum": func(x []dual) dual {
		return maximum(x[0].neg(), x[1].neg()).neg()
	},
	"clip": func(x []dual) dual { return maximum(maximum(x[0], x[1]).neg(), x[2].neg()).neg() },
	"leaky_relu": func(x []dual) dual {
		if x[0].v.Sign() > 0 {
			return x[0]
		}
		return x[0].mul(num(0.01))
	},
	"bce_with_logits": func(x []dual) dual { return softplus(x[0]).sub(x[0].mul(x[1])) }, "huber": huber,
	"sech2":         unary(func(x dual) dual { return one.div(cosh(x).mul(cosh(x))) }),
	"sigmoid_slope": unary(func(x dual) dual { return sigmoid(x).mul(sigmoid(x.neg())) }),
	"asin_slope":    unary(func(x dual) dual { return one.div(one.sub(x.mul(x)).sqrt()) }),
	"atan_slope":    unary(func(x dual) dual { return one.div(one.add(x.mul(x))) }),
	"gauss": unary(func(x dual) dual {
		return x.mul(x).neg().exp()
	}), "normal_pdf": unary(pdf), "normal_cdf": unary(cdf),
	"bce_slope": func(x []dual) dual { return sigmoid(x[0]).sub(x[1]) },
}

// vectors are the kernels of chunks, here of vectors.
var vectors = map[string]lanes{
	"softmax": func(a [][]dual, _ kernels.Attr) []dual {
		return softmax(a[0])
	}, "log_softmax": func(a [][]dual, _ kernels.Attr) []dual {
		l := logSumExp(a[0])
		return each(a[0], func(x dual) dual { return x.sub(l) })
	},
	"logsumexp":     func(a [][]dual, _ kernels.Attr) []dual { return []dual{logSumExp(a[0])} },
	"cross_entropy": func(a [][]dual, _ kernels.Attr) []dual { return []dual{logSumExp(a[0]).sub(a[0][label(a)])} },
	"cross_entropy_slope": func(a [][]dual, _ kernels.Attr) []dual {
		p := softmax(a[0])
		p[label(a)] = p[label(a)].sub(one)
		return p
	},
	"softmax_center": func(a [][]dual, _ kernels.Attr) []dual {
		s := dot(softmax(a[0]), a[1])
		return each(a[1], func(g dual) dual { return g.sub(s) })
	},
	"log_softmax_slope": func(a [][]dual, _ kernels.Attr) []dual {
		g, i := total(a[1]), -1
		return each(softmax(a[0]), func(p dual) dual { i++; return a[1][i].sub(p.mul(g)) })
	},
	"dot":    func(a [][]dual, _ kernels.Attr) []dual { return []dual{dot(a[0], a[1])} },
	"sqnorm": func(a [][]dual, _ kernels.Attr) []dual { return []dual{dot(a[0], a[0])} },
	"norm":   func(a [][]dual, _ kernels.Attr) []dual { return []dual{dot(a[0], a[0]).sqrt()} },
	"mse": func(a [][]dual, _ kernels.Attr) []dual {
		i := -1
		d := each(a[0], func(x dual) dual { i++; return x.sub(a[1][i]) })
		return []dual{mean(d, dot(d, d))}
	},
	"l2_length": func(a [][]dual, _ kernels.Attr) []dual { return []dual{dot(a[0], a[0]).sqrt()} },
	"l2_normalize": func(a [][]dual, _ kernels.Attr) []dual {
		n := dot(a[0], a[0]).sqrt()
		return each(a[0], func(x dual) dual { return x.div(n) })
	},
	"l2_normalize_slope": func(a [][]dual, _ kernels.Attr) []dual {
		n := dot(a[0], a[0]).sqrt()
		y := each(a[0], func(x dual) dual { return x.div(n) })
		s, i := dot(y, a[1]), -1
		return each(y, func(y dual) dual { i++; return a[1][i].sub(y.mul(s)).div(n) })
	},
	"layer_norm": func(a [][]dual, _ kernels.Attr) []dual {
		c, sd := centered(a[0])
		return each(c, func(x dual) dual { return x.div(sd) })
	},
	"layer_norm_deviation": func(a [][]dual, _ kernels.Attr) []dual {
		_, sd := centered(a[0])
		return []dual{sd}
	},
	"layer_norm_slope": func(a [][]dual, _ kernels.Attr) []dual {
		c, sd := centered(a[0])
		y, i := each(c, func(x dual) dual { return x.div(sd) }), -1
		m, s := mean(y, total(a[1])), mean(y, dot(y, a[1]))
		return each(y, func(y dual) dual { i++; return a[1][i].sub(m).sub(y.mul(s)).div(sd) })
	},
	"sum_elements": func(a [][]dual, _ kernels.Attr) []dual { return []dual{total(a[0])} },
}

func label(a [][]dual) int {
	l, _ := a[1][0].v.Int64()
	return int(l)
}

func softmax(x []dual) []dual {
	m := constant(largest(x).v)
	e := each(x, func(v dual) dual { return v.sub(m).exp() })
	s := total(e)
	return each(e, func(v dual) dual { return v.div(s) })
}

func logSumExp(x []dual) dual {
	m := constant(largest(x).v)
	return m.add(total(each(x, func(v dual) dual { return v.sub(m).exp() })).ln())
}

func dot(x, y []dual) dual {
	s := num(0)
	for i := range x {
		s = s.add(x[i].mul(y[i]))
	}
	return s
}

func mean(of []dual, sum dual) dual { return sum.div(num(float64(len(of)))) }

func centered(x []dual) (c []dual, sd dual) {
	m := mean(x, total(x))
	c = each(x, func(v dual) dual { return v.sub(m) })
	return c, mean(c, dot(c, c)).add(num(1e-5)).sqrt()
}
