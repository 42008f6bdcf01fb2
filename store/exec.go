package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
)

// Exec runs one statement. text is what the tree's positions point into. An error is an *sqlerr.Error with
// its text set and leaves the store as it was; inside BEGIN it also aborts the transaction, as in Postgres.
// DO, CALL and SELECT INTO variables belong to package script, COPY … STDIN/STDOUT to CopyIn and CopyOut.
func (db *DB) Exec(ctx context.Context, st ast.Statement, text *ast.Text) (*catalog.Result, error) {
	return db.execute(ctx, st, text, func(ctx context.Context) (*catalog.Result, error) {
		return runStatement(ctx, db, st, text)
	})
}

// SelectEach runs a query, or a statement with RETURNING, and keeps no rows: start gets its columns, each gets every
// row as Result.Rows holds it. A statement that fails may have given rows before.
func (db *DB) SelectEach(ctx context.Context, st ast.Statement, text *ast.Text, start func([]catalog.ResultCol) error,
	each func([]any) error) (*catalog.Result, error) {
	return db.execute(ctx, st, text, func(ctx context.Context) (*catalog.Result, error) {
		if sel, ok := st.(*ast.Select); ok {
			return selectRows(ctx, db, sel, text, start, each)
		}
		return runChange(ctx, db, st, text, &taker{start, each})
	})
}

// taker receives the rows of RETURNING.
type taker struct {
	start func([]catalog.ResultCol) error
	each  func([]any) error
}

// execute runs a statement as Exec describes; run is what differs between statements.
func (db *DB) execute(ctx context.Context, st ast.Statement, text *ast.Text,
	run func(context.Context) (*catalog.Result, error)) (r *catalog.Result, err error) {
	defer db.rescue(text, &err)
	ctx, done := db.Timed(ctx)
	defer done(&err)
	if tx, ok := st.(*ast.Transaction); ok {
		r, err := transaction(db, tx)
		return r, sqlerr.In(err, text)
	}
	if db.failed {
		return nil, sqlerr.In(errFailed(), text)
	}
	if err := db.refresh(); err != nil {
		return nil, err
	}
	stop := db.watch(ctx)
	defer stop()
	if r, err = run(ctx); err != nil {
		if ctx.Err() != nil && sqlerr.Code(err) != sqlerr.QueryCanceled {
			err = sqlerr.Canceled(err)
		}
		if db.explicit {
			db.failed = true
		}
		return nil, sqlerr.In(locate(db, db.translate(err), st), text)
	}
	return r, nil
}

func runStatement(ctx context.Context, db *DB, st ast.Statement, text *ast.Text) (*catalog.Result, error) {
	if s, ok := st.(*ast.Select); ok {
		var rows [][]any
		r, err := selectRows(ctx, db, s, text, func([]catalog.ResultCol) error { return nil }, func(row []any) error {
			rows = append(rows, row)
			return nil
		})
		r.Rows = rows
		return r, err
	}
	if r, ok, err := runInSession(ctx, db, st, text); ok {
		return r, err
	}
	return runChange(ctx, db, st, text, nil)
}

// runChange runs a statement that writes. take receives the rows of RETURNING; nil: the result does.
func runChange(ctx context.Context, db *DB, st ast.Statement, text *ast.Text, take *taker) (*catalog.Result, error) {
	var r *catalog.Result
	err := db.atomically(true, func() (err error) {
		b := newWriter(ctx, db, text)
		b.take = take
		defer b.Catch(&err)
		defer b.Release()
		r, err = runWriting(b, st)
		return err
	})
	return r, err
}

// runInSession runs statements that change no data.
func runInSession(ctx context.Context, db *DB, st ast.Statement, text *ast.Text) (*catalog.Result, bool, error) {
	switch s := st.(type) {
	case *ast.Set:
		r, err := set(db, s)
		return r, true, err
	case *ast.Show:
		r, err := showSetting(db, s)
		return r, true, err
	case *ast.Explain:
		r, err := explain(ctx, db, s, text)
		return r, true, err
	case *ast.Copy:
		r, err := copyServer(ctx, db, s, text)
		return r, true, err
	case *ast.Noop:
		err := db.atomically(false, func() (err error) {
			b := newWriter(ctx, db, text)
			defer b.Catch(&err)
			defer b.Release()
			refuseInTransaction(b, s.At, s.Tag == "VACUUM", s.Tag)
			for _, m := range s.About {
				checkMention(b, s.At, m)
			}
			return nil
		})
		r := &catalog.Result{Tag: s.Tag}
		switch {
		case s.Idle && s.Tag == "COMMENT":
			r.Notice = "COMMENT has no effect: the embedded store has no roles, databases, tablespaces and languages"
		case s.Idle:
			r.Notice = s.Tag + " has no effect: the embedded store has no rights but those of its file"
		}
		return r, true, err
	case *ast.Do, *ast.Call:
		return nil, true, sqlerr.At(int(st.Position()), sqlerr.FeatureNotSupported, "DO and CALL are run by package script")
	}
	return nil, false, nil
}

// refuseInTransaction refuses a statement that commits by itself inside a transaction block.
func refuseInTransaction(b *writer, at ast.Pos, must bool, what string) {
	if must && b.db.explicit {
		b.Fail(at, sqlerr.ActiveTransaction, "%s cannot run inside a transaction block", what)
	}
}

// runWriting runs a statement that writes, inside a transaction.
func runWriting(b *writer, st ast.Statement) (*catalog.Result, error) {
	switch s := st.(type) {
	case *ast.Insert:
		return runInsert(b, s)
	case *ast.Update:
		return runUpdate(b, s)
	case *ast.Delete:
		return runDelete(b, s)
	case *ast.Truncate:
		return runTruncate(b, s)
	case *ast.CreateTable:
		return createTable(b, s)
	case *ast.CreateTableAs:
		return createTableAs(b, s)
	case *ast.CreateView:
		return createView(b, s)
	case *ast.Refresh:
		return refreshView(b, s)
	case *ast.CreateIndex:
		return createIndex(b, s)
	case *ast.CreateFunction:
		return createFunction(b, s)
	case *ast.CreateSchema:
		return createSchema(b, s)
	case *ast.AlterTable:
		return alterTable(b, s)
	case *ast.Drop:
		return dropObjects(b, s)
	}
	return nil, sqlerr.At(int(st.Position()), sqlerr.Internal, "internal error: store does not know %T", st)
}

func transaction(db *DB, s *ast.Transaction) (*catalog.Result, error) {
	var err error
	tag := map[string]string{"begin": "BEGIN", "commit": "COMMIT", "rollback": "ROLLBACK", "savepoint": "SAVEPOINT",
		"release": "RELEASE", "rollback_to": "ROLLBACK"}[s.Kind]
	r := &catalog.Result{Tag: tag}
	switch s.Kind {
	case "begin":
		if db.explicit {
			r.Notice = "there is already a transaction in progress"
			return r, nil
		}
		err = db.Begin()
	case "commit":
		if !db.explicit {
			r.Notice = "there is no transaction in progress"
			return r, nil
		}
		var ok bool
		if ok, err = db.Commit(); !ok {
			r.Tag = "ROLLBACK"
		}
	case "rollback":
		if !db.explicit {
			r.Notice = "there is no transaction in progress"
			return r, nil
		}
		err = db.Rollback()
	case "savepoint":
		err = db.Savepoint(s.Name)
	case "release":
		err = db.Release(s.Name)
	case "rollback_to":
		err = db.RollbackTo(s.Name)
	}
	if err != nil {
		if db.explicit && s.Kind != "begin" {
			db.failed = true
		}
		return nil, err
	}
	return r, nil
}

func set(db *DB, s *ast.Set) (*catalog.Result, error) {
	if s.Reset {
		db.reset(s.Name)
		return &catalog.Result{Tag: "RESET"}, nil
	}
	name := strings.ToLower(s.Name)
	if name == "search_path" {
		for _, v := range s.Values {
			for _, p := range strings.Split(v, ",") {
				if p = strings.Trim(strings.TrimSpace(p), `"`); p != "" && p != "pg_temp" && p != "pg_catalog" && p != "$user" &&
					!db.cat.HasSchema(p) {
					return nil, sqlerr.At(int(s.At), "3F000", "schema \"%s\" does not exist", p).
						WithHint("The embedded store has the schemas %s.", strings.Join(db.cat.Schemas, ", "))
				}
			}
		}
	}
	if _, ok := defaults[name]; !ok && !strings.Contains(name, ".") && !serverSettings[name] {
		near := sqlerr.Nearest(name, settingNames())
		e := sqlerr.At(int(s.At), sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", s.Name)
		switch {
		case name == "seed":
			e.Hint = "random() is not repeatable here; random_uniform(shape, seed, key) and random_normal(…) are."
		case near != "":
			e.Hint = "Perhaps you meant \"" + near + "\"."
		}
		return nil, e
	}
	r := &catalog.Result{Tag: "SET"}
	if s.Local && !db.explicit {
		r.Notice = "SET LOCAL can only be used in transaction blocks"
		return r, nil
	}
	value := strings.Join(s.Values, ", ")
	if err := checkSetting(name, value); err != nil {
		return nil, placed(err, int(s.At))
	}
	if name == "lock_timeout" {
		d, err := duration(value)
		if err != nil { // it has been checked
			return nil, err
		}
		db.c.BusyTimeout(int(d.Milliseconds()))
	}
	db.Set(s.Name, value, s.Local)
	return r, nil
}

func showSetting(db *DB, s *ast.Show) (*catalog.Result, error) {
	v, ok := db.Setting(s.Name)
	if !ok {
		return nil, sqlerr.At(int(s.At), sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", s.Name)
	}
	return &catalog.Result{Tag: "SHOW", HasRows: true,
		Cols: []catalog.ResultCol{{Name: strings.ToLower(s.Name), Type: "text"}}, Rows: [][]any{{v}}}, nil
}

// selectRows runs a query and hands on its rows.
func selectRows(ctx context.Context, db *DB, sel *ast.Select, text *ast.Text, start func([]catalog.ResultCol) error,
	each func([]any) error) (*catalog.Result, error) {
	r := &catalog.Result{HasRows: true}
	err := selectEach(ctx, db, sel, text, func(cols []bind.OutputColumn) error {
		r.Cols = resultCols(cols)
		return start(r.Cols)
	}, func(cols []bind.OutputColumn, row []lite.Cell) error {
		vals, err := values(cols, row)
		if err != nil {
			return err
		}
		r.Count++
		return each(vals)
	})
	r.Tag = fmt.Sprintf("SELECT %d", r.Count)
	return r, err
}

func resultCols(cols []bind.OutputColumn) []catalog.ResultCol {
	return lists.Map(cols, func(c bind.OutputColumn) catalog.ResultCol {
		return catalog.ResultCol{Name: c.Name, Type: c.Type.String()}
	})
}

func values(cols []bind.OutputColumn, row []lite.Cell) ([]any, error) {
	vals := make([]any, len(cols))
	for i := range cols {
		v, err := columns.FromCell(&row[i], cols[i].Type)
		if err != nil {
			return nil, err
		}
		vals[i] = v
	}
	return vals, nil
}

// selectEach binds and runs a query: start gets its columns, each gets every row.
func selectEach(ctx context.Context, db *DB, sel *ast.Select, text *ast.Text, start func([]bind.OutputColumn) error,
	each func([]bind.OutputColumn, []lite.Cell) error) (err error) {
	b := newWriter(ctx, db, text)
	defer b.Catch(&err)
	if !db.explicit {
		db.started = time.Now()
	}
	// the statement and what the engine computes for it must see the same state
	if db.intr != nil && !db.explicit && !db.c.InTransaction() { // in a transaction: the engine's query for a statement
		return db.inOne(func() error { return selectBound(db, b, sel, start, each) })
	}
	return selectBound(db, b, sel, start, each)
}

// selectBound is selectEach within a transaction.
func selectBound(db *DB, b *writer, sel *ast.Select, start func([]bind.OutputColumn) error,
	each func([]bind.OutputColumn, []lite.Cell) error) (err error) {
	defer b.Release()
	b.Runs = true
	q := b.SelectQuery(sel, nil)
	q.Settle(b.Binder)
	if err := start(q.Columns); err != nil {
		return err
	}
	return runEach(b, b.Finish(q.With, q.Body()), func(row []lite.Cell) error { return each(q.Columns, row) })
}

// runEach runs a printed statement and calls each for its rows.
func runEach(b *writer, sql string, each func([]lite.Cell) error) error {
	db := b.db
	db.run = &statement{Writes: &b.Writes, outer: db.run}
	defer func() { db.run = db.run.outer }()
	if trace != nil {
		trace(sql, b.Params)
	}
	if err := db.c.Query(sql, b.Params, each); err != nil {
		return db.translate(err)
	}
	return nil
}

// trace, set by tests, sees every printed statement.
var trace func(sql string, params []any)

// explain shows SQLite's plan of a statement and the statement as printed for it. ANALYZE runs a SELECT too.
func explain(ctx context.Context, db *DB, s *ast.Explain, text *ast.Text) (r *catalog.Result, err error) {
	b := newWriter(ctx, db, text)
	defer b.Catch(&err)
	defer b.Release()
	sql := explained(b, s)
	r = &catalog.Result{Tag: "EXPLAIN", HasRows: true, Cols: []catalog.ResultCol{{Name: "QUERY PLAN", Type: "text"}}}
	line := func(format string, args ...any) { r.Rows = append(r.Rows, []any{fmt.Sprintf(format, args...)}) }
	depth := map[int64]int{}
	err = db.rows("EXPLAIN QUERY PLAN "+sql, func(c row) error {
		d := 0
		if p, ok := depth[c[1].Int()]; ok {
			d = p + 1
		}
		depth[c[0].Int()] = d
		line("%s%s", strings.Repeat("  ", d), c.text(3))
		return nil
	}, b.Params...)
	if err == nil && s.Analyze {
		begin, n := time.Now(), 0
		err = runEach(b, sql, func([]lite.Cell) error { n++; return nil })
		line("Execution Time: %.3f ms, %d rows", float64(time.Since(begin).Microseconds())/1000, n)
	}
	line("As printed for SQLite:")
	for len(sql) > 0 {
		n := len(sql)
		if n > 100 {
			if n = strings.LastIndexByte(sql[:100], ' ') + 1; n == 0 {
				n = 100
			}
		}
		line("  %s", sql[:n])
		sql = sql[n:]
	}
	r.Count = int64(len(r.Rows))
	return r, db.translate(err)
}

// explained prints the statement that EXPLAIN is about.
func explained(b *writer, s *ast.Explain) string {
	sel, ok := s.Stmt.(*ast.Select)
	switch x := s.Stmt.(type) {
	case *ast.CreateTableAs:
		sel, ok = x.Query, true
	case *ast.Insert, *ast.Update, *ast.Delete:
		if s.Analyze {
			b.Refuse(s.At, "EXPLAIN ANALYZE of a writing statement", "Use EXPLAIN without ANALYZE.")
		}
		b.plan = new(string)
		_, err := runWriting(b, s.Stmt)
		b.Check(s.At, err)
		return *b.plan
	}
	if !ok {
		b.Refuse(s.At, "EXPLAIN of this statement", "SELECT, INSERT, UPDATE and DELETE can be explained.")
	}
	q := b.SelectQuery(sel, nil)
	q.Settle(b.Binder)
	return b.Finish(q.With, q.Body())
}

// Typed binds a view without running anything. A view that calls functions of the engine gives an error.
func (db *DB) Typed(ctx context.Context, v *catalog.ViewDef) (t *catalog.Typed, err error) {
	b := newWriter(ctx, db, nil)
	defer b.Catch(&err)
	defer b.Release()
	b.Typed = &catalog.Typed{Types: map[ast.Expr]catalog.Type{}, Stored: map[*ast.ColumnRef]bool{}}
	b.View(-1, v)
	return b.Typed, nil
}

// Described binds a statement without running anything and returns the columns of its rows, nil where it has none.
// Columns that only a run tells, such as those of the engine's functions, give an error.
func (db *DB) Described(ctx context.Context, st ast.Statement, text *ast.Text) (cols []catalog.ResultCol, err error) {
	b := newWriter(ctx, db, text)
	defer b.Catch(&err)
	defer b.Release()
	b.Typed = &catalog.Typed{Types: map[ast.Expr]catalog.Type{}, Stored: map[*ast.ColumnRef]bool{}}
	b.Unread, b.plan = true, new(string)
	switch s := st.(type) {
	case *ast.Select:
		q := b.SelectQuery(s, nil)
		q.Settle(b.Binder)
		return resultCols(q.Columns), nil
	case *ast.Insert, *ast.Update, *ast.Delete:
		r, err := runWriting(b, st)
		if err != nil || !r.HasRows {
			return nil, err
		}
		return r.Cols, nil
	}
	return nil, nil
}
