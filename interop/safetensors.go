package interop

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
)

// The safetensors format: https://github.com/huggingface/safetensors#format

// maxSafetensorsHeader is the format's own limit.
const maxSafetensorsHeader = 100_000_000

// safetensorsTypes are the element types by the format's names.
var safetensorsTypes = map[string]string{"BOOL": "bool", "I8": "i1", "I16": "i2", "I32": "i4", "I64": "i8", "U8": "u1",
	"U16": "u2", "U32": "u4", "U64": "u8",
	"F16": "f2", "BF16": "bf16", "F32": "f4", "F64": "f8"}

// Entries that relgrad adds to the metadata: "relgrad" has an about for each table; "relgrad.text." and an array's name
// has a column of texts, as a list in JSON. Entries of others are kept.
const (
	metaAbout = "relgrad"
	metaText  = "relgrad.text."
)

// safetensor is an entry of the header.
type safetensor struct {
	DType   string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

func openSafetensors(s *source) (Reader, error) {
	head, from, err := s.safetensorsHeader()
	if err != nil {
		return nil, err
	}
	entries, meta, err := s.parseSafetensors(head)
	if err != nil {
		return nil, err
	}
	var all []*member
	for _, e := range entries {
		a, err := s.safetensor(e.name, e.safetensor, from)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	if err := s.covers(entries, from); err != nil {
		return nil, err
	}
	texts, tables, err := s.metadata(meta)
	if err != nil {
		return nil, err
	}
	return newArrays(s, append(all, texts...), tables)
}

// safetensorsHeader reads the header's JSON. from is the position of the data.
func (s *source) safetensorsHeader() (head []byte, from int64, err error) {
	b := make([]byte, 8)
	if n, err := s.ReadAt(b, 0); n < 8 {
		return nil, 0, s.malformed("%d bytes, too short for safetensors (%v)", s.size, err)
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxSafetensorsHeader || int64(n) > s.size-8 {
		return nil, 0, s.malformed("a header of %d bytes in a file of %d; the format allows %d", n,
			s.size, maxSafetensorsHeader)
	}
	head = make([]byte, n)
	if k, err := s.ReadAt(head, 8); k < len(head) {
		return nil, 0, s.malformed("it ends within its header (%v)", err)
	}
	return head, 8 + int64(n), nil
}

// namedTensor is an entry with its name.
type namedTensor struct {
	name string
	safetensor
}

// parseSafetensors reads the header's JSON. encoding/json alone would accept two equal names and keep the last one.
func (s *source) parseSafetensors(head []byte) (out []namedTensor, meta map[string]string, err error) {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, s.malformed("its header is no JSON object (%v)", err)
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok || seen[name] {
			return nil, nil, s.malformed("its header has no single entry per name (%v, %v)", t, err)
		}
		if seen[name] = true; name == "__metadata__" {
			if err := d.Decode(&meta); err != nil {
				return nil, nil, s.malformed("__metadata__: %v", err)
			}
			continue
		}
		e := namedTensor{name: name, safetensor: safetensor{Offsets: [2]int64{-1, -1}}}
		if err := d.Decode(&e.safetensor); err != nil {
			return nil, nil, s.malformed("array \"%s\": %v", name, err)
		}
		if out = append(out, e); len(out) > maxMembers {
			return nil, nil, s.unsupported("more than %d arrays", maxMembers)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, s.malformed("its header is no JSON object: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, s.malformed("its header goes on after the JSON object")
	}
	return out, meta, nil
}

// safetensor checks an entry against the file's size.
func (s *source) safetensor(name string, e safetensor, from int64) (*member, error) {
	typ, ok := safetensorsTypes[e.DType]
	if !ok {
		return nil, s.unsupported("array \"%s\": elements of type %.40s", name, e.DType).
			WithHint("Readable are BOOL, I8 to I64, U8 to U64, F16, BF16, F32 and F64.")
	}
	a := &member{name: name, elem: elems[typ], shape: e.Shape, size: e.Offsets[1] - e.Offsets[0]}
	neg := slices.ContainsFunc(e.Shape, func(d int64) bool { return d < 0 })
	n, ok := count(e.Shape)
	if neg || !ok || n > s.size || n*int64(a.elem.size) != a.size || e.Offsets[0] < 0 || e.Offsets[1] > s.size-from {
		return nil, s.malformed("array \"%s\": %s of shape %s at bytes %d to %d of %d", name, e.DType, shapeText(e.Shape),
			e.Offsets[0], e.Offsets[1], s.size-from)
	}
	at := from + e.Offsets[0]
	a.open = func() (io.Reader, error) { return io.NewSectionReader(s, at, a.size), nil }
	return a, nil
}

// covers checks that the arrays fill the data without gaps or overlaps, as the format demands.
func (s *source) covers(entries []namedTensor, from int64) error {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b namedTensor) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]))
	})
	at := int64(0)
	for _, e := range entries {
		if e.Offsets[0] != at {
			return s.malformed("array \"%s\" begins at byte %d of the data, expected %d", e.name, e.Offsets[0], at)
		}
		at = e.Offsets[1]
	}
	if at != s.size-from {
		return s.malformed("its arrays have %d bytes, there are %d", at, s.size-from)
	}
	return nil
}

// metadata reads relgrad's entries of the metadata.
func (s *source) metadata(meta map[string]string) (texts []*member, tables map[string]about, err error) {
	for _, k := range slices.Sorted(maps.Keys(meta)) {
		if k == metaAbout {
			if err := json.Unmarshal([]byte(meta[k]), &tables); err != nil {
				return nil, nil, s.malformed("__metadata__, %s: %v", k, err)
			}
		}
		if name, ok := strings.CutPrefix(k, metaText); ok {
			a := &member{name: name, elem: elem{"text", 0, 'U', "text"}, texts: []string{}}
			if err := json.Unmarshal([]byte(meta[k]), &a.texts); err != nil {
				return nil, nil, s.malformed("__metadata__, %s: %v", k, err)
			}
			if n := len(a.texts); !s.opt.Whole || n != 1 {
				a.shape = []int64{int64(n)}
			}
			texts = append(texts, a)
		}
	}
	return texts, tables, nil
}
