package delta

import (
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Vacuum deletes files that the version does not have and no other had within the retention: those that were removed
// before, and what aborted writers left behind. Versions older than the retention can then not be read any more. The
// retention must not be shorter than the table's own, delta.deletedFileRetentionDuration, by default 7 days: a writer
// that needs longer would lose its files. dry only lists them. It returns the names of the files.
func (s *Snapshot) Vacuum(retention time.Duration, dry bool) (deleted []string, err error) {
	defer guard(&err)
	if least := s.Retention(); retention < least {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "a retention of %v is shorter than that of the table, %v", retention,
			least).WithHint("The table's is set by its property delta.deletedFileRetentionDuration.")
	}
	if err := checkWritable(s); err != nil {
		return nil, err
	}
	keep, since := map[string]bool{}, time.Now().Add(-retention)
	for _, f := range s.files {
		keep[f.name] = true
	}
	for name, r := range s.removed {
		if r.DeletionTimestamp > since.UnixMilli() {
			keep[name] = true
		}
	}
	list, err := s.store.List("", "")
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if keep[f.Name] || f.Modified.After(since) || hidden(f.Name) {
			continue
		}
		if !dry {
			if err := s.store.Delete(f.Name); err != nil {
				return deleted, err
			}
		}
		deleted = append(deleted, f.Name)
	}
	return deleted, nil
}

// hidden reports whether a file is no data file: such names belong to others. relgrad's own temporary files are
// deleted.
func hidden(name string) bool {
	if strings.HasPrefix(path.Base(name), temporary) {
		return false
	}
	for _, step := range strings.Split(name, "/") {
		if strings.HasPrefix(step, "_") || strings.HasPrefix(step, ".") {
			return true
		}
	}
	return false
}

// Retention is how long files that were removed are kept: for ever, where the table's own retention is not understood.
func (s *Snapshot) Retention() time.Duration {
	const week = 7 * 24 * time.Hour
	units := map[string]time.Duration{"millisecond": time.Millisecond, "second": time.Second, "minute": time.Minute,
		"hour": time.Hour, "day": 24 * time.Hour, "week": week}
	words := strings.Fields(strings.ToLower(s.meta.Configuration["delta.deletedFileRetentionDuration"]))
	switch {
	case len(words) == 0:
		return week
	case len(words) != 3 || words[0] != "interval":
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(words[1], 10, 32)
	unit := units[strings.TrimSuffix(words[2], "s")]
	if err != nil || n < 0 || unit == 0 || n > int64(math.MaxInt64/unit) {
		return math.MaxInt64
	}
	return time.Duration(n) * unit
}
