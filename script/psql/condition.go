package psql

import (
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// condition is one open \if.
type condition struct {
	active bool // the present lines are run
	taken  bool // a branch has been run, or no branch may be
	seen   bool // \else has been seen
	outer  bool // the lines around the \if are run
}

// parseBool reads a boolean as psql's ParseVariableBool: any beginning of true, false, yes, no; on, off; 1, 0.
func parseBool(s string) (value, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "" {
		return false, false
	}
	switch {
	case strings.HasPrefix("true", s), strings.HasPrefix("yes", s), s == "on", s == "1":
		return true, true
	case strings.HasPrefix("false", s), strings.HasPrefix("no", s), s == "of", s == "off", s == "0":
		return false, true
	}
	return false, false
}

// inTakenBranch reports whether the present lines are run.
func inTakenBranch(r *Runner) bool { return len(r.conds) == 0 || r.conds[len(r.conds)-1].active }

// conditionalCommand runs \if, \elif, \else and \endif; ok is false for other commands.
func conditionalCommand(r *Runner, name string, s *scanner, a *argScanner) (ok bool, err error) {
	if name == "if" {
		outer := inTakenBranch(r)
		c := condition{outer: outer, taken: !outer}
		if outer {
			if c.active, err = booleanArg(r, a, "\\if"); err != nil {
				return true, err
			}
			c.taken = c.active
		} else {
			a.mute = true
			_, _ = a.all()
		}
		r.conds = append(r.conds, c)
		s.mute = !c.active
		return true, nil
	}
	if name != "elif" && name != "else" && name != "endif" {
		return false, nil
	}
	if len(r.conds) == 0 {
		return true, r.fail(sqlerr.Syntax, "", "\\%s: no matching \\if", name)
	}
	c := &r.conds[len(r.conds)-1]
	switch {
	case name == "endif":
		s.mute = !c.outer
		r.conds = r.conds[:len(r.conds)-1]
		return true, nil
	case c.seen:
		return true, r.fail(sqlerr.Syntax, "", "\\%s: cannot occur after \\else", name)
	case name == "else":
		c.seen = true
		c.active = !c.taken
	default:
		c.active = false
		if c.taken {
			a.mute = true
			_, _ = a.all()
		} else if c.active, err = booleanArg(r, a, "\\elif"); err != nil {
			return true, err
		}
	}
	c.taken = c.taken || c.active
	s.mute = !c.active
	return true, nil
}

// booleanArg reads the expression of \if; anything but a boolean is an error that counts as false.
func booleanArg(r *Runner, a *argScanner, what string) (bool, error) {
	args, err := a.all()
	if err != nil {
		return false, r.report(err)
	}
	text := strings.Join(args, " ")
	b, ok := parseBool(text)
	if !ok {
		return false, r.fail(sqlerr.Syntax, "", "unrecognized value \"%s\" for \"%s expression\": Boolean expected", text,
			what)
	}
	return b, nil
}
