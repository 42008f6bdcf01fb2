package delta

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Commit is what the log says of a version.
type Commit struct {
	Version            int64
	Time               time.Time // of the commit, by its writer's clock, or of its file where that is not recorded
	Operation          string    // such as "WRITE"; "" where it is not recorded
	Added, Removed     int       // files
	Protocol, Metadata bool      // these have changed
}

// History lists the commits that are in the log, the oldest first. Commits before a checkpoint may be gone.
func History(files Files) (out []Commit, err error) {
	defer guard(&err)
	l, err := list(files, "")
	if err != nil {
		return nil, err
	}
	for _, v := range slices.Sorted(maps.Keys(l.commits)) {
		actions, err := readCommit(files, v)
		if err != nil {
			return nil, err
		}
		c := Commit{Version: v, Time: l.commits[v].Modified}
		for _, a := range actions {
			switch {
			case a.CommitInfo != nil:
				c.Operation = a.CommitInfo.Operation
				if ms := cmp.Or(a.CommitInfo.InCommitTimestamp, a.CommitInfo.Timestamp); ms > 0 {
					c.Time = time.UnixMilli(ms)
				}
			case a.Add != nil:
				c.Added++
			case a.Remove != nil:
				c.Removed++
			}
			c.Protocol, c.Metadata = c.Protocol || a.Protocol != nil, c.Metadata || a.MetaData != nil
		}
		out = append(out, c)
	}
	return out, nil
}
