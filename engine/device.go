package engine

import (
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/device/cpu"
	"github.com/relgrad/relgrad/executor/device/cuda"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// graphics are the graphics processors that a session has opened, by number. Its programs run one at a time.
type graphics struct{ open map[int]device.Device }

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

// onDevice has a program run on the session's device.
func (db *session) onDevice(o *executor.Options, sites int) error {
	n, graphics := catalog.GraphicsDevice(db.deviceName())
	if !graphics {
		return nil
	}
	if sites > 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "several sites run on processors, not on %s", db.deviceName()).
			WithHint("SET relgrad.sites = 1, or SET relgrad.device = cpu.")
	}
	d := db.graphics.open[n]
	if d == nil {
		var err error
		if d, err = cuda.Open(n, cpu.NewMachine(db.Workers, tuning.Default())); err != nil {
			return sqlerr.New(sqlerr.Code(err), "relgrad.device is %s: %v", db.deviceName(), err).Wrap(err).
				WithHint("SET relgrad.device = cpu. `relgrad devices` says what there is.")
		}
		if db.graphics.open == nil {
			db.graphics.open = map[int]device.Device{}
		}
		db.graphics.open[n] = d
	}
	o.Devices, o.Whole = []device.Device{d}, true
	o.Memory = 0 // nothing lies in files: what a kernel reads must be in the device's memory, which bounds the program
	return nil
}
