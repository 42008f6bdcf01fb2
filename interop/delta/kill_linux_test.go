//go:build linux && amd64

package delta

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// changes are the system calls that change a folder or a file in it, or make such a change last.
var changes = map[uint64]string{syscall.SYS_WRITE: "write", syscall.SYS_PWRITE64: "pwrite", syscall.SYS_FSYNC: "fsync",
	syscall.SYS_FDATASYNC: "fdatasync", syscall.SYS_LINK: "link", syscall.SYS_LINKAT: "link", syscall.SYS_RENAME: "rename",
	syscall.SYS_RENAMEAT: "rename", syscall.SYS_UNLINK: "unlink", syscall.SYS_UNLINKAT: "unlink",
	syscall.SYS_MKDIR: "mkdir", syscall.SYS_MKDIRAT: "mkdir", syscall.SYS_FTRUNCATE: "truncate",
	syscall.SYS_OPENAT: "open"}

// changesFolder reports whether a thread is about to change the folder.
func changesFolder(pid int, regs *syscall.PtraceRegs, dir string) (string, bool) {
	name := changes[regs.Orig_rax]
	switch regs.Orig_rax {
	case syscall.SYS_OPENAT:
		return name, regs.Rdx&syscall.O_CREAT != 0
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64, syscall.SYS_FSYNC, syscall.SYS_FDATASYNC, syscall.SYS_FTRUNCATE:
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, regs.Rdi))
		return name, err == nil && strings.HasPrefix(to, dir)
	}
	return name, name != ""
}

// traced runs a child until it is about to make its call number at that changes the folder, and kills it there. Of a
// child that ends before it, it returns no name.
func traced(t *testing.T, what, dir string, at int) (call string) {
	t.Helper()
	runtime.LockOSThread() // only the thread that started a child may trace it
	defer runtime.UnlockOSThread()
	c := child(what, dir, "RELGRAD_TEST_AT=1000000", "GOMAXPROCS=1")
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := c.Start(); err != nil {
		t.Skipf("needs ptrace: %v", err)
	}
	defer func() { _ = c.Wait() }()
	main := c.Process.Pid
	in := map[int]bool{}                                                                 // threads inside of a call
	const flags = syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACESYSGOOD | 0x100000 // EXITKILL
	for first := true; ; {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if status.Exited() || status.Signaled() {
			if pid != main {
				continue
			}
			if status.ExitStatus() != 0 && !status.Signaled() {
				t.Fatalf("the child ended with %d", status.ExitStatus())
			}
			return call
		}
		if first {
			first = false
			if err := syscall.PtraceSetOptions(main, flags); err != nil {
				t.Fatal(err)
			}
		}
		signal := 0
		switch sig := status.StopSignal(); {
		case sig == syscall.SIGTRAP|0x80: // before or after a call
			if in[pid] = !in[pid]; in[pid] && call == "" {
				var regs syscall.PtraceRegs
				if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
					t.Fatal(err)
				}
				if name, ok := changesFolder(main, &regs, dir); ok {
					if at--; at < 0 {
						call = name
						_ = syscall.Kill(main, syscall.SIGKILL)
						continue
					}
				}
			}
		case sig != syscall.SIGTRAP && sig != syscall.SIGSTOP:
			signal = int(sig)
		}
		_ = syscall.PtraceSyscall(pid, signal) // of a thread that is being killed it fails
	}
}

// TestKillCreateCalls kills a writer at each system call of the creation of a table: it is not there, or whole.
func TestKillCreateCalls(t *testing.T) {
	seen, none, whole := map[string]int{}, 0, 0
	for call, at := "?", 0; call != ""; at++ {
		dir := filepath.Join(t.TempDir(), "new", "table")
		call = traced(t, "create", dir, at)
		seen[call]++
		s, err := Open(NewLocal(dir), Latest())
		if missing(err) {
			none++
			s = newTable(t, NewLocal(dir), TableOptions{}, []any{int64(1), 0.0, "x"})
		} else if err != nil {
			t.Fatal(err)
		} else {
			whole++
		}
		wants(t, keys(t, s, "k"), "1")
	}
	if none < 5 || whole < 2 || seen["mkdir"] < 2 || seen["link"] == 0 || seen["fsync"] == 0 {
		t.Errorf("there was no table %d times and one %d times: %v", none, whole, seen)
	}
	t.Log(seen)
}

// TestKillCalls kills a writer at each system call that changes the folder of the table: the table is what it was, or
// what it was to become, and takes the next commit.
func TestKillCalls(t *testing.T) {
	seen, outcomes := map[string]int{}, map[string]int{}
	for at := 0; ; at++ {
		dir := filepath.Join(t.TempDir(), "table")
		files := NewLocal(dir)
		o := TableOptions{Configuration: map[string]string{"delta.checkpointInterval": "1",
			"delta.deletedFileRetentionDuration": "interval 0 seconds"}}
		s := newTable(t, files, o, []any{int64(1), 0.0, "old"}, []any{int64(2), 0.0, "old"})
		commit(t, begin(t, s), []any{int64(3), 0.0, "old"})
		call := traced(t, "stop", dir, at)
		got := strings.Join(keys(t, open(t, files, Latest()), "k"), " ")
		seen[call]++
		outcomes[got]++
		commit(t, begin(t, open(t, files, Latest())), []any{int64(20), 0.0, "next"})
		want := strings.Fields(got + " 20")
		slices.Sort(want)
		wants(t, keys(t, open(t, files, Latest()), "k"), want...)
		if call == "" {
			break
		}
	}
	for _, call := range []string{"open", "write", "fsync", "link", "rename", "unlink"} {
		if seen[call] == 0 {
			t.Errorf("no %s among the calls: %v", call, seen)
		}
	}
	if len(outcomes) != 2 || outcomes["1 2 3"] < 5 || outcomes["1 10 3"] < 10 {
		t.Errorf("the table was %v", outcomes)
	}
	t.Log(seen, outcomes)
}
