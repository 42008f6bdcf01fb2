package psql

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// commandFunc runs a backslash command.
type commandFunc func(r *Runner, ctx context.Context, s *scanner, a *argScanner) error

// withArgs is a command that reads its arguments as a list.
func withArgs(f func(r *Runner, ctx context.Context, s *scanner, args []string) error) commandFunc {
	return func(r *Runner, ctx context.Context, s *scanner, a *argScanner) error {
		args, err := argsOf(r, a)
		if err != nil {
			return err
		}
		return f(r, ctx, s, args)
	}
}

// backslash is a backslash command.
type backslash struct {
	names         string // separated by blanks; \? shows the first
	args, summary string
	run           commandFunc // nil: (*Runner).conditional runs it
}

// group is a part of the list that \? prints.
type group struct {
	title    string
	commands []backslash
}

// commandTable holds the backslash commands in the order of \?; commandNames finds them by name.
var (
	commandTable []group
	commandNames map[string]*backslash
)

func init() {
	commandTable = []group{
		{"General", []backslash{
			{"g", `[(OPTIONS)] [FILE or |CMD]`,
				"run the query buffer, or the last statement again; results go to a file or a command", goCommand},
			{"gx", `[(OPTIONS)] [FILE or |CMD]`, `as \g, with expanded output`, goExpanded},
			{"gset", `[PREFIX]`, "run the query buffer and store its one row in variables", gsetCommand},
			{"gexec", "", "run the query buffer, then each value of its result as a statement", gexecCommand},
			{"watch", `[[i=]SECONDS] [c=TIMES]`,
				"run the query buffer again every 2 or SECONDS seconds, until an interrupt or TIMES times", withArgs(watchBuffer)},
			{"errverbose", "", "show the last error with its SQLSTATE", errorVerbose},
			{"q quit", "", "leave the script or the shell", quitCommand},
		}},
		{"Help", []backslash{{"?", "", "this list", helpCommand},
			{"h help", `[NAME]`, "where SQL is documented; what a function of relgrad computes", withArgs(sqlHelp)}}},
		{"Query buffer", []backslash{
			{"e edit", `[FILE]`, "edit the query buffer, the last statement or a file with $EDITOR (shell only)",
				withArgs(editBuffer)},
			{"p print", "", "show the query buffer, or the last statement where it is empty", printBuffer},
			{"r reset", "", "empty the query buffer", resetCommand},
			{"w write", `FILE or |CMD`, "write the query buffer, or the last statement, to a file", withArgs(writeBuffer)},
		}},
		{"Input and output", []backslash{
			{"copy", `TABLE FROM|TO FILE [OPTIONS]`, "COPY between a table or a (QUERY) and a file of this machine",
				func(r *Runner, ctx context.Context, _ *scanner, a *argScanner) error {
					return backslashCopy(r, ctx, a.rest())
				}},
			{"echo", `[-n] [TEXT]`, "write a text to standard output",
				echoCommand(func(r *Runner) io.Writer { return r.stdout })},
			{"qecho", `[-n] [TEXT]`, `write a text where results go (see \o)`,
				echoCommand(func(r *Runner) io.Writer { return r.out })},
			{"warn", `[-n] [TEXT]`, "write a text to standard error",
				echoCommand(func(r *Runner) io.Writer { return r.stderr })},
			{"i include", `FILE`, "run a script", includeCommand(false)},
			{"ir include_relative", `FILE`, `as \i, relative to the folder of this script`, includeCommand(true)},
			{"o out", `[FILE or |CMD]`, "send results to a file or a command; without one, back to standard output",
				withArgs(outputCommand)},
		}},
		{"Conditions", []backslash{
			{"if", `EXPRESSION`, "run the lines up to the next branch if the expression is true", nil},
			{"elif", `EXPRESSION`, "another branch", nil},
			{"else", "", "the last branch", nil},
			{"endif", "", "end of the conditional block", nil},
		}},
		{"What there is", append(describeCommands(), backslash{"l list", "", "the store's file", listDatabases},
			backslash{"conninfo", "", "where statements run", connectionInfo})},
		{"Formatting", []backslash{
			{"a", "", "switch between aligned and unaligned output", alignCommand},
			{"C", `[TITLE]`, "set the title of results, or unset it", shortcut("title")},
			{"f", `[SEPARATOR]`, "show or set the separator of unaligned output", shortcut("fieldsep")},
			{"pset", `[NAME [VALUE]]`, "show or set an option of the output: " + strings.Join(printOptions, ", "),
				withArgs(psetCommand)},
			{"t", `[on or off]`, "rows only", shortcut("tuples_only")},
			{"x", `[on or off]`, "expanded output", shortcut("expanded")},
			{"timing", `[on or off]`, "show how long each statement takes", withArgs(timingCommand)},
		}},
		{"Operating system", []backslash{
			{"cd", `[FOLDER]`, "change the current folder", withArgs(changeDir)},
			{"getenv", `VARIABLE ENVIRONMENT`, "set a variable to that of the environment", withArgs(getenvCommand)},
			{"setenv", `NAME [VALUE]`, "set or unset a variable of the environment", withArgs(setenvCommand)},
			{"!", `[COMMAND]`, "run a command of the shell", shellCommand},
			{"encoding", `[UTF8]`, "the encoding, which is UTF8", withArgs(encodingCommand)},
		}},
		{"Variables", []backslash{
			{"prompt", `[TEXT] NAME`, "ask for the value of a variable", withArgs(promptCommand)},
			{"set", `[NAME [VALUE]]`, "show the variables, or set one", withArgs(setCommand)},
			{"unset", `NAME`, "unset a variable", unsetCommand},
		}},
	}
	commandNames = map[string]*backslash{}
	for _, g := range commandTable {
		for i := range g.commands {
			for _, n := range strings.Fields(g.commands[i].names) {
				commandNames[n] = &g.commands[i]
			}
		}
	}
}

// nearCommand is a hint for a misspelt command.
func nearCommand(name string) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(commandNames)), func(n string) bool {
		return len(n) == 1 || strings.HasSuffix(n, "+")
	})
	if near := sqlerr.Nearest(name, names); near != "" {
		return "Perhaps you meant \\" + near + ". \\? lists the commands."
	}
	return "\\? lists the commands."
}

// CommandHelp is the list that \? prints.
func CommandHelp() string {
	var b strings.Builder
	for i, g := range commandTable {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(g.title + "\n")
		for _, c := range g.commands {
			names := strings.Fields(c.names)
			head := "\\" + strings.TrimSpace(names[0]+" "+c.args)
			fmt.Fprintf(&b, "  %-32s %s\n", head, c.summary)
		}
	}
	return b.String()
}

func helpCommand(r *Runner, _ context.Context, _ *scanner, a *argScanner) error {
	if _, err := argsOf(r, a); err != nil {
		return err
	}
	_, err := io.WriteString(r.stdout, CommandHelp())
	return err
}
