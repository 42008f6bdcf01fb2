package interop

import (
	"archive/zip"
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// arraySink collects columns in temporary files. Rows come one by one, but a file of arrays holds one column after the
// other, each preceded by its length.
type arraySink struct {
	*target
	finish func(*arraySink) error
	one    bool // the file has a single array
	cols   []*spool
	now    []*spool // columns of the relation being written
	tables map[string]about
	rows   int64
}

// spool is a column being written.
type spool struct {
	name  string // the array's name
	col   Column
	elem  elem
	text  bool
	file  *os.File
	w     *bufio.Writer
	shape tensor.Shape
	head  []byte
	n     int64 // number of rows
	wide  int   // characters of the longest text
	texts int64 // bytes of all texts
}

func createNpy(t *target) (Sink, error) {
	return &arraySink{target: t, finish: (*arraySink).npy, one: true}, nil
}
func createNpz(t *target) (Sink, error) { return &arraySink{target: t, finish: (*arraySink).npz}, nil }
func createSafetensors(t *target) (Sink, error) {
	return &arraySink{target: t, finish: (*arraySink).safetensors}, nil
}

// Begin implements Sink.
func (s *arraySink) Begin(name string, cols []Column, key []string) error {
	if err := s.checkRows(); err != nil {
		return err
	}
	if s.one && (len(cols) != 1 || len(s.cols) > 0) {
		return s.refuse("an npy file holds one array, not %d columns", len(cols)).
			WithHint("Copy one column, COPY (SELECT v FROM %s ORDER BY …) TO …, or use the format npz.", cmp.Or(name, "t"))
	}
	if s.tables == nil {
		s.tables = map[string]about{}
	}
	if _, ok := s.tables[name]; ok {
		return s.refuse("two relations named \"%s\"", name)
	}
	s.now, s.rows = nil, 0
	note := about{Key: key, Types: map[string]string{}}
	for _, c := range cols {
		note.Columns = append(note.Columns, c.Name)
		p := &spool{name: c.Name, col: c, shape: c.Shape}
		if name != "" {
			p.name = name + "." + c.Name
		}
		if slices.ContainsFunc(s.cols, func(q *spool) bool { return q.name == p.name }) {
			return s.refuse("two columns named \"%s\"", p.name).WithHint("Give them names with AS.")
		}
		e, ok := elemOf(c.Type)
		if p.elem = e; !ok {
			p.text, p.elem = true, elem{"text", 0, 'U', "text"}
			if c.Type != "text" {
				note.Types[c.Name] = c.Type
			}
		}
		f, err := os.CreateTemp("", "relgrad-*.column")
		if err != nil {
			return s.failed(err)
		}
		p.file, p.w = f, bufio.NewWriterSize(f, 1<<16)
		s.cols, s.now = append(s.cols, p), append(s.now, p)
	}
	s.tables[name] = note
	return nil
}

// checkRows refuses a second row of a relation whose arrays are written whole.
func (s *arraySink) checkRows() error {
	if s.opt.Whole && len(s.now) > 0 && s.rows != 1 {
		return s.refuse("the option WHOLE writes the chunks of a single row, there are %d rows", s.rows)
	}
	return nil
}

// Write implements Sink.
func (s *arraySink) Write(row []any) error {
	s.rows++
	for i, p := range s.now {
		if row[i] == nil {
			return sqlerr.New(sqlerr.NullNotAllowed, "file \"%s\": row %d, column \"%s\" is NULL, which arrays cannot hold",
				s.name, s.rows, p.col.Name).
				WithHint("Leave such rows out with a query, replace them with COALESCE, or use the format arrow or parquet.")
		}
		if err := p.put(row[i]); err != nil {
			return s.failed(err)
		}
	}
	return nil
}

// put adds a value to the column.
func (p *spool) put(v any) error {
	p.n++
	switch x := v.(type) {
	case []byte:
		if p.head == nil || len(x) < len(p.head) || string(x[:len(p.head)]) != string(p.head) {
			_, shape, _, err := tensor.Header(x)
			if err != nil {
				return sqlerr.New(sqlerr.DataCorrupted, "column \"%s\": %v", p.col.Name, err)
			}
			if p.head != nil {
				return sqlerr.New(sqlerr.ArraySubscript, "column \"%s\": a chunk of shape %v, others have shape %v", p.col.Name,
					shape, p.shape).WithHint("An array needs chunks of one shape.")
			}
			p.shape, p.head = shape, slices.Clone(x[:4+4*len(shape)])
		}
		_, err := p.w.Write(x[len(p.head):])
		return err
	case string:
		p.wide, p.texts = max(p.wide, utf8.RuneCountInString(x)), p.texts+int64(len(x))
		_, err := p.w.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(x))), x...))
		return err
	case bool:
		b := byte(0)
		if x {
			b = 1
		}
		return p.w.WriteByte(b)
	case int64:
		return p.word(uint64(x))
	case float64:
		if p.elem.size == 4 {
			return p.word(uint64(math.Float32bits(float32(x))))
		}
		return p.word(math.Float64bits(x))
	}
	return sqlerr.New(sqlerr.Internal, "internal error: a %T in a column of type %s", v, p.col.Type)
}

func (p *spool) word(u uint64) error {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], u)
	_, err := p.w.Write(b[:p.elem.size])
	return err
}

// dims is the array's shape: rows first, unless it is written whole.
func (p *spool) dims(whole bool) []int64 {
	out := []int64{p.n}
	if whole {
		out = []int64{}
	}
	for _, d := range p.shape {
		out = append(out, int64(d))
	}
	return out
}

// rewind opens the column for reading.
func (p *spool) rewind() (*bufio.Reader, error) {
	if err := p.w.Flush(); err != nil {
		return nil, err
	}
	_, err := p.file.Seek(0, io.SeekStart)
	return bufio.NewReaderSize(p.file, 1<<16), err
}

// eachText calls f for the texts of the column.
func (p *spool) eachText(f func(s string) error) error {
	r, err := p.rewind()
	if err != nil {
		return err
	}
	var b []byte
	for range p.n {
		var n [4]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return err
		}
		if k := int(binary.LittleEndian.Uint32(n[:])); cap(b) < k {
			b = make([]byte, k)
		} else {
			b = b[:k]
		}
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		if err := f(string(b)); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Sink.
func (s *arraySink) Close() error {
	defer s.Abort()
	if err := s.checkRows(); err != nil {
		return err
	}
	return s.failed(s.finish(s))
}

// Abort implements Sink.
func (s *arraySink) Abort() {
	for _, p := range s.cols {
		p.file.Close()
		os.Remove(p.file.Name())
	}
	s.cols, s.now = nil, nil
}

// npyTo writes the column as an npy file.
func (p *spool) npyTo(w io.Writer, whole bool) error {
	e := p.elem
	if p.text {
		e.size = 4 * max(p.wide, 1)
	}
	if _, err := w.Write(npyHeader(npyCode(e), p.dims(whole))); err != nil {
		return err
	}
	if !p.text {
		r, err := p.rewind()
		if err == nil {
			_, err = io.Copy(w, r)
		}
		return err
	}
	var b []byte
	return p.eachText(func(s string) error {
		b = appendUTF32(b[:0], s)
		b = append(b, make([]byte, e.size-len(b))...)
		_, err := w.Write(b)
		return err
	})
}

func (s *arraySink) npy() error {
	if len(s.cols) != 1 {
		return errors.New("no array was written")
	}
	return s.cols[0].npyTo(s.Writer, s.opt.Whole)
}

// npz writes the zip file that numpy.savez writes: members stored, without dates.
func (s *arraySink) npz() error {
	z := zip.NewWriter(s.Writer)
	for _, p := range s.cols {
		w, err := z.CreateHeader(&zip.FileHeader{Name: p.name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if err := p.npyTo(w, s.opt.Whole); err != nil {
			return err
		}
	}
	return z.Close()
}

// safetensors writes the arrays. Those of wider elements come first, so that all are aligned.
func (s *arraySink) safetensors() error {
	meta := map[string]string{}
	note, err := json.Marshal(s.tables)
	if err != nil {
		return err
	}
	meta[metaAbout] = string(note)
	var arrays []*spool
	for _, p := range s.cols {
		if !p.text {
			arrays = append(arrays, p)
			continue
		}
		if p.texts > maxSafetensorsHeader/2 {
			return s.refuse("column \"%s\" has %d bytes of text; the format's metadata take %d", p.name, p.texts,
				maxSafetensorsHeader/2)
		}
		list := []string{}
		if err := p.eachText(func(t string) error { list = append(list, t); return nil }); err != nil {
			return err
		}
		b, err := json.Marshal(list)
		if err != nil {
			return err
		}
		meta[metaText+p.name] = string(b)
	}
	slices.SortStableFunc(arrays, func(a, b *spool) int { return cmp.Compare(b.elem.size, a.elem.size) })
	return s.safetensorsFile(arrays, meta)
}

func (s *arraySink) safetensorsFile(arrays []*spool, meta map[string]string) error {
	names := map[string]string{}
	for name, typ := range safetensorsTypes {
		names[typ] = name
	}
	head := map[string]any{"__metadata__": meta} // json.Marshal sorts the names
	at := int64(0)
	for _, p := range arrays {
		if p.name == "__metadata__" {
			return s.refuse("an array cannot be named __metadata__").WithHint("Give the column another name with AS.")
		}
		dims := p.dims(s.opt.Whole)
		n, _ := count(dims)
		size := n * int64(p.elem.size)
		code := string(p.elem.kind) + string(rune('0'+p.elem.size))
		if p.elem.kind == 'b' {
			code = "bool"
		}
		head[p.name] = safetensor{names[code], dims, [2]int64{at, at + size}}
		at += size
	}
	b, err := json.Marshal(head)
	if err != nil {
		return err
	}
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	if len(b) > maxSafetensorsHeader {
		return s.refuse("its header has %d bytes; the format allows %d", len(b), maxSafetensorsHeader)
	}
	if _, err := s.Writer.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b...)); err != nil {
		return err
	}
	for _, p := range arrays {
		r, err := p.rewind()
		if err == nil {
			_, err = io.Copy(s.Writer, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
