package psql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// ErrInterrupt is returned by a Terminal when the user presses Ctrl-C: the line is discarded.
var ErrInterrupt = errors.New("interrupt")

// Terminal reads what the user types.
type Terminal interface {
	// Read reads a line of a statement. A statement recalled from the history may have several lines. The end of the
	// input is io.EOF.
	Read(prompt string) (string, error)
	// Ask reads a line that is not part of a statement.
	Ask(prompt string) (string, error)
	// Remember adds a whole statement to the history.
	Remember(text string)
	// Interruptible returns a context that Ctrl-C cancels until stop is called. There is one for each statement.
	Interruptible(ctx context.Context) (_ context.Context, stop context.CancelFunc)
}

// RunTerminal is the shell: it runs what the user types until \q or the end of the input. An error ends a statement,
// never the shell.
func (r *Runner) RunTerminal(ctx context.Context, t Terminal) error {
	if _, set := r.given["ON_ERROR_STOP"]; !set {
		r.vars["ON_ERROR_STOP"] = "off"
	}
	s := &scanner{comments: r.server != nil}
	r.terminal, r.src, r.buffer = t, &source{more: r.nextTyped}, s
	defer func() { r.terminal, r.src, r.conds, r.lines, r.buffer = nil, nil, nil, nil, nil }()
	statement := "" // the lines so far
	for ctx.Err() == nil {
		text, err := r.readTyped()
		switch {
		case errors.Is(err, ErrInterrupt):
			s.reset()
			statement = ""
			if len(r.conds) > 0 {
				r.conds, s.mute = nil, false
				fmt.Fprintln(r.stderr, "\\if: escaped")
			}
			continue
		case err == io.EOF:
			sayUnlessQuiet(r, "\\q")
			return nil
		case err != nil:
			return sqlerr.New(sqlerr.IO, "could not read from the terminal: %v", err).Wrap(err)
		}
		statement = strings.TrimPrefix(statement+"\n"+text, "\n")
		quit := r.runTyped(ctx, s, text)
		if quit || s.empty() && !s.inQuote() {
			t.Remember(statement)
			statement = ""
		}
		if quit {
			return nil
		}
	}
	return nil
}

// readTyped returns the text that an editor left, or reads a line from the terminal.
func (r *Runner) readTyped() (string, error) {
	if text := r.typed; text != "" {
		r.typed = ""
		_, err := fmt.Fprintln(r.stdout, text)
		return text, err
	}
	return r.terminal.Read(r.promptText(r.buffer))
}

// runTyped runs lines that were typed. quit: they end the shell.
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
				fmt.Fprintln(r.stdout, "\\? lists the backslash commands, \\h says where SQL is documented, \\q leaves.\nA "+
					"statement ends with a semicolon.")
				continue
			case "quit", "exit":
				return true
			}
		}
		err := r.readLine(ctx, s, line)
		if err == errQuit {
			return true
		}
		if err != nil { // the error has been printed; the rest of the input relied on success
			s.reset()
			return false
		}
	}
	return false
}

// nextTyped returns the next line of COPY's data: first what was typed after the statement, then lines read from the
// terminal. Ctrl-D ends the data.
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
	if r.session.InTransaction() {
		transaction = "*"
		if r.session.Failed() {
			transaction = "!"
		}
	}
	name := "relgrad"
	if r.server != nil {
		name = r.vars["DBNAME"]
	}
	return name + where + transaction + "> "
}

func (s *scanner) copy() *scanner {
	c := &scanner{comments: s.comments, line: s.line, parens: s.parens, quote: s.quote, tag: s.tag, comment: s.comment,
		last: s.last, mute: s.mute, words: s.words, count: s.count, begins: s.begins}
	c.buf.WriteString(s.buf.String())
	return c
}
