package interop

import (
	"sync"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// sharedZstd is the library's codec of zstd with one encoder for all pages: the library makes one for each page, which
// takes megabytes and milliseconds.
type sharedZstd struct {
	compress.Codec
	encoder func() *zstd.Encoder
}

func init() {
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic(err) // the library has it
	}
	compress.RegisterCodec(compress.Codecs.Zstd, sharedZstd{codec, sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(zstd.SpeedBetterCompression)) // the level below gives up on bytes of noise and pictures
		if err != nil {
			panic(err) // options that do not fit each other
		}
		return e
	})})
}

// Encode implements compress.Codec.
func (c sharedZstd) Encode(dst, src []byte) []byte { return c.encoder().EncodeAll(src, dst[:0]) }

// EncodeLevel implements compress.Codec. There is one level.
func (c sharedZstd) EncodeLevel(dst, src []byte, _ int) []byte { return c.Encode(dst, src) }
