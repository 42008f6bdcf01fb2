package psql

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/plpgsql"
)

// runCommand runs the backslash command at line[i:] and returns where the scan goes on.
func runCommand(r *Runner, ctx context.Context, s *scanner, line string, i int) (int, error) {
	end := i
	for end < len(line) && !isSpace(line[end]) && line[end] != '\\' {
		end++
	}
	if end > i && line[i] == '!' { // \!command
		end = i + 1
	}
	if end == i { // \\ separates a command from what follows
		return min(end+1, len(line)), nil
	}
	name := line[i:end]
	a := &argScanner{line: line, start: end, at: end, vars: r.lookup, shell: func(cmd string) (string, error) {
		return backtickOutput(r, ctx, cmd)
	}, mute: s.mute}
	if ok, err := conditionalCommand(r, name, s, a); ok {
		return endCommand(r, a), err
	}
	if s.mute {
		if name == "copy" || name == "!" {
			return len(line), nil
		}
		_, _ = a.all()
		return endCommand(r, a), nil
	}
	c := commandNames[name]
	if c == nil {
		_, _ = a.all()
		return endCommand(r, a), r.fail(sqlerr.Syntax, nearCommand(name), "invalid command \\%s", name)
	}
	if err := c.run(r, ctx, s, a); err != nil {
		return 0, err
	}
	if extra, err := a.all(); err == nil {
		for _, x := range extra {
			fmt.Fprintf(r.stderr, "%swarning: \\%s: extra argument \"%s\" ignored\n", r.prefix(), name, x)
		}
	}
	return endCommand(r, a), nil
}

// endCommand skips the \\ that separates a command from what follows.
func endCommand(r *Runner, a *argScanner) int {
	if strings.HasPrefix(a.line[a.at:], `\\`) {
		return a.at + 2
	}
	return a.at
}

func quitCommand(*Runner, context.Context, *scanner, *argScanner) error { return errQuit }

func resetCommand(r *Runner, _ context.Context, s *scanner, _ *argScanner) error {
	s.reset()
	sayUnlessQuiet(r, "Query buffer reset (cleared).")
	return nil
}

func printBuffer(r *Runner, _ context.Context, s *scanner, _ *argScanner) error {
	text := bufferedText(r, s)
	if text == "" {
		sayUnlessQuiet(r, "Query buffer is empty.")
		return nil
	}
	fmt.Fprintln(r.stdout, text)
	return nil
}

// backtickOutput runs a shell command for its output.
func backtickOutput(r *Runner, ctx context.Context, cmd string) (string, error) {
	c := exec.CommandContext(ctx, "/bin/sh", "-c", cmd)
	c.Dir, c.Stderr = r.dir, r.stderr
	out, err := c.Output()
	if err != nil {
		return "", sqlerr.New("38000", "%s: command failed", cmd).WithDetail("%s", script.ExitDetail(err))
	}
	return string(out), nil
}

func shellCommand(r *Runner, ctx context.Context, _ *scanner, a *argScanner) error {
	cmd := a.rest()
	c := exec.CommandContext(ctx, "/bin/sh", "-c", cmd)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = r.dir, os.Stdin, r.stdout, r.stderr
	err := c.Run()
	code := 0
	if c.ProcessState != nil {
		code = c.ProcessState.ExitCode()
	}
	r.vars["SHELL_EXIT_CODE"] = plpgsql.Format(int64(code), "integer")
	r.vars["SHELL_ERROR"] = map[bool]string{true: "true", false: "false"}[err != nil]
	if err != nil && code <= 0 {
		return r.fail("38000", "", "\\!: %s", err)
	}
	return nil
}

// argsOf reads all arguments and reports an error in them.
func argsOf(r *Runner, a *argScanner) ([]string, error) {
	args, err := a.all()
	if err != nil {
		return nil, r.report(err)
	}
	return args, nil
}

func changeDir(r *Runner, _ context.Context, _ *scanner, args []string) (err error) {
	dir := ""
	if len(args) == 0 {
		if dir, err = os.UserHomeDir(); err != nil {
			return r.fail(sqlerr.UndefinedFile, "", "\\cd: %v", err)
		}
	} else {
		dir = strings.TrimSuffix(args[0], ";")
	}
	path := r.resolve(dir)
	st, err := os.Stat(path)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("Not a directory")
	}
	if err != nil {
		hint := ""
		if strings.HasPrefix(dir, ":") {
			hint = "Set the variable: -v " + dir[1:] + "=…."
		}
		return r.fail(sqlerr.UndefinedFile, hint, "\\cd: could not change directory to \"%s\": %s", dir, script.Reason(err))
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	moveTo(r, path)
	return nil
}

// moveTo makes a folder the one where relative names begin, in the session too.
func moveTo(r *Runner, dir string) {
	r.dir = dir
	if s, ok := r.session.(mover); ok && dir != "" {
		s.MoveTo(dir)
	}
}

// mover is a session that reads folders: those of delta_table().
type mover interface{ MoveTo(dir string) }

func includeCommand(relative bool) commandFunc {
	return func(r *Runner, ctx context.Context, _ *scanner, a *argScanner) error {
		name, ok, err := a.next()
		if err != nil {
			return r.report(err)
		}
		if name = strings.TrimSuffix(name, ";"); !ok || name == "" {
			return r.fail(sqlerr.Syntax, "", "\\i: missing required argument")
		}
		path, shown := r.resolve(name), name
		if relative && !filepath.IsAbs(name) && r.src.path != "" {
			path = filepath.Join(filepath.Dir(r.src.path), name)
			shown = filepath.Join(filepath.Dir(r.src.name), name)
		}
		return r.include(ctx, shown, path)
	}
}

func echoCommand(to func(*Runner) io.Writer) commandFunc {
	return withArgs(func(r *Runner, _ context.Context, _ *scanner, args []string) error {
		end := "\n"
		if len(args) > 0 && args[0] == "-n" {
			args, end = args[1:], ""
		}
		_, err := io.WriteString(to(r), strings.Join(args, " ")+end)
		return err
	})
}

func setCommand(r *Runner, _ context.Context, _ *scanner, args []string) error {
	if len(args) == 0 {
		names := slices.Sorted(maps.Keys(r.vars))
		for _, n := range names {
			fmt.Fprintf(r.stdout, "%s = '%s'\n", n, strings.ReplaceAll(r.vars[n], "'", "''"))
		}
		return nil
	}
	return setVar(r, args[0], strings.Join(args[1:], ""), len(args) == 1)
}

// setVar sets a variable; those that psql gives a meaning to are checked.
func setVar(r *Runner, name, val string, bare bool) error {
	if strings.Trim(name, "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" && !utf8Name(name) {
		return r.fail(sqlerr.Syntax, "", "invalid variable name: \"%s\"", name)
	}
	switch name {
	case "ON_ERROR_STOP", "AUTOCOMMIT", "QUIET", "ON_ERROR_ROLLBACK", "SINGLESTEP", "SINGLELINE":
		if bare {
			val = "on"
		}
		b, ok := parseBool(val)
		if !ok {
			return r.fail(sqlerr.Syntax, "", "unrecognized value \"%s\" for \"%s\": Boolean expected", val, name)
		}
		if b && (name == "ON_ERROR_ROLLBACK" || strings.HasPrefix(name, "SINGLE")) {
			return r.fail(sqlerr.FeatureNotSupported, "", "the variable %s is not supported", name)
		}
	case "ECHO":
		if bare {
			val = "none"
		}
		if val != "none" && val != "all" && val != "queries" && val != "errors" {
			return r.fail(sqlerr.Syntax, "Available values are: none, errors, queries, all.",
				"unrecognized value \"%s\" for \"ECHO\"", val)
		}
	}
	if of := settings[name]; of != nil && r.server != nil && !slices.Contains(of, val) {
		return r.fail(sqlerr.Syntax, "Available values are: "+strings.Join(of, ", ")+".",
			"unrecognized value \"%s\" for \"%s\"", val, name)
	}
	r.vars[name] = val
	return nil
}

// settings are the values allowed for the variables that control a server's messages.
var settings = map[string][]string{"VERBOSITY": {"default", "verbose", "terse", "sqlstate"},
	"SHOW_CONTEXT": {"never", "errors", "always"}}

func utf8Name(name string) bool {
	for i := range len(name) {
		if !isVarByte(name[i]) {
			return false
		}
	}
	return name != ""
}

func unsetCommand(r *Runner, _ context.Context, _ *scanner, a *argScanner) error {
	name, ok, err := a.next()
	if err != nil {
		return r.report(err)
	}
	if !ok {
		return r.fail(sqlerr.Syntax, "", "\\unset: missing required argument")
	}
	delete(r.vars, name)
	if name == "ON_ERROR_STOP" {
		r.vars[name] = "off"
	}
	return nil
}

func timingCommand(r *Runner, _ context.Context, _ *scanner, args []string) error {
	r.timing = !r.timing
	if len(args) > 0 {
		b, ok := parseBool(args[0])
		if !ok {
			return r.fail(sqlerr.Syntax, "", "unrecognized value \"%s\" for \"\\timing\": Boolean expected", args[0])
		}
		r.timing = b
	}
	sayUnlessQuiet(r, "Timing is %s.", onOff(r.timing))
	return nil
}

// sayUnlessQuiet prints a message about a setting, unless quiet.
func sayUnlessQuiet(r *Runner, format string, args ...any) {
	if !r.quiet() {
		fmt.Fprintf(r.stdout, format+"\n", args...)
	}
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}
