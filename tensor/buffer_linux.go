package tensor

import (
	"syscall"
	"unsafe"
)

const hugePage = 2 << 20

func mapMemory(n int) ([]byte, error) {
	mem, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err == nil && n >= hugePage {
		_ = syscall.Madvise(mem, 14) // MADV_HUGEPAGE; only advice: a kernel without it refuses
	}
	return mem, err
}

func unmapMemory(mem []byte) { _ = syscall.Munmap(mem) } // fails only for a range that was never mapped

// Huge asks for huge pages for memory of Go's that nobody has touched, from its first to its last whole one; it returns
// s.
func Huge[T any](s []T) []T {
	all := s[:cap(s)]
	n := len(all) * int(unsafe.Sizeof(*new(T)))
	if n < 2*hugePage {
		return s
	}
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&all[0])), n)
	from := -int(uintptr(unsafe.Pointer(&all[0]))) & (hugePage - 1)
	_ = syscall.Madvise(mem[from:from+(n-from)/hugePage*hugePage], 14)
	return s
}
