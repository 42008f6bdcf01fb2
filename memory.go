package relgrad

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
)

// memory is the budget of a program's buffers in bytes: the one that was set, or three quarters of what this process may have, so that a
// plan that is too large is refused before it runs. 0, where the system does not tell, is no bound.
func (db *Engine) memory() int64 {
	if db.Memory > 0 {
		return db.Memory
	}
	return defaultMemory() / 4 * 3
}

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
		if limit, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64); err == nil && (total == 0 || limit < total) {
			total = limit
		}
	}
	return total
})
