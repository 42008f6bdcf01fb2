package psql

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/plpgsql"
)

// goCommand is \g [(options)] [file | |command]: it sends the buffer.
func goCommand(r *Runner, ctx context.Context, s *scanner, a *argScanner) error {
	return goWith(r, ctx, s, a, r.print.expanded)
}

// goExpanded is \gx.
func goExpanded(r *Runner, ctx context.Context, s *scanner, a *argScanner) error {
	return goWith(r, ctx, s, a, true)
}

func goWith(r *Runner, ctx context.Context, s *scanner, a *argScanner, expanded bool) error {
	args, err := argsOf(r, a)
	if err != nil {
		return err
	}
	keep, out, closeOut := *r.print, r.out, r.closeOut
	defer func() { *r.print, r.out, r.closeOut = keep, out, closeOut }()
	r.print.expanded = expanded
	if len(args) > 0 {
		r.closeOut = nil
		if err := redirectOutput(r, ctx, strings.Join(args, " ")); err != nil {
			return err
		}
	}
	recallPrevious(r, s)
	err = r.send(ctx, s)
	if len(args) > 0 && r.closeOut != nil {
		if e := r.closeOut(); e != nil && err == nil {
			return r.fail(sqlerr.IO, "", "\\g: %v", e)
		}
	}
	return err
}

// gsetCommand is \gset [prefix]: it stores the one row of the result in variables.
func gsetCommand(r *Runner, ctx context.Context, s *scanner, a *argScanner) error {
	prefix, _, err := a.next()
	if err != nil {
		return r.report(err)
	}
	recallPrevious(r, s)
	var first firstRows
	if res, err := r.sendQuery(ctx, s, first.take); err != nil || res == nil {
		return err
	}
	if len(first.rows) != 1 {
		msg := "no rows returned for \\gset"
		if len(first.rows) > 1 {
			msg = "more than one row returned for \\gset"
		}
		return r.fail(sqlerr.Cardinality, "", "%s", msg)
	}
	for i, c := range first.cols {
		if first.rows[0][i] == nil {
			delete(r.vars, prefix+c.Name)
			continue
		}
		if err := setVar(r, prefix+c.Name, plpgsql.Format(first.rows[0][i], c.Type), false); err != nil {
			return err
		}
	}
	return nil
}

// firstRows keeps two rows of the last result: \gset needs one, and the second shows that there are too many. The
// statement still runs to its end, and its effects stay, as in psql.
type firstRows struct {
	cols []script.Col
	rows [][]any
	more bool // there are more rows
}

func (f *firstRows) take(res *script.Result) error {
	if !f.more {
		f.cols, f.rows = res.Cols, nil
	}
	f.rows = append(f.rows, res.Rows[:min(len(res.Rows), 2-min(len(f.rows), 2))]...)
	f.more = res.More
	return nil
}

// gexecCommand is \gexec: when the query has ended, each value of its result is run as a statement.
func gexecCommand(r *Runner, ctx context.Context, s *scanner, _ *argScanner) error {
	recallPrevious(r, s)
	line, more := s.line, false
	var kept plpgsql.Spool
	defer kept.Close()
	res, err := r.sendQuery(ctx, s, func(res *script.Result) error {
		if !more {
			kept.Close()
			kept = plpgsql.Spool{}
		}
		more = res.More
		return kept.Result(res)
	})
	if err != nil || res == nil {
		return err
	}
	return kept.Each(func(row []any) (leave bool, err error) {
		for i, v := range row {
			if v == nil {
				continue
			}
			sub := &scanner{line: line}
			sub.add(plpgsql.Format(v, kept.Cols[i].Type), line)
			if err := r.send(ctx, sub); err != nil {
				return true, err
			}
		}
		return false, nil
	})
}

// outputCommand is \o [file | |command]: where results go.
func outputCommand(r *Runner, ctx context.Context, _ *scanner, args []string) error {
	if r.closeOut != nil {
		if err := r.closeOut(); err != nil {
			return r.fail(sqlerr.IO, "", "\\o: %v", err)
		}
	}
	r.out, r.closeOut = r.stdout, nil
	if len(args) == 0 {
		return nil
	}
	return redirectOutput(r, ctx, strings.Join(args, " "))
}

// redirectOutput sends results to a file, or to a command after "|".
func redirectOutput(r *Runner, ctx context.Context, to string) error {
	if cmd, ok := strings.CutPrefix(to, "|"); ok {
		c := exec.CommandContext(ctx, "/bin/sh", "-c", cmd)
		c.Dir, c.Stdout, c.Stderr = r.dir, r.stdout, r.stderr
		pipe, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			return r.fail("38000", "", "%s: %v", cmd, err)
		}
		r.out, r.closeOut = pipe, func() error { pipe.Close(); return c.Wait() }
		return nil
	}
	f, err := os.Create(r.resolve(to))
	if err != nil {
		return r.fail(sqlerr.UndefinedFile, "", "%s: %s", to, script.Reason(err))
	}
	r.out, r.closeOut = f, f.Close
	return nil
}

// shortcut is a command for one option of \pset.
func shortcut(option string) commandFunc {
	return withArgs(func(r *Runner, _ context.Context, _ *scanner, args []string) error {
		return setOption(r, option, args)
	})
}

func alignCommand(r *Runner, _ context.Context, _ *scanner, _ *argScanner) error {
	to := FormatAligned
	if r.print.format == FormatAligned {
		to = FormatUnaligned
	}
	return setOption(r, "format", []string{to})
}

// psetCommand is \pset option [value].
func psetCommand(r *Runner, _ context.Context, _ *scanner, args []string) error {
	if len(args) == 0 {
		values := map[string]string{"border": strconv.Itoa(r.print.border), "expanded": onOff(r.print.expanded),
			"fieldsep": "'" + r.print.fieldSep + "'",
			"footer":   onOff(r.print.footer), "format": r.print.format, "null": "'" + r.print.null + "'",
			"title": r.print.title, "tuples_only": onOff(r.print.tuplesOnly)}
		for _, name := range printOptions {
			fmt.Fprintf(r.stdout, "%-24s %s\n", name, values[name])
		}
		return nil
	}
	return setOption(r, args[0], args[1:])
}

// printOptions are the options of \pset.
var printOptions = []string{"border", "expanded", "fieldsep", "footer", "format", "null", "title", "tuples_only"}

// Formats are the formats of results.
var Formats = []string{FormatAligned, FormatUnaligned, FormatCSV, FormatJSON}

// setOption sets an option of the printer and says so. Without a value it toggles a switch, removes the title, and
// shows any other option.
func setOption(r *Runner, option string, args []string) error {
	p, val := r.print, strings.Join(args, " ")
	switch option {
	case "format":
		return setFormat(r, args)
	case "tuples_only", "t":
		return toggleOption(r, &p.tuplesOnly, "tuples_only", "Tuples only", val)
	case "expanded", "x", "vertical":
		return toggleOption(r, &p.expanded, "expanded", "Expanded display", val)
	case "footer":
		return toggleOption(r, &p.footer, "footer", "Default footer", val)
	case "null":
		if len(args) > 0 {
			p.null = val
		}
		sayUnlessQuiet(r, "Null display is \"%s\".", p.null)
	case "fieldsep":
		if len(args) > 0 {
			p.fieldSep = val
		}
		sayUnlessQuiet(r, "Field separator is \"%s\".", p.fieldSep)
	case "title", "C":
		p.title = val
		if val == "" {
			sayUnlessQuiet(r, "Title is unset.")
		} else {
			sayUnlessQuiet(r, "Title is \"%s\".", val)
		}
	case "border":
		if len(args) > 0 {
			n, err := strconv.Atoi(val)
			if err != nil || n < 0 || n > 2 {
				return r.fail(sqlerr.Syntax, "", "\\pset: border is 0, 1 or 2, not \"%s\"", val)
			}
			p.border = n
		}
		sayUnlessQuiet(r, "Border style is %d.", p.border)
	case "pager", "columns", "pager_min_lines": // there is no pager
	default:
		hint := "The options are " + strings.Join(printOptions, ", ") + "."
		if near := sqlerr.Nearest(option, printOptions); near != "" {
			hint = "Perhaps you meant " + near + "."
		}
		return r.fail(sqlerr.Syntax, hint, "\\pset: unknown option: %s", option)
	}
	return nil
}

// setFormat sets the format, given by an unambiguous prefix.
func setFormat(r *Runner, args []string) error {
	val := strings.Join(args, " ")
	if len(args) == 0 {
		val = r.print.format
	}
	for _, f := range Formats {
		if val != "" && strings.HasPrefix(f, val) {
			r.print.format = f
			sayUnlessQuiet(r, "Output format is %s.", f)
			return nil
		}
	}
	return r.fail(sqlerr.FeatureNotSupported, "", "\\pset: allowed formats are aligned, csv, json, unaligned, not \"%s\"",
		val)
}

// toggleOption sets a switch of the printer, or without a value toggles it.
func toggleOption(r *Runner, b *bool, option, title, val string) error {
	v, ok := !*b, true
	if val != "" {
		v, ok = parseBool(val)
	}
	if !ok {
		return r.fail(sqlerr.Syntax, "", "unrecognized value \"%s\" for \"\\pset %s\": Boolean expected", val, option)
	}
	*b = v
	if val != "" && option != "expanded" { // psql says nothing then
		return nil
	}
	sayUnlessQuiet(r, "%s is %s.", title, onOff(v))
	return nil
}
