package errortest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/lite"
)

// broken says how case store=KIND breaks a store that has run the setup. Where it cannot be done on this machine,
// it returns false and the case keeps its expected output.
var broken = map[string]func(c *trial, path string) bool{
	"missing-folder": func(c *trial, path string) bool { return os.RemoveAll(filepath.Dir(path)) == nil },
	"folder": func(c *trial, path string) bool {
		return os.Remove(path) == nil && os.Mkdir(path, 0o755) == nil
	},
	"text": func(c *trial, path string) bool {
		return os.WriteFile(path, []byte(strings.Repeat("u,i,x\n1,2,0.5\n", 1000)), 0o644) == nil
	},
	"sqlite": func(c *trial, path string) bool {
		os.Remove(path)
		db, err := lite.Open(path, false)
		if err != nil {
			return false
		}
		defer db.Close()
		return db.Exec("CREATE TABLE t (k INTEGER PRIMARY KEY)") == nil
	},
	"cut": func(c *trial, path string) bool { return os.Truncate(path, 3<<16) == nil },
	"damaged": func(c *trial, path string) bool { // every page but the first
		data, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		for i := 1 << 16; i < len(data); i++ {
			data[i] ^= 0x5a
		}
		return os.WriteFile(path, data, 0o644) == nil
	},
	"read-only": func(c *trial, path string) bool { // the file and its folder
		if err := os.Chmod(path, 0o444); err != nil {
			return false
		}
		if os.Geteuid() == 0 {
			return c.notRoot(path)
		}
		c.later(func() { _ = os.Chmod(filepath.Dir(path), 0o755) }) // else the folder stays behind
		return os.Chmod(filepath.Dir(path), 0o555) == nil
	},
	"locked": func(c *trial, path string) bool {
		db, err := relgrad.Open(path)
		if err != nil {
			return false
		}
		c.later(func() { db.Close() })
		_, err = db.Run(context.Background(), "BEGIN; UPDATE w SET x = 9")
		return err == nil
	},
	"full": nil, // see place
}

// unreadable are the kinds whose content cannot be compared before and after.
var unreadable = map[string]bool{"cut": true, "damaged": true}

// onBroken runs the case on a broken store.
func (c *trial) onBroken(kind string) string {
	how, ok := broken[kind]
	if !ok {
		c.d.Fatalf(c.t, "unknown kind of store %q", kind)
	}
	defer func() {
		for i := len(c.undo) - 1; i >= 0; i-- {
			c.undo[i]()
		}
	}()
	path, ok := c.place(kind)
	if ok {
		db, err := relgrad.Open(path)
		if err != nil {
			c.t.Fatal(err)
		}
		c.prepare(db)
		if err := db.Close(); err != nil {
			c.t.Fatal(err)
		}
		ok = how == nil || how(c, path)
	}
	if !ok {
		c.t.Run("store "+kind, func(t *testing.T) {
			need.Absent(t, "root", "this machine cannot make a store that is "+kind)
		})
		return c.d.Expected
	}
	db, err := relgrad.Open(path)
	if err != nil {
		if sqlerr.Code(err) == sqlerr.Internal {
			c.fault("internal error")
		}
		return strings.ReplaceAll(sqlerr.Render(err), filepath.Dir(path)+string(filepath.Separator), "")
	}
	defer db.Close()
	c.blind = unreadable[kind]
	return strings.ReplaceAll(c.stop(db), filepath.Dir(path)+string(filepath.Separator), "")
}

// later runs f when the case is over.
func (c *trial) later(f func()) { c.undo = append(c.undo, f) }

// place is where the case's store lies: a folder of its own, for a full disk a file system of 16 MB.
func (c *trial) place(kind string) (path string, ok bool) {
	dir := c.t.TempDir()
	if kind == "full" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
			return "", false
		}
		c.later(func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				c.t.Error(err)
			}
		})
	}
	return filepath.Join(dir, "store.db"), true
}

// notRoot takes root's rights on files from the calling thread until the case ends.
func (c *trial) notRoot(path string) bool {
	for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			return false
		}
	}
	runtime.LockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		runtime.UnlockOSThread()
		return false
	}
	c.later(func() {
		syscall.Setfsuid(0)
		runtime.UnlockOSThread()
	})
	return true
}
