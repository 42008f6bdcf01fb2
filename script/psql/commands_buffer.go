package psql

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
)

// bufferedText is the text of the query buffer, or of the last statement where the buffer is empty.
func bufferedText(r *Runner, s *scanner) string {
	if s.empty() {
		return r.previous
	}
	return strings.TrimRight(s.buf.String(), " \t\r\n")
}

// recallPrevious copies the last statement into an empty query buffer, for \g and similar commands.
func recallPrevious(r *Runner, s *scanner) {
	if s.empty() && r.previous != "" {
		s.add(r.previous, r.src.line)
	}
}

// writeBuffer is \w file: it writes the query buffer.
func writeBuffer(r *Runner, ctx context.Context, s *scanner, args []string) (err error) {
	to := strings.Join(args, " ")
	if to == "" {
		return r.fail(sqlerr.Syntax, "Write \\w FILE.", "\\w: missing required argument")
	}
	text := bufferedText(r, s)
	if text == "" {
		return r.fail(sqlerr.Syntax, "", "\\w: the query buffer is empty and no statement has run")
	}
	keep, closeOut := r.out, r.closeOut
	r.closeOut = nil
	defer func() { r.out, r.closeOut = keep, closeOut }()
	if err := redirectOutput(r, ctx, to); err != nil || r.closeOut == nil {
		return err
	}
	_, err = fmt.Fprintln(r.out, text)
	if e := r.closeOut(); err == nil {
		err = e
	}
	if err != nil {
		return r.fail(sqlerr.IO, "", "\\w: %v", err)
	}
	return nil
}

// editBuffer is \e [file]: the text that the editor leaves is read as if it had been typed.
func editBuffer(r *Runner, ctx context.Context, s *scanner, args []string) error {
	if r.terminal == nil {
		return r.fail(sqlerr.FeatureNotSupported, "relgrad sql is the shell; \\i FILE runs a file.",
			"\\e: there is no terminal to edit on")
	}
	text, path := bufferedText(r, s), ""
	if len(args) > 0 {
		path = r.resolve(strings.Join(args, " "))
	} else {
		f, err := os.CreateTemp("", "relgrad-*.sql")
		if err != nil {
			return r.fail(sqlerr.IO, "", "\\e: %v", err)
		}
		path = f.Name()
		defer os.Remove(path)
		_, err = io.WriteString(f, text+"\n")
		if e := f.Close(); err != nil || e != nil {
			return r.fail(sqlerr.IO, "", "\\e: could not write %s", path)
		}
	}
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL", "PSQL_EDITOR"} {
		if v := os.Getenv(name); v != "" {
			editor = v
		}
	}
	c := exec.CommandContext(ctx, "/bin/sh", "-c", `exec `+editor+` "$1"`, "sh", path) // the variable may hold options
	c.Dir, c.Stdin, c.Stdout, c.Stderr = r.dir, os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return r.fail("38000", "Set the environment variable EDITOR.", "\\e: %s: %s", editor, script.ExitDetail(err))
	}
	edited, err := os.ReadFile(path)
	if err != nil {
		return r.fail(sqlerr.IO, "", "\\e: %s", script.Reason(err))
	}
	s.reset()
	r.typed = strings.TrimRight(string(edited), "\n")
	return nil
}

// watchBuffer is \watch: it runs the query buffer again and again.
func watchBuffer(r *Runner, ctx context.Context, s *scanner, args []string) (err error) {
	seconds, times := 2.0, int64(math.MaxInt64)
	for _, arg := range args {
		if n, ok := strings.CutPrefix(arg, "c="); ok {
			if times, err = strconv.ParseInt(n, 10, 64); err != nil || times < 1 {
				return r.fail(sqlerr.InvalidParameter, "", "\\watch: TIMES is a whole number from 1 on, not \"%s\"", n)
			}
			continue
		}
		n := strings.TrimPrefix(arg, "i=")
		if seconds, err = strconv.ParseFloat(n, 64); err != nil || !(seconds >= 0 && seconds < 1e6) {
			return r.fail(sqlerr.InvalidParameter, "Write \\watch [[i=]SECONDS] [c=TIMES].",
				"\\watch: incorrect interval value \"%s\"", n)
		}
	}
	recallPrevious(r, s)
	text, line, title := s.buf.String(), s.line, r.print.title
	s.reset()
	if text == "" {
		return r.fail(sqlerr.Syntax, "", "\\watch: the query buffer is empty and no statement has run")
	}
	defer func() { r.print.title = title }()
	for i := range times {
		r.print.title = strings.TrimPrefix(fmt.Sprintf("%s\t%s (every %gs)\n", title, time.Now().Format(time.ANSIC), seconds),
			"\t")
		one := &scanner{}
		one.add(text, line)
		if res, err := r.sendQuery(ctx, one, r.show); err != nil || res == nil { // \watch ends with an error
			return err
		}
		if i+1 == times {
			break
		}
		select {
		case <-ctx.Done():
			if r.terminal != nil { // in the shell Ctrl-C ends \watch without an error
				return nil
			}
			return r.report(sqlerr.New(sqlerr.QueryCanceled, "\\watch was interrupted").Wrap(ctx.Err()))
		case <-time.After(time.Duration(seconds * float64(time.Second))):
		}
	}
	return nil
}

// errorVerbose is \errverbose.
func errorVerbose(r *Runner, _ context.Context, _ *scanner, _ *argScanner) error {
	if r.lastError == nil {
		_, err := fmt.Fprintln(r.stdout, "There is no previous error.")
		return err
	}
	var e *sqlerr.Error
	if errors.As(r.lastError, &e) && e.Verbose != "" {
		_, err := io.WriteString(r.stderr, r.prefix()+e.Verbose)
		return err
	}
	text := sqlerr.Render(r.lastError)
	_, err := io.WriteString(r.stdout, strings.Replace(text, "ERROR:  ", "ERROR:  "+sqlerr.Code(r.lastError)+": ", 1))
	return err
}

// getenvCommand is \getenv variable environment; where the environment lacks it, the variable stays as it is.
func getenvCommand(r *Runner, _ context.Context, _ *scanner, args []string) error {
	if len(args) != 2 {
		return r.fail(sqlerr.Syntax, "Write \\getenv VARIABLE ENVIRONMENT.",
			"\\getenv: two arguments are needed, not %d", len(args))
	}
	if v, ok := os.LookupEnv(args[1]); ok {
		return setVar(r, args[0], v, false)
	}
	return nil
}

// setenvCommand is \setenv name [value].
func setenvCommand(r *Runner, _ context.Context, _ *scanner, args []string) (err error) {
	if len(args) == 0 || len(args) > 2 || args[0] == "" || strings.Contains(args[0], "=") {
		return r.fail(sqlerr.Syntax, "Write \\setenv NAME [VALUE].", "\\setenv: a name and a value are needed")
	}
	if len(args) == 1 {
		err = os.Unsetenv(args[0])
	} else {
		err = os.Setenv(args[0], args[1])
	}
	if err != nil {
		return r.fail(sqlerr.InvalidParameter, "", "\\setenv: %v", err)
	}
	return nil
}

// promptCommand is \prompt [text] name: it reads a line from the terminal, in a script from standard input.
func promptCommand(r *Runner, _ context.Context, _ *scanner, args []string) (err error) {
	if len(args) == 0 || len(args) > 2 {
		return r.fail(sqlerr.Syntax, "Write \\prompt [TEXT] NAME.", "\\prompt: the name of a variable is needed")
	}
	text, name := "", args[len(args)-1]
	if len(args) == 2 {
		text = args[0]
	}
	var line string
	switch {
	case r.terminal != nil:
		line, err = r.terminal.Ask(text)
	case r.src != nil && r.src.r == r.stdin:
		return r.fail(sqlerr.FeatureNotSupported, "Run the script from a file, or set the variable with -v "+name+"=….",
			"\\prompt: standard input is the script itself")
	default:
		fmt.Fprint(r.stdout, text)
		line, err = readAnswer(r.stdin)
	}
	if errors.Is(err, ErrInterrupt) {
		return nil
	}
	if err != nil {
		return r.fail(sqlerr.IO, "", "\\prompt: could not read the value of %s: %v", name, err)
	}
	return setVar(r, name, line, false)
}

// readAnswer reads a line. The end of the input ends a line too, but not an empty one.
func readAnswer(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil && (err != io.EOF || line == "") {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// encodingCommand is \encoding [UTF8].
func encodingCommand(r *Runner, _ context.Context, _ *scanner, args []string) error {
	if len(args) == 0 {
		_, err := fmt.Fprintln(r.stdout, "UTF8")
		return err
	}
	if name := strings.ToUpper(strings.ReplaceAll(args[0], "-", "")); name != "UTF8" && name != "UNICODE" {
		return r.fail(sqlerr.FeatureNotSupported, "Convert the file to UTF-8.",
			"\\encoding: the encoding is UTF8, not %s", args[0])
	}
	return nil
}
