package psql

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/plpgsql"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// Options of a Runner. Nil streams are the process's own.
type Options struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Vars           map[string]string // -v name=value
	Quiet          bool              // -q: no command tags
	Format         string            // FormatAligned when empty
	Dir            string            // where relative file names begin; the process's when empty
}

// ErrStopped is returned when a script stopped at an error that has been printed (exit status 3).
var ErrStopped = errors.New("script stopped at an error")

// ErrBefore is returned when a script ended before a statement (Runner.StopBefore).
var ErrBefore = errors.New("script left before a statement")

// errQuit ends the current file (\q).
var errQuit = errors.New("quit")

// Runner runs scripts on one session.
type Runner struct {
	Interp *plpgsql.Interp // of a Store; nil on a Server
	// StopBefore ends the run with ErrBefore before the first statement for which it returns true.
	StopBefore func(ast.Statement) bool

	session script.Session
	server  Server   // the session if it is a Server, else nil
	heard   []string // notifications received since the last statement
	stdin   *bufio.Reader
	outputs
	vars      map[string]string
	given     map[string]string // variables given on the command line
	print     *printer
	shown     *sheet // a result of which some parts have been printed
	dir       string
	timing    bool
	src       *source // the script being read
	conds     []condition
	depth     int    // of \i
	previous  string // the last statement, for \g, \p and the like
	lastError error  // for \errverbose
	shell
}

// outputs are where a Runner writes.
type outputs struct {
	stdout, stderr io.Writer
	out            io.Writer // query results: stdout, or \o
	closeOut       func() error
}

// shell is the state of an interactive Runner.
type shell struct {
	terminal Terminal // nil in scripts
	typed    string   // text that an editor left to be run
	buffer   *scanner // the statement that is being typed
	lines    []string // lines typed but not yet read
}

// source is a script being read.
type source struct {
	name string // as shown in messages; "" for standard input
	path string
	r    *bufio.Reader
	line int                          // number of the line read last
	more func() (string, bool, error) // in the shell: reads the next line, in place of r
}

// next returns the next line without its newline.
func (s *source) next() (string, bool, error) {
	if s.more != nil {
		return s.more()
	}
	line, err := s.r.ReadString('\n')
	if err != nil && (err != io.EOF || line == "") {
		if err == io.EOF {
			err = nil
		}
		return "", false, err
	}
	s.line++
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), true, nil
}

// bytes returns the next line with its newline, or a part of a long one. It is valid until the next call. COPY's data
// need not be text.
func (s *source) bytes() ([]byte, error) {
	if s.more != nil {
		line, ok, err := s.more()
		if err == nil && !ok {
			err = io.EOF
		}
		if err != nil {
			return nil, err
		}
		return []byte(line + "\n"), nil
	}
	part, err := s.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		return part, nil
	}
	if len(part) > 0 {
		s.line++
	}
	return part, err
}

// NewRunner returns a runner on a session.
func NewRunner(s script.Session, o Options) *Runner {
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Format == "" {
		o.Format = FormatAligned
	}
	r := &Runner{stdin: bufio.NewReader(o.Stdin), outputs: outputs{stdout: o.Stdout, stderr: o.Stderr, out: o.Stdout},
		print: newPrinter(o.Format), dir: o.Dir, given: o.Vars}
	r.vars = map[string]string{"ON_ERROR_STOP": "on", "AUTOCOMMIT": "on", "ECHO": "none",
		"ENCODING": "UTF8", "FETCH_COUNT": "0",
		"SQLSTATE": "00000", "ERROR": "false", "ROW_COUNT": "0", "QUIET": "off"}
	if o.Quiet {
		r.vars["QUIET"] = "on"
	}
	for k, v := range o.Vars {
		r.vars[k] = v
	}
	r.session = s
	moveTo(r, o.Dir)
	switch s := s.(type) {
	case script.Store:
		r.Interp = plpgsql.NewInterp(s, r.notice)
		r.Interp.Dir = func() string { return r.dir }
	case Server:
		r.server = s
		r.vars["VERBOSITY"], r.vars["SHOW_CONTEXT"] = "default", "errors"
		maps.Copy(r.vars, s.Variables())
		maps.Copy(r.vars, o.Vars)
	}
	return r
}

func (r *Runner) lookup(name string) (string, bool) {
	v, ok := r.vars[name]
	return v, ok
}

func (r *Runner) on(name string) bool {
	b, ok := parseBool(r.vars[name])
	return b && ok
}

func (r *Runner) quiet() bool { return r.on("QUIET") }

// resolve makes a file name absolute in the script's current folder.
func (r *Runner) resolve(name string) string { return script.Resolve(r.dir, name) }

// RunFile runs a script file; "-" is standard input.
func (r *Runner) RunFile(ctx context.Context, name string) error {
	if name == "-" {
		return r.RunReader(ctx, "", r.stdin)
	}
	return r.include(ctx, name, r.resolve(name))
}

// include runs a file; shown is its name in messages.
func (r *Runner) include(ctx context.Context, shown, path string) error {
	if r.depth >= 100 {
		return r.fail(sqlerr.TooComplex, "", "%s: files include each other more than 100 deep", shown)
	}
	f, err := os.Open(path)
	if err != nil {
		return r.fail(sqlerr.UndefinedFile, r.unset(shown), "%s: %s", shown, script.Reason(err))
	}
	defer f.Close()
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return r.run(ctx, &source{name: shown, path: path, r: bufio.NewReaderSize(f, 1<<16)})
}

// RunReader runs a script from a stream; name is shown in messages.
func (r *Runner) RunReader(ctx context.Context, name string, in io.Reader) error {
	br, ok := in.(*bufio.Reader)
	if !ok {
		br = bufio.NewReader(in)
	}
	return r.run(ctx, &source{name: name, r: br})
}

// run is psql's main loop over the lines of one source.
func (r *Runner) run(ctx context.Context, src *source) (err error) {
	outer, conds := r.src, r.conds
	r.src, r.conds = src, nil
	r.depth++
	defer func() { r.src, r.conds, r.depth = outer, conds, r.depth-1 }()
	s := &scanner{comments: r.server != nil}
	for {
		line, ok, err := src.next()
		if err != nil {
			return r.fail(sqlerr.IO, "", "%s: %v", src.name, err)
		}
		if !ok {
			break
		}
		if src.line == 1 {
			line = strings.TrimPrefix(line, "\uFEFF")
		}
		if r.vars["ECHO"] == "all" {
			fmt.Fprintln(r.stdout, line)
		}
		err = r.readLine(ctx, s, line)
		if err == errQuit {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if s.empty() && s.comment > 0 {
		src.line = s.commentLine
		return r.fail(sqlerr.Syntax, "", "unterminated /* comment")
	}
	if !s.empty() && !s.mute {
		if err := rescued(r, func() error { return r.send(ctx, s) }); err != nil {
			return err
		}
	}
	if len(r.conds) > 0 {
		return r.fail(sqlerr.Syntax, "", "reached EOF without finding closing \\endif(s)")
	}
	return nil
}

// readLine reads one line: parts of statements, statements and commands.
func (r *Runner) readLine(ctx context.Context, s *scanner, line string) error {
	for i := 0; ; {
		var why stop
		why, line, i = s.scan(line, i, r.src.line, r.lookup)
		switch why {
		case stopEnd:
			s.endLine()
			return nil
		case stopSemicolon:
			if s.mute {
				s.reset()
				continue
			}
			s.ended = true
			if err := rescued(r, func() error { return r.send(ctx, s) }); err != nil {
				return err
			}
		case stopBackslash:
			next := len(line) // after a panic the rest of the line is skipped
			if err := rescued(r, func() (err error) { next, err = runCommand(r, ctx, s, line, i); return err }); err != nil {
				return err
			}
			i = next
		}
	}
}

// send runs the collected statement and empties the buffer.
func (r *Runner) send(ctx context.Context, s *scanner) error {
	_, err := r.sendQuery(ctx, s, r.show)
	return err
}

// sendQuery runs the collected statements and hands on each result in parts. It returns the last part of the last one.
func (r *Runner) sendQuery(ctx context.Context, s *scanner, give func(*script.Result) error) (*script.Result, error) {
	defer func() { r.shown = nil }() // a result may have ended in an error
	if r.server != nil {
		return r.sendText(ctx, s, give)
	}
	text := &ast.Text{SQL: strings.TrimRight(s.buf.String(), " \t\r\n"), File: r.src.name, Line: s.line}
	ended := s.ended
	s.reset()
	if text.SQL == "" {
		return nil, nil
	}
	r.previous = text.SQL
	if ended {
		r.previous += ";"
	}
	if e := r.vars["ECHO"]; e == "queries" {
		fmt.Fprintln(r.stdout, text.SQL)
	}
	start := time.Now()
	for _, n := range bind.LongNames(text.SQL) {
		r.notice(script.Notice{Level: "NOTICE",
			Message: fmt.Sprintf("identifier \"%s\" will be truncated to \"%s\"", n, parse.Identifier(n))})
	}
	ps, err := parse.Parse(text)
	if err != nil {
		var e *sqlerr.Error
		if errors.As(err, &e) && e.Hint == "" && e.Pos >= 0 && e.Pos < len(text.SQL) {
			e.Hint = r.unset(text.SQL[e.Pos:])
		}
		return nil, r.report(err)
	}
	var res *script.Result
	for _, p := range ps {
		if r.StopBefore != nil && r.StopBefore(p.Stmt) {
			return nil, ErrBefore
		}
		if err := r.autocommit(ctx, p.Stmt); err != nil {
			return nil, r.report(sqlerr.In(err, text))
		}
		if res, err = r.execute(ctx, p.Stmt, text, give); err != nil {
			return nil, r.report(sqlerr.In(err, text))
		}
		r.succeeded(res)
		if err := give(res); err != nil {
			return nil, r.fail(sqlerr.IO, "", "%v", err)
		}
	}
	if r.timing {
		r.showTiming(time.Since(start))
	}
	return res, nil
}

// succeeded sets the variables that describe the last statement (ERROR, SQLSTATE, ROW_COUNT).
func (r *Runner) succeeded(res *script.Result) {
	r.vars["ROW_COUNT"] = plpgsql.Format(res.Count(), "bigint")
	if res.HasRows && res.Count() == 0 {
		r.vars["ROW_COUNT"] = plpgsql.Format(int64(len(res.Rows)), "bigint")
	}
	r.vars["ERROR"], r.vars["SQLSTATE"] = "false", "00000"
}

// autocommit begins a transaction where \set AUTOCOMMIT off asks for it.
func (r *Runner) autocommit(ctx context.Context, stmt ast.Statement) error {
	if b, ok := parseBool(r.vars["AUTOCOMMIT"]); !ok || b || r.session.InTransaction() {
		return nil
	}
	if _, ok := stmt.(*ast.Transaction); ok {
		return nil
	}
	return r.Interp.Transaction(ctx, "begin", "")
}

// execute runs one statement; COPY from and to the client is done here.
func (r *Runner) execute(ctx context.Context, stmt ast.Statement, text *ast.Text,
	give func(*script.Result) error) (*script.Result, error) {
	if c, ok := stmt.(*ast.Copy); ok && c.Std {
		return copyStd(r, ctx, c, text, false)
	}
	return r.Interp.ExecParts(ctx, stmt, text, &plpgsql.Parts{Rows: r.partSize(), Give: give})
}

// show prints a result, or a part of one, as psql does: its rows, and at its end the tag unless quiet.
func (r *Runner) show(res *script.Result) error {
	if err := r.showRows(res); err != nil {
		return sqlerr.New(sqlerr.IO, "could not write the result: %v", err).Wrap(err)
	}
	if res.More {
		return nil
	}
	word, _, _ := strings.Cut(res.Tag, " ")
	tag := !res.HasRows
	if res.HasRows {
		tag = word == "INSERT" || word == "UPDATE" || word == "DELETE" || word == "MERGE"
	}
	if !tag || r.quiet() || res.Tag == "" || r.print.format == FormatJSON {
		return nil
	}
	if _, err := fmt.Fprintln(r.out, res.Tag); err != nil {
		return sqlerr.New(sqlerr.IO, "could not write the result: %v", err).Wrap(err)
	}
	return nil
}

// showRows prints the rows of a part.
func (r *Runner) showRows(res *script.Result) error {
	if !res.HasRows {
		return nil
	}
	if r.shown == nil {
		r.shown = &sheet{printer: r.print, w: r.out}
	}
	err := r.shown.part(res)
	if !res.More {
		r.shown = nil
	}
	return err
}

func (r *Runner) showTiming(d time.Duration) {
	ms := float64(d.Nanoseconds()) / 1e6
	if ms < 1000 {
		fmt.Fprintf(r.stdout, "Time: %.3f ms\n", ms)
		return
	}
	sec := ms / 1000
	fmt.Fprintf(r.stdout, "Time: %.3f ms (%02d:%06.3f)\n", ms, int(sec)/60, sec-float64(int(sec)/60*60))
}

// prefix is what psql puts before a message of a script.
func (r *Runner) prefix() string {
	if r.src == nil || r.src.name == "" {
		return ""
	}
	return fmt.Sprintf("relgrad:%s:%d: ", r.src.name, r.src.line)
}

// levels are those of messages, the least first; client_min_messages may name a lower one than these.
var levels = []string{"NOTICE", "WARNING", "ERROR", "FATAL", "PANIC"}

// notice prints a message of a running statement.
func (r *Runner) notice(n script.Notice) {
	if s, ok := r.session.(script.EmbeddedStore); ok && n.Level != "INFO" { // a server leaves them out itself
		least, _ := s.Setting("client_min_messages")
		if slices.Index(levels, n.Level) < slices.Index(levels, strings.ToUpper(least)) {
			return
		}
	}
	fmt.Fprintf(r.stderr, "%s%s:  %s\n", r.prefix(), n.Level, n.Message)
	if n.Detail != "" {
		fmt.Fprintf(r.stderr, "DETAIL:  %s\n", n.Detail)
	}
	if n.Hint != "" {
		fmt.Fprintf(r.stderr, "HINT:  %s\n", n.Hint)
	}
}

// report prints an error. It returns ErrStopped, or nil when the script asked to go on after errors.
func (r *Runner) report(err error) error {
	r.lastError = err
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Text == nil || e.Text.File == "" { // in a function or EXECUTE: blame the statement
		fmt.Fprint(r.stderr, r.prefix())
	}
	fmt.Fprint(r.stderr, sqlerr.Render(err))
	r.vars["ERROR"], r.vars["SQLSTATE"] = "true", sqlerr.Code(err)
	r.vars["LAST_ERROR_SQLSTATE"], r.vars["LAST_ERROR_MESSAGE"] = sqlerr.Code(err), err.Error()
	if !r.on("ON_ERROR_STOP") && (sqlerr.Code(err) != sqlerr.QueryCanceled || r.server != nil) { // a server has timeouts
		return nil
	}
	return fmt.Errorf("%w: %w", ErrStopped, err)
}

// fail reports an error of a command at the current line.
func (r *Runner) fail(code, hint, format string, args ...any) error {
	e := sqlerr.New(code, format, args...)
	e.Hint = hint
	if r.src == nil { // no script has begun
		return e
	}
	e.Text = &ast.Text{File: r.src.name, Line: r.src.line}
	return r.report(e)
}

var variableName = regexp.MustCompile(`^:(['"]?)([A-Za-z0-9_\x80-\x{10FFFF}]+)`)

// unset is a hint where a text begins with a reference to a variable that is not set.
func (r *Runner) unset(text string) string {
	m := variableName.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	if _, ok := r.vars[m[2]]; ok {
		return ""
	}
	hint := fmt.Sprintf("The variable %s is not set: use -v %s=… or \\set %s ….", m[2], m[2], m[2])
	var own []string
	for n := range r.vars {
		if n != strings.ToUpper(n) {
			own = append(own, n)
		}
	}
	slices.Sort(own)
	if near := sqlerr.Nearest(m[2], own); near != "" {
		hint = fmt.Sprintf("The variable %s is not set; perhaps you meant %s.", m[2], near)
	}
	return hint
}

// partSize is the rows of a part: psql's variable FETCH_COUNT where it is set.
func (r *Runner) partSize() int {
	if n, err := strconv.Atoi(r.vars["FETCH_COUNT"]); err == nil && n > 0 {
		return n
	}
	return plpgsql.PartRows
}

// Close ends output to a file or command.
func (r *Runner) Close() error {
	if r.closeOut == nil {
		return nil
	}
	err := r.closeOut()
	r.out, r.closeOut = r.stdout, nil
	return err
}

// RunSQL runs one statement text as a script of its own, without psql's commands.
func (r *Runner) RunSQL(ctx context.Context, sql string) error {
	s := &scanner{}
	s.add(sql, 1)
	outer := r.src
	r.src = &source{}
	defer func() { r.src = outer }()
	return r.send(ctx, s)
}
