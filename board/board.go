package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Session is a session on the store or server.
type Session struct {
	*relgrad.Engine
	Close func() error
}

// OpenStore opens a store for reading only.
func OpenStore(file string) (*Session, error) {
	db, err := relgrad.OpenReadOnly(file)
	if err != nil {
		return nil, err
	}
	return &Session{db.Engine, db.Close}, nil
}

// OpenServer connects to a server; the transactions of the session are read-only.
func OpenServer(ctx context.Context, dsn string) (*Session, error) {
	s, err := relgrad.Dial(ctx, dsn, nil)
	if err != nil {
		return nil, err
	}
	if _, err := s.RunSQL(ctx, "SET default_transaction_read_only = on"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Session{s.Engine, s.Close}, nil
}

// Board answers the requests of one store or server.
type Board struct {
	name  string
	quick *line
	plans *line
	runs  *runs
}

// New makes a board. name tells readers what is shown, open opens a session that must not write.
func New(name string, open func(context.Context) (*Session, error)) *Board {
	return &Board{name: name, quick: newLine(open), plans: newLine(open), runs: newRuns()}
}

// Close closes the sessions, once no request is being answered.
func (b *Board) Close() error { return errors.Join(b.quick.close(), b.plans.close()) }

// line is a session that requests use one after the other.
type line struct {
	open func(context.Context) (*Session, error)
	free chan *Session // holds the session while nobody uses it; nil: it is not open
}

func newLine(open func(context.Context) (*Session, error)) *line {
	l := &line{open: open, free: make(chan *Session, 1)}
	l.free <- nil
	return l
}

// use calls f with the session. It is closed after an error: a cancelled statement may have ended a connection.
func (l *line) use(ctx context.Context, f func(*Session) error) (err error) {
	var s *Session
	select {
	case s = <-l.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() {
		if err != nil && s != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
		l.free <- s
	}()
	if s == nil {
		if s, err = l.open(ctx); err != nil {
			s = nil
			return err
		}
	}
	return f(s)
}

func (l *line) close() error {
	s := <-l.free
	l.free <- nil
	if s == nil {
		return nil
	}
	return s.Close()
}

// routes are the questions. An answer is written as JSON.
var routes = map[string]func(b *Board, r *http.Request) (any, error){
	"/api/runs":       (*Board).listRuns,
	"/api/curves":     (*Board).curves,
	"/api/parameters": (*Board).parameters,
	"/api/plan":       (*Board).plan,
	"/api/sql":        (*Board).sql,
}

// failure is an error as the pages show it.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Detail  string `json:"detail,omitempty"`
	Hint    string `json:"hint,omitempty"`
	Text    string `json:"text"` // as relgrad prints it, with the line that it points into
}

func failed(err error) (int, failure) {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		e = sqlerr.New(sqlerr.Internal, "%v", err)
	}
	status := http.StatusInternalServerError
	switch e.Code {
	case sqlerr.InvalidParameter, sqlerr.InvalidText:
		status = http.StatusBadRequest
	case sqlerr.UndefinedObject:
		status = http.StatusNotFound
	}
	return status, failure{e.Code, e.Message, e.Detail, e.Hint, sqlerr.Render(err)}
}

// ServeHTTP answers a request that may be answered.
func (b *Board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if len(r.URL.Path) >= 5 && r.URL.Path[:5] == "/api/" {
		b.api(w, r)
		return
	}
	name := path.Clean("static" + r.URL.Path)
	if name == "static" {
		name = "static/index.html"
	}
	text, err := fs.ReadFile(static, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(name)])
	_, _ = w.Write(text) // the reader may have gone
}

// api answers a question.
func (b *Board) api(w http.ResponseWriter, r *http.Request) {
	ask, ok := routes[r.URL.Path]
	status, answer := http.StatusOK, any(nil)
	err := error(sqlerr.New(sqlerr.UndefinedObject, "there is no %s", r.URL.Path))
	if ok {
		answer, err = protected(func() (any, error) { return ask(b, r) })
	}
	if err != nil {
		status, answer = failed(err)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		status = http.StatusInternalServerError
		text = fmt.Appendf(nil, `{"message":%q}`, "the answer is no JSON: "+err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the reader may have gone
}

// protected turns a panic into an error.
func protected(f func() (any, error)) (answer any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = sqlerr.FromPanic(p)
		}
	}()
	return f()
}

// numbers reads a list such as "1,2" of a query; most bounds its length.
func numbers(r *http.Request, name string, most int) ([]int64, error) {
	var out []int64
	for _, text := range strings.Split(r.URL.Query().Get(name), ",") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, sqlerr.New(sqlerr.InvalidText, "%s %q is not a number", name, text)
		}
		out = append(out, n)
	}
	if len(out) > most {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "%d numbers are too many for %s: at most %d", len(out), name,
			most)
	}
	return out, nil
}

// number reads a number of a query between two bounds; def where it is not given.
func number(r *http.Request, name string, def, least, most float64) (float64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return def, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, sqlerr.New(sqlerr.InvalidText, "%s %q is not a number", name, text)
	}
	if !(x >= least && x <= most) {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "%s must be from %g to %g, not %s", name, least, most, text)
	}
	return x, nil
}
