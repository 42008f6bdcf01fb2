package ast

import (
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// WindowOf is the whole window that OVER w means in a SELECT with these named windows: the one of its name, or w with
// what it takes over from the window that it extends, as PostgreSQL has it. A named window extends an earlier one.
func WindowOf(named []Window, w *Window) (*Window, *sqlerr.Error) {
	if w.Name == "" {
		return w.extended(named)
	}
	for i := range named {
		if named[i].Name == w.Name {
			return named[i].extended(named[:i])
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "window \"%s\" does not exist", w.Name)
}

// extended is w with what it takes over.
func (w *Window) extended(named []Window) (*Window, *sqlerr.Error) {
	if w.Extends == "" {
		return w, nil
	}
	base, err := WindowOf(named, &Window{Name: w.Extends})
	switch {
	case err != nil:
		return nil, err
	case len(w.PartitionBy) > 0:
		return nil, sqlerr.New(sqlerr.Windowing, "cannot override PARTITION BY clause of window \"%s\"", w.Extends)
	case len(w.OrderBy) > 0 && len(base.OrderBy) > 0:
		return nil, sqlerr.New(sqlerr.Windowing, "cannot override ORDER BY clause of window \"%s\"", w.Extends)
	case base.Frame != "":
		return nil, sqlerr.New(sqlerr.Windowing, "cannot copy window \"%s\" because it has a frame clause", w.Extends).
			WithHint("Omit the parentheses in this OVER clause.")
	}
	out := *w
	out.Extends, out.PartitionBy = "", base.PartitionBy
	if len(out.OrderBy) == 0 {
		out.OrderBy = base.OrderBy
	}
	return &out, nil
}

// FrameBounds takes the text of a frame apart: ROWS, RANGE or GROUPS, and the two bounds, of which the short form says
// one. What EXCLUDE takes out stays with the last.
func FrameBounds(frame string) (mode, from, to string) {
	mode, bounds, _ := strings.Cut(frame, " ")
	from, to, between := strings.Cut(strings.TrimPrefix(bounds, "BETWEEN "), " AND ")
	if !between {
		to = "CURRENT ROW"
	}
	return mode, from, to
}
