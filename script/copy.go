package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront"
)

// backslashCopy is \copy … from|to …: a COPY whose file or program is the client's.
func (r *Runner) backslashCopy(ctx context.Context, rest string) error {
	rest = strings.TrimSuffix(strings.TrimSpace(rest), ";")
	text := &sqlfront.Text{SQL: rest, File: r.src.name, Line: r.src.line}
	c, pstd, err := parseCopy(text)
	if err != nil {
		return r.report(sqlerr.In(err, text))
	}
	var res *Result
	if c.Std {
		res, err = r.copyStd(ctx, c, text, pstd)
	} else {
		res, err = r.Interp.copyFile(ctx, c, text)
	}
	if err != nil {
		return r.report(sqlerr.In(err, text))
	}
	r.vars["ROW_COUNT"] = Format(res.Count(), "bigint")
	if err := r.show(res); err != nil {
		return r.fail(sqlerr.IO, "", "could not write the result: %v", err)
	}
	return nil
}

// parseCopy reads \copy's arguments. The file name, which need not be quoted, is cut out, and the rest
// is parsed as COPY … FROM STDIN.
func parseCopy(text *sqlfront.Text) (c *sqlfront.Copy, pstd bool, err error) {
	sql := text.SQL
	bad := func(at int, msg string) (*sqlfront.Copy, bool, error) {
		e := sqlerr.At(at, sqlerr.Syntax, "\\copy: %s", msg)
		e.Text = text
		return nil, false, e.WithHint("Write \\copy table [(columns)] FROM 'file' | PROGRAM 'command' | STDIN [WITH (options)].")
	}
	depth, at := 0, 0
	var dir sqlfront.Token
	for {
		t := sqlfront.Lex(sql, at)
		if t.Kind == sqlfront.TokEOF || t.Kind == sqlfront.TokUnfinished {
			return bad(len(sql), "expected FROM or TO")
		}
		if t.Is("(") {
			depth++
		}
		if t.Is(")") {
			depth--
		}
		at = t.End
		if depth == 0 && (t.Is("from") || t.Is("to")) {
			dir = t
			break
		}
	}
	src, next, program, ok := copySource(sql, at)
	if !ok {
		return bad(len(sql), "expected a file name, PROGRAM, STDIN or STDOUT")
	}
	std := " STDIN "
	if dir.Is("to") {
		std = " STDOUT "
	}
	const verb = "COPY "
	ps, err := sqlfront.Parse(&sqlfront.Text{SQL: verb + sql[:dir.End] + std + sql[next:], File: text.File, Line: text.Line})
	if err != nil {
		return nil, false, err
	}
	c, ok = ps[0].Stmt.(*sqlfront.Copy)
	if !ok || len(ps) != 1 {
		return bad(next, "syntax error")
	}
	c = sqlfront.Relocate(c, 0)
	c.Source, c.Program, c.Std = src, program, false
	switch word := strings.ToLower(src); {
	case program || strings.HasPrefix(strings.TrimSpace(sql[at:]), "'"):
	case word == "stdin" || word == "stdout" || word == "pstdin" || word == "pstdout":
		c.Std, pstd = true, strings.HasPrefix(word, "p")
	}
	return c, pstd, nil
}

// copySource reads 'file', file, PROGRAM 'command' or a standard stream at or after at.
func copySource(sql string, at int) (src string, next int, program, ok bool) {
	at, _ = sqlfront.SkipBlank(sql, at)
	if t := sqlfront.Lex(sql, at); t.Is("program") {
		program = true
		at, _ = sqlfront.SkipBlank(sql, t.End)
	}
	if at >= len(sql) {
		return "", at, program, false
	}
	if sql[at] == '\'' {
		t := sqlfront.Lex(sql, at)
		if t.Kind != sqlfront.TokString {
			return "", at, program, false
		}
		return strings.ReplaceAll(sql[at+1:t.End-1], "''", "'"), t.End, program, true
	}
	end := at
	for end < len(sql) && !isSpace(sql[end]) {
		end++
	}
	return sql[at:end], end, program, !program
}

// copyStd is COPY from the script's own lines (or, pstd, standard input) and to standard output.
func (r *Runner) copyStd(ctx context.Context, c *sqlfront.Copy, text *sqlfront.Text, pstd bool) (*Result, error) {
	var n int64
	var err error
	switch {
	case !c.From:
		n, err = r.Interp.Session.CopyOut(ctx, c, text, r.out)
	case pstd:
		n, err = r.Interp.Session.CopyIn(ctx, c, text, &copyLines{src: &source{r: r.stdin}}, "stdin")
	default:
		in := &copyLines{src: r.src}
		n, err = r.Interp.Session.CopyIn(ctx, c, text, in, "stdin")
		if _, e := io.Copy(io.Discard, in); e != nil && err == nil { // the data's end is the statement's end
			err = e
		}
	}
	if err != nil {
		return nil, err
	}
	res := &Result{Tag: fmt.Sprintf("COPY %d", n)}
	if !c.From { // psql prints no tag into the data
		res.Tag = ""
	}
	return res, nil
}

// copyLines reads the lines of a source up to "\." or its end.
type copyLines struct {
	src  *source
	buf  []byte
	done bool
}

func (c *copyLines) Read(p []byte) (int, error) {
	if len(c.buf) == 0 {
		if c.done {
			return 0, io.EOF
		}
		line, err := c.src.bytes()
		if string(bytes.TrimRight(line, "\r\n")) == `\.` || err == io.EOF {
			c.done = true
		}
		if err != nil && err != io.EOF {
			return 0, err
		}
		if !c.done || err == io.EOF && string(bytes.TrimRight(line, "\r\n")) != `\.` {
			c.buf = line
		}
	}
	n := copy(p, c.buf)
	c.buf = c.buf[n:]
	return n, nil
}

// copyFile is COPY from and to a file or program.
func (in *Interp) copyFile(ctx context.Context, c *sqlfront.Copy, text *sqlfront.Text) (*Result, error) {
	n, err := int64(0), error(nil)
	if c.Program {
		n, err = in.copyProgram(ctx, c, text)
	} else {
		n, err = in.copyNamed(ctx, c, text)
	}
	if err != nil {
		return nil, err
	}
	return &Result{Tag: fmt.Sprintf("COPY %d", n)}, nil
}

func (in *Interp) dir() string {
	if in.Dir == nil {
		return ""
	}
	return in.Dir()
}

func (in *Interp) copyNamed(ctx context.Context, c *sqlfront.Copy, text *sqlfront.Text) (int64, error) {
	path := resolve(in.dir(), c.Source)
	if c.From {
		f, err := os.Open(path)
		if err != nil {
			return 0, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for reading: %s", c.Source, reason(err))
		}
		defer f.Close()
		if st, err := f.Stat(); err == nil && st.IsDir() {
			return 0, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a directory", c.Source)
		}
		return in.Session.CopyIn(ctx, c, text, f, c.Source)
	}
	f, err := os.Create(path)
	if err != nil {
		return 0, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for writing: %s", c.Source, reason(err))
	}
	n, err := in.Session.CopyOut(ctx, c, text, f)
	if e := f.Close(); e != nil && err == nil {
		err = sqlerr.New(sqlerr.IO, "could not write file \"%s\": %s", c.Source, reason(e))
	}
	return n, err
}

// copyProgram runs a shell command at the other end of the copy.
func (in *Interp) copyProgram(ctx context.Context, c *sqlfront.Copy, text *sqlfront.Text) (n int64, err error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", c.Source)
	var said tail
	cmd.Dir, cmd.Stderr = in.dir(), io.MultiWriter(os.Stderr, &said)
	fail := func(e error) error {
		if ctx.Err() != nil {
			return canceled(ctx)
		}
		return sqlerr.New("38000", "program \"%s\" failed", c.Source).WithDetail("%s", exitDetail(e)+said.last())
	}
	if c.From {
		pipe, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return 0, fail(err)
		}
		from := &programReader{r: pipe, wait: func() error {
			if err := cmd.Wait(); err != nil {
				return fail(err)
			}
			return nil
		}}
		n, err = in.Session.CopyIn(ctx, c, text, from, c.Source)
		if !from.done { // an error before the end: the program may wait for its reader
			pipe.Close()
			_ = cmd.Wait()
		}
		return n, err
	}
	pipe, err := cmd.StdinPipe()
	if err == nil {
		cmd.Stdout = os.Stdout
		err = cmd.Start()
	}
	if err != nil {
		return 0, fail(err)
	}
	n, err = in.Session.CopyOut(ctx, c, text, pipe)
	pipe.Close()
	if e := cmd.Wait(); e != nil && err == nil {
		err = fail(e)
	}
	return n, err
}

// programReader reads a program's output. At its end it waits for the program: a failure is an error of
// the last read, so that the rows read are not kept.
type programReader struct {
	r    io.Reader
	wait func() error
	done bool
}

func (p *programReader) Read(b []byte) (int, error) {
	if p.done {
		return 0, io.EOF
	}
	n, err := p.r.Read(b)
	if err == io.EOF {
		p.done = true
		if e := p.wait(); e != nil {
			return n, e
		}
	}
	return n, err
}

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	const keep = 1000
	t.b = append(t.b, p...)
	if len(t.b) > keep {
		t.b = t.b[len(t.b)-keep:]
	}
	return len(p), nil
}

// last is the last line written, behind a colon.
func (t *tail) last() string {
	s := strings.TrimSpace(strings.ToValidUTF8(string(t.b), ""))
	if s == "" {
		return ""
	}
	return ": " + s[strings.LastIndexByte(s, '\n')+1:]
}

func exitDetail(err error) string {
	var ee *exec.ExitError
	if errors.As(err, &ee) && ee.Exited() {
		return fmt.Sprintf("child process exited with exit code %d", ee.ExitCode())
	}
	return err.Error()
}
