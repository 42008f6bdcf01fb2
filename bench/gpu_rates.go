package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// Card is the first graphics processor, with its rates.
type Card struct {
	cuda.Info
	Version string  // of the driver, as it calls itself; "": it does not tell
	Copies  float64 // bytes read and written in a second by a kernel that copies

	// Of a peer's library: operations of a product of matrices, and bytes of a copy, in a second; 0: there is none.
	Products, Copied float64
	Library          string // what it is, or why there is none
}

// Double reports whether the card is a double of the driver's: its times say nothing.
func (c *Card) Double() bool { return strings.HasPrefix(c.Name, "mock ") }

// MeasureRates describes the first graphics processor and measures its rates.
func MeasureRates(ctx context.Context, r *Runner, o CardOptions) (*Card, error) {
	if err := r.unpack(); err != nil {
		return nil, err
	}
	if err := cuda.Absent(); err != nil {
		return nil, err
	}
	all, err := cuda.Devices()
	if err != nil {
		return nil, err
	}
	c := &Card{Info: all[0], Version: driverVersion(ctx)}
	size, side := int64(1<<30), 4096
	if o.Quick {
		size, side = 1<<18, 512
	}
	if c.Copies, err = copyRate(int(min(size, c.Memory/8))); err != nil {
		return nil, err
	}
	if o.Alone {
		c.Library = "no peers are asked"
		return c, nil
	}
	o.Double = c.Double()
	return c, c.libraryRates(ctx, r, o, side)
}

// driverVersion asks NVIDIA's tool, if there is one.
func driverVersion(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").Output()
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first
}

//go:embed copy.cu
var copyText string

// pieceBytes is the size of what a thread of copy.cu copies at once.
const pieceBytes = 16

// copyRate is how many bytes a kernel reads and writes in a second that copies so many bytes: the best of some ways to
// launch it.
func copyRate(size int) (rate float64, err error) {
	d, err := cuda.Open(0)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	m, err := d.Load(copyText)
	if err != nil {
		return 0, err
	}
	defer m.Unload()
	k, err := m.Kernel("copy")
	if err != nil {
		return 0, err
	}
	from, err := d.Allocate(size)
	if err != nil {
		return 0, err
	}
	defer d.Free(from)
	to, err := d.Allocate(size)
	if err != nil {
		return 0, err
	}
	defer d.Free(to)
	const threads = 256
	pieces := size / pieceBytes
	for _, blocks := range []int{pieces / threads, pieces / threads / 8, 16 * d.Multiprocessors, 64 * d.Multiprocessors} {
		took, err := launched(d, k, max(blocks, 1), threads, uint64(from), uint64(to), uint64(pieces))
		if err != nil {
			return 0, err
		}
		rate = max(rate, 2*float64(pieces*pieceBytes)/took)
	}
	return rate, copied(d, k, from, to, pieces)
}

// launched is the least time of a launch, in seconds, over five times ten launches.
func launched(d *cuda.Device, k *cuda.Kernel, blocks, threads int, args ...uint64) (least float64, err error) {
	least = math.Inf(1)
	for i := range 6 {
		begin := time.Now()
		for range 10 {
			if err := k.Launch(blocks, threads, args...); err != nil {
				return 0, err
			}
		}
		if err := d.Wait(); err != nil {
			return 0, err
		}
		if i > 0 { // the first ones warm up
			least = min(least, time.Since(begin).Seconds()/10)
		}
	}
	return least, nil
}

// copied looks whether the kernel copies: bytes at the beginning and at the end.
func copied(d *cuda.Device, k *cuda.Kernel, from, to cuda.Address, pieces int) error {
	x, y := []byte("0123456789abcdef"), make([]byte, pieceBytes)
	for _, at := range []cuda.Address{0, cuda.Address(pieces-1) * pieceBytes} {
		x[0]++
		if err := d.Upload(from+at, x); err != nil {
			return err
		}
		if err := k.Launch(4, 64, uint64(from), uint64(to), uint64(pieces)); err != nil {
			return err
		}
		if err := d.Download(y, to+at); err != nil {
			return err
		}
		if !bytes.Equal(x, y) {
			return sqlerr.New(sqlerr.System, "the device copies %q as %q", x, y)
		}
	}
	return nil
}

// libraryRates measures those of a peer's library. That there is none is no error.
func (c *Card) libraryRates(ctx context.Context, r *Runner, o CardOptions, side int) error {
	args, err := pythonPeer(r, Peer{Program: "rates_torch.py", Form: "rates"}, r.Root, Values{"n": float64(side)}, Limit{})
	var out string
	if err == nil {
		cmd := command(ctx, args[0], args[1:]...)
		cmd.Env = o.environment()
		out, _, err = execute(cmd)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		var answer struct {
			Flops, Bytes float64
			Versions     string
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if err = json.Unmarshal([]byte(lines[len(lines)-1]), &answer); err == nil {
			c.Products, c.Copied, c.Library = answer.Flops, answer.Bytes, answer.Versions
			return nil
		}
	}
	c.Library = lacking(err).Error()
	return nil
}

// lacking is the error of a peer's program: ErrMissing where it says that something is missing.
func lacking(err error) error {
	text := err.Error()
	switch {
	case errors.Is(err, ErrMissing):
		return err
	case strings.HasPrefix(lastLine(text), "missing: "):
		return fmt.Errorf("%w%s", ErrMissing, strings.TrimPrefix(lastLine(text), "missing"))
	case strings.Contains(text, "ModuleNotFoundError"):
		return fmt.Errorf("%w: %s", ErrMissing, lastLine(text))
	}
	return err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// GPUPython is the interpreter of the peers on a graphics processor: that of the benchmark's folder, or else python3.
func GPUPython(folder string) string {
	own := Python(folder)
	if _, err := os.Stat(own); err == nil {
		return own
	}
	if found, err := exec.LookPath("python3"); err == nil {
		return found
	}
	return own
}
