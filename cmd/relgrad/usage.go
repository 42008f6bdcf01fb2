package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script/psql"
)

var helpCommand = command{name: "help", args: "[COMMAND]", summary: "Show the commands, or the options of one.",
	run: func(ctx context.Context, c *command, args []string) error {
		if len(args) == 0 {
			_, err := io.WriteString(os.Stdout, overview())
			return err
		}
		if len(args) > 1 {
			return c.wrong(c.flags(), "one command at a time, not %d", len(args))
		}
		of, err := findCommand(args[0])
		if err != nil {
			return err
		}
		return of.run(ctx, of, []string{"-h"})
	}}

var versionCommand = command{name: "version", summary: "Show relgrad's version.",
	run: func(_ context.Context, c *command, args []string) error {
		fs := c.flags()
		rest, err := parse(c, fs, args)
		if err != nil {
			return err
		}
		if len(rest) > 0 {
			return c.wrong(fs, "unexpected argument %q", rest[0])
		}
		_, err = fmt.Printf("relgrad %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}}

// version is the module's version, or the commit that the build recorded.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown version)"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " with changes"
		}
	}
	if revision == "" {
		return "(development version)"
	}
	return "(development version " + revision + dirty + ")"
}

// overview lists the commands.
func overview() string {
	var b strings.Builder
	b.WriteString("relgrad differentiates losses written in SQL and trains where the data lives.\n\nusage: relgrad " +
		"COMMAND [options]\n\ncommands:\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "  %-9s %s\n", c.name, c.summary)
	}
	b.WriteString("\nrelgrad help COMMAND shows a command's options.\n")
	return b.String()
}

// flags makes a command's flag set. It prints nothing itself; parse and wrong print errors with the usage text.
func (c *command) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("relgrad "+c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// usage is the command's usage text.
func (c *command) usage(fs *flag.FlagSet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n%s\n", strings.TrimSpace("relgrad "+c.name+" "+c.args), c.summary)
	head := "\noptions:\n"
	fs.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		name := "--" + f.Name
		if len(f.Name) == 1 {
			name = "-" + f.Name
		}
		if value != "" {
			name += " " + value
		}
		if d := f.DefValue; d != "" && d != "0" && d != "false" {
			text += " (default " + d + ")"
		}
		fmt.Fprintf(&b, "%s  %-18s %s\n", head, name, text)
		head = ""
	})
	return b.String()
}

// wrong prints what is wrong with the command line, then the usage.
func (c *command) wrong(fs *flag.FlagSet, format string, args ...any) error {
	fmt.Fprintf(os.Stderr, "relgrad %s: %s\n\n%s", c.name, fmt.Sprintf(format, args...), c.usage(fs))
	return errUsage
}

// parse reads the flags, which may also follow the arguments.
func parse(c *command, fs *flag.FlagSet, args []string) (rest []string, err error) {
	err = parseEach(c, fs, args, func(arg string) { rest = append(rest, arg) })
	return rest, err
}

// parseEach reads flags and calls each for the arguments, in order.
func parseEach(c *command, fs *flag.FlagSet, args []string, each func(arg string)) error {
	for {
		err := fs.Parse(args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			fmt.Fprint(os.Stdout, c.usage(fs))
			return err
		case err != nil:
			return c.wrong(fs, "%s", c.flagError(fs, err))
		}
		args = fs.Args()
		if len(args) == 0 {
			return nil
		}
		each(args[0])
		args = args[1:]
	}
}

// flagError adds the most similar option to the error of an unknown one.
func (c *command) flagError(fs *flag.FlagSet, err error) string {
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return strings.Replace(err.Error(), " for flag -", " for option --", 1)
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	text := fmt.Sprintf("unknown option --%s", name)
	if near := sqlerr.Nearest(name, names); near != "" {
		text += fmt.Sprintf("; perhaps you meant --%s", near)
	}
	return text
}

// formatFlag adds --format, which accepts existing formats only.
func formatFlag(fs *flag.FlagSet, to *string) {
	*to = psql.FormatAligned
	fs.Func("format", "print results as `FORMAT`: "+strings.Join(psql.Formats, ", ")+" (default "+psql.FormatAligned+")",
		oneOf(to, psql.Formats))
}

// oneOf sets a format from a list.
func oneOf(to *string, values []string) func(string) error {
	return func(s string) error {
		if !slices.Contains(values, s) {
			return fmt.Errorf("unknown format; the formats are %s", strings.Join(values, ", "))
		}
		*to = s
		return nil
	}
}

// wholeFlag adds an option for a whole number of at least low. Its value is nil if it is not given.
func wholeFlag(fs *flag.FlagSet, name, usage string, low int64) **int64 {
	var v *int64
	fs.Func(name, usage, func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		switch {
		case err != nil && low == math.MinInt64:
			return errors.New("a whole number is needed")
		case err != nil || n < low:
			return fmt.Errorf("a whole number from %d on is needed", low)
		}
		v = &n
		return nil
	})
	return &v
}
