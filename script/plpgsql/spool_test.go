package plpgsql

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/tensor"
)

// TestSpool: rows come back as they were and in order, those in memory and those in the file.
func TestSpool(t *testing.T) {
	chunk := tensor.New(tensor.Float32, 2, 3)
	chunk.Data[4] = 0.5
	scalar := &tensor.Tensor{DType: tensor.Float64, Shape: tensor.Shape{}, Data: []float64{math.Inf(-1)}}
	long := strings.Repeat("é", 1<<20)
	row := func(i int64) []any {
		return []any{i, nil, i%2 == 0, -0.1 * float64(i), long[:i%7*1000], chunk, scalar, []any{"a", nil, []any{i}, []any{}}}
	}
	const n = 3000
	s := &Spool{}
	defer s.Close()
	for i := int64(0); i < n; i += 100 {
		res := &script.Result{HasRows: true, More: true}
		for j := range row(0) {
			res.Cols = append(res.Cols, script.Col{Name: fmt.Sprint(j)})
		}
		for j := range int64(100) {
			res.Rows = append(res.Rows, row(i+j))
		}
		if err := s.Result(res); err != nil {
			t.Fatal(err)
		}
	}
	if s.file == nil || len(s.rows) == n || s.Len() != n {
		t.Fatalf("%d of %d rows are in memory", len(s.rows), s.Len())
	}
	i := int64(0)
	err := s.Each(func(got []any) (bool, error) {
		if !reflect.DeepEqual(got, row(i)) {
			t.Fatalf("row %d is %.200v", i, got)
		}
		i++
		return false, nil
	})
	if err != nil || i != n {
		t.Errorf("%d rows: %v", i, err)
	}
	s.reset() // the statement is run again
	if err := s.Result(&script.Result{HasRows: true, Rows: [][]any{row(1)}}); err != nil || s.Len() != 1 || s.file != nil {
		t.Errorf("%d rows behind a reset: %v", s.Len(), err)
	}
}

// TestSpoolOfWhatItCannotHold is refused.
func TestSpoolOfWhatItCannotHold(t *testing.T) {
	s := &Spool{}
	defer s.Close()
	var err error
	for i := 0; i < 1e6 && err == nil; i++ {
		err = s.add([]any{strings.Repeat("x", 1000), struct{}{}})
	}
	if err == nil || !strings.Contains(err.Error(), "a result holds a struct {}") {
		t.Error(err)
	}
}
