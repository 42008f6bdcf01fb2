package relgrad

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/pgbridge/session"
	"github.com/relgrad/relgrad/pgbridge/wire"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/train"
	"github.com/relgrad/relgrad/train/run"
)

// Server is a session on a Postgres server, from outside.
type Server struct {
	*Engine
	session *session.Session
	remote  *conn.Remote
}

// Dial connects to a server on which relgrad is installed. dsn is a URL, a list of settings or a database's name, as
// for libpq. Names are looked up on the session's search_path, followed by the schema relgrad if it is not on it. Mode
// is the server's setting relgrad.engine. notice receives the server's messages. If there is no connection, the error
// wraps conn.ErrConnect.
func Dial(ctx context.Context, dsn string, notice func(level, message string)) (_ *Server, failed error) {
	defer exported(&failed)
	remote, err := conn.Dial(ctx, dsn, notice)
	if err != nil {
		return nil, err
	}
	db := session.New(remote)
	s := &Server{Engine: newEngine(db), session: db, remote: remote}
	s.Notice = notice
	if s.Mode, err = db.Open(ctx); err == nil &&
		!slices.Contains([]string{"", engine.ModeAuto, engine.ModeChunk, engine.ModeSQL}, s.Mode) {
		err = sqlerr.New(sqlerr.InvalidParameter, "invalid value for parameter \"relgrad.engine\": \"%s\"", s.Mode).
			WithHint("Available values: %s, %s, %s.", engine.ModeAuto, engine.ModeChunk, engine.ModeSQL)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OnServer makes a session of a connection that others use between its calls.
func OnServer(remote *conn.Remote) *Server {
	db := session.New(remote)
	return &Server{Engine: newEngine(db), session: db, remote: remote}
}

// CallTrain runs CALL train(…) in this process, on the tables of the server.
func (s *Server) CallTrain(ctx context.Context, call *ast.FuncCall, text *ast.Text) (failed error) {
	defer exported(&failed)
	s.session.Renew("")
	return s.trainer.Call(ctx, call)
}

// CompileText makes the SQL texts of a loss and of its gradient by a parameter (table or table.column). In one
// transaction it stores them in relgrad.compiled, where gradient() and backward() of the portable tier find them. Its
// errors are those of Gradient, and a server without the portable tier.
func (s *Server) CompileText(ctx context.Context, loss, param string) (failed error) {
	defer exported(&failed)
	if err := s.Begin(); err != nil {
		return err
	}
	err := s.core.CompileText(ctx, loss, param)
	if err == nil {
		_, err = s.Commit()
		return err
	}
	if e := s.Rollback(); e != nil {
		return fmt.Errorf("%w; rolling back: %w", err, e)
	}
	return err
}

// CompileHere is CompileText inside the open transaction, if there is one. An error leaves that unchanged.
func (s *Server) CompileHere(ctx context.Context, loss, param string) (failed error) {
	defer exported(&failed)
	s.session.Renew("")
	if !s.InTransaction() {
		return s.CompileText(ctx, loss, param)
	}
	if _, err := s.RunSQL(ctx, "SAVEPOINT relgrad_compile"); err != nil {
		return err
	}
	err := s.core.CompileText(ctx, loss, param)
	if err == nil {
		_, err = s.RunSQL(ctx, "RELEASE relgrad_compile")
		return err
	}
	for _, sql := range []string{"ROLLBACK TO relgrad_compile", "RELEASE relgrad_compile"} {
		if _, e := s.RunSQL(ctx, sql); e != nil {
			return fmt.Errorf("%w; rolling back: %w", err, e)
		}
	}
	return err
}

// MarkInterrupted marks those of the user's runs as interrupted that no process trains, though relgrad.run says so.
func (s *Server) MarkInterrupted(ctx context.Context) (failed error) {
	defer exported(&failed)
	return s.session.Interrupted(ctx, string(train.Running), string(train.Interrupted))
}

// Close ends the session.
func (s *Server) Close() (failed error) {
	defer exported(&failed)
	s.core.Close()
	return errors.Join(s.session.HangUp(), s.remote.Close())
}

// ServeBackend is the engine beside a Postgres backend. It answers requests on line, with rows in memory that both
// share, until the backend closes the line.
func ServeBackend(line *os.File, shared *os.File) error {
	child := conn.NewChild(line, shared)
	db := session.New(child)
	b := &backend{session: db, child: child}
	b.begin()
	return child.Serve(b.call)
}

// backend answers a backend's requests.
type backend struct {
	core    *engine.Engine
	trainer *run.Trainer
	members *engine.Members
	session *session.Session
	child   *conn.Child
}

// begin makes the engine of a session.
func (b *backend) begin() {
	b.members.Close()
	b.core = engine.New(b.session, &engine.Settings{Notice: b.child.Notice})
	b.trainer = run.New(b.core, &run.Events{})
	b.members = engine.NewMembers(b.core)
}

// call runs one of the engine's functions.
func (b *backend) call(ctx context.Context, r *conn.Request) (a *conn.Answer, err error) {
	defer func() {
		if p := recover(); p != nil { // the trace goes to the server's log; kept plans may be broken
			fmt.Fprintf(os.Stderr, "relgrad: panic: %v\n%s", p, debug.Stack())
			b.begin()
			a, err = nil, sqlerr.New(sqlerr.Internal, "internal error: %v", p).
				WithHint("The server's log has the trace. Please report it.")
		}
	}()
	b.session.Renew(r.Settings["catalog"])
	b.core.Workers, b.core.Memory = number32(r.Settings["threads"]), int64(number32(r.Settings["memory"]))
	b.core.Mode, b.core.Sites = r.Settings["engine"], number32(r.Settings["sites"])
	b.core.Device = r.Settings["device"]
	most, err := strconv.ParseInt(r.Settings["spill"], 10, 64)
	b.core.BoundSpills(r.Settings["spill_dir"], err == nil && most >= 0, most)
	if r.Function == "gen_member" {
		reply, err := b.members.Call(ctx, []byte(r.Settings["message"]))
		return &conn.Answer{Reply: reply}, err
	}
	v := engine.Values(r.Function, r.Args)
	if err := v.Missing(); err != nil {
		return nil, err
	}
	switch r.Function {
	case "gradient":
		return b.gradient(ctx, v, r.Settings["param_table"])
	case "backward":
		x, err := b.core.Backward(ctx, v.Text("loss"), v.List("params"), v.Step(), v.Int("seed", 0))
		return one("backward", column.Of(numberType, []float64{x})), engine.Plain(err)
	case "check_gradient":
		param, err := engine.OneParam(v.List("param"))
		if err != nil {
			return nil, err
		}
		rows, err := b.core.Check(ctx, v.Text("loss"), param, v.CheckOptions())
		if err != nil {
			return nil, engine.Plain(err)
		}
		checked := checkRelation(rows)
		return &conn.Answer{Rows: wire.BlockOf(checked.Names, checked.Cols)}, nil
	case "explain_gradient":
		s, err := b.core.Explain(ctx, v.Text("loss"), v.List("param"), engine.StageOf(v.Value["stage"]))
		if err != nil {
			return nil, engine.Plain(err)
		}
		return one("explain_gradient", column.Of(textType, []string{s})), nil
	case "distribute", "undistribute", "gen_servers":
		return b.places(ctx, r.Function, v)
	case "train":
		if r.Settings["read_only"] == "t" {
			return nil, sqlerr.New("25006", "cannot execute train() in a read-only transaction").
				WithHint("gradient() and check_gradient() only read.")
		}
		err := b.session.Interrupted(ctx, string(train.Running), string(train.Interrupted))
		if err == nil {
			err = engine.Plain(b.trainer.CallWith(ctx, v))
		}
		return nil, err
	}
	return nil, sqlerr.New(sqlerr.UndefinedFunction, "the engine has no function %s", r.Function).
		WithHint("The extension and the engine are of different versions: install both, and begin a new session.")
}

// places runs the functions that move tables to other servers and back, and the one that lists them.
func (b *backend) places(ctx context.Context, function string, v *engine.Args) (*conn.Answer, error) {
	switch function {
	case "distribute":
		var servers []string
		if v.Value["servers"] != nil {
			servers = v.List("servers")
		}
		return nil, b.session.Distribute(ctx, v.Text("what"), v.Text("by"), servers)
	case "undistribute":
		return nil, b.session.Undistribute(ctx, v.Text("what"))
	}
	names, cols, err := b.session.ListServers(ctx)
	return &conn.Answer{Rows: wire.BlockOf(names, cols)}, err
}

func number32(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// gradient answers with a query over the rows, which converts columns to the table's types.
func (b *backend) gradient(ctx context.Context, v *engine.Args, table string) (*conn.Answer, error) {
	text, rows, err := b.core.GradientText(ctx, v.Text("loss"), table, v.Step(), v.Int("seed", 0))
	if err != nil {
		return nil, engine.Plain(err)
	}
	var query string
	if rows == nil {
		query, err = b.session.PresentQuery(text, table)
	} else {
		query, err = b.session.Present(ctx, wire.BlockOf(rows.Names, rows.Cols), table)
	}
	return &conn.Answer{Query: query}, err
}

var (
	textType   = kernels.Type{Kind: kernels.Text}
	numberType = kernels.Type{Kind: kernels.Float64}
)

// one makes an answer of one column.
func one(name string, x *column.Column) *conn.Answer {
	return &conn.Answer{Rows: wire.BlockOf([]string{name}, []*column.Column{x})}
}
