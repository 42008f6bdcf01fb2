package pgbridge

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/tensor"
)

// Session is a session on a server, as the engine sees it. It is used by one goroutine at a time.
type Session struct {
	conn     Conn
	defs     definitions
	tables   map[string]*tableFacts // by schema and name, in the present state
	settings map[string]string      // what was read through Setting
	values   map[string]string      // of the settings that texts depend on, as last seen; nil: to be asked for
	env      kernels.Env            // what current_step() and current_seed() give
	under    map[string]string      // parameters that each transaction sets
	watch    func(schema, name string) error
	begun    uint64 // transactions and requests
	keys     map[string]keyPrint
	place    string // see placeHash; "" before it is known
	err      error  // of a question that cannot answer with one; the next that can does
}

// tableFacts are what a table's content says about it.
type tableFacts struct {
	rows   int64
	valid  []int64
	shape  []tensor.Shape
	denied []bool // columns that the user may not read
}

// NewSession makes a session.
func NewSession(conn Conn) *Session {
	s := &Session{conn: conn, settings: map[string]string{}, keys: map[string]keyPrint{},
		defs: definitions{byOID: map[int64]*relation{}, byCode: map[string]*ast.CreateFunction{}}}
	s.forget()
	return s
}

// Open prepares a session from outside: relgrad must be installed, and its schema ends the search path where it is not
// on it, so that names mean what they mean in scripts, which begin with SET search_path = public, relgrad. engine is
// the session's relgrad.engine, "" where it is not set.
func (s *Session) Open(ctx context.Context) (engine string, err error) {
	res, err := s.result(ctx, "SELECT pg_catalog.to_regclass('relgrad.run') IS NOT NULL, "+
		"pg_catalog.current_database()::pg_catalog.text, pg_catalog.current_setting('relgrad.engine', true)")
	if err != nil {
		return "", bare(err)
	}
	if there, _ := res.Rows[0][0].(bool); !there {
		return "", sqlerr.New(sqlerr.UndefinedObject, "relgrad is not installed in the database \"%v\"", res.Rows[0][1]).
			WithHint("CREATE EXTENSION relgrad; where no library can be installed: relgrad pg install.")
	}
	engine, _ = res.Rows[0][2].(string)
	_, err = s.texts("SELECT pg_catalog.set_config('search_path', CASE WHEN path IN ('', '\"\"') THEN 'relgrad' " +
		"ELSE path || ', relgrad' END, false) FROM current_setting('search_path') AS path WHERE NOT 'relgrad' = ANY " +
		"(current_schemas(false))")
	s.forget()
	return engine, bare(err)
}

// Renew begins another request: nothing that was read before holds, but what is unchanged stays the same pointer.
// Definitions hold where the server says that its catalogues are in the same state, not "", as when they were read.
func (s *Session) Renew(state string) {
	s.err, s.begun, s.env = nil, s.begun+1, kernels.Env{}
	s.takeValues(s.texts("SELECT pg_catalog.set_config('jit', 'off', true), " + valuesOf(meaningful)))
	if state != "" {
		state += "\x01" + s.Meaning()
	}
	if state == "" || s.defs.state != state {
		values := s.values
		s.forget()
		s.values = values
	}
	s.defs.state, s.tables = state, map[string]*tableFacts{}
}

// Refresh begins a call from outside, between which anything may have changed; Renew does for a backend's.
func (s *Session) Refresh() {
	if _, ok := s.conn.(*Remote); ok {
		s.forget()
	}
}

// noJIT keeps the server from compiling queries of our own, until the transaction ends: the time goes into kernels,
// which compiling does not make faster.
func (s *Session) noJIT() { s.set("jit", "off", true) }

// fail keeps an error for the next answer that can hold one.
func (s *Session) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// failed gives the error that was kept.
func (s *Session) failed() error {
	err := s.err
	s.err = nil
	return err
}

// Setting is current_setting(name).
func (s *Session) Setting(name string) (string, bool) {
	rows, err := s.texts("SELECT pg_catalog.current_setting(" + sqltext.Text(name) +
		", true), pg_catalog.current_setting(" + sqltext.Text(name) + ", true) IS NOT NULL")
	if err != nil {
		s.fail(err)
		return "", false
	}
	if rows[0][1] != "true" {
		return "", false
	}
	s.settings[name] = rows[0][0]
	return rows[0][0], true
}

// Variables returns search_path and the parameters that queries have read.
func (s *Session) Variables() map[string]string {
	out := map[string]string{}
	for name := range s.settings {
		if v, ok := s.Setting(name); ok {
			out[name] = v
		}
	}
	if v, ok := s.Setting("search_path"); ok {
		out["search_path"] = v
	}
	return out
}

// WithSettings gives parameters other values, in this transaction and those that follow.
func (s *Session) WithSettings(vars map[string]string) (back func()) {
	before := map[string]string{}
	for name, v := range vars {
		before[name], _ = s.Setting(name)
		s.set(name, v, s.local())
	}
	s.under = vars
	s.forget()
	return func() {
		for name, v := range before {
			s.set(name, v, s.local())
		}
		s.under = nil
		s.forget()
	}
}

// local reports whether settings can end with the transaction: a session that a backend shares with its user must not
// keep them.
func (s *Session) local() bool {
	_, remote := s.conn.(*Remote)
	return !remote || s.conn.InTransaction()
}

func (s *Session) set(name, value string, local bool) {
	if _, err := s.texts(fmt.Sprintf("SELECT pg_catalog.set_config(%s, %s, %v)", sqltext.Text(name),
		sqltext.Text(value), local)); err != nil {
		s.fail(err)
	}
}

// Local reports whether parameters were set for the open transaction only, which a server does not tell.
func (s *Session) Local() bool { return false }

// Draw sets what current_step() and current_seed() give.
func (s *Session) Draw(env kernels.Env) error {
	if env == s.env {
		return nil
	}
	s.env = env
	s.set("relgrad.step", fmt.Sprint(env.Step), s.local())
	s.set("relgrad.seed", fmt.Sprint(env.Seed), s.local())
	return s.failed()
}

// bare takes from an error its place in a statement of our own.
func bare(err error) error {
	if e, ok := err.(*sqlerr.Error); ok {
		e.Text, e.Pos = nil, -1
	}
	return err
}

// Dialect implements catalog.Database.
func (s *Session) Dialect() sqlgen.Dialect { return sqlgen.Postgres{} }

// Prepare lets the server judge a query text: its syntax, its names, the rights of who calls.
func (s *Session) Prepare(ctx context.Context, sql string) error { return s.conn.Prepare(ctx, sql) }

// atQuery gives an error of a sub-query the place where the sub-query stands.
func atQuery(err error, sel *ast.Select, text *ast.Text) error {
	e, ok := err.(*sqlerr.Error)
	if !ok {
		return err
	}
	out := *e
	out.Text, out.Pos = text, int(sel.At)
	return &out
}

// use tells which tables a query reads, also behind views and functions.
func (s *Session) use(ctx context.Context, sel *ast.Select) error {
	if s.watch == nil {
		return nil
	}
	r, err := s.Reach(ctx, print.Print(sel))
	if err != nil {
		return err
	}
	for _, t := range r.Tables {
		if found := s.find(nil, t.Schema, t.Name); t.Schema != "" && found != nil && found.table != nil {
			if err := s.watch(t.Schema, t.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Watch calls f whenever a table is looked at.
func (s *Session) Watch(f func(schema, name string) error) func(schema, name string) error {
	before := s.watch
	s.watch = f
	return before
}

// SeesHookReads reports that the server does not say which tables a statement reads.
func (s *Session) SeesHookReads() bool { return false }

// Rows runs a query of generated SQL and gives its columns.
func (s *Session) Rows(ctx context.Context, sql string) (names []string, data []*ra.Vector, err error) {
	c := collector{what: "the query"}
	if _, _, err := s.conn.Query(ctx, sql, true, c.add); err != nil {
		return nil, nil, bare(err)
	}
	for i, col := range c.cols {
		if col.OID == pgtype.NumericOID {
			if c.data[i], err = numeric(c.data[i]); err != nil {
				return nil, nil, err
			}
		}
		names = append(names, col.Name)
	}
	return names, c.data, nil
}

// estimated finds the planner's figures in the first line of EXPLAIN.
var estimated = regexp.MustCompile(`cost=([0-9.]+)\.\.([0-9.]+) rows=([0-9]+)`)

// Estimate gives what the server expects of a query: its cost until the first and the last row, in its own units, and
// its rows.
func (s *Session) Estimate(ctx context.Context, sql string) (string, error) {
	res, err := s.result(ctx, "EXPLAIN "+sql)
	if err != nil {
		return "", bare(err)
	}
	m := estimated.FindStringSubmatch(fmt.Sprint(res.Rows[0][0]))
	if m == nil {
		return "", sqlerr.New(sqlerr.Internal, "internal error: no estimate in %q", res.Rows[0][0])
	}
	return fmt.Sprintf("cost %s to %s, %s rows", m[1], m[2], m[3]), nil
}

// Exec runs a statement that the engine has made, or a SELECT of the user.
func (s *Session) Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*catalog.Result, error) {
	sql, err := print.PrintStatement(stmt)
	if err != nil {
		return nil, err
	}
	res, err := s.result(ctx, sql)
	if err != nil && stmt.Position() >= 0 {
		if e, ok := err.(*sqlerr.Error); ok {
			e.Text, e.Pos = text, int(stmt.Position())
		}
	}
	return res, err
}

// RunSQL runs one statement of our own.
func (s *Session) RunSQL(ctx context.Context, sql string) (*catalog.Result, error) {
	return s.result(ctx, sql)
}

// RunText runs a statement of the user; what names mean may have changed afterwards.
func (s *Session) RunText(ctx context.Context, p parse.Parsed, text *ast.Text) (ok bool, err error) {
	_, _, err = s.conn.Query(ctx, p.SQL, false, nil)
	s.forget()
	if e, ok := err.(*sqlerr.Error); ok && e.Text != nil && e.Text.SQL == p.SQL {
		e.Text, e.Pos = text, e.Pos+int(p.At)
	}
	return true, err
}

func (s *Session) result(ctx context.Context, sql string) (*catalog.Result, error) {
	out := &catalog.Result{}
	tag, rows, err := s.conn.Query(ctx, sql, false, func(b *Block) error {
		if !out.HasRows {
			out.HasRows = true
			for _, c := range b.Cols {
				out.Cols = append(out.Cols, catalog.ResultCol{Name: c.Name, Type: typeOf(pgTypes[c.OID]).String()})
			}
		}
		for row := range b.Rows {
			r := make([]any, len(b.Cols))
			for i, c := range b.Cols {
				r[i] = catalog.Value(c.Data, row)
			}
			out.Rows = append(out.Rows, r)
		}
		return nil
	})
	out.Tag, out.Count = tag, rows
	return out, err
}

// InTransaction implements catalog.Database.
func (s *Session) InTransaction() bool { return s.conn.InTransaction() }

// Begin opens a transaction that sees one state of the database.
func (s *Session) Begin() error {
	s.begun++
	s.forget()
	if err := s.conn.Begin(context.Background()); err != nil {
		return err
	}
	s.env = kernels.Env{} // what Draw has set has ended
	s.noJIT()
	for name, v := range s.under {
		s.set(name, v, true)
	}
	return s.failed()
}

// BeginWrite opens a transaction that writes. What other sessions have changed since it began is an error (40001) of
// the statement that would change it too.
func (s *Session) BeginWrite() error { return s.Begin() }

// Commit ends the transaction.
func (s *Session) Commit() (bool, error) {
	s.env = kernels.Env{}
	return true, s.conn.Commit(context.Background())
}

// Rollback undoes the transaction.
func (s *Session) Rollback() error {
	s.env, s.err = kernels.Env{}, nil // what failed is undone
	s.forget()
	return s.conn.Rollback(context.Background())
}

// ExternalVersion changes whenever other sessions may have changed something.
func (s *Session) ExternalVersion() uint64 { return s.begun }

// Shared reports that other sessions see the database.
func (s *Session) Shared() bool { return true }

// NewRun adds the row of a run; the server chooses its number.
func (s *Session) NewRun(ctx context.Context, cols []string, values []ast.Expr) (int64, error) {
	sql, err := print.PrintStatement(&ast.Insert{Node: ast.Node{At: -1}, Schema: "relgrad", Name: s.RunTable(), Cols: cols,
		Query: &ast.Select{Node: ast.Node{At: -1}, Values: [][]ast.Expr{values}, End: -1}})
	if err != nil {
		return 0, err
	}
	res, err := s.result(ctx, sql+" RETURNING run")
	if err != nil {
		return 0, bare(err)
	}
	return res.Rows[0][0].(int64), nil
}

// RunTable is the table behind the view relgrad.run.
func (s *Session) RunTable() string { return "run_row" }

// OwnRun refuses a run of another user. What is stored of a run is SQL, which could also take back a SET ROLE: a
// session from outside must have begun as its owner. (The extension lets no statement of a run change the role.)
func (s *Session) OwnRun(ctx context.Context, run int64) error {
	res, err := s.result(ctx, fmt.Sprintf("SELECT owner::pg_catalog.text, owner OPERATOR(pg_catalog.=) current_user, "+
		"session_user::pg_catalog.text FROM relgrad.run WHERE run OPERATOR(pg_catalog.=) %d", run))
	if err != nil || len(res.Rows) == 0 {
		return bare(err) // that there is none is said where it is read
	}
	owner, session := res.Rows[0][0].(string), res.Rows[0][2].(string)
	if mine, _ := res.Rows[0][1].(bool); !mine {
		return sqlerr.New(insufficientPrivilege, "run %d belongs to %s", run, owner).
			WithDetail("Its before_step, validation and loss are texts of %s, which would be run with your rights.", owner).
			WithHint("Let %s resume it, or begin a run of your own.", owner)
	}
	if _, remote := s.conn.(*Remote); remote && session != owner {
		return sqlerr.New(insufficientPrivilege, "run %d belongs to %s, this session to %s", run, owner, session).
			WithDetail("Its before_step, validation and loss are texts of %s, which could take SET ROLE back.", owner).
			WithHint("Connect as %s.", owner)
	}
	return nil
}

// Training notes how far the commits of a run are, for who cancels it.
func (s *Session) Training(run, step, steps int64) {
	if c, ok := s.conn.(*Child); ok {
		c.training(run, step, steps)
	}
}

// Classes of advisory locks: of runs by their number, of tables by their OID. The numbers are arbitrary.
const (
	lockRuns   = 0x72677275
	lockTables = 0x72677461
)

// LockRun takes the lock of a run and of its parameters' tables, for the session.
func (s *Session) LockRun(run int64, params []*ra.Table) (unlock func(), err error) {
	type lock struct{ class, object uint32 }
	var held []lock
	unlock = func() {
		for _, l := range held {
			_, _ = s.texts(fmt.Sprintf("SELECT pg_catalog.pg_advisory_unlock(%d, %d)", int32(l.class), int32(l.object)))
		}
	}
	take := func(class, object uint32) (bool, error) {
		// announced before it is held: a call may be cancelled at any point
		if err := s.conn.Unlock(context.Background(), class, object); err != nil {
			return false, err
		}
		rows, err := s.texts(fmt.Sprintf("SELECT pg_catalog.pg_try_advisory_lock(%d, %d)", int32(class), int32(object)))
		if err != nil || rows[0][0] != "true" {
			return false, err
		}
		held = append(held, lock{class, object})
		return true, nil
	}
	ok, err := take(lockRuns, uint32(run))
	if err == nil && !ok {
		err = sqlerr.New(sqlerr.ObjectNotPrereqState, "run %d is being trained by another session", run)
	}
	for _, t := range slices.CompactFunc(slices.Clone(params), func(a, b *ra.Table) bool {
		return a.Schema == b.Schema && a.Name == b.Name
	}) {
		if err != nil {
			break
		}
		r := s.find(nil, t.Schema, t.Name)
		if r == nil {
			err = sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", t.Name)
			break
		}
		if ok, err = take(lockTables, uint32(r.oid)); err == nil && !ok {
			err = sqlerr.New(sqlerr.ObjectNotPrereqState, "parameter %s is being trained by another session", t.Name).
				WithHint("SELECT run, loss, status FROM relgrad.run; lists the runs.")
		}
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}
