package csvfile

import (
	"context"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/columns"
)

// mostKeys is the number of columns of the longest key that is tried.
const mostKeys = 4

// Key implements interop.Reader: a csv file names no key.
func (r *Reader) Key() []string { return nil }

// Guess finds a key among some columns, nil: all. It is the shortest run of the first columns, floats, chunks and those
// with NULL left out, of which no two rows have the same values; or its last column, if that alone is enough. It is nil
// where there is none.
func (r *Reader) Guess(ctx context.Context, among []string) ([]string, error) {
	var able []int
	for i, c := range r.cols {
		float := c.Type == "double precision" || c.Type == "real" || c.Type == "double precision[]" || c.Type == "real[]"
		if !float && r.found != nil && !r.found[i].nulls && (among == nil || slices.Contains(among, c.Name)) {
			able = append(able, i)
		}
	}
	able = able[:min(len(able), mostKeys)]
	for n := 1; n <= len(able); n++ {
		is, err := r.unique(ctx, able[:n])
		if err != nil {
			return nil, err
		}
		if !is {
			continue
		}
		key := able[:n]
		if n > 1 {
			alone, err := r.unique(ctx, key[n-1:])
			if err != nil {
				return nil, err
			}
			if alone {
				key = key[n-1:]
			}
		}
		var out []string
		for _, i := range key {
			out = append(out, r.cols[i].Name)
		}
		return out, nil
	}
	return nil, nil
}

// unique reports whether no two rows have the same values in some columns. Where the hashes of two rows happen to meet,
// the columns are no key that is guessed.
func (r *Reader) unique(ctx context.Context, cols []int) (bool, error) {
	seed, seen := maphash.MakeSeed(), map[uint64]struct{}{}
	records := r.records()
	defer records.close()
	var h maphash.Hash
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return false, sqlerr.Canceled(ctx.Err())
		}
		fields, err := records.next()
		if err == io.EOF {
			return true, nil
		} else if err != nil {
			return false, err
		}
		h.SetSeed(seed)
		for _, i := range cols {
			if err := r.hash(&h, i, &fields[i]); err != nil {
				return false, records.in(err, i)
			}
		}
		sum := h.Sum64()
		if _, there := seen[sum]; there {
			return false, nil
		}
		seen[sum] = struct{}{}
	}
}

// hash adds a value to a hash.
func (r *Reader) hash(h *maphash.Hash, col int, f *columns.Field) error {
	h.WriteByte(0) // no text holds it
	if _, given := r.opt.Types[r.cols[col].Name]; given || r.cols[col].Type == "text" {
		h.Write(f.Text)
		return nil
	}
	v, err := value(string(f.Text), catalog.TypeOf(r.cols[col].Type))
	if err != nil {
		return err
	}
	switch x := v.(type) {
	case string:
		if r.cols[col].Type == "numeric" && strings.ContainsRune(x, '.') { // 1.0 is 1
			x = strings.TrimRight(strings.TrimRight(x, "0"), ".")
		}
		h.WriteString(x)
	default:
		maphash.WriteComparable(h, x)
	}
	return nil
}
