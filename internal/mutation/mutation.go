// Package mutation damages files, for tests of what reads them.
//
// # What
//
// Bytes is a copy of a file with a few changes.
//
// # Invariants
//
// The same random numbers give the same damage.
//
// # Errors
//
// None.
//
// # Where to add
//
// A kind of damage is a case of Bytes.
package mutation

import (
	"encoding/binary"
	"math/rand/v2"
)

// Bytes changes bytes, numbers or the length of a file; half of the changes are in the first or last 200 bytes.
func Bytes(r *rand.Rand, good []byte) []byte {
	b := append([]byte(nil), good...)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(b))
		switch r.IntN(4) {
		case 0:
			at = r.IntN(min(200, len(b)))
		case 1:
			at = len(b) - 1 - r.IntN(min(200, len(b)))
		}
		switch r.IntN(6) {
		case 0:
			b = b[:max(at, 1)]
		case 1:
			b[at] ^= 1 << r.IntN(8)
		case 2:
			b[at] = byte(r.IntN(256))
		case 3:
			if at+8 <= len(b) {
				binary.LittleEndian.PutUint64(b[at:], []uint64{1 << 63, 1<<63 - 1, 1<<64 - 1, 1 << 40, 0, 1 << 31}[r.IntN(6)])
			}
		case 4:
			b = append(b[:at], append([]byte("9999999"), b[at:]...)...)
		case 5:
			copy(b[at:], good[r.IntN(len(good)):])
		}
	}
	return b
}
