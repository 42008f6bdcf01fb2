package delta

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

const logDir = "_delta_log/"

// At says which version of a table is meant.
type At struct {
	version int64
	time    time.Time
}

// Latest is the newest version.
func Latest() At { return At{version: -1} }

// Version is the version of a number.
func Version(n int64) At { return At{version: n} }

// Timestamp is the newest version at a time.
func Timestamp(t time.Time) At { return At{version: -1, time: t} }

// Snapshot is a version of a table.
type Snapshot struct {
	Version int64

	store    Files
	protocol *Protocol
	meta     *Metadata
	columns  []column
	files    []*File
	removed  map[string]*remove // by name: files whose deletion is still recorded
	txns     map[string]*txn
	last     atomic.Pointer[opening]
}

// Place is where the table lies.
func (s *Snapshot) Place() Files { return s.store }

// Exists reports whether there is a table: a log with anything in it.
func Exists(files Files) (bool, error) {
	l, err := list(files, "")
	return l != nil && len(l.commits)+len(l.checkpoints) > 0, err
}

// Open reads the log of a table. The errors name what is missing or not understood.
func Open(files Files, at At) (s *Snapshot, err error) {
	defer guard(&err)
	after := ""
	hint, err := lastCheckpoint(files)
	if err != nil {
		return nil, err
	}
	if hint >= 0 && at.time.IsZero() && (at.version < 0 || at.version >= hint) {
		after = logDir + fmt.Sprintf("%020d", hint)
	}
	for {
		l, err := list(files, after)
		if err != nil {
			return nil, err
		}
		want := at.version
		if !at.time.IsZero() {
			if want, err = l.versionAt(at.time); err != nil {
				return nil, err
			}
		}
		s, err := l.open(want)
		if err == nil || after == "" {
			return s, err
		}
		after = "" // the hint does not fit the log
	}
}

// lastCheckpoint reads the version of the newest checkpoint from the file that says it; -1 where it says none.
func lastCheckpoint(files Files) (int64, error) {
	b, err := files.Get(logDir+"_last_checkpoint", 0, -1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // of a place that cannot be reached; listing would wait again
		return -1, err
	}
	var hint struct {
		Version *int64 `json:"version"`
	}
	if err != nil || json.Unmarshal(b, &hint) != nil || hint.Version == nil || *hint.Version < 0 {
		return -1, nil
	}
	return *hint.Version, nil
}

// listing is what the folder of the log holds.
type listing struct {
	files       Files
	commits     map[int64]Info
	checkpoints []checkpoint // ascending
	last        int64
}

// checkpoint is a set of files that hold all actions up to a version.
type checkpoint struct {
	version int64
	parts   []Info // in order; those that are missing have no name
}

func (c *checkpoint) complete() bool {
	return !slices.ContainsFunc(c.parts, func(i Info) bool { return i.Name == "" })
}

var (
	commitName     = regexp.MustCompile(`^_delta_log/(\d{20})\.json$`)
	checkpointName = regexp.MustCompile(
		`^_delta_log/(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.[0-9a-f-]{36})?\.(?:parquet|json)$`)
)

// list lists the log. Names that are not known are left out: compacted commits, checksums, temporary files.
func list(files Files, after string) (*listing, error) {
	names, err := files.List(logDir, after)
	if err != nil {
		return nil, err
	}
	l := &listing{files: files, commits: map[int64]Info{}, last: -1}
	parts := map[string]int{} // the checkpoint of a version and a number of parts
	for _, info := range names {
		if m := commitName.FindStringSubmatch(info.Name); m != nil {
			v, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				return nil, corrupt("the log has a file \"%s\", whose version is too large", info.Name)
			}
			l.commits[v] = info
			l.last = max(l.last, v)
		}
		m := checkpointName.FindStringSubmatch(info.Name)
		if m == nil {
			continue
		}
		v, err := strconv.ParseInt(m[1], 10, 64)
		n, of := 1, 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
			of, _ = strconv.Atoi(m[3])
		}
		if err != nil || n < 1 || of < n || of > 1<<16 {
			return nil, corrupt("the log has a file \"%s\", which is no part of a checkpoint", info.Name)
		}
		key := info.Name
		if m[2] != "" {
			key = m[1] + "/" + m[3]
		}
		i, ok := parts[key]
		if !ok {
			i = len(l.checkpoints)
			parts[key] = i
			l.checkpoints = append(l.checkpoints, checkpoint{v, make([]Info, of)})
		}
		l.checkpoints[i].parts[n-1] = info
		l.last = max(l.last, v)
	}
	slices.SortStableFunc(l.checkpoints, func(a, b checkpoint) int { return cmp.Compare(a.version, b.version) })
	return l, nil
}

// open reads a version, -1 for the newest.
func (l *listing) open(version int64) (*Snapshot, error) {
	if l.last < 0 {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "there is no table of Delta Lake: %s has no commits", logDir)
	}
	if version < 0 {
		version = l.last
	}
	if version > l.last {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "the table has no version %d, the newest is %d", version, l.last)
	}
	var from *checkpoint
	broken := ""
	for i := range l.checkpoints {
		if c := &l.checkpoints[i]; c.version <= version {
			if c.complete() {
				from = c
			} else {
				missing := slices.IndexFunc(c.parts, func(i Info) bool { return i.Name == "" })
				broken = fmt.Sprintf("Of the checkpoint of version %d, part %d of %d is missing.", c.version, missing+1,
					len(c.parts))
			}
		}
	}
	r := newReplay()
	next := int64(0)
	if from != nil {
		if err := r.checkpoint(l.files, from); err != nil {
			return nil, err
		}
		next = from.version + 1
	}
	for v := next; v <= version; v++ {
		if _, ok := l.commits[v]; !ok {
			err := sqlerr.New(sqlerr.UndefinedObject, "version %d of the table cannot be read: the log has no commit %d",
				version, v)
			if err.Detail = broken; broken == "" {
				err.Detail = "It was deleted, or never written."
			}
			return nil, err
		}
		actions, err := readCommit(l.files, v)
		if err != nil {
			return nil, err
		}
		if err := r.commit(v, actions); err != nil {
			return nil, err
		}
	}
	return r.snapshot(l.files, version)
}

func commitFile(v int64) string { return fmt.Sprintf("%s%020d.json", logDir, v) }

// readCommit reads the actions of a version.
func readCommit(files Files, v int64) ([]action, error) {
	b, err := files.Get(commitFile(v), 0, -1)
	if err != nil {
		return nil, err
	}
	return parseLog(commitFile(v), b)
}

// replay applies actions in the order of versions; the last one of a file wins.
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md#action-reconciliation
type replay struct {
	protocol *Protocol
	meta     *Metadata
	files    map[string]*File
	order    []*File
	removed  map[string]*remove
	txns     map[string]*txn
}

func newReplay() *replay {
	return &replay{files: map[string]*File{}, removed: map[string]*remove{}, txns: map[string]*txn{}}
}

// commit applies the actions of a version.
func (r *replay) commit(version int64, actions []action) error {
	seen := map[string]bool{}
	for _, a := range actions {
		for _, name := range []string{a.addKey(), a.removeKey()} {
			if name != "" && seen[name] {
				return corrupt("version %d names the file \"%s\" twice", version, name[1:])
			}
			seen[name] = true
		}
	}
	for i := range actions { // what is added again with other deletions was removed by the same commit
		if actions[i].Remove != nil {
			r.apply(&actions[i])
		}
	}
	for i := range actions {
		if actions[i].Remove == nil {
			r.apply(&actions[i])
		}
	}
	return nil
}

func (a *action) addKey() string {
	if a.Add == nil {
		return ""
	}
	return "+" + a.Add.name
}

func (a *action) removeKey() string {
	if a.Remove == nil {
		return ""
	}
	return "-" + a.Remove.name + string(a.Remove.DeletionVector)
}

func (r *replay) apply(a *action) {
	switch {
	case a.Add != nil:
		r.files[a.Add.name] = a.Add
		r.order = append(r.order, a.Add)
		delete(r.removed, a.Add.name)
	case a.Remove != nil:
		delete(r.files, a.Remove.name)
		r.removed[a.Remove.name] = a.Remove
	case a.Protocol != nil:
		r.protocol = a.Protocol
	case a.MetaData != nil:
		r.meta = a.MetaData
	case a.Txn != nil:
		r.txns[a.Txn.AppID] = a.Txn
	}
}

// snapshot is the version after the last action.
func (r *replay) snapshot(files Files, version int64) (*Snapshot, error) {
	if r.protocol == nil || r.meta == nil {
		return nil, corrupt("version %d of the table has no protocol or no metadata", version)
	}
	s := &Snapshot{Version: version, store: files, protocol: r.protocol, meta: r.meta, removed: r.removed, txns: r.txns}
	for _, f := range r.order {
		if r.files[f.name] == f {
			s.files = append(s.files, f)
		}
	}
	if err := checkReadable(s); err != nil {
		return nil, err
	}
	for _, f := range s.files {
		if len(s.meta.PartitionColumns) > 0 && f.PartitionValues == nil {
			return nil, corrupt("version %d of the table has the file \"%s\", which does not say its partition", version, f.name)
		}
	}
	var err error
	if s.columns, err = parseSchema(r.meta.SchemaString); err != nil {
		return nil, within(err, "version %d of the table: ", version)
	}
	for _, p := range r.meta.PartitionColumns {
		if s.column(p) < 0 {
			return nil, corrupt("version %d of the table is partitioned by \"%s\", which is no column", version, p)
		}
	}
	return s, nil
}

// advance is the next version, whose actions are given.
func (s *Snapshot) advance(actions []action) (*Snapshot, error) {
	r := newReplay()
	r.protocol, r.meta, r.order = s.protocol, s.meta, slices.Clone(s.files)
	for _, f := range s.files {
		r.files[f.name] = f
	}
	for k, v := range s.removed {
		r.removed[k] = v
	}
	for k, v := range s.txns {
		r.txns[k] = v
	}
	if err := r.commit(s.Version+1, actions); err != nil {
		return nil, err
	}
	return r.snapshot(s.store, s.Version+1)
}

// column finds a column by name, -1 where there is none.
func (s *Snapshot) column(name string) int {
	return slices.IndexFunc(s.columns, func(c column) bool { return c.Name == name })
}

// Fields are the table's columns.
func (s *Snapshot) Fields() []interop.Field { return fieldsOf(s.columns) }

// Columns are the table's columns with types of Postgres that hold their values exactly.
func (s *Snapshot) Columns() []interop.Column {
	out := make([]interop.Column, len(s.columns))
	for i, c := range s.columns {
		out[i] = interop.Column{Name: c.Name, Type: c.Postgres(), Refused: c.Refused}
		if out[i].Type == "" && c.Refused == "" {
			out[i].Refused = "values of type " + c.Type
		}
	}
	return out
}

// Metadata describes the table.
func (s *Snapshot) Metadata() Metadata { return *s.meta }

// Protocol is what the table asks of readers and writers.
func (s *Snapshot) Protocol() Protocol { return *s.protocol }

// Files lists the table's files in the order in which they were added.
func (s *Snapshot) Files() []*File { return slices.Clone(s.files) }

// versionAt finds the newest version that was there at a time. Commits that record their time tell it themselves,
// others by the time of their file, made to grow from one version to the next.
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md#in-commit-timestamps
func (l *listing) versionAt(t time.Time) (int64, error) {
	versions := make([]int64, 0, len(l.commits))
	for v := range l.commits {
		versions = append(versions, v)
	}
	slices.Sort(versions)
	latest, err := l.open(-1)
	if err != nil {
		return 0, err
	}
	recorded := latest.meta.Configuration["delta.enableInCommitTimestamps"] == "true"
	found, before := int64(-1), int64(math.MinInt64)
	for _, v := range versions {
		at := int64(0)
		if recorded {
			if at, err = l.recorded(v); err != nil {
				return 0, err
			}
		}
		if at == 0 {
			at = max(l.commits[v].Modified.UnixMilli(), before+1)
		}
		if before = at; at <= t.UnixMilli() {
			found = v
		}
	}
	if found < 0 {
		return 0, sqlerr.New(sqlerr.UndefinedObject, "the log has no version of the table at %s",
			t.UTC().Format(time.RFC3339Nano))
	}
	return found, nil
}

// recorded is the time in milliseconds that a commit records in its first action, 0 if it does not.
func (l *listing) recorded(v int64) (int64, error) {
	actions, err := readCommit(l.files, v)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil || actions[0].CommitInfo == nil {
		return 0, err
	}
	return actions[0].CommitInfo.InCommitTimestamp, nil
}
