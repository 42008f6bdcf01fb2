package tensor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// mapFile maps n bytes of a new file in dir, all of which have room on the disk, and returns the file's descriptor too.
func mapFile(dir string, n int) ([]byte, int, error) {
	if statm() < 0 {
		return nil, -1, fmt.Errorf("/proc/self/statm, which tells what is resident: %w", os.ErrNotExist)
	}
	f, err := os.CreateTemp(dir, ".relgrad-spill-*")
	if err != nil {
		return nil, -1, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil { // the mapping keeps the file
		return nil, -1, err
	}
	if err := reserve(f, n); err != nil {
		return nil, -1, err
	}
	mem, err := syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, -1, err
	}
	file, _, e := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_DUPFD_CLOEXEC, 0)
	if e != 0 {
		unmapMemory(mem)
		return nil, -1, e
	}
	return mem, int(file), nil
}

func closeFile(file int) { _ = syscall.Close(file) } // it has no name: there is nothing to lose

// readFile reads all of out.
func readFile(file int, out []byte, at int64) error {
	for len(out) > 0 {
		n, err := syscall.Pread(file, out, at)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return err
		case n <= 0:
			return io.ErrUnexpectedEOF
		}
		out, at = out[n:], at+int64(n)
	}
	return nil
}

// reserve takes n bytes of the disk: a write to a page without room would end the process. File systems that cannot
// reserve get zeros.
func reserve(f *os.File, n int) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, int64(n))
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Fallocate(int(f.Fd()), 0, 0, int64(n))
	}
	if !errors.Is(err, syscall.EOPNOTSUPP) && !errors.Is(err, syscall.ENOSYS) {
		return err
	}
	zeros := make([]byte, min(n, 1<<20))
	for at := 0; at < n; at += len(zeros) {
		if _, err := f.Write(zeros[:min(len(zeros), n-at)]); err != nil {
			return err
		}
	}
	return nil
}

// releaseMemory drops the pages of a mapped file from this process; the file keeps what they hold.
func releaseMemory(mem []byte) { _ = syscall.Madvise(mem, syscall.MADV_DONTNEED) }

// statm is the descriptor of /proc/self/statm, -1 where there is none.
var statm = sync.OnceValue(func() int {
	fd, err := syscall.Open("/proc/self/statm", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
})

// residentFiles is how many bytes of mapped files are resident: the third number of statm, in pages (proc(5)).
func residentFiles() int64 {
	var text [128]byte
	n, err := syscall.Pread(statm(), text[:], 0)
	if err != nil {
		return 0
	}
	field, pages := 0, int64(0)
	for _, c := range text[:n] {
		switch {
		case c == ' ':
			field++
		case field == 2 && c >= '0' && c <= '9':
			pages = 10*pages + int64(c-'0')
		}
	}
	return pages * int64(os.Getpagesize())
}
