package delta

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// Tx is a transaction: what it writes and deletes is in the table when Commit returns nil, all or nothing of it.
type Tx struct {
	base     *Snapshot
	o        WriteOptions
	protocol *Protocol
	meta     *Metadata
	columns  []column
	changed  bool // the metadata differ from those of base
	parts    map[string]*part
	added    []*File
	removed  []*File
	read     [][]span // the rows that it has read are within one of these
	err      error    // why it cannot be committed
	// putting gets the error of a file that is being written into a folder, while rows of the next one are taken.
	putting chan error
}

// TableOptions describe a new table.
type TableOptions struct {
	Name, Description string
	Partition         []string // columns
	Configuration     map[string]string
}

// Create begins the transaction that creates a table. Its first version has the rows that are written.
func Create(files Files, fields []interop.Field, table TableOptions, o WriteOptions) (*Tx, error) {
	cols := lists.Map(fields, func(f interop.Field) column { return column{Field: f} })
	if err := checkColumns(cols); err != nil {
		return nil, err
	}
	for i, p := range table.Partition {
		c := slices.IndexFunc(cols, func(c column) bool { return c.Name == p })
		if c < 0 || slices.Contains(table.Partition[:i], p) || len(table.Partition) >= len(cols) {
			return nil, sqlerr.New(sqlerr.InvalidColumnRef, "a table of %d columns cannot be partitioned by \"%s\"",
				len(cols), p).WithHint("Name each column once, and leave one that is stored in files.")
		}
		if len(cols[c].Parts) > 0 {
			return nil, unsupported("tables are not partitioned by columns of type %s as is \"%s\"", cols[c].Type, p)
		}
	}
	conf := table.Configuration
	if conf == nil {
		conf = map[string]string{}
	}
	partition := table.Partition
	if partition == nil {
		partition = []string{}
	}
	meta := &Metadata{ID: unique(), Name: table.Name, Description: table.Description, Format: format{"parquet",
		map[string]string{}}, SchemaString: schemaText(cols), PartitionColumns: partition, Configuration: conf,
		CreatedTime: time.Now().UnixMilli()}
	s := &Snapshot{Version: -1, store: files, protocol: protocolFor(cols), meta: meta, columns: cols}
	l, err := list(files, "")
	if err != nil {
		return nil, err
	}
	if l.last >= 0 {
		return nil, alreadyThere()
	}
	return s.Begin(o)
}

func alreadyThere() error {
	return sqlerr.New(sqlerr.DuplicateTable, "there is a table of Delta Lake already").
		WithHint("Append to it, overwrite it, or choose another folder.")
}

// Begin begins a transaction on the version.
func (s *Snapshot) Begin(o WriteOptions) (*Tx, error) {
	t := &Tx{base: s, o: o, protocol: s.protocol, meta: s.meta, columns: s.columns, parts: map[string]*part{}}
	return t, checkWritable(s)
}

// Commit makes the transaction the next version of the table and returns it; operation, such as "WRITE", is recorded.
// Where others have committed since the transaction began, it comes after them, unless they changed what it is about:
// then the error has the code of a serialization failure. After an error nothing has changed, except that the outcome
// of a commit file that could not be written for sure is unknown: the error names its version.
func (t *Tx) Commit(operation string) (s *Snapshot, err error) {
	defer guard(&err)
	if t.err == nil {
		t.err = t.finishAll()
	}
	if t.err != nil {
		t.Abort()
		return nil, t.err
	}
	id := unique()
	actions := t.actions(operation, id)
	data := lines(actions)
	for base := t.base; ; {
		version := base.Version + 1
		err := base.store.PutIfAbsent(commitFile(version), data)
		if err != nil && !exists(err) {
			t.err = within(err, "version %d: ", version)
			return nil, t.err // it may be there all the same: files stay
		}
		if err == nil {
			t.err = sqlerr.Broken("delta", "a transaction that was committed")
			return committed(base, actions)
		}
		winner, err := readCommit(base.store, version)
		if err == nil && winner[0].CommitInfo != nil && winner[0].CommitInfo.TxnID == id {
			return committed(base, actions) // an earlier try of the same request had succeeded
		}
		if err == nil {
			err = t.conflict(base, winner)
		}
		if err == nil {
			base, err = base.advance(winner)
		}
		if err == nil {
			err = checkWritable(base)
		}
		if err != nil {
			t.err = err
			t.Abort()
			return nil, err
		}
	}
}

// committed is the version that a commit has made. From time to time it writes a checkpoint, without which the table is
// complete too.
func committed(s *Snapshot, actions []action) (*Snapshot, error) {
	next, err := s.advance(actions)
	if err == nil && next.Version > 0 && next.Version%next.interval() == 0 {
		_ = next.Checkpoint()
	}
	return next, err
}

// actions are the lines of the commit.
func (t *Tx) actions(operation, id string) []action {
	now := time.Now().UnixMilli()
	blind := len(t.read)+len(t.removed) == 0 && !t.changed
	out := []action{{CommitInfo: &commitInfo{Timestamp: now, Operation: operation, Parameters: map[string]any{},
		IsBlindAppend: &blind, EngineInfo: "relgrad", TxnID: id}}}
	if t.base.Version < 0 {
		out = append(out, action{Protocol: t.protocol})
	}
	if t.base.Version < 0 || t.changed {
		out = append(out, action{MetaData: t.meta})
	}
	for _, f := range t.removed {
		out = append(out, action{Remove: &remove{Path: f.Path, name: f.name, DeletionTimestamp: now, DataChange: true,
			ExtendedFileMetadata: true, PartitionValues: f.PartitionValues, Size: f.Size}})
	}
	for _, f := range t.added {
		out = append(out, action{Add: f})
	}
	return out
}

// conflict refuses a commit that comes after one which changed what it is about.
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md#delta-log-entries
func (t *Tx) conflict(base *Snapshot, winner []action) error {
	if base.Version < 0 {
		return alreadyThere()
	}
	refuse := func(what string, args ...any) error {
		return sqlerr.New(sqlerr.SerializationFailure, "version %d of the table, committed by another writer, "+what,
			append([]any{base.Version + 1}, args...)...).WithHint("Read the table again and repeat the change.")
	}
	for _, a := range winner {
		switch {
		case a.MetaData != nil:
			return refuse("changed its metadata")
		case a.Protocol != nil:
			return refuse("changed its protocol")
		case a.Remove != nil:
			if slices.ContainsFunc(t.removed, func(f *File) bool { return f.name == a.Remove.name }) {
				return refuse("removed the file \"%s\", which is removed here too", a.Remove.name)
			}
		case a.Add != nil && a.Add.DataChange:
			for _, spans := range t.read {
				skip, err := base.skips(a.Add, spans)
				if err != nil {
					return err
				}
				if !skip {
					return refuse("added the file \"%s\", which may have rows that are deleted here", a.Add.name)
				}
			}
		}
	}
	return nil
}

// Abort gives the transaction up and deletes the files that it has written.
func (t *Tx) Abort() {
	_ = t.settle() // its file is deleted
	for _, f := range t.added {
		_ = t.base.store.Delete(f.name) // what stays is deleted by Vacuum
	}
	t.added, t.parts = nil, nil
	if t.err == nil {
		t.err = sqlerr.Broken("delta", "a transaction that was given up")
	}
}

func exists(err error) bool { return errors.Is(err, fs.ErrExist) }

// Watch makes the commit fail where another writer has added rows within all bounds since the transaction began.
func (t *Tx) Watch(where ...Bound) error {
	spans, err := t.base.spans(where)
	t.read = append(t.read, spans)
	return err
}

// Added lists the files that the transaction has written.
func (t *Tx) Added() []*File { return slices.Clone(t.added) }
