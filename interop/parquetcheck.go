package interop

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// checkParquet compares the claims of a file's footer and pages with its size before the library uses them.
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
func checkParquet(s *source) error {
	meta, _, err := checkFooter(s)
	if err != nil {
		return err
	}
	for _, g := range meta.list(4) {
		group, _ := g.(fields)
		for _, c := range group.list(1) {
			if group.int(3) == 0 { // nothing of it is read, and its columns may lie nowhere
				continue
			}
			chunk, _ := c.(fields)
			if err := checkPages(s, chunk.get(3)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFooter checks the footer alone. columns is a footer of the same columns without row groups.
func checkFooter(s *source) (meta fields, columns []byte, err error) {
	tail := make([]byte, 8)
	k, err := s.ReadAt(tail, max(s.size-8, 0))
	if e := (*sqlerr.Error)(nil); errors.As(err, &e) { // of whatever the file lies in
		return nil, nil, err
	}
	if k < 8 || string(tail[4:]) != "PAR1" {
		return nil, nil, s.malformed("it does not end as a parquet file does (%q)", tail[4:])
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > s.size-12 {
		return nil, nil, s.malformed("a footer of %d bytes in a file of %d", n, s.size)
	}
	foot := make([]byte, n)
	if k, err := s.ReadAt(foot, s.size-8-n); int64(k) < n {
		return nil, nil, s.malformed("it ends within its footer (%v)", err)
	}
	if meta, columns, err = readFooter(foot); err != nil {
		return nil, nil, s.malformed("footer: %v", err)
	}
	if err := checkSchema(s, meta.list(2)); err != nil {
		return nil, nil, err
	}
	for i, g := range meta.list(4) {
		group, _ := g.(fields)
		if rows := group.int(3); rows < 0 {
			return nil, nil, s.malformed("row group %d has %d rows", i+1, rows)
		}
		for _, c := range group.list(1) {
			if chunk, _ := c.(fields); chunk.has(8) || chunk.has(9) {
				return nil, nil, s.unsupported("it is encrypted")
			}
		}
	}
	return meta, columns, nil
}

// checkSchema checks the numbers of children in the tree of columns, and its depth.
func checkSchema(s *source, elements []any) error {
	const deepest = 32
	var open []int64 // children still to come, by depth
	for _, e := range elements {
		f, _ := e.(fields)
		n := f.int(5)
		if n < 0 || n > int64(len(elements)) || len(open) > deepest {
			return s.malformed("a schema of %d elements in which one has %d children at depth %d", len(elements), n, len(open))
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if n > 0 {
			open = append(open, n)
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return s.malformed("a schema of %d elements in which some are missing", len(elements))
	}
	return nil
}

// Ids of fields in parquet.thrift.
const (
	codecNone, codecSnappy, codecGzip, codecZstd = 0, 1, 2, 6

	pageData, pageDictionary, pageDataV2 = 0, 2, 3

	encodingPlain, encodingPlainDictionary, encodingRLE, encodingRLEDictionary = 0, 2, 3, 8

	encodingDelta, encodingDeltaLength, encodingDeltaText = 5, 6, 7
)

// checkPages checks the pages of a column chunk.
func checkPages(s *source, meta fields) error {
	c, err := newPageCheck(s, s, meta)
	for more := true; more && err == nil; {
		more, err = c.next()
	}
	return err
}

// pageCheck checks the pages of a column chunk one by one.
type pageCheck struct {
	s          *source
	meta       fields
	r          *io.SectionReader
	from       int64
	at, values int64 // of the next page: where it begins in the chunk, and how many values come before it
	head       []byte
}

// newPageCheck begins before the first page. The file is read through r.
func newPageCheck(s *source, r io.ReaderAt, meta fields) (*pageCheck, error) {
	from, size := meta.int(9), meta.int(7)
	if d := meta.int(11); d > 0 && d < from {
		from = d
	}
	if from < 4 || size < 0 || from > s.size || size > s.size-from {
		return nil, s.malformed("a column from byte %d of %d bytes in a file of %d", from, size, s.size)
	}
	return &pageCheck{s: s, meta: meta, r: io.NewSectionReader(r, from, size), from: from}, nil
}

// next checks the next page. It returns false where there is none.
func (c *pageCheck) next() (more bool, err error) {
	size := c.r.Size()
	if c.at >= size || c.values >= c.meta.int(5) {
		return false, nil
	}
	if c.head == nil {
		c.head = make([]byte, min(size, 1<<14))
	}
	head := c.head[:min(size-c.at, int64(len(c.head)))]
	if _, err := c.r.ReadAt(head, c.at); err != nil && err != io.EOF {
		return false, c.s.malformed("a column's page at byte %d: %v", c.from+c.at, err)
	}
	page, n, err := readThrift(head)
	if err != nil {
		return false, c.s.malformed("a column's page at byte %d: %v", c.from+c.at, err)
	}
	packed := page.int(3)
	if packed < 0 || packed > size-c.at-int64(n) {
		return false, c.s.malformed("a page of %d bytes, %d are left of its column", packed, size-c.at-int64(n))
	}
	body := io.NewSectionReader(c.r, c.at+int64(n), packed)
	if err := checkPage(c.s, page, c.meta.int(4), body); err != nil {
		return false, err
	}
	for _, id := range []int{5, 8} {
		c.values += page.get(id).int(1)
	}
	c.at += int64(n) + packed
	return true, nil
}

// checkPage compares a page's header with its first bytes, in which some compressions record the size.
func checkPage(s *source, page fields, codec int64, body *io.SectionReader) error {
	full, packed, levels := page.int(2), page.int(3), int64(0)
	encoding, n := int64(encodingPlain), int64(0)
	switch page.int(1) {
	case pageData:
		encoding, n = page.get(5).int(2), page.get(5).int(1)
	case pageDictionary:
		encoding, n = page.get(7).int(2), page.get(7).int(1)
		if n > 8*full {
			return s.malformed("a dictionary of %d values in %d bytes", n, full)
		}
	case pageDataV2:
		v2 := page.get(8)
		encoding, n, levels = v2.int(4), v2.int(1), v2.int(5)+v2.int(6)
		if v2.int(5) < 0 || v2.int(6) < 0 || levels > full || levels > packed {
			return s.malformed("a page with %d bytes of levels in %d", levels, full)
		}
		if plain, ok := v2[7].(bool); ok && !plain {
			codec = codecNone
		}
	default:
		return s.unsupported("a page of type %d", page.int(1))
	}
	if full < 0 || n < 0 {
		return s.malformed("a page of %d values in %d bytes", n, full)
	}
	switch encoding {
	case encodingPlain, encodingPlainDictionary, encodingRLE, encodingRLEDictionary:
	case encodingDelta, encodingDeltaLength, encodingDeltaText:
	default:
		return s.unsupported("a column of encoding %d", encoding).
			WithHint("Readable are PLAIN, dictionary and delta encodings.")
	}
	first := make([]byte, min(packed-levels, 64))
	if _, err := body.ReadAt(first, levels); err != nil && err != io.EOF {
		return s.malformed("a page: %v", err)
	}
	return checkPacked(s, codec, first, packed-levels, full-levels)
}

// checkPacked checks that packed bytes beginning with first decompress to full bytes, as far as they tell.
func checkPacked(s *source, codec int64, first []byte, packed, full int64) error {
	size, most := full, int64(1100)
	switch {
	case packed == 0 && full == 0:
	case codec == codecNone:
		size, most = packed, 1
	case codec == codecSnappy:
		n, err := snappy.DecodedLen(first)
		if err != nil {
			return s.malformed("a page that is not compressed by snappy: %v", err)
		}
		size, most = int64(n), 64
	case codec == codecGzip:
	case codec == codecZstd:
		n, err := zstdSize(first)
		if err != nil {
			return s.malformed("a page that is not compressed by zstd: %v", err)
		}
		if size, most = n, 1<<20; n < 0 && packed <= 1<<10 { // some writers leave out the size of small pages
			size = full
		}
	default:
		return s.unsupported("compression %d", codec).
			WithHint("Readable are parquet files without compression and with snappy, gzip or zstd.")
	}
	if size != full || full > max(most*packed, 1<<10) || full > maxExpand && full > expand*s.size {
		return s.malformed("a page of %d bytes that decompresses to %s, its header says %d", packed, said(size), full)
	}
	return nil
}

func said(size int64) string {
	if size < 0 {
		return "a size that it does not say"
	}
	return strconv.FormatInt(size, 10)
}

// zstdSize is the decompressed size that a zstd frame records, -1 where it records none.
func zstdSize(first []byte) (int64, error) {
	var h zstd.Header
	if err := h.Decode(first); err != nil {
		return 0, err
	}
	if !h.HasFCS || h.FrameContentSize > 1<<40 {
		return -1, nil
	}
	return int64(h.FrameContentSize), nil
}
