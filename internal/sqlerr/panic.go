package sqlerr

import (
	"fmt"
	"runtime"
	"strings"
)

// module begins the names of relgrad's own functions in a trace, as those of package main of the command do.
const module = "github.com/relgrad/relgrad"

// frames is how many of relgrad's functions a detail names.
const frames = 6

// FromPanic is the error of a panic, for a deferred function that has just recovered p. An *Error that travelled as one
// is itself; any other is a mistake of relgrad's, which names where it was made.
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

// panicked lists where the panic that is being recovered was raised and who had called that.
func panicked() []string {
	pcs := make([]uintptr, 256)
	trace := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var all, out []string
	raised := false
	for {
		f, more := trace.Next()
		if f.Function == "runtime.gopanic" {
			raised, out = true, nil // the first of panics that were raised again lies deepest
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
	if len(out) == 0 { // carried from another goroutine
		out = all
	}
	if len(out) == 0 {
		return []string{"an unknown place"}
	}
	return out[:min(len(out), frames)]
}
