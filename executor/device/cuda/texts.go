package cuda

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels/cuda"
)

//go:embed prelude.cu
var prelude string

//go:embed special.cu
var special string

// texts are the bodies of kernels, each compiled once.
type texts struct {
	waiting []string
	kernels map[string]*cuda.Kernel
	modules []*cuda.Module
}

// add has a text be compiled.
func (t *texts) add(text string) {
	if t.kernels[text] == nil && !slices.Contains(t.waiting, text) {
		t.waiting = append(t.waiting, text)
	}
}

// bounds leaves a thread so many registers that none is spilled: a multiprocessor runs four blocks.
var bounds = fmt.Sprintf("__launch_bounds__(%d, 4)", threads)

// compile compiles what waits for it as one module.
func (t *texts) compile(d *cuda.Device) error {
	if len(t.waiting) == 0 {
		return nil
	}
	list := t.waiting
	t.waiting = nil // a text that does not compile is not in the way of others
	all := &strings.Builder{}
	all.WriteString(prelude)
	all.WriteString(special)
	for i, text := range list {
		fmt.Fprintf(all, "\nextern \"C\" __global__ void %s rg_%d(const unsigned long long *a)\n{\n%s}\n", bounds, i, text)
	}
	m, err := d.Load(all.String())
	if err != nil {
		return err
	}
	t.modules = append(t.modules, m)
	if t.kernels == nil {
		t.kernels = map[string]*cuda.Kernel{}
	}
	for i, text := range list {
		k, err := m.Kernel(fmt.Sprintf("rg_%d", i))
		if err != nil {
			return err
		}
		t.kernels[text] = k
	}
	return nil
}

func (t *texts) close() {
	for _, m := range t.modules {
		m.Unload()
	}
	*t = texts{}
}
