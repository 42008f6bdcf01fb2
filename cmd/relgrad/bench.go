package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/relgrad/relgrad/bench"
)

var benchCommand = command{name: "bench", args: "NAME…", run: benchmark,
	summary: "Measure workloads."}

func benchmark(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	epochs := fs.Int("epochs", 1000, "epochs")
	seconds := fs.Float64("seconds", 10, "seconds")
	small := fs.Bool("small", false, "small data")
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	root, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	r := &bench.Runner{Relgrad: program, Root: filepath.Join(root, "relgrad-bench"), Log: os.Stderr}
	for _, w := range bench.Workloads {
		for _, name := range rest {
			if w.Name != name && name != "all" {
				continue
			}
			size := map[string]int{}
			for _, s := range w.Sizes {
				size[s.Name] = s.Full
				if *small {
					size[s.Name] = s.Small
				}
			}
			n := *epochs
			if w.Query != "" {
				n = 6
			}
			run, err := r.Run(ctx, w, size, n, *seconds)
			if err != nil {
				fmt.Printf("%s: %v\n", w.Name, err)
				continue
			}
			fmt.Printf("%s: %d steps, %s/step, setup %s, peak %.2f GB, loss %v\n", w.Name, len(run.Steps), bench.Seconds(bench.Median(run.Steps)), bench.Seconds(run.Setup), float64(run.Peak)/1e9, run.Loss[max(len(run.Loss)-2, 0):])
		}
	}
	return nil
}
