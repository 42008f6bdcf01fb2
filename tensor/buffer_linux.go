package tensor

import "syscall"

const hugePage = 2 << 20

func mapMemory(n int) ([]byte, error) {
	mem, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err == nil && n >= hugePage {
		_ = syscall.Madvise(mem, 14) // MADV_HUGEPAGE; only advice: a kernel without it refuses
	}
	return mem, err
}

func unmapMemory(mem []byte) { _ = syscall.Munmap(mem) } // fails only for a range that was never mapped
