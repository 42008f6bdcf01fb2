package cuda

import (
	"testing"

	"github.com/relgrad/relgrad/kernels"
)

// TestElements: every element-wise kernel has a text for the device; no others have.
func TestElements(t *testing.T) {
	known := map[string]bool{}
	for _, d := range kernels.All() {
		if d.Elem == nil {
			continue
		}
		known[d.Name] = true
		if elements[d.Name] == nil {
			t.Errorf("%s has no text", d.Name)
		}
	}
	for name := range elements {
		if !known[name] {
			t.Errorf("%s is no element-wise kernel", name)
		}
	}
}
