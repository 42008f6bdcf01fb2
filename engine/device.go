package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/device/cpu"
	"github.com/relgrad/relgrad/executor/device/cuda"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/sqlerr"
	processors "github.com/relgrad/relgrad/kernels/cpu"
)

// graphics are the graphics processors that a session has opened, by number and site. Its programs run one at a time.
type graphics struct{ open map[[2]int]device.Device }

func (g *graphics) close() {
	for _, d := range g.open {
		d.Close()
	}
	g.open = nil
}

// deviceName is the device on which a loss runs.
func (db *session) deviceName() string {
	if s, ok := db.Database.(catalog.Deviced); ok && s.Device() != "" {
		return s.Device()
	}
	return db.Device
}

// onDevice has a program run on a device: sites take the graphics processors in turn, or all the one that is named.
func (db *session) onDevice(o *executor.Options, name string) error {
	n, is := catalog.GraphicsDevice(name)
	if !is {
		return nil
	}
	all, err := cuda.Count()
	if err != nil {
		return noDevice(name, err)
	}
	o.Devices, o.Whole = nil, true
	for s := range db.sites() {
		at := n
		if name == "cuda" {
			at = s % max(all, 1)
		}
		d, err := db.opened(at, s)
		if err != nil {
			return noDevice(name, err)
		}
		o.Devices = append(o.Devices, d)
	}
	o.Memory = 0 // nothing lies in files: what a kernel reads must be in the device's memory, which bounds the program
	return nil
}

// opened is a graphics processor as a site uses it.
func (db *session) opened(n, site int) (d device.Device, err error) {
	if d = db.graphics.open[[2]int{n, site}]; d != nil {
		return d, nil
	}
	if d, err = cuda.Open(n, cpu.NewMachine(db.Workers, tuning.Default())); err != nil {
		return nil, err
	}
	if db.graphics.open == nil {
		db.graphics.open = map[[2]int]device.Device{}
	}
	db.graphics.open[[2]int{n, site}] = d
	return d, nil
}

func noDevice(name string, err error) error {
	return sqlerr.New(sqlerr.Code(err), "relgrad.device is %s: %v", name, err).Wrap(err).
		WithHint("SET relgrad.device = cpu. `relgrad devices` says what there is.")
}

// automatic builds a program where it costs less, and notes why if that is on the processors.
func automatic(ctx context.Context, db *compiler, c *Compiled, o executor.Options) (*executor.Program, error) {
	p, err := db.program(ctx, c, o)
	if err != nil {
		return nil, err
	}
	there, err := moved(ctx, db, c, p, o)
	if err != nil {
		var e *sqlerr.Error
		if c.stays = err.Error(); errors.As(err, &e) && e.Detail != "" {
			c.stays += ": " + e.Detail
		}
		return p, ctx.Err()
	}
	p.Close()
	return there, nil
}

// moved builds a program on a graphics processor. The error says why the one on the processors is better.
func moved(ctx context.Context, db *compiler, c *Compiled, p *executor.Program, o executor.Options) (
	*executor.Program, error) {
	if err := db.onDevice(&o, "cuda"); err != nil {
		return nil, err
	}
	if err := cheaper(p.Work(), o.Workers, o.Many || c.shown); err != nil {
		return nil, err
	}
	there, err := db.program(ctx, c, o)
	if err != nil {
		return nil, err
	}
	if err := executor.Ready(there); err != nil {
		there.Close()
		return nil, err
	}
	return there, nil
}

// What steps are estimated to cost, in seconds. None of these numbers was measured on a card: they decide clear cases.
const (
	runSteps    = 1000  // steps of a training run
	launchTime  = 20e-6 // of a graphics processor's step
	compileTime = 0.1   // of an instruction's kernels
	uploadRate  = 5e9   // bytes
)

// rates are the operations and bytes of a second: of a processor, and of a graphics processor.
var rates = [2]struct{ flops, bytes float64 }{{4e9, 4e9}, {2e12, 5e11}}

// cheaper refuses a program that costs no less on a graphics processor.
func cheaper(w executor.Work, workers int, many bool) error {
	if w.Instrs == 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "what a step costs is not known before its rows are")
	}
	if workers == 0 {
		workers = processors.Processors()
	}
	var step [2]float64
	for i, r := range rates {
		step[i] = w.Flops/r.flops + w.Bytes/r.bytes
	}
	here, there := step[0]/float64(workers), step[1]+launchTime
	begin, steps := float64(w.Instrs)*compileTime+float64(w.Holds)/uploadRate, 1.0
	if many {
		steps = runSteps
	}
	if steps*here > begin+steps*there {
		return nil
	}
	text := func(seconds float64) string {
		return fmt.Sprint(time.Duration(seconds * float64(time.Second)).Round(time.Microsecond))
	}
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"a step is estimated to take %s here and %s on a graphics processor, which begins in %s", text(here), text(there),
		text(begin))
}
