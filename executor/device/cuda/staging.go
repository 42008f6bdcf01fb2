package cuda

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// What the processors read of the device's memory, and what sites exchange, moves by way of pinned memory of the host:
// the device copies from and to it by itself, at the full rate, and the host waits once for many columns.

// staging is pinned memory, made when it is first used.
type staging struct {
	pinned *cuda.Pinned
	moves  []move
	filled int
}

// move is a part of a column on its way from the device.
type move struct {
	to  []byte
	off int
}

// fetch copies columns to the host's memory.
func (s *staging) fetch(d *Device, cols []*column.Column) error {
	return s.stage(d, cols, func(x []byte, at cuda.Address, off int) error {
		s.moves = append(s.moves, move{x, off})
		return s.pinned.Receive(off, len(x), at)
	})
}

// store copies columns to the device's memory.
func (s *staging) store(d *Device, cols []*column.Column) error {
	return s.stage(d, cols, func(x []byte, at cuda.Address, off int) error {
		copy(s.pinned.Bytes[off:], x)
		return s.pinned.Send(at, off, len(x))
	})
}

// stage calls f for parts of columns that lie on the device, each with its place in pinned memory, and waits.
func (s *staging) stage(d *Device, cols []*column.Column,
	f func(x []byte, at cuda.Address, off int) error) (err error) {
	for _, c := range cols {
		err = d.move(c, func(x []byte, at cuda.Address) error {
			for n := 0; len(x) > 0 && at < nowhere; x, at = x[n:], at+cuda.Address(n) {
				if s.pinned == nil {
					if s.pinned, err = d.d.Pin(d.StagedAtOnce); err != nil {
						return err
					}
				}
				if s.filled == d.StagedAtOnce {
					if err := s.over(d); err != nil {
						return err
					}
				}
				n = min(len(x), d.StagedAtOnce-s.filled)
				if err := f(x[:n], at, s.filled); err != nil {
					return err
				}
				s.filled = min((s.filled+n+aligned-1)/aligned*aligned, d.StagedAtOnce)
			}
			return nil
		})
		if err != nil {
			break
		}
	}
	if s.filled == 0 {
		return err
	}
	if e := s.over(d); err == nil {
		err = e
	}
	return err
}

// over waits until all that has been staged has moved.
func (s *staging) over(d *Device) error {
	moves := s.moves
	s.filled, s.moves = 0, nil
	if err := d.d.Wait(); err != nil {
		return err
	}
	for _, m := range moves {
		copy(m.to, s.pinned.Bytes[m.off:])
	}
	return nil
}
