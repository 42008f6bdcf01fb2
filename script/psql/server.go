package psql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// Server is a Session that reads SQL texts itself, PL/pgSQL included, and answers in its own words. The client only
// handles psql's commands and variables.
type Server interface {
	script.Session
	// Run runs all statements of a text and gives their results to c, in order. The error is the server's or about the
	// connection; sqlerr.Error.Shown has the text that psql shows. Cancelling ctx cancels the running statement.
	Run(ctx context.Context, sql string, c *Client) error
	// Variables are those that psql sets for a connection: DBNAME, USER, HOST, PORT, SERVER_VERSION_NAME, …
	Variables() map[string]string
	// Lost reports whether the connection is gone. Reconnect makes a new one with the original settings.
	Lost() bool
	Reconnect(ctx context.Context) error
	// Describe answers \d and its like (command, without backslash and plus).
	Describe(ctx context.Context, command, pattern string, plus bool) ([]Sheet, error)
	// Objects and SearchPath provide names for completion.
	Objects() (*catalog.Objects, error)
	SearchPath() []string
}

// Client receives what a Server sends while a text runs.
type Client struct {
	Verbosity   string // psql's variable of this name: default, verbose, terse or sqlstate
	ShowContext string // psql's variable of this name: errors, always or never

	Result func(*script.Result) error // takes each result; values are strings in the server's text form
	// PartRows is the number of rows after which a part of a result is given to Result (Result.More); 0: results come
	// whole.
	PartRows int

	Notice  func(error)                               // takes messages that are not errors
	Notify  func(channel, payload string, pid uint32) // takes notifications
	CopyIn  func() io.Reader                          // gives the data of COPY … FROM STDIN, which is read to its end
	CopyOut func() io.Writer                          // takes the data of COPY … TO STDOUT
}

// Sheet is one table printed by \d or a similar command.
type Sheet struct {
	Title   string
	Result  *script.Result
	Footers []string // printed in place of the number of rows; nil: the number is printed
	Text    string   // printed in place of a table
}

// ErrLost is returned when a script ended because the connection to the server was lost. That has been reported.
var ErrLost = errors.New("the connection to the server was lost")

// sendText is sendQuery on a server.
func (r *Runner) sendText(ctx context.Context, s *scanner, give func(*script.Result) error) (*script.Result, error) {
	sql := s.buf.String()
	if s.ended { // as psql, whose messages show the text with its semicolon
		sql += ";"
	}
	s.reset()
	if strings.Trim(sql, "; \t\r\n") == "" {
		return nil, nil
	}
	r.previous = sql
	if e := r.vars["ECHO"]; e == "queries" {
		fmt.Fprintln(r.stdout, sql)
	}
	if left, err := r.leave(sql); left {
		return nil, err
	}
	start := time.Now()
	last, err := r.runText(ctx, sql, r.copyLines, give)
	if r.timing {
		r.showTiming(time.Since(start))
	}
	return last, err
}

// leave reports whether the script stops before a text. It never stops before SQL that relgrad cannot parse.
func (r *Runner) leave(sql string) (bool, error) {
	if r.StopBefore == nil {
		return false, nil
	}
	ps, err := parse.Parse(&ast.Text{SQL: sql})
	if err != nil {
		return false, nil
	}
	if slices.ContainsFunc(ps, func(p parse.Parsed) bool { return r.StopBefore(p.Stmt) }) {
		return true, ErrBefore
	}
	return false, nil
}

// copyLines is the data of a COPY in the script.
func (r *Runner) copyLines() io.Reader { return &copyLines{src: r.src} }

// runText runs a text on the server and reports its error; results are given in parts, the last part is returned.
func (r *Runner) runText(ctx context.Context, sql string, data func() io.Reader,
	give func(*script.Result) error) (last *script.Result, err error) {
	if err := script.Canceled(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStopped, err)
	}
	c := r.client(data, func(res *script.Result) error {
		last = res
		return give(res)
	})
	c.PartRows = r.partSize()
	if err = r.begin(ctx, sql, c); err == nil {
		err = r.server.Run(ctx, sql, c)
	}
	for _, line := range r.heard {
		fmt.Fprintln(r.out, line)
	}
	r.heard = nil
	if err != nil {
		return nil, r.failed(ctx, sql, err)
	}
	return last, nil
}

// client makes a Client: COPY reads data, results go to use.
func (r *Runner) client(data func() io.Reader, use func(*script.Result) error) *Client {
	inData := false // COPY's data have gone to the place of its tag
	return &Client{CopyIn: data, Verbosity: r.vars["VERBOSITY"], ShowContext: r.vars["SHOW_CONTEXT"],
		Notice: func(e error) { fmt.Fprint(r.stderr, r.prefix(), sqlerr.Render(e)) },
		Notify: func(channel, payload string, pid uint32) {
			r.heard = append(r.heard, notification(channel, payload, pid))
		},
		CopyOut: func() io.Writer {
			inData = true
			return r.out
		},
		Result: func(res *script.Result) error {
			if !res.More {
				r.succeeded(res)
			}
			if inData {
				res.Tag, inData = "", false
			}
			return use(res)
		}}
}

// notification is psql's message for a NOTIFY.
func notification(channel, payload string, pid uint32) string {
	if payload != "" {
		payload = fmt.Sprintf(" with payload \"%s\"", payload)
	}
	return fmt.Sprintf("Asynchronous notification \"%s\"%s received from server process with PID %d.", channel, payload,
		pid)
}

// begin begins a transaction where \set AUTOCOMMIT off asks for it.
func (r *Runner) begin(ctx context.Context, sql string, c *Client) error {
	if b, ok := parseBool(r.vars["AUTOCOMMIT"]); !ok || b || r.server.InTransaction() || endsItself(sql) {
		return nil
	}
	quiet := *c
	quiet.Result, quiet.PartRows = func(*script.Result) error { return nil }, 0
	return r.server.Run(ctx, "BEGIN", &quiet)
}

// failed reports the error of a text. If the connection is lost, a script ends and the shell reconnects.
func (r *Runner) failed(ctx context.Context, sql string, err error) error {
	stop := r.report(err)
	if r.vars["ECHO"] == "errors" && sql != "" {
		fmt.Fprintf(r.stderr, "%sSTATEMENT:  %s\n", r.prefix(), sql)
	}
	r.vars["ROW_COUNT"] = "0"
	switch {
	case ctx.Err() != nil && stop == nil:
		return fmt.Errorf("%w: %w", ErrStopped, err)
	case !r.server.Lost():
		return stop
	case r.terminal == nil:
		fmt.Fprintf(r.stderr, "%sconnection to server was lost\n", r.prefix())
		return ErrLost
	}
	fmt.Fprint(r.stderr, "The connection to the server was lost. Attempting reset: ")
	if e := r.server.Reconnect(ctx); e != nil {
		fmt.Fprintf(r.stderr, "Failed.\n%s", sqlerr.Render(e))
		return ErrLost
	}
	fmt.Fprintln(r.stderr, "Succeeded.")
	maps.Copy(r.vars, r.server.Variables())
	return stop
}

// endsItself reports whether psql begins no transaction before a text: before transaction control, and before
// statements that refuse to run in a transaction.
func endsItself(sql string) bool {
	t := lex(sql)
	for len(t) > 0 && t[0].Is(";") {
		t = t[1:]
	}
	word := func(i int, of ...string) bool { return i < len(t) && slices.ContainsFunc(of, t[i].Is) }
	switch {
	case word(0, "abort", "begin", "start", "commit", "end", "rollback", "vacuum"):
		return true
	case word(0, "prepare"):
		return word(1, "transaction")
	case word(0, "cluster"):
		return len(t) == 1 || word(1, ";") || word(1, "verbose") && (len(t) == 2 || word(2, ";"))
	case word(0, "create"):
		return word(1, "database", "tablespace") || word(1, "index") && word(2, "concurrently") ||
			word(1, "unique") && word(2, "index") && word(3, "concurrently")
	case word(0, "alter"):
		return word(1, "system")
	case word(0, "drop"):
		return word(1, "database", "tablespace", "system") || word(1, "index") && word(2, "concurrently")
	case word(0, "reindex"):
		return word(1, "database", "system") || word(1, "index", "table") && word(2, "concurrently")
	case word(0, "discard"):
		return word(1, "all")
	}
	return false
}

// describeServer is \d and its like on a server.
func (r *Runner) describeServer(ctx context.Context, command, pattern string, plus bool) error {
	sheets, err := r.server.Describe(ctx, command, pattern, plus)
	if err != nil {
		return r.failed(ctx, "", err)
	}
	for _, s := range sheets {
		if s.Result == nil {
			if _, err := fmt.Fprintln(r.out, s.Text); err != nil {
				return err
			}
			continue
		}
		if err := printSheet(r, s.Title, s.Result, s.Footers); err != nil {
			return err
		}
	}
	return nil
}
