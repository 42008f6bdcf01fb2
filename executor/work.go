package executor

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
	for i, in := range p.sched.steps {
		if !p.sched.needed(i) {
			continue
		}
		w.Flops += in.flops
		w.Bytes += in.bytes
		var rows []source
		switch s := in.form.(type) {
		case *spmm:
			rows = s.x
		case *spmmBlocks:
			rows = []source{s.x}
		}
		for _, x := range rows {
			if x.idx != nil {
				d := x.v.data
				w.Gathers = append(
					w.Gathers,
					Gather{Rows: in.rows, Groups: in.grp.Out.N, Table: d.n, Width: d.size * d.kind.bytes()},
				)
			}
		}
	}
	return w
}
