package interop

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// tail is a file of which a part is in memory: its end, which holds the footer, and all of a small one.
type tail struct {
	io.ReaderAt
	io.Reader
	from int64
	part []byte
}

// newTail fetches the part. Where that fails, reading it will fail again, with an error.
func newTail(f io.ReaderAt, from, size int64) *tail {
	t := &tail{ReaderAt: f, from: from}
	b := make([]byte, size)
	if n, _ := f.ReadAt(b, from); n == len(b) {
		t.part = b
	}
	return t
}

// ReadAt implements io.ReaderAt.
func (t *tail) ReadAt(b []byte, at int64) (int, error) {
	if i := at - t.from; i >= 0 && i+int64(len(b)) <= int64(len(t.part)) {
		return copy(b, t.part[i:]), nil
	}
	return t.ReaderAt.ReadAt(b, at)
}

// piece is how much of a column chunk is fetched at once, and in memory: few requests to an object store, but not a
// whole row group of a large column.
const piece = 4 << 20

// stream reads a column chunk from its beginning to its end. It is a parquet.BufferedReader.
type stream struct {
	r       io.ReaderAt
	at, end int64
	from    int64 // where part begins
	part    []byte
	room    []byte // of parts
}

// begin goes to another column chunk.
func (s *stream) begin(r io.ReaderAt, from, size int64) {
	s.r, s.at, s.end, s.part = r, from, from+size, nil
}

// ahead has the next n bytes in memory, or as many as there are.
func (s *stream) ahead(n int64) ([]byte, error) {
	n = min(n, s.end-s.at)
	if i := s.at - s.from; i >= 0 && i+n <= int64(len(s.part)) {
		return s.part[i : i+n], nil
	}
	size := min(max(n, piece), s.end-s.at)
	if int64(cap(s.room)) < size {
		s.room = make([]byte, size)
	}
	s.from, s.part = s.at, s.room[:size]
	if k, err := s.r.ReadAt(s.part, s.at); k < len(s.part) {
		s.part = nil
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return s.part[:n], nil
}

// ReadAt implements io.ReaderAt.
func (s *stream) ReadAt(b []byte, at int64) (int, error) {
	if at >= s.at && at+int64(len(b)) <= s.end && at-s.at < 1<<16 {
		if _, err := s.ahead(at - s.at + int64(len(b))); err != nil {
			return 0, err
		}
		return copy(b, s.part[at-s.from:]), nil
	}
	return s.r.ReadAt(b, at)
}

// Peek implements parquet.BufferedReader. At the end there are fewer bytes.
func (s *stream) Peek(n int) ([]byte, error) {
	b, err := s.ahead(int64(n))
	if err == nil && len(b) < n {
		err = io.EOF
	}
	return b, err
}

// Discard implements parquet.BufferedReader.
func (s *stream) Discard(n int) (int, error) {
	s.at += int64(n)
	return n, nil
}

// Read implements io.Reader.
func (s *stream) Read(b []byte) (n int, err error) {
	if s.at >= s.end {
		return 0, io.EOF
	}
	got, err := s.ahead(1)
	if err == nil {
		got = s.part[s.at-s.from:]
		n = copy(b, got[:min(int64(len(got)), s.end-s.at)])
		s.at += int64(n)
	}
	return n, err
}

// open goes to the leaf's chunk in a row group.
func (l *inLeaf) open(p *Parquet, meta fields) (err error) {
	values, packing := meta.int(5), compress.Compression(meta.int(4))
	if !meta.has(4) || !meta.has(5) || values < 0 || int64(packing) != meta.int(4) {
		return p.malformed("column \"%s\": %d values in the compression %d", l.field.Name, values, meta.int(4))
	}
	if typ := l.desc.PhysicalType(); meta.int(1) != int64(typ) {
		return p.malformed("column \"%s\" is of type %d, in the schema %d", l.field.Name, meta.int(1), typ)
	}
	if l.stream == nil {
		l.stream = &stream{}
	}
	check, err := newPageCheck(p.source, l.stream, meta)
	if err != nil {
		return err
	}
	l.stream.begin(p.source, check.from, check.r.Size())
	if l.pages == nil {
		l.pages = &pages{desc: l.desc}
		l.pages.PageReader, err = file.NewPageReader(l.stream, values, packing, p.mem, nil)
	} else {
		l.pages.Reset(l.stream, values, packing, nil)
	}
	if err != nil {
		return p.malformed("column \"%s\": %v", l.field.Name, err)
	}
	l.pages.check, l.pages.err = check, nil
	cr := file.NewColumnReader(l.desc, l.pages, p.mem, p.pool)
	if err := l.begin(cr, fewValues(meta)); err != nil {
		return p.malformed("column \"%s\": %v", l.field.Name, err)
	}
	return nil
}

// pages checks each page before the library decodes it: with fewer levels or dictionary indices than the page claims,
// the library would wait for them forever.
type pages struct {
	file.PageReader
	desc  *schema.Column
	check *pageCheck // of the claims of pages, before they are decompressed; nil where that has been done
	err   error
}

var errShortPage = errors.New("a page has fewer values than it says")

// Next implements file.PageReader.
func (p *pages) Next() bool {
	if p.err == nil && p.check != nil {
		_, p.err = p.check.next()
	}
	if p.err != nil || !p.PageReader.Next() {
		return false
	}
	p.err = p.whole(p.PageReader.Page())
	return p.err == nil
}

// Err implements file.PageReader.
func (p *pages) Err() error {
	if p.err != nil {
		return p.err
	}
	return p.PageReader.Err()
}

// whole checks that a page has the values that it claims.
func (p *pages) whole(page file.Page) error {
	maxRep, maxDef := p.desc.MaxRepetitionLevel(), p.desc.MaxDefinitionLevel()
	b, n := page.Data(), int64(page.NumValues())
	switch x := page.(type) {
	case *file.DataPageV1:
		if maxRep > 0 && x.RepetitionLevelEncoding() != parquet.Encodings.RLE ||
			maxDef > 0 && x.DefinitionLevelEncoding() != parquet.Encodings.RLE {
			return errors.New("levels in an encoding other than RLE")
		}
		for _, level := range []int16{maxRep, maxDef} {
			if level == 0 {
				continue
			}
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				return errShortPage
			}
			k := 4 + int(binary.LittleEndian.Uint32(b))
			if countRuns(b[4:k], bits.Len16(uint16(level)), n) < n {
				return errShortPage
			}
			b = b[k:]
		}
	case *file.DataPageV2:
		rep, def := int(x.RepetitionLevelByteLen()), int(x.DefinitionLevelByteLen())
		if rep < 0 || def < 0 || rep+def > len(b) || maxRep > 0 && countRuns(b[:rep], bits.Len16(uint16(maxRep)), n) < n ||
			maxDef > 0 && countRuns(b[rep:rep+def], bits.Len16(uint16(maxDef)), n) < n {
			return errShortPage
		}
		b = b[rep+def:]
	default: // a dictionary
		return checkPlain(p.desc, encodingPlain, b, n, true)
	}
	if err := checkPlain(p.desc, int(page.Encoding()), b, n, false); err != nil {
		return err
	}
	if err := checkDeltas(int(page.Encoding()), b, n, maxDef == 0); err != nil {
		return err
	}
	if maxDef > 0 {
		return nil // missing values are found by their level
	}
	switch int(page.Encoding()) {
	case encodingPlainDictionary, encodingRLEDictionary:
		if n > 0 && (len(b) == 0 || b[0] > 32 || countRuns(b[1:], int(b[0]), n) < n) {
			return errShortPage
		}
	case encodingRLE: // booleans
		if n > 0 && (len(b) < 4 || countRuns(b[4:], 1, n) < n) {
			return errShortPage
		}
	}
	return nil
}

// checkPlain checks a page in which values of one size lie as they are. all: it has n of them, else it has n at most.
func checkPlain(c *schema.Column, encoding int, b []byte, n int64, all bool) error {
	w, size := width(c), int64(len(b))
	if encoding == encodingPlain && w > 0 && (size%w != 0 || size > n*w || all && size < n*w) {
		return errShortPage
	}
	return nil
}

// width is how many bytes a value takes in the encoding PLAIN, 0 where values differ in it.
func width(c *schema.Column) int64 {
	switch c.PhysicalType() {
	case parquet.Types.Int32, parquet.Types.Float:
		return 4
	case parquet.Types.Int64, parquet.Types.Double:
		return 8
	case parquet.Types.Int96:
		return 12
	case parquet.Types.FixedLenByteArray:
		return int64(c.TypeLength())
	}
	return 0
}

// countRuns counts the values of the RLE and bit-packing hybrid, up to enough.
// https://parquet.apache.org/docs/file-format/data-pages/encodings/
func countRuns(b []byte, width int, enough int64) (n int64) {
	for n < enough {
		h, k := binary.Uvarint(b)
		if k <= 0 || h>>1 == 0 {
			return n
		}
		b = b[k:]
		size, values := uint64((width+7)/8), h>>1
		if h&1 == 1 {
			size, values = values*uint64(width), min(values, 1<<40)*8
		}
		if h>>1 > 1<<40 || size > uint64(len(b)) {
			return n
		}
		b, n = b[size:], n+int64(values)
	}
	return n
}

// checkDeltas checks a page of a delta encoding, for which the library takes as much memory as the page claims. all:
// each of its n levels has a value.
func checkDeltas(encoding int, b []byte, n int64, all bool) error {
	lists := map[int]int{encodingDelta: 1, encodingDeltaLength: 1, encodingDeltaText: 2}[encoding]
	for range lists {
		count, size := countDeltas(b, n)
		if size == 0 || all && count < n {
			return errShortPage
		}
		b = b[size:]
	}
	return nil
}

// countDeltas returns how many values a list in the encoding DELTA_BINARY_PACKED has, and its size in bytes: 0 where
// it is malformed or has more than most values. https://parquet.apache.org/docs/file-format/data-pages/encodings/
func countDeltas(b []byte, most int64) (count int64, size int) {
	const largestBlock = 1 << 16
	at, head := 0, [4]uint64{} // block size, miniblocks of a block, values, the first value
	for i := range head {
		u, k := binary.Uvarint(b[at:])
		if k <= 0 {
			return 0, 0
		}
		head[i], at = u, at+k
	}
	block, minis := head[0], head[1]
	if block == 0 || block > largestBlock || minis == 0 || minis > block || block%minis != 0 || (block/minis)%8 != 0 ||
		head[2] > uint64(most) {
		return 0, 0
	}
	for left := int64(head[2]) - 1; left > 0; {
		_, k := binary.Uvarint(b[at:])
		if k <= 0 || at+k+int(minis) > len(b) {
			return 0, 0
		}
		widths := b[at+k : at+k+int(minis)]
		at += k + int(minis)
		for _, w := range widths {
			if left <= 0 {
				break
			}
			at += int(block/minis) * int(w) / 8
			left -= int64(block / minis)
			if w > 64 || at > len(b) {
				return 0, 0
			}
		}
	}
	return int64(head[2]), at
}
