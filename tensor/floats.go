package tensor

import (
	"encoding/binary"
	"unsafe"
)

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// PutFloats writes elements as a stored chunk has them, little-endian; p has room for all of them.
func PutFloats[T float32 | float64](p []byte, x []T) {
	if len(x) > 0 {
		swapCopy(p, AsBytes(x), int(unsafe.Sizeof(x[0])))
	}
}

// GetFloats reads len(x) elements of a stored chunk; p may begin anywhere.
func GetFloats[T float32 | float64](x []T, p []byte) {
	if len(x) > 0 {
		b := AsBytes(x)
		swapCopy(b, p[:len(b)], int(unsafe.Sizeof(x[0])))
	}
}

// AsBytes are the bytes of x as they lie in memory.
func AsBytes[T float32 | float64 | int32 | int64](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

// FromStored makes numbers of elements that have been read, as a stored chunk has them, into x itself.
func FromStored[T float32 | float64](x []T) {
	if !littleEndian {
		GetFloats(x, AsBytes(x))
	}
}

// swapCopy copies numbers of so many bytes each between the machine's order and little-endian.
func swapCopy(dst, src []byte, size int) {
	n := copy(dst[:len(src)], src)
	if littleEndian {
		return
	}
	for at := 0; at < n; at += size {
		for i, j := at, at+size-1; i < j; i, j = i+1, j-1 {
			dst[i], dst[j] = dst[j], dst[i]
		}
	}
}
