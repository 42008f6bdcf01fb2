package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/pgbridge/session"
	"github.com/relgrad/relgrad/pgbridge/wire"
)

// report is the text of POSTGRES.md.
func report(s *server, pairs, singles *Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measured on PostgreSQL\n\nWritten by `make pg-bench`; each line is explained in the package's "+
		"comment (`go doc ./bench`). A ratio is the median over pairs that\nwere run alternately in one session, below 1 "+
		"where relgrad is faster. Queries run without parallel workers and without JIT.\n\n")
	b.WriteString(machine(s))
	fmt.Fprintf(&b, "%s\n%s", pairs, singles)
	return b.String()
}

// machine says on what was measured, and how loaded it was.
func machine(s *server) string {
	var b strings.Builder
	version := s.must("SHOW server_version")
	fmt.Fprintf(&b, "%s, %d processors; PostgreSQL %s, %s, %s.\n\n", processor(), runtime.NumCPU(), version,
		runtime.Version(), time.Now().UTC().Format(time.DateOnly))
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Fprintf(&b, "Load averages of the machine at the end (1 is this benchmark alone): %s.\n\n",
			strings.Join(strings.Fields(string(load))[:3], ", "))
	}
	return b.String()
}

// TestMain also serves as an engine that only reads: gradient('TABLE', NULL::timing) returns the number of rows and the
// seconds from the request until they are in vectors.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "engine" {
		c := conn.NewChild(os.NewFile(0, "backend"), os.NewFile(3, "shared memory"))
		if err := c.Serve(func(ctx context.Context, r *conn.Request) (*conn.Answer, error) {
			return readTable(ctx, c, r)
		}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	need.Command(m, func(file string) { built = file })
}

// built is the file of the command that is tested.
var built string

func readTable(ctx context.Context, c *conn.Child, r *conn.Request) (*conn.Answer, error) {
	s := session.New(c)
	name, _ := r.Args["loss"].(string)
	t, err := s.TableOn(nil, "public", name)
	if err != nil {
		return nil, err
	}
	cols := make([]int, len(t.Cols))
	for i := range cols {
		cols[i] = i
	}
	begin := time.Now()
	data, err := s.Read(ctx, t, cols)
	if err != nil {
		return nil, err
	}
	took := time.Since(begin).Seconds()
	one := func(name string, v *column.Column) wire.Column { return wire.Column{Name: name, Data: v} }
	rows := column.Of(kernels.Type{Kind: kernels.Int}, []int64{int64(data[0].Len())})
	seconds := column.Of(kernels.Type{Kind: kernels.Float64}, []float64{took})
	return &conn.Answer{Rows: &wire.Block{Rows: 1,
		Cols: []wire.Column{one("rows", rows), one("seconds", seconds)}}}, nil
}
