package cpu

import (
	"testing"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// TestLoops: every operation has its loops, and every kernel of which instructions say so has a loop of its own. A name
// without one would be computed by whichever loop has the number 0.
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
		more string // a loop that is no kernel's
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
