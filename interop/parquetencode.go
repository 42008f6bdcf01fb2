package interop

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/klauspost/compress/zstd"
)

// sharedZstd is the library's codec of zstd with one encoder for all pages: the library makes one for each page, which
// takes megabytes and milliseconds.
type sharedZstd struct {
	compress.Codec
	dense, quick func() *zstd.Encoder
}

func init() {
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic(err) // the library has it
	}
	// Without entropy coding of all literals an encoder gives up on bytes of noise and pictures.
	encoder := func(literals bool) func() *zstd.Encoder {
		return sync.OnceValue(func() *zstd.Encoder { return newZstd(literals) })
	}
	compress.RegisterCodec(compress.Codecs.Zstd, sharedZstd{codec, encoder(true), encoder(false)})
}

func newZstd(literals bool) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithAllLitEntropyCompression(literals),
		zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		panic(err) // options that do not fit each other
	}
	return e
}

// Encode implements compress.Codec.
func (c sharedZstd) Encode(dst, src []byte) []byte { return c.dense().EncodeAll(src, dst[:0]) }

// trialLevel has a page compressed only if its first bytes get shorter by a tenth. Noise, of which entropy coding saves
// less, is written and read in half the time then.
const trialLevel = 1

// EncodeLevel implements compress.Codec. There is one level but for trialLevel.
func (c sharedZstd) EncodeLevel(dst, src []byte, level int) []byte {
	const trial = 1 << 14
	if level != trialLevel || len(src) < 4*trial {
		return c.Encode(dst, src)
	}
	if dst = c.Encode(dst, src[:trial]); len(dst) > trial-trial/10 {
		return c.quick().EncodeAll(src, dst[:0])
	}
	return c.Encode(dst, src)
}

// magic begins and ends a file.
const magic = "PAR1"

// outGroup is a row group: its columns, and where they lie in the file.
type outGroup struct {
	bytes  int // about, in memory
	chunks []*outChunk
	at     []int64
}

// outChunk is a column of a row group, which a goroutine encodes. Offsets in meta count from a chunk's beginning, which
// is behind the magic.
type outChunk struct {
	leaf outLeaf
	home int // the first group that has it, by number
	meta *metadata.ColumnChunkMetaDataBuilder
	data tell
	done chan struct{}
	err  error
	kept bool // later groups may have it too
}

// tell is a file in memory, whose first byte is not its place 0, because that means that there is no dictionary.
type tell struct{ bytes.Buffer }

// Tell is where the next byte goes.
func (t *tell) Tell() int64 { return int64(len(magic) + t.Len()) }

// ahead is about how many bytes of row groups may be in memory that are being encoded, or two groups.
const ahead = 4 << 20

// flush begins to encode the row group, and writes the first ones where too many are being encoded.
func (p *ParquetWriter) flush() error {
	group := p.meta.AppendRowGroup()
	group.SetNumRows(p.rows)
	g := &outGroup{bytes: p.bytes}
	for _, n := range p.root {
		old := n.same.before(p.rows)
		if old == nil {
			if err := n.spread(p.rows); err != nil {
				return err
			}
		}
		first := len(g.chunks)
		for i, l := range n.below(nil) {
			meta := group.NextColumnChunk()
			if old == nil {
				g.chunks = append(g.chunks, p.encode(l, meta, len(g.chunks)))
				continue
			}
			g.chunks = append(g.chunks, old[i])
			l.empty()
		}
		n.same.next(p.rows, g.chunks[first:])
	}
	p.groups, p.encoding = append(p.groups, g), p.encoding+g.bytes
	p.rows, p.bytes = 0, 0
	for p.encoding > ahead && p.written < len(p.groups)-2 {
		if err := p.write(); err != nil {
			return err
		}
	}
	return nil
}

// encode begins to encode a leaf, which is empty then.
func (p *ParquetWriter) encode(l *outLeaf, meta *metadata.ColumnChunkMetaDataBuilder, column int) *outChunk {
	c := &outChunk{home: len(p.groups), meta: meta, done: make(chan struct{})}
	var spare outSpare
	if k := len(l.spare); k > 0 {
		spare, l.spare = l.spare[k-1], l.spare[:k-1]
	}
	c.data.Buffer = *bytes.NewBuffer(spare.data)
	c.leaf, *l = *l, spare.leaf
	l.rep, l.max, l.spare, c.leaf.spare = c.leaf.rep, c.leaf.max, c.leaf.spare, nil
	p.free <- struct{}{}
	go func() {
		defer func() { <-p.free; close(c.done) }()
		defer p.guard(&c.err)
		path := meta.Descr().Path()
		pager, err := file.NewPageWriter(&c.data, p.props.CompressionFor(path), p.props.CompressionLevelFor(path), meta,
			int16(c.home), int16(column), p.props.Allocator(), false, nil, nil)
		if err == nil {
			w := file.NewColumnChunkWriter(meta, pager, p.props)
			if err = c.leaf.write(w); err == nil {
				err = w.Close()
			}
		}
		if c.err = err; err == nil {
			c.data.Truncate(int(meta.TotalCompressedSize())) // without the metadata, which the footer has
		}
	}()
	return c
}

// write writes the next row group.
func (p *ParquetWriter) write() error {
	g := p.groups[p.written]
	for i, c := range g.chunks {
		<-c.done
		if c.err != nil {
			return p.failed(c.err)
		}
		g.at = append(g.at, p.at)
		if err := p.put(c.data.Bytes()); err != nil {
			return err
		}
		if l := p.leaves[i]; c.home == p.written {
			c.leaf.empty()
			spare := outSpare{leaf: c.leaf}
			if c.leaf = (outLeaf{}); !c.kept {
				spare.data, c.data = c.data.Bytes()[:0], tell{}
			}
			l.spare = append(l.spare, spare)
		}
	}
	p.encoding -= g.bytes
	p.written++
	return nil
}

// Full reports whether the row groups take at least so many bytes of the file.
func (p *ParquetWriter) Full(bytes int) (bool, error) {
	for p.err == nil && p.at < int64(bytes) && p.at+int64(p.encoding) >= int64(bytes) && p.written < len(p.groups) {
		p.err = p.write()
	}
	return p.at >= int64(bytes), p.err
}

func (p *ParquetWriter) put(b []byte) error {
	n, err := p.target.Write(b)
	p.at += int64(n)
	return p.failed(err)
}

// footer says where all columns lie.
func (p *ParquetWriter) footer() error {
	meta, err := p.meta.Finish()
	if err != nil {
		return p.failed(err)
	}
	for k, group := range slices.Backward(meta.RowGroups) { // chunks are read where they are first, which comes last
		g := p.groups[k]
		packed := int64(0)
		for i, c := range g.chunks {
			chunk, shift := *meta.RowGroups[c.home].Columns[i], g.at[i]-int64(len(magic))
			m := *chunk.MetaData
			m.DataPageOffset += shift
			if m.DictionaryPageOffset != nil {
				d := *m.DictionaryPageOffset + shift
				m.DictionaryPageOffset = &d
			}
			chunk.FileOffset, chunk.MetaData, group.Columns[i] = 0, &m, &chunk
			packed, group.TotalByteSize = packed+m.TotalCompressedSize, group.TotalByteSize+m.TotalUncompressedSize
		}
		group.TotalCompressedSize = &packed
		if group.FileOffset = &g.at[0]; k <= math.MaxInt16 {
			ordinal := int16(k)
			group.Ordinal = &ordinal
		}
	}
	b, err := meta.Serialize(context.Background())
	if err != nil {
		return p.failed(err)
	}
	return p.put(append(binary.LittleEndian.AppendUint32(b, uint32(len(b))), magic...))
}
