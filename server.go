package relgrad

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/pgbridge"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/train"
)

// Server is a session on a Postgres server, from outside.
type Server struct {
	*Engine
	session *pgbridge.Session
	remote  *pgbridge.Remote
}

// Dial connects to a server on which relgrad is installed; dsn is a URL, a list of settings or a database's name, as
// libpq takes them. Names are looked up on the session's search_path, with the schema relgrad behind it where it is not
// on it; Mode is its relgrad.engine. notice receives the server's messages. An error without a connection has
// pgbridge.ErrConnect in its chain.
func Dial(ctx context.Context, dsn string, notice func(level, message string)) (_ *Server, failed error) {
	defer exported(&failed)
	remote, err := pgbridge.Dial(ctx, dsn, notice)
	if err != nil {
		return nil, err
	}
	session := pgbridge.NewSession(remote)
	s := &Server{Engine: newEngine(session), session: session, remote: remote}
	s.Notice = notice
	if s.Mode, err = session.Open(ctx); err == nil &&
		!slices.Contains([]string{"", ModeAuto, ModeChunk, ModeSQL}, s.Mode) {
		err = sqlerr.New(sqlerr.InvalidParameter, "invalid value for parameter \"relgrad.engine\": \"%s\"", s.Mode).
			WithHint("Available values: %s, %s, %s.", ModeAuto, ModeChunk, ModeSQL)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OnServer makes a session of a connection that others use too, between its calls.
func OnServer(remote *pgbridge.Remote) *Server {
	session := pgbridge.NewSession(remote)
	return &Server{Engine: newEngine(session), session: session, remote: remote}
}

// CallTrain runs CALL train(…) in this process, on the tables of the server.
func (s *Server) CallTrain(ctx context.Context, call *ast.FuncCall, text *ast.Text) (failed error) {
	defer exported(&failed)
	s.session.Renew("")
	return s.callTrain(ctx, call, text)
}

// MarkInterrupted notes which of the user's runs are not trained any more, though relgrad.run says so.
func (s *Server) MarkInterrupted(ctx context.Context) (failed error) {
	defer exported(&failed)
	return s.session.Interrupted(ctx, string(train.Running), string(train.Interrupted))
}

// Close ends the session.
func (s *Server) Close() (failed error) {
	defer exported(&failed)
	s.cache.clear()
	return s.remote.Close()
}

// ServeBackend is the engine beside a Postgres backend: it answers on line, over memory that both share, until the
// backend closes the line.
func ServeBackend(line *os.File, shared *os.File) error {
	child := pgbridge.NewChild(line, shared)
	session := pgbridge.NewSession(child)
	b := &backend{engine: newEngine(session), session: session, child: child}
	b.engine.Notice = child.Notice
	return child.Serve(b.call)
}

// backend answers a backend's requests.
type backend struct {
	engine  *Engine
	session *pgbridge.Session
	child   *pgbridge.Child
}

// call runs one of the engine's functions.
func (b *backend) call(ctx context.Context, r *pgbridge.Request) (a *pgbridge.Answer, err error) {
	defer func() {
		if p := recover(); p != nil { // the trace goes to the server's log; what the engine keeps may be broken
			fmt.Fprintf(os.Stderr, "relgrad: panic: %v\n%s", p, debug.Stack())
			b.engine = newEngine(b.session)
			b.engine.Notice = b.child.Notice
			a, err = nil, sqlerr.New(sqlerr.Internal, "internal error: %v", p).
				WithHint("The server's log has the trace. Please report it.")
		}
	}()
	b.session.Renew(r.Settings["catalog"])
	b.engine.Workers, b.engine.Memory = number32(r.Settings["threads"]), int64(number32(r.Settings["memory"]))
	b.engine.Mode = r.Settings["engine"]
	most, err := strconv.ParseInt(r.Settings["spill"], 10, 64)
	b.engine.spill = spillBounds{dir: r.Settings["spill_dir"], bounded: err == nil && most >= 0, most: most}
	v := values(r.Args)
	if err := v.missing(r.Function); err != nil {
		return nil, err
	}
	switch r.Function {
	case "gradient":
		return b.gradient(ctx, v.text("loss"), r.Settings["param_table"], v)
	case "backward":
		x, err := b.engine.Backward(ctx, v.text("loss"), v.list("params"), v.step(), v.int("seed", 0))
		return one("backward", []float64{x}), plain(err)
	case "check_gradient":
		param, err := oneParam(v.list("param"))
		if err != nil {
			return nil, err
		}
		rows, err := b.engine.Check(ctx, v.text("loss"), param,
			CheckOptions{Samples: int(v.int("samples", 100)), Step: v.step(), Seed: v.int("seed", 0),
				Batch: v.text("batch"), BatchSize: v.int("batch_size", 0)})
		if err != nil {
			return nil, plain(err)
		}
		return &pgbridge.Answer{Rows: blockOf(checkRelation(rows))}, nil
	case "explain_gradient":
		s, err := b.engine.Explain(ctx, v.text("loss"), v.list("param"), stageOf(v["stage"]))
		if err != nil {
			return nil, plain(err)
		}
		return &pgbridge.Answer{Rows: blockOf(&catalog.Relation{Names: []string{"explain_gradient"},
			Cols: []*ra.Vector{{Type: textType, N: 1, Texts: []string{s}}}})}, nil
	case "train":
		if r.Settings["read_only"] == "t" {
			return nil, sqlerr.New("25006", "cannot execute train() in a read-only transaction").
				WithHint("gradient() and check_gradient() only read.")
		}
		return nil, plain(b.train(ctx, v))
	}
	return nil, sqlerr.New(sqlerr.UndefinedFunction, "the engine has no function %s", r.Function).
		WithHint("The extension and the engine are of different versions: install both, and begin a new session.")
}

func number32(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// plain gives an error without the place in a call that the engine's own statements have.
func plain(err error) error {
	return (&args{}).place(err)
}

// gradient answers with a query over the rows, which gives columns the types of the table.
func (b *backend) gradient(ctx context.Context, loss, table string, v values) (*pgbridge.Answer, error) {
	ask := request{loss: loss, params: []string{table}, draw: true}
	c, env, err := b.engine.push(ctx, ask, v.step(), v.int("seed", 0))
	if err != nil {
		return nil, plain(err)
	}
	if c != nil {
		if _, err := b.engine.pushedLoss(ctx, c, env); err != nil {
			return nil, plain(about(err, "loss", 0))
		}
		text, err := b.engine.pushedGradient(ctx, c, 0, env)
		if err != nil {
			return nil, err
		}
		query, err := b.session.PresentQuery(text, table)
		return &pgbridge.Answer{Query: query}, err
	}
	r, err := b.engine.executed(ctx, ask, v.step(), v.int("seed", 0))
	if err != nil {
		return nil, plain(err)
	}
	query, err := b.session.Present(ctx, blockOf(r), table)
	return &pgbridge.Answer{Query: query}, err
}

// train runs or resumes a training.
func (b *backend) train(ctx context.Context, v values) error {
	c := train.Default()
	var names []string
	for name, x := range v {
		if name == "loss" || name == "params" {
			continue
		}
		if err := c.Set(name, x); err != nil {
			return err
		}
		names = append(names, name)
	}
	if err := b.session.Interrupted(ctx, string(train.Running), string(train.Interrupted)); err != nil {
		return err
	}
	if c.Resume != 0 {
		if len(v) > 1 {
			return sqlerr.New(sqlerr.InvalidParameter, "resume takes everything else from run %d", c.Resume).
				WithHint("CALL train(resume => %d);", c.Resume)
		}
		_, err := b.engine.Resume(ctx, c.Resume)
		return err
	}
	if v.text("loss") == "" || len(v.list("params")) == 0 {
		return sqlerr.New(sqlerr.UndefinedFunction, "train needs a loss and its parameters").
			WithHint("CALL train('loss', ARRAY['w'], lr => 0.01, epochs => 100);")
	}
	if err := c.Check(names); err != nil {
		return err
	}
	_, err := b.engine.Train(ctx, v.text("loss"), v.list("params"), c)
	return err
}

// values are the arguments of a call from a server.
type values map[string]any

func (v values) text(name string) string {
	switch x := v[name].(type) {
	case string:
		return x
	case nil:
		return ""
	default:
		return fmt.Sprint(x)
	}
}

// list gives names; a text is one, or a list in braces.
func (v values) list(name string) []string {
	switch x := v[name].(type) {
	case []string:
		return x
	case string:
		return nameList(x)
	}
	return nil
}

// needs are the arguments that may not be NULL, by function.
var needs = map[string][]string{"gradient": {"loss"}, "backward": {"loss", "params"},
	"check_gradient": {"loss", "param"}, "explain_gradient": {"loss", "param"}}

// missing refuses a call without one of them: what is NULL does not come.
func (v values) missing(function string) error {
	for _, name := range needs[function] {
		if v[name] == nil {
			return sqlerr.New(sqlerr.NullNotAllowed, "%s needs the argument %q, which is NULL", function, name)
		}
	}
	return nil
}

func (v values) int(name string, def int64) int64 {
	if i, ok := v[name].(int64); ok {
		return i
	}
	return def
}

func (v values) step() *int64 {
	if i, ok := v["step"].(int64); ok {
		return &i
	}
	return nil
}

// blockOf makes a block of a relation.
func blockOf(r *catalog.Relation) *pgbridge.Block {
	b := &pgbridge.Block{}
	for i, name := range r.Names {
		b.Rows = r.Cols[i].N
		b.Cols = append(b.Cols, pgbridge.Column{Name: name, Data: r.Cols[i]})
	}
	return b
}

var (
	textType   = kernels.Type{Kind: kernels.Text}
	numberType = kernels.Type{Kind: kernels.Float64}
)

// one makes an answer of a number.
func one(name string, x []float64) *pgbridge.Answer {
	return &pgbridge.Answer{Rows: blockOf(&catalog.Relation{Names: []string{name},
		Cols: []*ra.Vector{{Type: numberType, N: len(x), F64: x}}})}
}
