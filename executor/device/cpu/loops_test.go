package cpu

import (
	"slices"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// TestLoops: every operation has its loops, and every kernel that instructions give to such a loop is in its table. A
// kernel that is not there would be computed by loop number 0.
func TestLoops(t *testing.T) {
	for code, l := range loops {
		if l[0] == nil || l[1] == nil {
			t.Errorf("operation %d has no loop", code)
		}
	}
	if len(loops) != int(device.OpRowKey)+1 {
		t.Errorf("%d operations have loops, of %d", len(loops), device.OpRowKey+1)
	}
	for _, of := range []struct {
		said map[string]bool
		have map[string]cpu.Op
		more string // a loop that belongs to no kernel
	}{{device.Unary, fastUnary, ""}, {device.Binary, fastBinary, device.Ratio}} {
		for name := range of.said {
			if _, ok := of.have[name]; !ok {
				t.Errorf("%s has no loop", name)
			}
		}
		for name := range of.have {
			if !of.said[name] && name != of.more {
				t.Errorf("the loop of %s is never asked for", name)
			}
		}
	}
}

// TestStatesEnd: what optimizers keep of an element without a gradient ends at zero, not at the least number there is.
// That of squares stays where epsilon is none, since it divides.
func TestStatesEnd(t *testing.T) {
	statesEnd(t, updates32)
	statesEnd(t, updates64)
}

func statesEnd[T column.Float](t *testing.T, loops map[string]updateLoop[T]) {
	for _, name := range []string{"momentum", "nesterov", "rmsprop", "adam", "adamw"} {
		for _, eps := range []T{1e-8, 0} {
			n := stepNumbers[T]{rate: 0.01, correct: 1, keep: 1, scale: 1, momentum: 0.9, alpha: 0.9, beta1: 0.9, beta2: 0.9,
				epsilon: eps, size: 1}
			p, g, s := make([]T, 40), make([]T, 40), [][]T{make([]T, 40), make([]T, 40)}
			for i := range p {
				p[i], s[0][i], s[1][i] = 1, T(1+i), T(1+i)
			}
			for range 9000 {
				loops[name].f(&n, p, g, s)
			}
			squares := s[0]
			if name == "adam" || name == "adamw" {
				if squares = s[1]; s[0][7] != 0 {
					t.Errorf("%T %s: a mean of no gradients is %v", eps, name, s[0][7])
				}
			}
			if kept := eps == 0 && name != "momentum" && name != "nesterov"; (squares[7] != 0) != kept {
				t.Errorf("%T %s, epsilon %v: the state of no gradients is %v", eps, name, eps, squares[7])
			}
			if slices.ContainsFunc(p, func(x T) bool { return x != x }) {
				t.Errorf("%T %s: %v", eps, name, p)
			}
		}
	}
}
