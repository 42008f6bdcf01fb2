package delta

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// The actions of the log: https://github.com/delta-io/delta/blob/master/PROTOCOL.md#actions

// File is an action add: a file that belongs to the table.
type File struct {
	Path             string             `json:"path"` // relative and percent-encoded
	PartitionValues  map[string]*string `json:"partitionValues"`
	Size             int64              `json:"size"`
	ModificationTime int64              `json:"modificationTime"`
	DataChange       bool               `json:"dataChange"`
	Stats            string             `json:"stats,omitempty"`
	Tags             map[string]*string `json:"tags,omitempty"`
	DeletionVector   json.RawMessage    `json:"deletionVector,omitempty"`

	name string // the path decoded
}

type remove struct {
	Path                 string             `json:"path"`
	DeletionTimestamp    int64              `json:"deletionTimestamp,omitempty"`
	DataChange           bool               `json:"dataChange"`
	ExtendedFileMetadata bool               `json:"extendedFileMetadata,omitempty"`
	PartitionValues      map[string]*string `json:"partitionValues,omitempty"`
	Size                 int64              `json:"size,omitempty"`
	DeletionVector       json.RawMessage    `json:"deletionVector,omitempty"`

	name string
}

// Metadata describes a table.
type Metadata struct {
	ID               string            `json:"id"`
	Name             string            `json:"name,omitempty"`
	Description      string            `json:"description,omitempty"`
	Format           format            `json:"format"`
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	CreatedTime      int64             `json:"createdTime,omitempty"`
	Configuration    map[string]string `json:"configuration"`
}

type format struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

// Protocol is what a table asks of its readers and writers.
type Protocol struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	MinWriterVersion int      `json:"minWriterVersion"`
	ReaderFeatures   []string `json:"readerFeatures,omitempty"`
	WriterFeatures   []string `json:"writerFeatures,omitempty"`
}

type txn struct {
	AppID       string `json:"appId"`
	Version     int64  `json:"version"`
	LastUpdated int64  `json:"lastUpdated,omitempty"`
}

type sidecar struct {
	Path        string `json:"path"`
	SizeInBytes int64  `json:"sizeInBytes"`
}

type commitInfo struct {
	Timestamp         int64          `json:"timestamp"`
	Operation         string         `json:"operation"`
	Parameters        map[string]any `json:"operationParameters"`
	EngineInfo        string         `json:"engineInfo"`
	TxnID             string         `json:"txnId"`
	IsBlindAppend     *bool          `json:"isBlindAppend,omitempty"`
	InCommitTimestamp int64          `json:"inCommitTimestamp,omitempty"`
}

// action is one line of the log, or one row of a checkpoint: one of its fields is set. Others are not known and do not
// matter to readers.
type action struct {
	CommitInfo *commitInfo `json:"commitInfo,omitempty"`
	Protocol   *Protocol   `json:"protocol,omitempty"`
	MetaData   *Metadata   `json:"metaData,omitempty"`
	Txn        *txn        `json:"txn,omitempty"`
	Add        *File       `json:"add,omitempty"`
	Remove     *remove     `json:"remove,omitempty"`
	Sidecar    *sidecar    `json:"sidecar,omitempty"`
}

// parseLog reads the actions of a file of the log. name is for errors.
func parseLog(name string, b []byte) (out []action, err error) {
	for i, line := range bytes.Split(b, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		a, err := parseAction(line)
		if err != nil {
			return nil, within(err, "log file \"%s\", line %d: ", name, i+1)
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		return nil, corrupt("log file \"%s\" has no actions", name)
	}
	return out, nil
}

// parseAction reads an action. Whatever commitInfo holds besides what is needed of it does not matter.
func parseAction(line []byte) (a action, err error) {
	var known struct {
		action
		CommitInfo json.RawMessage `json:"commitInfo"`
	}
	if err := json.Unmarshal(line, &known); err != nil {
		return a, corrupt("not a line of JSON with an action: %v", err)
	}
	if !utf8.Valid(line) {
		return a, corrupt("a line of JSON with bytes that are no text")
	}
	if a = known.action; a.MetaData != nil && a.MetaData.PartitionColumns == nil {
		return a, corrupt("metadata without partitionColumns")
	}
	if len(known.CommitInfo) > 0 {
		a.CommitInfo = &commitInfo{}
		_ = json.Unmarshal(known.CommitInfo, a.CommitInfo)
	}
	if a.Add != nil {
		a.Add.name, err = fileName(a.Add.Path)
	}
	if a.Remove != nil {
		a.Remove.name, err = fileName(a.Remove.Path)
	}
	return a, err
}

// fileName decodes the path of a file.
func fileName(p string) (string, error) {
	name, err := url.PathUnescape(p)
	if err != nil {
		return "", corrupt("the path \"%s\" is not percent-encoded", p)
	}
	if u, err := url.Parse(p); err == nil && u.Scheme != "" || strings.HasPrefix(name, "/") {
		return "", unsupported("the file \"%s\" lies outside of the table", p).
			WithHint("Tables that share the files of others (shallow clones) are not readable.")
	}
	if name == "" || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../") {
		return "", corrupt("the path \"%s\" names no file of the table", p)
	}
	return name, nil
}

// has reports whether a part of an action is there.
func has(b json.RawMessage) bool { return len(b) > 0 && string(b) != "null" }

// lines writes actions as a file of the log.
func lines(actions []action) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, a := range actions {
		if err := e.Encode(a); err != nil {
			panic(err) // strings and numbers only
		}
	}
	return b.Bytes()
}

func corrupt(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.DataCorrupted, format, args...)
}

func unsupported(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.FeatureNotSupported, format, args...)
}
