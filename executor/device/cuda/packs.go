package cuda

import (
	"os"

	"github.com/relgrad/relgrad/kernels/cuda"
)

// pack is memory of the device that several arrays of a list lie in, and pinned memory of the host from which all of
// them are uploaded at once, without a wait.
type pack struct {
	at     cuda.Address
	host   *cuda.Pinned
	filled int
}

// A pack has a power of two of bytes, from least to most. Larger arrays lie by themselves.
const (
	leastPack = 1 << 16
	mostPack  = 1 << 24
	aligned   = 256 // bytes: where an array of a pack begins
)

// apart has each array lie by itself, so that a sanitizer sees where it ends.
var apart = os.Getenv("RELGRAD_CUDA_APART") != ""

// pack is a pack with room for so many bytes; spare ones are taken again.
func (d *Device) pack(bytes int) (*pack, error) {
	size := leastPack
	for size < bytes {
		size *= 2
	}
	if list := d.spare[size]; len(list) > 0 {
		b := list[len(list)-1]
		d.spare[size] = list[:len(list)-1]
		return b, nil
	}
	at, err := d.takeBy(d.d.Reserve, size)
	if err != nil {
		return nil, err
	}
	host, err := d.d.Pin(size)
	if err != nil {
		d.give(at)
		return nil, err
	}
	return &pack{at: at, host: host}, nil
}

// leave makes a pack a spare one. What has been launched with it has run.
func (d *Device) leave(b *pack) {
	if b.at >= nowhere {
		d.drop(b)
		return
	}
	if d.spare == nil {
		d.spare = map[int][]*pack{}
	}
	b.filled = 0
	d.spare[len(b.host.Bytes)] = append(d.spare[len(b.host.Bytes)], b)
}

func (d *Device) drop(b *pack) {
	d.give(b.at)
	b.host.Free()
}

// dropSpare gives back the spare packs; it reports whether there were any.
func (d *Device) dropSpare() (any bool) {
	if len(d.spare) > 0 {
		d.d.Wait() // a list that never ran may still be sent
	}
	for _, list := range d.spare {
		for _, b := range list {
			any = true
			d.drop(b)
		}
	}
	d.spare = nil
	return any
}
