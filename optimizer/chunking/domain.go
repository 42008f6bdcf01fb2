package chunking

import (
	"hash/maphash"

	"github.com/relgrad/relgrad/column"
)

var seed = maphash.MakeSeed()

// DomainOf is the domain of a column. Values whose hashes of 64 bits are equal are taken for one.
func DomainOf(v *column.Column) (d Domain) {
	seen := map[uint64]struct{}{}
	for i := range v.Len() {
		if v.IsNull(i) {
			continue
		}
		var h uint64
		switch v.Kind() {
		case column.I64:
			h = maphash.Comparable(seed, v.I64()[i])
		case column.Str:
			h = maphash.String(seed, v.Texts()[i])
		default:
			h = maphash.Comparable(seed, v.Float(i))
		}
		if _, ok := seen[h]; !ok {
			seen[h] = struct{}{}
			d.Hash += h
		}
	}
	d.Count = int64(len(seen))
	return d
}
