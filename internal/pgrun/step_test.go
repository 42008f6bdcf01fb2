package pgrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/train"
)

// training is a loss over a memdb whose parameters are trained by the executor and by a statement.
type training struct {
	db     *memdb.DB
	res    *optimizer.Result
	params []train.StatementParam
}

func newTraining(t *testing.T, db *memdb.DB, loss string, params []string) *training {
	t.Helper()
	tr, err := openTraining(db, loss, params)
	if err != nil {
		t.Fatalf("%s: %v", loss, err)
	}
	return tr
}

func openTraining(db *memdb.DB, loss string, params []string) (*training, error) {
	res, err := gradtest.Optimize(context.Background(), db, loss, params, optimizer.Options{Verify: true})
	if err != nil {
		return nil, err
	}
	tr := &training{db: db, res: res}
	for _, name := range params {
		ref, table, err := bind.ParseParam(context.Background(), db, name)
		if err != nil {
			return nil, err
		}
		p := train.StatementParam{Table: table}
		for i, c := range table.Cols {
			if c.IsValue() && (ref.Column == "" || ref.Column == c.Name) && !slices.Contains(table.Key, i) {
				p.Cols = append(p.Cols, i)
				p.Slots = append(p.Slots, &train.Slot{Name: table.Name + "." + c.Name,
					Names: []string{table.Name, table.Name + "." + c.Name}, Size: c.Type.Size()})
			}
		}
		tr.params = append(tr.params, p)
	}
	return tr, nil
}

// state is what a step leaves: the loss before it, the values of each slot behind it.
type state struct {
	loss   float64
	values [][]float64
}

// model trains by the executor and keeps every step's state.
type model struct {
	prog     *executor.Program
	seed     int64
	slots    []*train.Slot
	params   []*executor.Param
	order    [][]int // per slot: its rows in the order of their keys
	steps    []state
	updates  *train.Updates
	training *executor.Training
}

func (m *model) Step(ctx context.Context, step int64) (float64, error) {
	if err := m.prog.Run(ctx, kernels.Env{Seed: m.seed, Step: step}); err != nil {
		return 0, err
	}
	x, null, err := m.prog.Scalar(0)
	if null {
		err = fmt.Errorf("the loss is NULL")
	}
	return x, err
}

func (m *model) Update(ctx context.Context, step int64) error {
	return m.training.Step(ctx, m.updates.At(step))
}

func (m *model) Keep(context.Context) error { return nil } // no run restores

func (m *model) Validate(context.Context, int64) ([]train.Figure, error) { return nil, nil } // no run validates

func (m *model) Commit(context.Context, train.Progress, []train.LossRow) error { return nil }

func (m *model) Tick(row train.LossRow) {
	s := state{loss: row.Loss}
	for i, slot := range m.slots {
		v, _ := m.params[i].Values()
		x := floats(v)
		for j := range x { // what lies beneath a NULL is nobody's
			if slot.Trained != nil && m.params[i].Null(j/slot.Size) {
				x[j] = 0
			}
		}
		s.values = append(s.values, sorted(x, slot.Size, m.order[i]))
	}
	m.steps = append(m.steps, s)
}

// sorted puts rows of size numbers into an order.
func sorted(x []float64, size int, order []int) []float64 {
	var out []float64
	for _, row := range order {
		out = append(out, x[row*size:(row+1)*size]...)
	}
	return out
}

// byKey is the order of a table's rows by their keys, texts by bytes.
func byKey(db *memdb.DB, t *ra.Table) []int {
	order := make([]int, t.Rows)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		for _, k := range t.Key {
			v := db.Data[t.Name][k]
			c := 0
			switch {
			case v.Kind() == column.Str:
				c = cmp.Compare(v.Texts()[a], v.Texts()[b])
			case v.Kind() == column.I64:
				c = cmp.Compare(v.I64()[a], v.I64()[b])
			default:
				x, y := v.Value(a), v.Value(b)
				c = cmp.Compare(x.Float(), y.Float())
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return order
}

func floats(d *column.Column) (out []float64) {
	for i := range d.Len() * d.Size() {
		out = append(out, d.Float(i))
	}
	return out
}

func (tr *training) compile(c *train.Config) (*executor.Program, error) {
	return executor.Compile(context.Background(), tr.res.Plan, tr.db.Clone(),
		executor.Options{Workers: 1, Env: kernels.Env{Seed: c.Seed}})
}

// byExecutor trains by a program; chosen gives the rows that are trained, nil: all that are not NULL. last are the
// last buffers of each slot at the end.
func (tr *training) byExecutor(t *testing.T, c train.Config,
	chosen func(slot, row int) bool) (_ []state, last [][]float64, err error) {
	t.Helper()
	prog, err := tr.compile(&c)
	if err != nil {
		t.Fatal(err)
	}
	defer prog.Close()
	m := &model{prog: prog, seed: c.Seed}
	var kinds []kernels.Type
	var cols []executor.Trained
	for i, p := range tr.params {
		var key []int
		for _, k := range p.Table.Key {
			key = append(key, slices.Index(tr.res.Cols[i], k))
		}
		for j, like := range p.Slots {
			param := prog.Param(p.Table, p.Cols[j])
			s := &train.Slot{Name: like.Name, Names: like.Names, Size: like.Size, Key: func(row int) string {
				return fmt.Sprint(row)
			}}
			typ := p.Table.Cols[p.Cols[j]].Type
			kinds = append(kinds, typ)
			s.Values = func() (*column.Column, error) {
				v, err := param.Values()
				return v.As(typ), err
			}
			for row := range param.Rows {
				if chosen != nil || param.Valid != nil {
					s.Trained = append(s.Trained, (chosen == nil || chosen(len(m.slots), row)) && !param.Null(row))
				}
			}
			cols = append(cols, executor.Trained{Param: param, Root: i + 1, Col: slices.Index(tr.res.Cols[i], p.Cols[j]),
				Key: key, Rows: s.Trained, Buffers: len(c.StateNames())})
			m.slots, m.order, m.params = append(m.slots, s), append(m.order, byKey(tr.db, p.Table)), append(m.params, param)
		}
	}
	m.updates = c.Updates(m.slots, kinds)
	for i := range cols {
		cols[i].Rule = m.updates.Rules[i]
	}
	if m.training, err = prog.Train(cols, m.updates.Clip, m.updates.Numbers); err != nil {
		t.Fatal(err)
	}
	_, err = train.Run(context.Background(), c, m, m.slots, train.Start())
	for i, p := range m.params {
		last = append(last, nil)
		state, e := p.State()
		if err = errors.Join(err, e); len(state) > 0 {
			last[i] = sorted(floats(state[len(state)-1]), p.Size, m.order[i])
		}
	}
	return m.steps, last, err
}

// session trains by the statement. Everything is undone at its end.
type session struct {
	*training
	tx    pgx.Tx
	st    *train.Statement
	close func()
}

func (tr *training) open(t *testing.T, e *Engine, c *train.Config) *session {
	t.Helper()
	ctx := context.Background()
	st, err := c.Statement(tr.res, tr.params, sqlgen.Options{Env: &kernels.Env{Seed: c.Seed},
		Opaque: func(n *ra.Node) (string, error) { return series(n, &kernels.Env{Seed: c.Seed}) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.load(ctx, tr.db, tr.res.Plan.Nodes()); err != nil {
		t.Fatal(err)
	}
	if err := e.conn.DeallocateAll(ctx); err != nil { // the tables may have other types now
		t.Fatal(err)
	}
	tx, err := e.conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{training: tr, tx: tx, st: st, close: func() { tx.Rollback(ctx) }}
	s.exec(t, st.Setup...)
	return s
}

func (s *session) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, q := range statements {
		if _, err := s.tx.Exec(context.Background(), q); err != nil {
			t.Fatalf("%v\n%s", err, q)
		}
	}
}

// first is what the statement says of the first number that is not finite.
type first struct {
	slot   *int32
	key    []string
	number *float64
}

// step runs a step and reads the values behind it.
func (s *session) step(t *testing.T, step int64) (state, first) {
	t.Helper()
	var out state
	var n int64
	var f first
	var loss *float64
	if err := s.tx.QueryRow(context.Background(), s.st.Statement, s.st.Values(step)...).
		Scan(&n, &loss, &f.slot, &f.key, &f.number); err != nil {
		t.Fatalf("%v\n%s", err, s.st.Statement)
	}
	if loss == nil || n != step {
		t.Fatalf("step %d, loss %v\n%s", n, loss, s.st.Statement)
	}
	out.loss = *loss
	for _, p := range s.params {
		for _, col := range p.Cols {
			out.values = append(out.values, s.column(t, p.Table, col))
		}
	}
	return out, f
}

// column reads a value column in the order of keys; NULL is zero.
func (s *session) column(t *testing.T, table *ra.Table, col int) []float64 {
	t.Helper()
	d := sqlgen.Postgres{}
	q := "SELECT " + d.Ident(table.Cols[col].Name) + " FROM " + d.Table(table) + " ORDER BY "
	for i := range table.Key {
		q += d.Column("", &table.Cols[table.Key[i]]) + ", "
	}
	rows, err := s.tx.Query(context.Background(), q+"1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	return numbers(t, rows, table.Cols[col].Type)
}

// numbers reads the last column of rows.
func numbers(t *testing.T, rows pgx.Rows, ty kernels.Type) []float64 {
	t.Helper()
	var out []float64
	for rows.Next() {
		raw, format := rows.RawValues(), rows.FieldDescriptions()
		i := len(raw) - 1
		var flat []float64
		var err error
		m := rows.Conn().TypeMap()
		switch {
		case raw[i] == nil:
			flat = make([]float64, ty.Size())
		case ty.IsChunk():
			err = m.Scan(format[i].DataTypeOID, format[i].Format, raw[i], (*flatArray)(&flat))
		default:
			var x float64
			err = m.Scan(format[i].DataTypeOID, format[i].Format, raw[i], &x)
			flat = []float64{x}
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, flat...)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return out
}

// same compares two runs, step by step.
func same(got state, want state, tol float64) error {
	near := func(x, y float64) bool { return math.Abs(x-y) <= tol*math.Max(1, math.Abs(y)) }
	if !near(got.loss, want.loss) {
		return fmt.Errorf("the loss is %.17g, not %.17g", got.loss, want.loss)
	}
	for i := range want.values {
		if len(got.values[i]) != len(want.values[i]) {
			return fmt.Errorf("slot %d has %d numbers, not %d", i, len(got.values[i]), len(want.values[i]))
		}
		for j := range want.values[i] {
			if x, y := got.values[i][j], want.values[i][j]; !near(x, y) {
				return fmt.Errorf("slot %d element %d is %.17g, not %.17g", i, j, x, y)
			}
		}
	}
	return nil
}

// compare trains both ways and compares.
func (tr *training) compare(t *testing.T, e *Engine, c train.Config, tol float64,
	chosen func(slot, row int) bool) error {
	t.Helper()
	want, last, failed := tr.byExecutor(t, c, chosen)
	if failed != nil && sqlerr.Code(failed) != sqlerr.NumericOutOfRange {
		t.Fatal(failed)
	}
	s := tr.open(t, e, &c)
	defer s.close()
	for i := range want {
		got, bad := s.step(t, int64(i+1))
		if bad.slot != nil {
			return fmt.Errorf("step %d: slot %d is not finite", i+1, *bad.slot)
		}
		if err := same(got, want[i], tol); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	if failed != nil { // a loss or gradient that is not finite: the statement must see it too
		got, bad := s.step(t, int64(len(want)+1))
		if finite := !math.IsNaN(got.loss) && !math.IsInf(got.loss, 0); finite && bad.slot == nil {
			return fmt.Errorf("step %d: loss %g, no gradient that is not finite, but: %w", len(want)+1, got.loss, failed)
		}
		return nil
	}
	return s.buffers(t, last, tol)
}

// buffers compares the optimizer's buffers at the end.
func (s *session) buffers(t *testing.T, last [][]float64, tol float64) error {
	for n, want := range last {
		rows, err := s.tx.Query(context.Background(), "SELECT q.* FROM ("+s.st.Read(n)+") AS q")
		if err != nil {
			t.Fatalf("%v\n%s", err, s.st.Read(n))
		}
		if want == nil {
			rows.Close()
			continue
		}
		got := numbers(t, rows, s.slotType(n))
		rows.Close()
		if err := same(state{values: [][]float64{got}}, state{values: [][]float64{want}}, tol); err != nil {
			return fmt.Errorf("the last buffer of slot %d: %w", n, err)
		}
	}
	return nil
}

func (s *session) slotType(n int) kernels.Type {
	for _, p := range s.params {
		if n < len(p.Cols) {
			return p.Table.Cols[p.Cols[n]].Type
		}
		n -= len(p.Cols)
	}
	panic("no slot")
}

// flatArray reads an array of any rank.
type flatArray []float64

func (f *flatArray) SetDimensions(dims []pgtype.ArrayDimension) error {
	n := 1
	for _, d := range dims {
		n *= int(d.Length)
	}
	*f = make([]float64, n)
	return nil
}

func (f *flatArray) ScanIndex(i int) any { return &(*f)[i] }
func (f *flatArray) ScanIndexType() any  { return new(float64) }

func config(optimizer string) train.Config {
	c := train.Default()
	c.Optimizer, c.LR, c.Epochs, c.Seed = optimizer, 0.01, 20, 7
	return c
}

// inReal makes the floats of a database real.
func inReal(db *memdb.DB) *memdb.DB {
	for name, cols := range db.Data {
		for i, v := range cols {
			if v.Kind() != column.F64 {
				continue
			}
			t := v.Type()
			t.Kind = kernels.Float32
			cols[i] = column.New(t, v.Len())
			cols[i].SetValid(v.Valid())
			for j, x := range v.F64() {
				cols[i].F32()[j] = float32(x)
			}
			db.Tables[name].Cols[i].PGType, db.Tables[name].Cols[i].Type.Kind = "real", kernels.Float32
		}
	}
	return db
}

// TestStepReal trains losses over real, a little: rounding differs between the engines, and grows where a loss is
// steep.
func TestStepReal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	e := New(t)
	for _, l := range gradtest.Losses {
		tr := newTraining(t, inReal(gradtest.Graph()), "SELECT 0.02 * loss FROM ("+asLoss(l.SQL)+") AS q(loss)", l.Params)
		for _, o := range []string{"sgd", "nesterov"} {
			c := config(o)
			c.LR = 0.002
			if err := tr.compare(t, e, c, 1e-6, nil); err != nil {
				t.Errorf("%s by %s: %v", l.SQL, o, err)
			}
		}
	}
}

// asLoss is the query of a loss that may be a view's name.
func asLoss(s string) string {
	if s == "loss" {
		return "SELECT loss FROM loss"
	}
	return s
}

// TestStepLosses trains every loss by every optimizer.
func TestStepLosses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	e := New(t)
	for _, l := range gradtest.Losses {
		tr := newTraining(t, gradtest.Graph(), l.SQL, l.Params)
		for _, o := range ofStatements() {
			if err := tr.compare(t, e, config(o), 1e-12, nil); err != nil {
				t.Errorf("%s by %s: %v", l.SQL, o, err)
			}
		}
	}
}

// TestStepPortable trains every loss with the portable tier in place of the extension.
func TestStepPortable(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	e := NewPortable(t)
	for _, l := range gradtest.Losses {
		c := config("adam")
		c.Epochs, c.ClipNorm = 4, 0.5
		if err := newTraining(t, gradtest.Graph(), l.SQL, l.Params).compare(t, e, c, 1e-12, nil); err != nil {
			t.Errorf("%s: %v", l.SQL, err)
		}
	}
}

// ofStatements are the optimizers whose steps are statements: all but lbfgs, of which a server says that.
func ofStatements() []string {
	return slices.DeleteFunc(train.Choices("optimizer"), func(o string) bool { return o == "lbfgs" })
}
