package engine

import (
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
)

// TestSpillNotice: the notice says why something lies in a file though the whole would fit.
func TestSpillNotice(t *testing.T) {
	var got string
	e := &session{Settings: &Settings{Notice: func(_, message string) { got = message }}}
	const mb = 1 << 20
	e.spills(executor.Spilled{Needs: 52 * mb, Budget: 60 * mb, Columns: 4, Bytes: 17 * mb, Dir: "/d"})
	if got != "the plan needs 52 MB, the memory budget is 60 MB, of which columns of tables and index arrays may take "+
		"a quarter each: 4 of its columns and results, 17 MB, lie in files in /d" {
		t.Error(got)
	}
	e.spills(executor.Spilled{Needs: 80 * mb, Budget: 60 * mb, Columns: 4, Bytes: 17 * mb, Dir: "/d"})
	if strings.Contains(got, "quarter") {
		t.Error(got)
	}
}
