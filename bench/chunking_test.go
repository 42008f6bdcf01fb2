package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
)

// chunkings are the sizes of chunks by hand, for the axes of a model.
func chunkings(m *gradtest.Chunked) (names []string, sizes []gradtest.Size) {
	add := func(name string, n int) {
		s := gradtest.Size{}
		for _, a := range []byte(m.Axes) {
			if s[a] = n; m.Sizes[a] < n {
				s[a] = 0
			}
		}
		names, sizes = append(names, name), append(sizes, s)
	}
	add("scalars", 1)
	add("rows", 0)
	sizes[1][m.Axes[0]] = 1
	add("8×8", 8)
	add("32×32", 32)
	if m.Sizes[m.Axes[1]]%128 == 0 || m.Name == "factors" {
		add("128×128", 128)
	}
	return names, sizes
}

// BenchmarkChunking is a training step, the loss and all gradients, of models whose matrices are stored in chunks of
// several sizes. It reports the shortest time of each, the work being the same at every step, and its ratio to the
// fastest chunking; 1.3 is asked of scalars, rows and 8×8. The chunkings take turns.
func BenchmarkChunking(b *testing.B) {
	for _, m := range []*gradtest.Chunked{gradtest.Factors(1024, 1024, 64), gradtest.Logistic(100000/32*32, 96),
		gradtest.Perceptron(4096, 256, 256, 32)} {
		b.Run(m.Name, func(b *testing.B) {
			names, sizes := chunkings(m)
			var programs []*executor.Program
			for i := range names {
				programs = append(programs, chunkedProgram(b, m, sizes[i]))
			}
			times := make([][]float64, len(names))
			step := func(i int) time.Duration {
				begin := time.Now()
				if err := programs[i].Run(context.Background(), kernels.Env{Step: 1}); err != nil {
					b.Fatal(err)
				}
				return time.Since(begin)
			}
			for i := range names {
				step(i)
			}
			for b.Loop() {
				for i := range names {
					step(i) // another chunking's data have been in the caches
					for range 3 {
						times[i] = append(times[i], step(i).Seconds())
					}
				}
			}
			best := 0.0
			for _, t := range times {
				if s := slices.Min(t); best == 0 || s < best {
					best = s
				}
			}
			for i, name := range names {
				b.ReportMetric(slices.Min(times[i])*1e3, name+"-ms")
				b.ReportMetric(slices.Min(times[i])/best, name+"-ratio")
				if testing.Verbose() {
					b.Logf("%s in %s\n%s", m.Name, name, programs[i].Explain())
				}
			}
		})
	}
}

func chunkedProgram(b *testing.B, m *gradtest.Chunked, size gradtest.Size) *executor.Program {
	db, err := m.Store(size, kernels.Float32, false)
	if err != nil {
		b.Fatal(err)
	}
	res, err := gradtest.Optimize(context.Background(), db, "loss", m.Params, optimizer.Options{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := executor.Compile(context.Background(), res.Plan, db, executor.Options{})
	if err != nil {
		b.Fatal(fmt.Errorf("%s in %v: %w", m.Name, size, err))
	}
	b.Cleanup(p.Close)
	return p
}
