package device

import (
	"context"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// Turns joins a site to sites of other processes. All of them take the same turns in the same order.
type Turns interface {
	// Turn sends other sites what is for them (nil: nothing), and returns what they have sent, both by site. It ends
	// when all have come to the turn, whose number tells a site that has come to another one. Sites may be sent the same
	// bytes.
	Turn(ctx context.Context, number int, out [][]byte) (in [][]byte, err error)
}

// Apart is the end of a site whose other sites are in other processes.
func Apart(site int, turns Turns) *Port {
	return &Port{turns: turns, site: site, moved: map[int]int64{}}
}

// call is an exchange with sites of other processes.
func (p *Port) call(ctx context.Context, x *Exchange, sent, to *column.Column) error {
	out := make([][]byte, len(x.Leaves))
	var all []byte // what sites that get all rows are sent
	for site, l := range x.Leaves {
		switch {
		case site == p.site || l == nil:
		case l.All && all == nil:
			all = column.Pack(nil, sent, nil)
			fallthrough
		case l.All:
			out[site] = all
		default:
			out[site] = column.Pack(nil, sent, l.Rows)
		}
	}
	in, err := p.turns.Turn(ctx, x.Number, out)
	if err != nil {
		return err
	}
	came := make([]*column.Column, len(x.Leaves))
	came[p.site] = sent
	for _, part := range x.Parts {
		if part.Site == p.site || part.N == 0 {
			continue
		}
		if part.Site >= len(in) || in[part.Site] == nil {
			return sqlerr.Broken("executor", "exchange %d brings nothing from site %d", x.Number, part.Site)
		}
		if came[part.Site], _, err = column.Unpack(in[part.Site], elements(to)); err != nil {
			return err
		}
	}
	return p.arrive(x, came, to)
}

// elements is a type of values that lie as those of a column do.
func elements(c *column.Column) kernels.Type {
	t := kernels.Type{Kind: [...]kernels.Kind{kernels.Float64, kernels.Float32, kernels.Int, kernels.Text}[c.Kind()]}
	if c.Size() != 1 {
		t.Shape = tensor.Shape{c.Size()}
	}
	return t
}
