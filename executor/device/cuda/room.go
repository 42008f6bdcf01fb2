package cuda

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// nowhere is where memory begins that the device has no room for. It is counted, so that the error can tell how much a
// program needs; meanwhile the host's memory stands for it.
const nowhere cuda.Address = 1 << 62

// room is what has been allocated on a device.
type room struct {
	bytes  map[cuda.Address]int
	sum    int64
	absent int   // of these there is no room for so many
	peak   int64 // the largest sum when there was no room: memory that has been given back since was needed, too
	drawn  cuda.Address
}

// take allocates zeroed memory, also where there is no room for it.
func (d *Device) take(bytes int) (cuda.Address, error) { return d.takeBy(d.d.Allocate, bytes) }

// takeBy is take, where allocate says what the memory holds.
func (d *Device) takeBy(allocate func(bytes int) (cuda.Address, error), bytes int) (cuda.Address, error) {
	at, err := allocate(bytes)
	if sqlerr.Code(err) == sqlerr.OutOfMemory && d.dropSpare() {
		at, err = allocate(bytes)
	}
	switch {
	case sqlerr.Code(err) == sqlerr.OutOfMemory:
		d.room.absent++
		d.room.drawn += cuda.Address(max(bytes, 1))
		at = nowhere + d.room.drawn
	case err != nil:
		return 0, err
	}
	if d.room.bytes == nil {
		d.room.bytes = map[cuda.Address]int{}
	}
	d.room.bytes[at] = bytes
	if d.room.sum += int64(bytes); at >= nowhere {
		d.room.peak = max(d.room.peak, d.room.sum)
	}
	return at, nil
}

// give frees memory.
func (d *Device) give(at cuda.Address) error {
	d.room.sum -= int64(d.room.bytes[at])
	delete(d.room.bytes, at)
	if at >= nowhere {
		if d.room.absent--; d.room.absent == 0 {
			d.room.peak = 0
		}
		return nil
	}
	return d.d.Free(at)
}

// upload copies to the device, unless there is no room.
func (d *Device) upload(to cuda.Address, from []byte) error {
	if to >= nowhere {
		return nil
	}
	return d.d.Upload(to, from)
}

// Full reports whether more than half of the memory is in use.
func (d *Device) Full() bool { return d.room.sum > d.d.Memory/2 }

// Complete compiles the kernels of what has been prepared, unless that needs more memory than the device has.
func (d *Device) Complete() error {
	if err := d.short(); err != nil {
		return err
	}
	return d.texts.compile(d.d)
}

// short is an error where what has been prepared needs more memory than the device has.
func (d *Device) short() error {
	if d.room.absent == 0 {
		return nil
	}
	free, _, err := d.d.Room()
	if err != nil {
		return err
	}
	for at, bytes := range d.room.bytes {
		if at < nowhere {
			free += int64(bytes)
		}
	}
	return sqlerr.New(sqlerr.OutOfMemory, "the device has not enough memory: %d bytes are needed, and %d are there",
		max(d.room.sum, d.room.peak), free).WithDetail("Device %s.", d.Describe()).
		WithHint("SET relgrad.device = cpu; there columns may lie in files. A batch, or fewer rows, needs less.")
}
