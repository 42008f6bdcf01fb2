package eindecomp

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// builder makes descriptions out of lines such as "Z = X[i,j] Y[j,k] -> i,k".
type builder struct{ Description }

func newBuilder(sizes map[string]int64) *builder {
	return &builder{Description{Sizes: sizes, Inputs: map[string][]string{}}}
}

// input is a line such as "X[i,j]".
func (b *builder) input(line string) {
	name, labels := operand(line)
	b.Inputs[name] = labels
}

// op is a line such as "Z = X[i,j] Y[j,k] -> i,k".
func (b *builder) op(line string) {
	name, rest, _ := strings.Cut(line, " = ")
	in, out, _ := strings.Cut(rest, " ->")
	op := Op{Name: name, OutLabels: list(out)}
	for _, text := range strings.Fields(in) {
		of, labels := operand(text)
		op.In, op.InLabels = append(op.In, of), append(op.InLabels, labels)
	}
	b.Ops = append(b.Ops, op)
}

func operand(text string) (name string, labels []string) {
	name, rest, _ := strings.Cut(text, "[")
	return name, list(strings.TrimSuffix(rest, "]"))
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// lines adds lines, those with a result as ops; @ stands for a suffix.
func (b *builder) lines(text, suffix string) {
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "@", suffix)
		switch {
		case strings.Contains(line, " = "):
			b.op(line)
		case line != "":
			b.input(line)
		}
	}
}

// network is a feed-forward network of layers with its gradients and updates, as in EinDecomp §9.3.
func network(layers int, batch, width int64) *Description {
	b := newBuilder(map[string]int64{"b": batch, "h": width, "l": width})
	b.lines("A0[b,h]\nT[b,l]", "")
	for i := 1; i <= layers; i++ {
		b.lines(fmt.Sprintf("W@[h,l]\nZ@ = A%d[b,h] W@[h,l] -> b,l\nA@ = Z@[b,l] -> b,l", i-1), fmt.Sprint(i))
	}
	b.op(fmt.Sprintf("GA%d = A%d[b,l] T[b,l] -> b,l", layers, layers))
	for i := layers; i > 0; i-- {
		b.lines(fmt.Sprintf("GZ@ = GA@[b,l] Z@[b,l] -> b,l\nG@ = A%d[b,h] GZ@[b,l] -> h,l\nU@ = W@[h,l] G@[h,l] -> h,l", i-1),
			fmt.Sprint(i))
		if i > 1 {
			b.op(fmt.Sprintf("GA%d = GZ%d[b,l] W%d[h,l] -> b,h", i-1, i, i))
		}
	}
	return &b.Description
}

// llama is a number of blocks of LLaMA: RMS norm, attention and a gated network, each with what passes by.
func llama(blocks int) *Description {
	b := newBuilder(map[string]int64{"b": 8, "s": 2048, "t": 2048, "a": 4096, "c": 4096, "h": 32, "d": 128, "f": 16384})
	b.lines("X0[b,s,a]\nN[a]\nWQ[a,h,d]\nWK[a,h,d]\nWV[a,h,d]\nWO[h,d,a]\nWg[a,f]\nWu[a,f]\nWd[f,a]", "")
	for i := range blocks {
		x := fmt.Sprintf("X%d[b,s,a]", i)
		b.lines(strings.ReplaceAll(`r1_@ = X -> b,s
			n1_@ = X r1_@[b,s] -> b,s,a
			m1_@ = n1_@[b,s,a] N[a] -> b,s,a
			q_@ = m1_@[b,s,a] WQ[a,h,d] -> b,s,h,d
			k_@ = m1_@[b,s,a] WK[a,h,d] -> b,s,h,d
			v_@ = m1_@[b,s,a] WV[a,h,d] -> b,s,h,d
			T1_@ = q_@[b,s,h,d] k_@[b,t,h,d] -> b,h,s,t
			T2_@ = T1_@[b,h,s,t] -> b,h,s,t
			c_@ = T2_@[b,h,s,t] -> b,h,s
			e_@ = T2_@[b,h,s,t] c_@[b,h,s] -> b,h,s,t
			s_@ = e_@[b,h,s,t] -> b,h,s
			y_@ = e_@[b,h,s,t] s_@[b,h,s] -> b,h,s,t
			o_@ = y_@[b,h,s,t] v_@[b,t,h,d] -> b,s,h,d
			p_@ = o_@[b,s,h,d] WO[h,d,a] -> b,s,a
			x2_@ = X p_@[b,s,a] -> b,s,a
			r2_@ = x2_@[b,s,a] -> b,s
			n2_@ = x2_@[b,s,a] r2_@[b,s] -> b,s,a
			m2_@ = n2_@[b,s,a] N[a] -> b,s,a
			gt_@ = m2_@[b,s,a] Wg[a,f] -> b,s,f
			up_@ = m2_@[b,s,a] Wu[a,f] -> b,s,f
			gs_@ = gt_@[b,s,f] up_@[b,s,f] -> b,s,f
			dn_@ = gs_@[b,s,f] Wd[f,a] -> b,s,a`, "X ", x+" "), fmt.Sprint(i))
		b.op(fmt.Sprintf("X%d = x2_%d[b,s,a] dn_%d[b,s,a] -> b,s,a", i+1, i, i))
	}
	return &b.Description
}

// TestPlanningTime: planning takes far less time than is allowed.
func TestPlanningTime(t *testing.T) {
	for _, tc := range []struct {
		name  string
		graph *Description
		p     int64
		most  time.Duration
	}{
		{"network of 50 layers", network(50, 1024, 4096), 16, 2 * time.Second},
		{"network of 50 layers", network(50, 1024, 4096), 1024, 10 * time.Second},
		{"block of LLaMA", llama(1), 16, 2 * time.Second},
		{"block of LLaMA", llama(1), 1024, 10 * time.Second},
		{"50 blocks of LLaMA", llama(50), 16, 2 * time.Second},
		{"50 blocks of LLaMA", llama(50), 1024, 10 * time.Second},
	} {
		start := time.Now()
		g, err := tc.graph.New()
		if err != nil {
			t.Fatal(err)
		}
		d, err := NewDecomposer(g, tc.p, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := d.Decompose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		t.Logf("%s, p = %d: %d vertices, %d by %s in %v", tc.name, tc.p, len(g.Vertices), plan.Costs.Total, plan.By, took)
		if took > tc.most || plan.By != ByElimination {
			t.Errorf("%s at p = %d takes %v, by %s: %s", tc.name, tc.p, took, plan.By, plan.Why)
		}
	}
}
