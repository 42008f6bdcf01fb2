package cuda

import (
	"testing"

	"github.com/relgrad/relgrad/kernels"
)

// TestElements: every element-wise kernel has a text for the device, or a reason why it has none; no others have.
func TestElements(t *testing.T) {
	known := map[string]bool{}
	for _, d := range kernels.All() {
		if d.Elem == nil {
			continue
		}
		known[d.Name] = true
		switch text, reason := elements[d.Name], hostOnly[d.Name]; {
		case text == nil && reason == "":
			t.Errorf("%s has neither a text nor a reason why it has none", d.Name)
		case text != nil && reason != "":
			t.Errorf("%s has a text, and a reason why it has none", d.Name)
		}
	}
	for name := range elements {
		if !known[name] {
			t.Errorf("%s is no element-wise kernel", name)
		}
	}
	for name := range hostOnly {
		if !known[name] {
			t.Errorf("%s is no element-wise kernel", name)
		}
	}
}
