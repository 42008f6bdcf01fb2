package delta

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/interop"
)

// Checkpoints: https://github.com/delta-io/delta/blob/master/PROTOCOL.md#checkpoints

// checkpointColumns are the columns of a checkpoint that relgrad reads and writes; those after txn are only read.
var checkpointColumns = []string{"protocol", "metaData", "txn", "add", "remove", "sidecar"}

// checkpoint applies the actions of a checkpoint, and of the files that it names.
func (r *replay) checkpoint(files Files, c *checkpoint) error {
	var sidecars []*sidecar
	take := func(a action) error {
		if a.Sidecar != nil {
			sidecars = append(sidecars, a.Sidecar)
		}
		r.state(&a)
		return nil
	}
	for _, part := range c.parts {
		if err := readActions(files, part, take); err != nil {
			return within(err, "checkpoint of version %d: ", c.version)
		}
	}
	for i := 0; i < len(sidecars); i++ {
		x := sidecars[i]
		if path.Base(x.Path) != x.Path || x.SizeInBytes < 0 {
			return corrupt("checkpoint of version %d: it names the file \"%s\" of %d bytes", c.version, x.Path,
				x.SizeInBytes)
		}
		err := readActions(files, Info{Name: logDir + "_sidecars/" + x.Path, Size: x.SizeInBytes}, func(a action) error {
			if a.Sidecar != nil {
				return corrupt("file \"%s\" names further files", x.Path)
			}
			r.state(&a)
			return nil
		})
		if err != nil {
			return within(err, "checkpoint of version %d: ", c.version)
		}
	}
	return nil
}

// state applies an action of a checkpoint. These have no order: a file whose deletions have changed is there as added
// and as removed.
func (r *replay) state(a *action) {
	if a.Remove == nil {
		r.apply(a)
	} else if r.files[a.Remove.name] == nil {
		r.removed[a.Remove.name] = a.Remove
	}
}

// readActions reads the actions of a file of a checkpoint, in JSON or Parquet.
func readActions(files Files, f Info, take func(action) error) error {
	if strings.HasSuffix(f.Name, ".json") {
		b, err := files.Get(f.Name, 0, -1)
		if err != nil {
			return err
		}
		actions, err := parseLog(f.Name, b)
		for _, a := range actions {
			if err == nil {
				err = take(a)
			}
		}
		return err
	}
	p, err := interop.OpenParquet(&opened{files, f.Name, f.Size}, f.Size, f.Name)
	if err != nil {
		return err
	}
	var have []string
	for _, x := range p.Fields() {
		if slices.Contains(checkpointColumns, x.Name) && x.Refused == "" {
			have = append(have, x.Name)
		}
	}
	if len(have) == 0 {
		return corrupt("file \"%s\" has none of the columns %s", f.Name, strings.Join(checkpointColumns, ", "))
	}
	rows, err := p.Read(all(len(p.Groups())), have)
	if err != nil {
		return err
	}
	row := make([]any, len(have))
	for {
		if err := rows.Next(row); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		a, err := actionOf(have, row)
		if err != nil {
			return within(err, "file \"%s\": ", f.Name)
		}
		if err := take(a); err != nil {
			return err
		}
	}
}

// all lists the numbers below n.
func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// actionOf makes an action of a row of a checkpoint, which has the same fields as a line of the log.
func actionOf(names []string, row []any) (action, error) {
	line := map[string]any{}
	for i, name := range names {
		v, ok := row[i].(map[string]any)
		if !ok {
			continue
		}
		for k := range v { // as columns, what other fields hold as texts
			if strings.HasSuffix(k, "_parsed") {
				delete(v, k)
			}
		}
		line[name] = v
	}
	b, err := json.Marshal(line)
	if err != nil {
		return action{}, corrupt("an action that is no JSON: %v", err)
	}
	return parseAction(b)
}

// Columns of a checkpoint as fields.
func text(name string) interop.Field { return interop.Field{Name: name, Type: "string"} }
func whole(name, typ string) interop.Field {
	return interop.Field{Name: name, Type: typ}
}
func texts(name string) interop.Field {
	return interop.Field{Name: name, Type: "array", Parts: []interop.Field{text("element")}}
}
func textMap(name string) interop.Field {
	return interop.Field{Name: name, Type: "map", Parts: []interop.Field{{Name: "key", Type: "string", Required: true},
		text("value")}}
}
func group(name string, parts ...interop.Field) interop.Field {
	return interop.Field{Name: name, Type: "struct", Parts: parts}
}

// checkpointSchema is https://github.com/delta-io/delta/blob/master/PROTOCOL.md#checkpoint-schema
var checkpointSchema = []interop.Field{
	group("protocol", whole("minReaderVersion", "integer"), whole("minWriterVersion", "integer"),
		texts("readerFeatures"), texts("writerFeatures")),
	group("metaData", text("id"), text("name"), text("description"),
		group("format", text("provider"), textMap("options")), text("schemaString"), texts("partitionColumns"),
		textMap("configuration"), whole("createdTime", "long")),
	group("txn", text("appId"), whole("version", "long"), whole("lastUpdated", "long")),
	group("add", text("path"), textMap("partitionValues"), whole("size", "long"), whole("modificationTime", "long"),
		whole("dataChange", "boolean"), text("stats"), textMap("tags")),
	group("remove", text("path"), whole("deletionTimestamp", "long"), whole("dataChange", "boolean"),
		whole("extendedFileMetadata", "boolean"), textMap("partitionValues"), whole("size", "long")),
}

// Checkpoint writes a classic checkpoint of the version, from which others start reading the log.
func (s *Snapshot) Checkpoint() (err error) {
	defer guard(&err)
	if err := checkWritable(s); err != nil {
		return err
	}
	if slices.Contains(s.protocol.WriterFeatures, "v2Checkpoint") {
		return unsupported("the table has checkpoints of version 2, which relgrad reads and does not write")
	}
	name := fmt.Sprintf("%s%020d.checkpoint.parquet", logDir, s.Version)
	actions := s.actions()
	b, err := checkpointFile(name, checkpointSchema, actions)
	if err != nil {
		return err
	}
	if err := s.store.PutIfAbsent(name, b); err != nil && !exists(err) {
		return err
	}
	hint := map[string]any{"version": s.Version, "size": len(actions)}
	return s.store.Put(logDir+"_last_checkpoint", mustJSON(hint))
}

// checkpointFile is a file of a checkpoint.
func checkpointFile(name string, columns []interop.Field, actions []action) ([]byte, error) {
	var b bytes.Buffer
	w, err := interop.CreateParquet(&b, name, columns, interop.ParquetOptions{})
	if err != nil {
		return nil, err
	}
	for _, a := range actions {
		row, err := rowOf(columns, a)
		if err == nil {
			err = w.Write(row)
		}
		if err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return b.Bytes(), err
}

// actions are those of which the version is made, with the deletions that vacuum must still know.
func (s *Snapshot) actions() []action {
	out := []action{{Protocol: s.protocol}, {MetaData: s.meta}}
	for _, k := range slices.Sorted(maps.Keys(s.txns)) {
		out = append(out, action{Txn: s.txns[k]})
	}
	for _, f := range s.files {
		x := *f
		x.DataChange = false
		out = append(out, action{Add: &x})
	}
	since := time.Now().Add(-s.Retention()).UnixMilli()
	for _, k := range slices.Sorted(maps.Keys(s.removed)) {
		if x := *s.removed[k]; x.DeletionTimestamp >= since {
			x.DataChange = false
			out = append(out, action{Remove: &x})
		}
	}
	return out
}

// rowOf makes a row of a checkpoint of an action, by way of JSON.
func rowOf(columns []interop.Field, a action) ([]any, error) {
	var line map[string]any
	d := json.NewDecoder(bytes.NewReader(mustJSON(a)))
	d.UseNumber()
	if err := d.Decode(&line); err != nil {
		return nil, corrupt("an action that is no JSON: %v", err)
	}
	return lists.Map(columns, func(f interop.Field) any { return fromJSON(&f, line[f.Name]) }), nil
}

// fromJSON makes a value of a field, and what maps and lists need.
func fromJSON(f *interop.Field, v any) any {
	switch x := v.(type) {
	case json.Number:
		n, err := strconv.ParseInt(string(x), 10, 64)
		if err != nil {
			return nil
		}
		return n
	case map[string]any:
		if f.Type != "struct" {
			return x
		}
		out := map[string]any{}
		for i := range f.Parts {
			part := &f.Parts[i]
			out[part.Name] = fromJSON(part, x[part.Name])
		}
		return out
	case nil:
		if f.Type == "map" && f.Name != "tags" {
			return map[string]any{}
		}
	}
	return v
}

// interval is how many versions lie between checkpoints.
func (s *Snapshot) interval() int64 {
	n, err := strconv.ParseInt(s.meta.Configuration["delta.checkpointInterval"], 10, 64)
	if err != nil || n < 1 {
		n = 0
	}
	return cmp.Or(n, 10)
}
