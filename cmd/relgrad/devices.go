package main

import (
	"context"
	"fmt"
	"os"

	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/kernels/cuda"
)

var devicesCommand = command{name: "devices", run: devices,
	summary: "List the processors that this machine has, and whether kernels run on them."}

func devices(_ context.Context, c *command, args []string) error {
	fs := c.flags()
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return c.wrong(fs, "no argument is needed, not %d", len(rest))
	}
	fmt.Fprintf(os.Stdout, "cpu: %d processors, matrix products by %s\n", cpu.Processors(), blas.Name())
	if err := cuda.Absent(); err != nil {
		fmt.Fprintf(os.Stdout, "cuda: none: %v\n", err)
		return nil
	}
	all, err := cuda.Devices()
	if err != nil {
		return err
	}
	for _, x := range all {
		fmt.Fprintf(os.Stdout, "cuda:%d: %s, %d MiB, %d multiprocessors, compute capability %d.%d, ", x.Number, x.Name,
			x.Memory>>20, x.Multiprocessors, x.Major, x.Minor)
		fmt.Fprintf(os.Stdout, "driver for CUDA %d.%d, %s\n", x.Driver[0], x.Driver[1], usable(x))
	}
	return nil
}

// usable says whether a kernel can be compiled and run, and whether there is a library of products.
func usable(x cuda.Info) string {
	d, err := cuda.Open(x.Number)
	if err == nil {
		defer d.Close()
		err = d.Try()
	}
	if err != nil {
		return fmt.Sprintf("no kernel runs: %v", err)
	}
	kernels := fmt.Sprintf("kernels by NVRTC %d.%d run", x.NVRTC[0], x.NVRTC[1])
	if err := d.Library(); err != nil {
		return fmt.Sprintf("%s; no large products by cuBLASLt: %v", kernels, err)
	}
	v := cuda.LibraryVersion()
	return fmt.Sprintf("%s, large products by cuBLASLt %d.%d.%d", kernels, v[0], v[1], v[2])
}
