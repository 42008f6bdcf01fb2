package store

import (
	"bytes"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
	"github.com/relgrad/relgrad/tensor"
)

// TestHeld: the large chunks of a result stay beside its table, and go with it; small ones and more than there is room
// for lie in it.
func TestHeld(t *testing.T) {
	db := openFile(t, "")
	result := func(rows, size int) *catalog.Relation {
		v := column.Of(kernels.Type{Kind: kernels.Float32, Shape: tensor.Shape{size}}, make([]float32, rows*size))
		for i := range v.F32() {
			v.F32()[i] = float32(i)
		}
		v.SetNull(0)
		return &catalog.Relation{Names: []string{"k", "v"}, Types: []string{"integer", "real[]"},
			Cols: []*column.Column{column.New(kernels.Type{Kind: kernels.Int}, rows), v}}
	}
	buffers, _ := tensor.LiveBuffers()
	for _, tc := range []struct {
		rows, size int
		held       bool
	}{{3, 20000, true}, {3, 10, false}, {3, 30000, true}, {heldMost/80000 + 1, 20000, false}} {
		r := result(tc.rows, tc.size)
		tab, err := putResult(db, r)
		if err != nil {
			t.Fatal(err)
		}
		if definitions.IsHeld(tab, 0) || definitions.IsHeld(tab, 1) != tc.held {
			t.Errorf("%+v: %v", tc, tab.Held)
		}
		k := 0
		err = db.rows("SELECT "+definitions.ReadColumn(tab, "x.", 1)+" FROM "+definitions.SQL(tab)+" AS x",
			func(row row) error {
				want := make([]byte, columns.ChunkBytes(r.Cols[1], tab.Cols[1].Type))
				columns.PutChunk(want, r.Cols[1], k, tensor.Float32)
				if row[0].IsNull() != (k == 0) || k > 0 && !bytes.Equal(row[0].Bytes(), want) {
					t.Errorf("%+v: row %d is another one", tc, k)
				}
				k++
				return nil
			})
		if err != nil || k != tc.rows {
			t.Errorf("%+v: %d rows, %v", tc, k, err)
		}
		giveResult(db, tab)
	}
	if n, _ := tensor.LiveBuffers(); n != buffers+1 {
		t.Errorf("%d buffers stay, not the spare one", n-buffers)
	}
	for _, number := range []string{"0", "-1", "1000000", "'x'"} {
		if err := db.exec("SELECT rg_held(" + number + ")"); err == nil {
			t.Errorf("rg_held(%s) is no error", number)
		}
	}
	db.Close()
	if n, _ := tensor.LiveBuffers(); n != buffers {
		t.Errorf("%d buffers stay", n-buffers)
	}
}
