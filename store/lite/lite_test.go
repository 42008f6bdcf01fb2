package lite

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func open(t testing.TB) *Conn {
	c, err := Open(":memory:", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

type sum struct{ x float64 }

func (s *sum) Step(a []Cell) error    { s.x += a[0].Float(); return nil }
func (s *sum) Inverse(a []Cell) error { s.x -= a[0].Float(); return nil }
func (s *sum) Value(r Result) error   { r.Float(s.x); return nil }

func TestFunctionsAndTables(t *testing.T) {
	c := open(t)
	boom := errors.New("boom")
	for _, err := range []error{
		c.Func("twice", 1, true, func(a []Cell, r Result) error { r.Int(2 * a[0].Int()); return nil }),
		c.Func("shout", 1, true, func(a []Cell, r Result) error { r.Text(a[0].String() + "!"); return nil }),
		c.Func("bad", 0, true, func(a []Cell, r Result) error { return boom }),
		c.Func("worse", 0, true, func(a []Cell, r Result) error { panic("x") }),
		c.Aggregate("mysum", 1, func() State { return &sum{} }),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []struct{ sql, want string }{
		{"SELECT twice(21)", "42"},
		{"SELECT shout('a')", "a!"},
		{"SELECT mysum(value) FROM rg_series(1, 10, 1)", "55.0"},
		{"SELECT mysum(value) OVER () FROM rg_series(1, 3, 1) LIMIT 1", "6.0"},
		{"SELECT group_concat(s) FROM (SELECT mysum(value) OVER (ORDER BY value ROWS 1 PRECEDING) AS s FROM rg_series(1, " +
			"3, 1))", "1.0,3.0,5.0"},
		{"SELECT group_concat(b.value) FROM rg_series(1, 3, 1) a, rg_series(1, a.value, 1) b", "1,1,2,1,2,3"},
		{"SELECT group_concat(b.value) FROM rg_series(3, 1, -1) b", "3,2,1"},
		{"SELECT count(*) FROM rg_series(3, 1, 1) b", "0"},
		{"SELECT rg_int(5, 4)", "5"},
		{"SELECT rg_ftoi(2.5, 4)", "2"},
	} {
		var got string
		if err := c.Query("SELECT CAST(("+q.sql+") AS TEXT)", nil,
			func(r []Cell) error { got = r[0].String(); return nil }); err != nil || got != q.want {
			t.Errorf("%s: got %q, %v; want %q", q.sql, got, err, q.want)
		}
	}
	if err := c.Query("SELECT bad()", nil, func([]Cell) error { return nil }); !errors.Is(err, boom) {
		t.Errorf("bad(): %v", err)
	}
	if err := c.Query("SELECT worse()", nil, func([]Cell) error { return nil }); err == nil {
		t.Error("worse(): no error")
	}
	if err := c.Query("SELECT rg_int(3000000000, 4)", nil, func([]Cell) error { return nil }); err == nil ||
		err.Error() != "22003 integer out of range" {
		t.Errorf("rg_int: %v", err)
	}
}

func TestRunAndRead(t *testing.T) {
	c := open(t)
	if err := c.Exec("CREATE TABLE t(a INTEGER, b REAL, c TEXT, d BLOB) STRICT"); err != nil {
		t.Fatal(err)
	}
	s, err := c.Prepare("INSERT INTO t VALUES (?,?,?,?)")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		for k, v := range []any{int64(i), float64(i) / 2, "text", []byte{1, byte(i)}} {
			if err := s.Set(k, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	n := 0
	err = c.Query("SELECT * FROM t WHERE a >= ?", []any{int64(10)}, func(r []Cell) error {
		i := r[0].Int()
		if r[1].Float() != float64(i)/2 || r[2].String() != "text" || r[3].Bytes()[1] != byte(i) {
			t.Fatalf("row %d: %v %v %q %v", i, r[0].Int(), r[1].Float(), r[2].String(), r[3].Bytes())
		}
		n++
		return nil
	})
	if err != nil || n != 990 {
		t.Fatal(n, err)
	}
}

func BenchmarkScalar(b *testing.B) {
	c := open(b)
	c.Func("twice", 1, false, func(a []Cell, r Result) error { r.Int(2 * a[0].Int()); return nil })
	b.ResetTimer()
	c.Query("SELECT sum(twice(value)) FROM rg_series(1, ?, 1)", []any{int64(b.N)}, func([]Cell) error { return nil })
}

func BenchmarkNative(b *testing.B) {
	c := open(b)
	b.ResetTimer()
	c.Query("SELECT sum(rg_int(value, 8)) FROM rg_series(1, ?, 1)", []any{int64(b.N)}, func([]Cell) error { return nil })
}

func BenchmarkRead(b *testing.B) {
	c := open(b)
	b.ResetTimer()
	c.Query("SELECT value, ord FROM rg_series(1, ?, 1)", []any{int64(b.N)}, func([]Cell) error { return nil })
}

// TestInterruptFirst: an interrupt that comes before a statement counts for it, and twice until it is taken back twice;
// short statements, such as those that undo the work, still run.
func TestInterruptFirst(t *testing.T) {
	c := open(t)
	const long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT max(i) FROM n"
	fails := func() bool {
		var e *Error
		return errors.As(c.Exec(long), &e) && e.Primary() == CodeInterrupt
	}
	c.Interrupt()
	c.Interrupt()
	if !fails() {
		t.Error("a statement ran although it was interrupted")
	}
	for _, sql := range []string{"BEGIN", "CREATE TABLE t (x)", "ROLLBACK"} {
		if err := c.Exec(sql); err != nil {
			t.Error(sql, err)
		}
	}
	c.Resume()
	if !fails() {
		t.Error("one Resume took back two interrupts")
	}
	c.Resume()
	if err := c.Exec(long); err != nil {
		t.Error(err)
	}
}

// TestScan: rows of numbers many at a time, of texts and blobs one by one, and an error after some rows.
func TestScan(t *testing.T) {
	c := open(t)
	for _, n := range []int{0, 1, scanRows - 1, scanRows, scanRows + 1, 3*scanRows + 5} {
		for _, cell := range []string{"value * 0.5", "'t' || value", "CAST('b' || value AS blob)",
			"CASE WHEN value % 70 = 3 THEN 'x' ELSE value END"} {
			sql := fmt.Sprintf("SELECT value, %s, NULL FROM rg_series(1, %d, 1)", cell, n)
			read := func(rows func(f func([]Cell) error) error) (out []string) {
				if err := rows(func(c []Cell) error {
					out = append(out, fmt.Sprint(len(c), c[0].Int(), c[1].Kind(), c[1].String(), c[2].IsNull()))
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				return out
			}
			want := read(func(f func([]Cell) error) error { return c.Query(sql, nil, f) })
			got := read(func(f func([]Cell) error) error { return c.Scan(sql, f) })
			if len(want) != n || !slices.Equal(got, want) {
				t.Errorf("%s: %d rows %v, not %v", sql, len(got), got, want)
			}
		}
	}
	seen := 0
	err := c.Scan("SELECT CASE WHEN value < 10 THEN value ELSE abs(-9223372036854775808) END FROM rg_series(1, 20, 1)",
		func([]Cell) error { seen++; return nil })
	if err == nil || seen != 9 {
		t.Errorf("%d rows before the error %v", seen, err)
	}
	stop := errors.New("enough")
	if err := c.Scan("SELECT value FROM rg_series(1, 200, 1)", func([]Cell) error { return stop }); err != stop {
		t.Errorf("the function's error became %v", err)
	}
}
