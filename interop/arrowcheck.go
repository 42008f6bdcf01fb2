package interop

import (
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Arrow's metadata are flatbuffers. The library takes memory for as many fields as a vector claims to have, so they are
// checked first. https://github.com/apache/arrow/blob/main/format/Schema.fbs, File.fbs and Message.fbs

// table is a flatbuffer table whose slots are numbered from 0.
type table struct{ flatbuffers.Table }

func (t table) slot(i int) flatbuffers.UOffsetT {
	return flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(4 + 2*i)))
}

// sub is the table in a slot; ok is false where there is none.
func (t table) sub(i int) (out table, ok bool) {
	o := t.slot(i)
	if o == 0 {
		return out, false
	}
	out.Bytes, out.Pos = t.Bytes, t.Indirect(o+t.Pos)
	return out, true
}

// vector returns the position and length of the vector in a slot. Its elements have size bytes.
func (t table) vector(i, size int) (at flatbuffers.UOffsetT, n int) {
	o := t.slot(i)
	if o == 0 {
		return 0, 0
	}
	at, n = t.Vector(o), t.VectorLen(o)
	if n < 0 || n > (len(t.Bytes)-int(at))/size {
		panic("a list longer than its file")
	}
	return at, n
}

func rootTable(b []byte) table {
	return table{flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}}
}

// block is the position of a message in the file.
type block struct {
	offset, body int64
	meta         int32
}

func (t table) block(at flatbuffers.UOffsetT) block {
	return block{offset: t.GetInt64(at), meta: t.GetInt32(at + 8), body: t.GetInt64(at + 16)}
}

// arrowFooter reads the file's footer.
func arrowFooter(s *source) (table, error) {
	const magic = "ARROW1"
	head, tail := make([]byte, 6), make([]byte, 10)
	if s.size < 26 {
		return table{}, s.malformed("%d bytes, too short for an arrow file", s.size)
	}
	if _, err := s.ReadAt(head, 0); err != nil {
		return table{}, s.malformed("%v", err)
	}
	if _, err := s.ReadAt(tail, s.size-10); err != nil || string(head) != magic || string(tail[4:]) != magic {
		return table{}, s.malformed("it does not begin and end as an arrow file does (%q, %q)", head, tail[4:]).
			WithHint("A stream of Arrow must be written as a file; Feather version 1 is not readable.")
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n < 8 || n > s.size-18 {
		return table{}, s.malformed("a footer of %d bytes in a file of %d", n, s.size)
	}
	b := make([]byte, n)
	if _, err := s.ReadAt(b, s.size-10-n); err != nil {
		return table{}, s.malformed("footer: %v", err)
	}
	return rootTable(b), nil
}

// checkArrow checks the footer: the fields of the schema and the positions of the messages.
func checkArrow(s *source) error {
	foot, err := arrowFooter(s)
	if err != nil {
		return err
	}
	schema, ok := foot.sub(1)
	if !ok {
		return s.malformed("a footer without a schema")
	}
	budget := maxMembers
	schema.vector(2, 4)
	checkFields(s, schema, 1, 0, &budget)
	for _, slot := range []int{2, 3} { // dictionaries, record batches
		at, n := foot.vector(slot, 24)
		for i := range n {
			b := foot.block(at + flatbuffers.UOffsetT(24*i))
			if b.offset < 8 || b.meta < 8 || b.body < 0 || b.offset > s.size || b.body > s.size ||
				b.offset+int64(b.meta)+b.body > s.size {
				return s.malformed("a message at byte %d of %d and %d bytes in a file of %d", b.offset, b.meta, b.body, s.size)
			}
			if slot == 2 {
				if err := checkMessage(s, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkFields walks the fields in a slot of a schema or of a field.
func checkFields(s *source, t table, slot, depth int, budget *int) {
	const deepest = 32
	at, n := t.vector(slot, 4)
	for i := range n {
		if *budget--; *budget < 0 || depth > deepest {
			panic(s.malformed("a schema of more than %d fields or nested more than %d times", maxMembers, deepest))
		}
		f := table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at + flatbuffers.UOffsetT(4*i))}}
		f.vector(6, 4) // metadata
		checkFields(s, f, 5, depth+1, budget)
	}
}

// checkBatch checks a record batch before it is read.
func (f *arrowFile) checkBatch(i int) error {
	foot, err := arrowFooter(f.source)
	if err != nil {
		return err
	}
	at, n := foot.vector(3, 24)
	if i >= n {
		return f.malformed("record batch %d of %d", i+1, n)
	}
	return checkMessage(f.source, foot.block(at+flatbuffers.UOffsetT(24*i)))
}

// checkMessage checks that the buffers of a record or dictionary batch lie in its body, and that the sizes in zstd's
// frames agree with the sizes in the batch.
func checkMessage(s *source, b block) error {
	buf := make([]byte, b.meta)
	if _, err := s.ReadAt(buf, b.offset); err != nil {
		return s.malformed("a message at byte %d: %v", b.offset, err)
	}
	skip := 4
	if binary.LittleEndian.Uint32(buf) == 0xFFFFFFFF {
		skip = 8
	}
	message := rootTable(buf[skip:])
	batch, ok := message.sub(2)
	if !ok {
		return s.malformed("a message at byte %d without content", b.offset)
	}
	if o := message.slot(1); o != 0 && message.GetByte(o+message.Pos) == 2 { // a dictionary batch
		if batch, ok = batch.sub(1); !ok {
			return s.malformed("a dictionary without content")
		}
	}
	codec := int8(-1)
	if c, ok := batch.sub(3); ok {
		codec = 0
		if o := c.slot(0); o != 0 {
			codec = c.GetInt8(o + c.Pos)
		}
	}
	batch.vector(1, 16)
	at, n := batch.vector(2, 16)
	for i := range n {
		p := at + flatbuffers.UOffsetT(16*i)
		if err := checkBuffer(s, b, batch.GetInt64(p), batch.GetInt64(p+8), codec); err != nil {
			return err
		}
	}
	return nil
}

func checkBuffer(s *source, b block, from, size int64, codec int8) error {
	if from < 0 || size < 0 || from > b.body || size > b.body-from {
		return s.malformed("a buffer from byte %d of %d bytes in a message of %d", from, size, b.body)
	}
	if codec < 0 || size < 8 {
		return nil
	}
	first := make([]byte, min(size, 64))
	if _, err := s.ReadAt(first, b.offset+int64(b.meta)+from); err != nil {
		return s.malformed("a buffer: %v", err)
	}
	full := int64(binary.LittleEndian.Uint64(first))
	if full == -1 || full == 0 {
		return nil // not compressed
	}
	comes := full
	if codec == 1 {
		n, err := zstdSize(first[8:])
		if err != nil {
			return s.malformed("a buffer that is not compressed by zstd: %v", err)
		}
		if comes = n; n < 0 && size <= 1<<10 {
			comes = full
		}
	}
	if full < 0 || comes != full || codec == 0 && full > 300*size+64 || full > maxExpand && full > expand*s.size {
		return s.malformed("a buffer of %d bytes that decompresses to %s, its batch says %d", size, said(comes), full)
	}
	return nil
}
