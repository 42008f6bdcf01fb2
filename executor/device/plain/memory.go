package plain

import (
	"slices"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/tensor"
)

// memory is a buffer in the device's own memory, and the host's buffer that stands for it.
type memory struct {
	host *tensor.Buffer
	own  []byte
}

// nothing is the byte that fills the host's buffers while no instruction runs. A number of such bytes is NaN.
const nothing = 0xff

func spoil(x []byte) {
	for i := range x {
		x[i] = nothing
	}
}

// Allocate makes memory whose contents the host does not see.
func (p *Plain) Allocate(bytes int) (*tensor.Buffer, error) {
	b, err := tensor.NewBuffer(bytes)
	if err != nil {
		return nil, column.OutOfMemory(err)
	}
	p.alive()
	p.mem = append(p.mem, memory{b, make([]byte, len(b.Bytes()))})
	spoil(b.Bytes())
	return b, nil
}

// alive drops the buffers that have been freed.
func (p *Plain) alive() []memory {
	p.mem = slices.DeleteFunc(p.mem, func(m memory) bool { return m.host.Bytes() == nil })
	return p.mem
}

// enter copies the device's memory to the host's buffers, where instructions compute. leave copies it back.
func (p *Plain) enter() {
	for _, m := range p.alive() {
		copy(m.host.Bytes(), m.own)
	}
}

func (p *Plain) leave() {
	for _, m := range p.alive() {
		copy(m.own, m.host.Bytes())
		spoil(m.host.Bytes())
	}
}

// Fetch copies a column's numbers and NULLs to the host, if they are in the device's memory.
func (p *Plain) Fetch(c *column.Column) error {
	for _, x := range [][]byte{c.Bytes(), c.Valid()} {
		if own := p.of(x); own != nil {
			copy(x, own)
		}
	}
	return nil
}

// Store copies them from the host.
func (p *Plain) Store(c *column.Column) error {
	for _, x := range [][]byte{c.Bytes(), c.Valid()} {
		if own := p.of(x); own != nil {
			copy(own, x)
		}
	}
	return nil
}

// of is the device's memory behind a part of a host's buffer; nil for other memory of the host.
func (p *Plain) of(x []byte) []byte {
	if len(x) == 0 {
		return nil
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	for _, m := range p.alive() {
		if from := uintptr(unsafe.Pointer(unsafe.SliceData(m.host.Bytes()))); at >= from && at-from < uintptr(len(m.own)) {
			return m.own[at-from:][:len(x)]
		}
	}
	return nil
}

// Copy copies as an instruction would: in the device's memory.
func (p *Plain) Copy(to, from *column.Column) error {
	p.enter()
	to.Fill(from)
	p.leave()
	return nil
}
