package executor

import "github.com/relgrad/relgrad/executor/device"

// Work is what the instructions of a step do, by the estimates of Explain.
type Work struct {
	Flops   float64  // operations
	Bytes   float64  // read and written
	Gathers []Gather // the sums of weighted rows among them
}

// Gather is a sum of weighted rows of a table into groups, which reads Rows rows of Width bytes each at the places that
// a column names.
type Gather struct {
	Rows, Groups int
	Table        int // rows of the table that is read
	Width        int // bytes
}

// Work is that of the last step; where a step has rows of its own, there is none before the first Run.
func (p *Program) Work() (w Work) {
	if p.sched == nil {
		return w
	}
	for i, in := range p.sched.Steps {
		if !p.sched.Needed(i) {
			continue
		}
		w.Flops += in.Flops
		w.Bytes += in.Bytes
		var rows []device.Source
		switch s := in.Form.(type) {
		case *device.SpMM:
			rows = s.X
		case *device.SpMMBlocks:
			rows = []device.Source{s.X}
		}
		for _, x := range rows {
			if x.Idx != nil {
				d := x.V.Data
				w.Gathers = append(
					w.Gathers,
					Gather{Rows: in.Rows, Groups: in.Grp.Out.N, Table: d.N, Width: d.Size * d.Kind.Bytes()},
				)
			}
		}
	}
	return w
}
