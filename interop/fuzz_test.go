package interop

import (
	"math/rand/v2"
	"testing"
)

// fuzz feeds whole files to a format; the corpus is in testdata/fuzz.
func fuzz(f *testing.F, format string) {
	cols, rows := testColumns, testRows(5, 2)
	if format == "npy" {
		cols, rows = []Column{testColumns[8]}, [][]any{rows[0][8:9], rows[1][8:9]}
	}
	f.Add(written(f, format, Options{}, "", cols, rows))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, whole := range []bool{false, true} {
			if err := consume(format, b, Options{Whole: whole}); err != nil {
				checkMutantError(t, 0, err)
			}
		}
	})
}

func FuzzNpy(f *testing.F)         { fuzz(f, "npy") }
func FuzzNpz(f *testing.F)         { fuzz(f, "npz") }
func FuzzSafetensors(f *testing.F) { fuzz(f, "safetensors") }

// FuzzNested feeds whole Parquet files to the reader of nested values.
func FuzzNested(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for encoding := range 3 {
		o := ParquetOptions{Rows: 2, Encoding: map[string]int{}}
		for _, c := range nestedFields {
			o.Encoding[c.Name] = encoding
		}
		f.Add(nestedFile(f, [][]any{nestedRow(r), nestedRow(r), nestedRow(r)}, o))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := readNested(b); err != nil {
			checkMutantError(t, 0, err)
		}
	})
}
