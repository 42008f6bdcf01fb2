package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/reeflective/readline"
	"github.com/reeflective/readline/inputrc"

	"github.com/relgrad/relgrad/script"
)

// lineEditor is the shell's terminal: lines of a statement are edited together, with history and completion.
type lineEditor struct {
	shell *readline.Shell
	asks  *readline.Shell // for answers: one line, without history
}

func newLineEditor(r *script.Runner) *lineEditor {
	e := &lineEditor{shell: readline.NewShell(inputrc.WithApp("relgrad")), asks: readline.NewShell(inputrc.WithApp("relgrad"))}
	for _, s := range []*readline.Shell{e.shell, e.asks} {
		if term := os.Getenv("TERM"); term == "dumb" || term == "" { // it cannot say where the cursor is
			_ = s.Config.Set("cursor-position-probe", false)
		}
		_ = s.Config.Set("menu-complete-display-prefix", true) // Tab goes as far as all completions agree
		_ = s.Config.Set("completion-ignore-case", true)
	}
	if path, err := historyFile(); err != nil {
		fmt.Fprintf(os.Stderr, "relgrad: no history is kept: %v\n", err)
	} else {
		e.shell.History.AddFromFile("history", path)
	}
	e.shell.Completer = func(line []rune, cursor int) readline.Completions { return complete(r, string(line[:cursor])) }
	return e
}

// Read implements script.Terminal.
func (e *lineEditor) Read(prompt func(before string) string, done func(text string) bool) (string, error) {
	e.shell.Prompt.Primary(func() string { return prompt("") })
	e.shell.Prompt.Secondary(func() string {
		text := string(*e.shell.Line())
		return prompt(text[:strings.LastIndexByte(text, '\n')+1])
	})
	e.shell.AcceptMultiline = func(line []rune) bool { return done(string(line)) }
	return interrupted(e.shell.Readline())
}

// Ask implements script.Terminal.
func (e *lineEditor) Ask(prompt string) (string, error) {
	e.asks.Prompt.Primary(func() string { return prompt })
	return interrupted(e.asks.Readline())
}

// Interruptible implements script.Terminal.
func (e *lineEditor) Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt)
}

func interrupted(text string, err error) (string, error) {
	if errors.Is(err, readline.ErrInterrupt) {
		err = script.ErrInterrupt
	}
	return text, err
}

// complete shows the completions of a text under headings. The library replaces what follows the last blank.
func complete(r *script.Runner, text string) readline.Completions {
	word, found := r.Complete(text)
	blank := strings.LastIndexAny(text, " \t\n") + 1
	head := text[min(blank, word):word]
	list := make([]readline.Completion, len(found))
	for i, c := range found {
		value := c.Text
		if c.Kind == "function" || c.Kind == "procedure" {
			value += "("
		}
		list[i] = readline.Completion{Value: head + value, Display: c.Text, Tag: c.Kind}
	}
	out := readline.CompleteRaw(list)
	out.PREFIX = text[min(blank, word):]
	if strings.Contains(head, "'") { // inside a string
		return out.NoSpace()
	}
	return out.NoSpace('/', '(')
}

// historyFile is the file of the shell's history, in the folder where the user's programs keep their state
// (https://specifications.freedesktop.org/basedir-spec).
func historyFile() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // the specification asks to ignore others
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "relgrad")
	return filepath.Join(dir, "history"), os.MkdirAll(dir, 0o700)
}
