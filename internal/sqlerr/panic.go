package sqlerr

import (
	"fmt"
	"runtime"
	"strings"
)

// module begins the names of relgrad's functions in a trace, except those of the command's package main.
const module = "github.com/relgrad/relgrad"

// frames is how many of relgrad's functions a detail names.
const frames = 6

// FromPanic is the error of a panic p that a deferred function has just recovered. An *Error is returned as it is.
// Anything else is a fault of relgrad, and the error names the place.
func FromPanic(p any) *Error {
	if e, ok := p.(*Error); ok {
		return e
	}
	e := New(Internal, "internal error: %v", p)
	if err, ok := p.(error); ok {
		e.Err = err
	}
	return e.WithDetail("At %s.", strings.Join(panicked(), ", called from ")).
		WithHint("This is a fault of relgrad's, and the statement was undone: please report it, with the statement and " +
			"this detail.")
}

// panicked lists the functions in which the panic was raised, and their callers.
func panicked() []string {
	pcs := make([]uintptr, 256)
	trace := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var all, out []string
	raised := false
	for {
		f, more := trace.Next()
		if f.Function == "runtime.gopanic" {
			raised, out = true, nil // a panic may have been raised again: the first one lies deepest
		}
		if file, ok := strings.CutPrefix(f.Function, module); ok || strings.HasPrefix(f.Function, "main.") {
			place := fmt.Sprintf("%s (%s:%d)", strings.TrimPrefix(file, "/"),
				f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
			all = append(all, place)
			if raised {
				out = append(out, place)
			}
		}
		if !more {
			break
		}
	}
	if len(out) == 0 { // the panic came from another goroutine
		out = all
	}
	if len(out) == 0 {
		return []string{"an unknown place"}
	}
	return out[:min(len(out), frames)]
}
