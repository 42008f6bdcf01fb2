package cpu

import (
	"testing"

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
