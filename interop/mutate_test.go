package interop

import (
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/mutation"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// mutants is the number of malformed files of each format.
const mutants = 200

// TestMutated reads files with changed bytes. None may crash or hang, or take memory out of proportion; what is
// refused is an error that names the file.
func TestMutated(t *testing.T) {
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(format))))
			cols, rows := testColumns, testRows(3, 9)
			if format == "npy" {
				cols, rows = testColumns[9:10], nil
				for _, row := range testRows(3, 9) {
					rows = append(rows, row[9:10])
				}
			}
			good, refused := written(t, format, Options{}, "", cols, rows), 0
			for i := range mutants {
				b := mutation.Bytes(r, good)
				if err := readMutant(t, format, b, r.IntN(2) == 0); err != nil {
					refused++
					checkMutantError(t, i, err)
				}
			}
			if refused < mutants/10 {
				t.Errorf("only %d of %d malformed files refused", refused, mutants)
			}
			t.Logf("%d of %d refused", refused, mutants)
		})
	}
}

func checkMutantError(t *testing.T, i int, err error) {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code == sqlerr.Internal || !strings.Contains(err.Error(), "in.") {
		t.Errorf("file %d: %v", i, err)
	}
}

// readMutant reads all that the file claims to have.
func readMutant(t *testing.T, format string, b []byte, whole bool) (err error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	err = consume(format, b, Options{Whole: whole && Arrays(format)})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%d bytes taken for a file of %d: %v", took, len(b), err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v: %v", took, err)
	}
	return err
}

// consume reads a file's columns together and, where they do not fit, one by one.
func consume(format string, b []byte, o Options) error {
	r, err := opened(format, b, o)
	if err != nil {
		return err
	}
	defer r.Close()
	if err = drain(r, r.Columns()); err == nil {
		return nil
	}
	for _, c := range r.Columns() {
		_ = drain(r, []Column{c})
		if c.Type == "real[]" {
			_ = drain(r, []Column{{Name: c.Name, Type: "double precision[]"}})
		}
	}
	return err
}

func drain(r Reader, want []Column) error {
	rows, err := r.Rows(want)
	if err != nil {
		return err
	}
	row := make([]any, len(want))
	for n := 0; ; n++ {
		if err := rows.Next(row); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if n > 1<<20 {
			return errors.New("it does not end")
		}
	}
}
