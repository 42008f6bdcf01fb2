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

// memory is the budget of a program in bytes: the one that was set in the session or for the engine, or three quarters
// of what this process may have. 0, where the system does not tell, is no bound.
func (db *session) memory() int64 {
	if s, ok := db.Database.(catalog.Budgeter); ok && s.MemoryBudget() > 0 {
		return s.MemoryBudget()
	}
	if db.Memory > 0 {
		return db.Memory
	}
	return defaultMemory() / 4 * 3
}

// options are the executor's settings in this session; beside is a program that is in use at the same time, nil for
// none.
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

// spillDir is the folder of what does not fit into the memory: the database file's, where that is on this machine.
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

// spillBounds are what the server says of temporary files.
type spillBounds struct {
	dir     string // "": where the engine chooses
	bounded bool
	most    int64 // bytes of this process, where it is bounded
}

// BoundSpills says where files lie, "" for where the engine chooses, and how many bytes they may have, where they are
// bounded.
func (db *session) BoundSpills(dir string, bounded bool, most int64) {
	db.spill = spillBounds{dir: dir, bounded: bounded, most: most}
}

// maySpill refuses bytes in files beyond what the administrator allows.
func (db *session) maySpill(bytes int64) error {
	if has := tensor.SpilledBytes(); db.spill.bounded && has+bytes > db.spill.most {
		return sqlerr.New("53400", "temporary files of the engine would take %s, more than the %s that this session may have",
			megabytes(has+bytes), megabytes(db.spill.most)).
			WithDetail("relgrad.max_spill and temp_file_limit bound them.").
			WithHint("More memory needs fewer of them: SET relgrad.memory, up to relgrad.max_memory.")
	}
	return nil
}

// spills says what of a plan does not fit into the memory.
func (db *session) spills(s executor.Spilled) {
	why := fmt.Sprintf("the plan needs %s, the memory budget is %s", megabytes(s.Needs), megabytes(s.Budget))
	if s.Needs <= s.Budget { // which alone would say that all fits
		why += ", of which columns of tables and index arrays may take a quarter each"
	}
	db.Notify("NOTICE", fmt.Sprintf("%s: %d of its columns and results, %s, lie in files in %s", why, s.Columns,
		megabytes(s.Bytes), s.Dir))
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/(1<<20)) }

// defaultMemory is the smaller of the machine's memory and the control group's limit.
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

// makeRoom closes the programs that have been kept longest until the others hold no more than their share of the
// memory, and returns what these hold besides the one that is in use.
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

// cachedShare of the memory is what compiled losses may hold that are not in use.
const cachedShare = 4
