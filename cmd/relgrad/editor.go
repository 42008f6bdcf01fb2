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

	"github.com/relgrad/relgrad/script/psql"
)

// lineEditor is the shell's terminal, with line editing, history and completion.
type lineEditor struct {
	shell   *readline.Shell
	history statements
}

// statements is a history of whole statements. Single lines do not enter it.
type statements struct{ readline.History }

// Write implements readline.History; the library calls it for every line.
func (s statements) Write(string) (int, error) { return s.Len(), nil }

func newLineEditor(r *psql.Runner) *lineEditor {
	e := &lineEditor{shell: readline.NewShell(inputrc.WithApp("relgrad"))}
	for name, value := range map[string]bool{
		"cursor-position-probe":        false, // keys typed before the terminal's answer would be lost
		"menu-complete-display-prefix": true,  // Tab completes as far as all completions agree
		"completion-ignore-case":       true,
		"multiline-column":             false, // it hides text where lines wrap
	} {
		_ = e.shell.Config.Set(name, value)
	}
	file, err := historyFile()
	if err == nil {
		e.history.History, err = readline.NewHistoryFromFile(file)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "relgrad: the history is not kept: %v\n", err)
		e.history.History = readline.NewInMemoryHistory()
	}
	e.shell.History.Add("history", e.history)
	e.shell.Completer = func(line []rune, cursor int) readline.Completions { return complete(r, string(line[:cursor])) }
	return e
}

// Read implements psql.Terminal.
func (e *lineEditor) Read(prompt string) (string, error) { return e.read(prompt, "complete") }

// Ask implements psql.Terminal. A tab inserts a tab.
func (e *lineEditor) Ask(prompt string) (string, error) { return e.read(prompt, "tab-insert") }

// room is the number of lines that the library needs below the prompt for wrapped lines and recalled statements.
const room = 5

// read reads a line. All lines share one editor, so that what is typed ahead is not lost.
func (e *lineEditor) read(prompt, tab string) (string, error) {
	for _, keymap := range []string{"emacs", "vi-insert"} {
		_ = e.shell.Config.Bind(keymap, "\t", tab, false)
	}
	fmt.Print(strings.Repeat("\n", room), "\x1b[", room, "A\r")
	e.shell.Prompt.Primary(func() string { return prompt })
	text, err := e.shell.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		err = psql.ErrInterrupt
	}
	return text, err
}

// Remember implements psql.Terminal.
func (e *lineEditor) Remember(text string) {
	if last, err := e.history.GetLine(e.history.Len() - 1); err == nil && last == text || strings.TrimSpace(text) == "" {
		return
	}
	if _, err := e.history.History.Write(text); err != nil {
		fmt.Fprintf(os.Stderr, "relgrad: the history is not kept: %v\n", err)
	}
}

// Interruptible implements psql.Terminal.
func (e *lineEditor) Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt)
}

// most is how many completions are listed: they must fit on the screen.
const most = 60

// complete lists the completions of a text under headings. The library replaces the text after the last blank.
func complete(r *psql.Runner, text string) readline.Completions {
	word, found := r.Complete(text)
	if len(found) > most {
		return readline.CompleteMessage("%d possibilities: type more letters", len(found))
	}
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
	return out
}

// historyFile is the file of the shell's history, in the folder for programs' state
// (https://specifications.freedesktop.org/basedir-spec).
func historyFile() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // relative paths must be ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "relgrad")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(filepath.Join(dir, "history"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}
