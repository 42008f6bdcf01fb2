package psql

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/plpgsql"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// backslashCopy is \copy … from|to …: a COPY whose file or program is the client's.
func backslashCopy(r *Runner, ctx context.Context, rest string) error {
	rest = strings.TrimSuffix(strings.TrimSpace(rest), ";")
	text := &ast.Text{SQL: rest, File: r.src.name, Line: r.src.line}
	if r.server != nil {
		return copyServer(r, ctx, text)
	}
	c, pstd, err := parseCopy(text)
	if err != nil {
		return r.report(sqlerr.In(err, text))
	}
	var res *script.Result
	if c.Std {
		res, err = copyStd(r, ctx, c, text, pstd)
	} else {
		res, err = r.Interp.CopyFile(ctx, c, text)
	}
	if err != nil {
		return r.report(sqlerr.In(err, text))
	}
	r.vars["ROW_COUNT"] = plpgsql.Format(res.Count(), "bigint")
	if err := r.show(res); err != nil {
		return r.fail(sqlerr.IO, "", "%v", err)
	}
	return nil
}

// copyArgs are \copy's arguments. head is the text before FROM or TO, tail the text after the file.
type copyArgs struct {
	head, tail   string
	from         bool
	source       string
	program      bool
	std, process bool // std: the script's own streams; process: those of the process
}

// sql is the COPY between database and client that psql makes of a \copy.
func (a *copyArgs) sql() string {
	if a.from {
		return "COPY  " + a.head + " FROM STDIN " + a.tail
	}
	return "COPY  " + a.head + " TO STDOUT " + a.tail
}

// splitCopy reads \copy's arguments and cuts out the file name, which may be unquoted.
func splitCopy(text *ast.Text) (*copyArgs, error) {
	sql := text.SQL
	bad := func(at int, msg string) (*copyArgs, error) {
		e := sqlerr.At(at, sqlerr.Syntax, "\\copy: %s", msg)
		e.Text = text
		return nil, e.WithHint("Write \\copy table [(columns)] FROM 'file' | PROGRAM 'command' | STDIN [WITH (options)].")
	}
	depth, at := 0, 0
	var dir parse.Token
	for {
		t := parse.Lex(sql, at)
		if t.Kind == parse.TokEOF || t.Kind == parse.TokUnfinished {
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
	a := &copyArgs{head: strings.TrimSpace(sql[:dir.At]), tail: strings.TrimSpace(sql[next:]), from: dir.Is("from"),
		source: src, program: program}
	switch word := strings.ToLower(src); {
	case program || strings.HasPrefix(strings.TrimSpace(sql[at:]), "'"):
	case word == "stdin" || word == "stdout" || word == "pstdin" || word == "pstdout":
		a.std, a.process = true, strings.HasPrefix(word, "p")
	}
	return a, nil
}

// parseCopy reads \copy's arguments as a tree.
func parseCopy(text *ast.Text) (c *ast.Copy, pstd bool, err error) {
	a, err := splitCopy(text)
	if err != nil {
		return nil, false, err
	}
	ps, err := parse.Parse(&ast.Text{SQL: a.sql(), File: text.File, Line: text.Line})
	if err != nil {
		return nil, false, err
	}
	c, ok := ps[0].Stmt.(*ast.Copy)
	if !ok || len(ps) != 1 {
		e := sqlerr.At(len(text.SQL)-len(a.tail), sqlerr.Syntax, "\\copy: syntax error")
		e.Text = text
		return nil, false, e
	}
	c = ast.Relocate(c, 0)
	c.Source, c.Program, c.Std = a.source, a.program, a.std
	return c, a.process, nil
}

// copySource reads 'file', file, PROGRAM 'command' or a standard stream at or after at.
func copySource(sql string, at int) (src string, next int, program, ok bool) {
	at, _ = parse.SkipBlank(sql, at)
	if t := parse.Lex(sql, at); t.Is("program") {
		program = true
		at, _ = parse.SkipBlank(sql, t.End)
	}
	if at >= len(sql) {
		return "", at, program, false
	}
	if sql[at] == '\'' {
		t := parse.Lex(sql, at)
		if t.Kind != parse.TokString {
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
func copyStd(r *Runner, ctx context.Context, c *ast.Copy, text *ast.Text, pstd bool) (*script.Result, error) {
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
		if _, e := io.Copy(io.Discard, in); e != nil && err == nil { // its data end with the statement
			err = e
		}
	}
	if err != nil {
		return nil, err
	}
	res := &script.Result{Tag: fmt.Sprintf("COPY %d", n)}
	if !c.From { // psql prints no tag between the data
		res.Tag = ""
	}
	return res, nil
}

// copyLines reads the lines of a source up to "\." or its end.
type copyLines struct {
	src  *source
	buf  []byte
	done bool
	in   bool // buf ended in the middle of a line
}

func (c *copyLines) Read(p []byte) (int, error) {
	if len(c.buf) == 0 {
		if c.done {
			return 0, io.EOF
		}
		part, err := c.src.bytes()
		last := !c.in && string(bytes.TrimRight(part, "\r\n")) == `\.`
		c.done = last || err == io.EOF
		if err != nil && err != io.EOF {
			return 0, err
		}
		if !last {
			c.buf, c.in = part, !bytes.HasSuffix(part, []byte("\n"))
		}
	}
	n := copy(p, c.buf)
	c.buf = c.buf[n:]
	return n, nil
}

// copyServer is \copy on a server.
func copyServer(r *Runner, ctx context.Context, text *ast.Text) error {
	a, err := splitCopy(text)
	if err != nil {
		return r.report(err)
	}
	if !a.std && !a.program && namesFolder(a.tail) {
		return copyFolder(r, ctx, a, text)
	}
	if a.std {
		data := r.copyLines
		if a.process {
			data = func() io.Reader { return &copyLines{src: &source{r: r.stdin}} }
		}
		_, err := r.runText(ctx, a.sql(), data, r.show)
		return err
	}
	var tag *script.Result
	c := r.client(nil, func(res *script.Result) error { tag = res; return nil })
	run := func() (int64, error) {
		if err := r.begin(ctx, a.sql(), c); err != nil {
			return 0, err
		}
		return 0, r.server.Run(ctx, a.sql(), c)
	}
	t := &script.Transfer{Dir: r.dir, Source: a.source, Program: a.program, From: a.from,
		In: func(from io.Reader) (int64, error) {
			c.CopyIn = func() io.Reader { return from }
			return run()
		},
		Out: func(w io.Writer) (int64, error) {
			c.CopyOut = func() io.Writer { return w }
			return run()
		}}
	if _, err = t.Run(ctx); err == nil && tag != nil {
		err = r.show(tag)
	}
	if err != nil {
		return r.failed(ctx, a.sql(), err)
	}
	return nil
}
