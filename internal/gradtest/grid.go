package gradtest

import (
	"fmt"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

var gridText = regexp.MustCompile(`^(\w+) \((.*); (.*)\)( first (\d+))?$`)

// Scripts runs the files of a test's folder testdata, each over a database of its own. Commands are
//
//	table          a table, as Grid reads it
//	view name=V    a view of that query
//
// and those of the test, which run gets.
func Scripts(t *testing.T, run func(t *testing.T, db *memdb.DB, d *datadriven.TestData) string) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		db, draw := memdb.New(), rand.New(rand.NewSource(7))
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var err error
			switch d.Cmd {
			case "table":
				err = Grid(db, draw, d.Input)
			case "view":
				var name string
				d.ScanArgs(t, "name", &name)
				err = db.AddView(name, d.Input)
			default:
				return run(t, db, d)
			}
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return ""
		})
	})
}

// Grid makes a table "t (a 3, b 4; w, v[2,3])": all combinations of integer keys from 0, with random values. With
// " first 5" behind it has only the first five rows.
func Grid(db *memdb.DB, draw *rand.Rand, text string) error {
	m := gridText.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return fmt.Errorf("not a table: %s", text)
	}
	var cols []memdb.Column
	var lengths []int
	rows := 1
	for _, k := range strings.Split(m[2], ", ") {
		var name string
		var n int
		fmt.Sscan(k, &name, &n)
		cols, lengths, rows = append(cols, memdb.Column{Name: name}), append(lengths, n), rows*n
	}
	some := rows
	if m[5] != "" {
		fmt.Sscan(m[5], &some)
	}
	for k, step := len(cols)-1, 1; k >= 0; k-- {
		v := column.New(kernels.Type{Kind: kernels.Int}, some)
		for i := range v.I64() {
			v.I64()[i] = int64(i / step % lengths[k])
		}
		cols[k].Data, step = v, step*lengths[k]
	}
	for _, c := range regexp.MustCompile(`(\w+)(\[[^\]]*\])?`).FindAllStringSubmatch(m[3], -1) {
		ty := kernels.Type{Kind: kernels.Float64}
		for _, n := range regexp.MustCompile(`\d+`).FindAllString(c[2], -1) {
			var k int
			fmt.Sscan(n, &k)
			ty.Shape = append(ty.Shape, k)
		}
		v := column.New(ty, some)
		for i := range v.F64() {
			v.F64()[i] = draw.NormFloat64()
		}
		cols = append(cols, memdb.Column{Name: c[1], Data: v})
	}
	db.Create(m[1], len(lengths), cols...)
	return nil
}
