package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// memory is the budget of a program in bytes: the one set in the session or for the engine, else three quarters of what
// this process may have. It is 0, no bound, where the system does not tell that.
func (db *session) memory() int64 {
	if s, ok := db.Database.(catalog.Budgeter); ok && s.MemoryBudget() > 0 {
		return s.MemoryBudget()
	}
	if db.Memory > 0 {
		return db.Memory
	}
	return defaultMemory() / 4 * 3
}

// options are the executor's settings in this session. beside is a program in use at the same time; nil: none.
func (db *session) options(beside *executor.Program) executor.Options {
	o := executor.Options{Workers: db.Workers, Memory: db.memory(), SpillDir: db.spillDir(), Spills: db.spills,
		MaySpill: db.maySpill, Taken: db.makeRoom(beside)}
	if s, ok := db.Database.(catalog.Cacher); ok {
		if err := s.LimitCache(o.Memory); err != nil {
			db.Notify("WARNING", fmt.Sprintf("the store's cache keeps its size: %v", err))
		}
	}
	if beside != nil {
		o.Taken += beside.Holds()
	}
	return o
}

// spillDir is the folder for what does not fit into memory: that of the database's file if it is on this machine.
func (db *session) spillDir() string {
	if db.spill.dir != "" {
		return db.spill.dir
	}
	if s, ok := db.Database.(catalog.Filed); ok && s.Path() != "" {
		if dir, err := filepath.Abs(filepath.Dir(s.Path())); err == nil {
			return dir
		}
	}
	return os.TempDir()
}

// spillBounds are a server's limits on temporary files.
type spillBounds struct {
	dir     string // "": the engine chooses
	bounded bool
	most    int64 // bytes for this process, if bounded
}

// BoundSpills sets the folder of files ("": the engine chooses) and, if bounded, how many bytes they may have.
func (db *session) BoundSpills(dir string, bounded bool, most int64) {
	db.spill = spillBounds{dir: dir, bounded: bounded, most: most}
}

// maySpill refuses bytes in files beyond the server's limit.
func (db *session) maySpill(bytes int64) error {
	if has := tensor.SpilledBytes(); db.spill.bounded && has+bytes > db.spill.most {
		return sqlerr.New("53400", "temporary files of the engine would take %s, more than the %s that this session may have",
			megabytes(has+bytes), megabytes(db.spill.most)).
			WithDetail("relgrad.max_spill and temp_file_limit bound them.").
			WithHint("More memory needs fewer of them: SET relgrad.memory, up to relgrad.max_memory.")
	}
	return nil
}

// spills tells the user what of a plan does not fit into memory.
func (db *session) spills(s executor.Spilled) {
	why := fmt.Sprintf("the plan needs %s, the memory budget is %s", megabytes(s.Needs), megabytes(s.Budget))
	if s.Needs <= s.Budget { // alone it would seem that all fits
		why += ", of which columns of tables and index arrays may take a quarter each"
	}
	db.Notify("NOTICE", fmt.Sprintf("%s: %d of its columns and results, %s, lie in files in %s", why, s.Columns,
		megabytes(s.Bytes), s.Dir))
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/(1<<20)) }

// defaultMemory is the smaller of the machine's memory and the limit of the control group.
var defaultMemory = sync.OnceValue(func() int64 {
	total := int64(0)
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
				kb, _ := strconv.ParseInt(f[1], 10, 64)
				total = kb << 10
			}
		}
	}
	if data, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if limit, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64); err == nil &&
			(total == 0 || limit < total) {
			total = limit
		}
	}
	return total
})

// makeRoom closes the oldest kept programs until the others fit into their share of the memory. It returns the bytes of
// these, without the one in use.
func (db *session) makeRoom(inUse *executor.Program) (bytes int64) {
	var others []*cached
	for _, e := range db.cache.entries {
		if e.c.Prog != nil && e.c.Prog != inUse {
			bytes += e.c.Prog.Holds()
			others = append(others, e)
		}
	}
	for budget := db.memory(); budget > 0 && bytes > budget/cachedShare; others = others[1:] {
		bytes -= others[0].c.Prog.Holds()
		db.cache.drop(others[0])
	}
	return bytes
}

// cachedShare is the part of the memory for kept programs that are not in use.
const cachedShare = 4
