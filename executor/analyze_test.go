package executor

import (
	"context"
	"regexp"
	"testing"

	"github.com/relgrad/relgrad/kernels"
)

// TestAnalyze times each instruction of a step, beside the machine's limits; results stay, and a later Run times
// nothing.
func TestAnalyze(t *testing.T) {
	t.Parallel()
	src, _, plan := weighted(t)
	ctx := context.Background()
	p, err := CompileOn(ctx, plan, src, Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Analyze(ctx, kernels.Env{}, 3); err != nil {
		t.Fatal(err)
	}
	for i, in := range p.sites[0].sched.Steps {
		if n := len(p.sites[0].sched.Took(i)); n != 4 {
			t.Errorf("v%d was timed %d times, want once for warming up and 3 times", in.V.ID, n)
		}
	}
	text := p.Explain()
	for _, want := range []string{`(?m)^limits: [0-9.e+]+ Gflop/s, [0-9.e+]+ GB/s read$`,
		`(?m)^ {8}[0-9.e-]+ ms, .* % of the machine's (memory|operations)$`,
		`(?m)^  total [0-9]+ instructions, .* moved, [0-9.e-]+ ms$`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("nothing like %s in\n%s", want, text)
		}
	}
	if err := p.Run(ctx, kernels.Env{}); err != nil {
		t.Fatal(err)
	}
	if n := len(p.sites[0].sched.Took(0)); n != 4 {
		t.Errorf("a run after Analyze is timed: %d times", n)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := p.Analyze(cancelled, kernels.Env{}, 3); err == nil {
		t.Error("a cancelled Analyze says nothing")
	}
}
