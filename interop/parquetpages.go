package interop

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// pages checks each page before the library decodes it: with fewer levels or dictionary indices than the page claims,
// the library would wait for them forever.
type pages struct {
	file.PageReader
	desc *schema.Column
	err  error
}

var errShortPage = errors.New("a page has fewer values than it says")

// Next implements file.PageReader.
func (p *pages) Next() bool {
	if p.err != nil || !p.PageReader.Next() {
		return false
	}
	p.err = p.check(p.PageReader.Page())
	return p.err == nil
}

// Err implements file.PageReader.
func (p *pages) Err() error {
	if p.err != nil {
		return p.err
	}
	return p.PageReader.Err()
}

func (p *pages) check(page file.Page) error {
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
	default:
		return nil // a dictionary
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
