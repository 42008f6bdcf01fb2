package places

import (
	"testing"

	"github.com/relgrad/relgrad/internal/s3test"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/interop/delta/layouts"
)

// TestRequests: reading a tensor, and a slice of it, asks an object store few times.
func TestRequests(t *testing.T) {
	server := s3test.New(t)
	server.Environment(t)
	s := at(t, "s3://tables/t")
	x := &layouts.Tensor{DType: "float32", Shape: []int64{1000, 8, 8}, Data: make([]byte, 4*1000*8*8)}
	for i := range x.Data {
		x.Data[i] = byte(i * i >> 7)
	}
	for _, layout := range []string{"ftsf", "coo"} {
		if _, err := layouts.Write(s, layout, x, layouts.Options{Layout: layout}); err != nil {
			t.Fatal(err)
		}
	}
	table, err := delta.Open(s, delta.Latest())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"ftsf", "coo"} {
		for part, most := range map[string]int{"": 60, "[500:520]": 40} {
			before := server.Requests["GET"]
			slice, _ := layouts.ParseSlice(part)
			if _, err := layouts.Read(table, id, slice); err != nil {
				t.Fatal(err)
			}
			if n := server.Requests["GET"] - before; n > most {
				t.Errorf("%s%s: %d requests, at most %d", id, part, n, most)
			}
		}
	}
}
