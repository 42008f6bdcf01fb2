package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// ErrInterrupt is what a Terminal returns where the user pressed Ctrl-C: the line is forgotten.
var ErrInterrupt = errors.New("interrupt")

// Terminal is where the shell reads statements and answers.
type Terminal interface {
	// Read reads lines until done holds of all of them together. prompt gives the prompt of the line that follows a
	// text. At the end of the input the error is io.EOF.
	Read(prompt func(before string) string, done func(text string) bool) (string, error)
	// Ask reads one line that is no statement.
	Ask(prompt string) (string, error)
	// Interruptible returns a context that Ctrl-C ends, until stop is called: one for each statement.
	Interruptible(ctx context.Context) (_ context.Context, stop context.CancelFunc)
}

// RunTerminal is the shell: it runs what the terminal gives until \q or the end of the input. An error ends a statement,
// never the shell.
func (r *Runner) RunTerminal(ctx context.Context, t Terminal) error {
	if _, set := r.given["ON_ERROR_STOP"]; !set {
		r.vars["ON_ERROR_STOP"] = "off"
	}
	r.terminal, r.src = t, &source{more: r.nextTyped}
	s := &scanner{}
	r.buffer = s
	defer func() { r.terminal, r.src, r.conds, r.lines, r.buffer = nil, nil, nil, nil, nil }()
	for ctx.Err() == nil {
		text := r.typed
		r.typed = ""
		if text == "" {
			var err error
			text, err = t.Read(func(before string) string { return r.promptText(s.after(before, r.lookup)) }, func(text string) bool { return s.complete(text, r.lookup) })
			switch {
			case errors.Is(err, ErrInterrupt):
				s.reset()
				if len(r.conds) > 0 {
					r.conds, s.mute = nil, false
					fmt.Fprintln(r.stderr, "\\if: escaped")
				}
				continue
			case err == io.EOF:
				if !r.quiet() {
					fmt.Fprintln(r.stdout, `\q`)
				}
				return nil
			case err != nil:
				return sqlerr.New(sqlerr.IO, "could not read from the terminal: %v", err).Wrap(err)
			}
		} else {
			fmt.Fprintln(r.stdout, text)
		}
		if r.runTyped(ctx, s, text) {
			return nil
		}
	}
	return nil
}

// runTyped runs lines that were typed; quit tells that they end the shell.
func (r *Runner) runTyped(ctx context.Context, s *scanner, text string) (quit bool) {
	ctx, stop := r.terminal.Interruptible(ctx)
	defer stop()
	r.lines = strings.Split(text, "\n")
	for len(r.lines) > 0 {
		line := r.lines[0]
		r.lines = r.lines[1:]
		if s.empty() && !s.inQuote() && !s.mute {
			switch strings.TrimSuffix(strings.TrimSpace(line), ";") {
			case "help":
				fmt.Fprintln(r.stdout, "\\? lists the backslash commands, \\h says where SQL is documented, \\q leaves.\nA statement ends with a semicolon.")
				continue
			case "quit", "exit":
				return true
			}
		}
		err := r.readLine(ctx, s, line)
		if err == errQuit {
			return true
		}
		if err != nil { // it has been printed; what follows on the lines was meant to come after it
			s.reset()
			return false
		}
	}
	return false
}

// nextTyped returns the next line of COPY's data: what was typed behind the statement, then what is asked for. Ctrl-D ends
// the data.
func (r *Runner) nextTyped() (string, bool, error) {
	if len(r.lines) > 0 {
		line := r.lines[0]
		r.lines = r.lines[1:]
		return line, true, nil
	}
	line, err := r.terminal.Ask(">> ")
	switch {
	case err == io.EOF:
		return "", false, nil
	case errors.Is(err, ErrInterrupt):
		return "", false, sqlerr.New(sqlerr.QueryCanceled, "COPY from stdin was interrupted").Wrap(err)
	}
	return line, err == nil, err
}

// promptText is psql's prompt: where the line stands (= at the beginning of a statement, - in it, ' " $ * ( inside of
// these, @ in a branch of \if that is not taken), and * in a transaction, ! in a failed one.
func (r *Runner) promptText(s *scanner) string {
	where := "="
	switch {
	case s.quote == 'E':
		where = "'"
	case s.quote != 0:
		where = string([]byte{s.quote})
	case s.parens > 0:
		where = "("
	case !s.empty():
		where = "-"
	case s.mute:
		where = "@"
	}
	transaction := ""
	if r.Interp.Session.InTransaction() {
		transaction = "*"
		if d, err := r.describer(); err == nil && d.Failed() {
			transaction = "!"
		}
	}
	return "relgrad" + where + transaction + "> "
}

// copy returns a scanner in the same state.
func (s *scanner) copy() *scanner {
	c := &scanner{line: s.line, parens: s.parens, quote: s.quote, tag: s.tag, comment: s.comment, last: s.last, mute: s.mute}
	c.buf.WriteString(s.buf.String())
	return c
}

// after is the scanner that has read a text in which nothing is run.
func (s *scanner) after(text string, vars func(string) (string, bool)) *scanner {
	c := s.copy()
	c.read(text, vars)
	return c
}

// complete tells whether something is to be done with a text that the scanner reads next: a semicolon or a backslash
// command stands in it, or no statement has begun.
func (s *scanner) complete(text string, vars func(string) (string, bool)) bool {
	c := s.copy()
	if c.read(text, vars) {
		return true
	}
	return c.empty() && !c.inQuote()
}

// read reads lines up to the first end of a statement or backslash command, and tells whether there is one.
func (s *scanner) read(text string, vars func(string) (string, bool)) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if why, _, _ := s.scan(line, 0, 1, vars); why != stopEnd {
			return true
		}
		s.endLine()
	}
	return false
}
