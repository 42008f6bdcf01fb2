package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop/delta/places"
)

// Transfer is a COPY between the database and a file or program of this machine; in and out move the data.
type Transfer struct {
	Dir, Source   string
	Program, From bool
	In            func(io.Reader) (int64, error)
	Out           func(io.Writer) (int64, error)
}

func (t *Transfer) Run(ctx context.Context) (n int64, err error) {
	if t.Program {
		n, err = t.runProgram(ctx)
	} else {
		n, err = t.runFile()
	}
	if err != nil && ctx.Err() != nil { // the context's end has closed the program's pipe
		err = Canceled(ctx)
	}
	return n, err
}

func (t *Transfer) runFile() (int64, error) {
	path := Resolve(t.Dir, t.Source)
	if t.From {
		f, err := os.Open(path)
		if err != nil {
			return 0, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for reading: %s", t.Source, Reason(err))
		}
		defer f.Close()
		if st, err := f.Stat(); err == nil && st.IsDir() {
			return 0, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a directory", t.Source)
		}
		return t.In(f)
	}
	f, err := os.Create(path)
	if err != nil {
		return 0, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for writing: %s", t.Source, Reason(err))
	}
	n, err := t.Out(f)
	if e := f.Close(); e != nil && err == nil {
		err = sqlerr.New(sqlerr.IO, "could not write file \"%s\": %s", t.Source, Reason(e))
	}
	return n, err
}

// runProgram runs a shell command at the other end of the copy.
func (t *Transfer) runProgram(ctx context.Context) (n int64, err error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", t.Source)
	cmd.WaitDelay = 10 * time.Millisecond // after an interrupt: children of the shell may keep the pipes open
	var said tail
	cmd.Dir, cmd.Stderr = t.Dir, io.MultiWriter(os.Stderr, &said)
	fail := func(e error) error {
		if ctx.Err() != nil {
			return Canceled(ctx)
		}
		return sqlerr.New("38000", "program \"%s\" failed", t.Source).WithDetail("%s", ExitDetail(e)+said.last())
	}
	if t.From {
		pipe, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return 0, fail(err)
		}
		defer context.AfterFunc(ctx, func() { pipe.Close() })()
		from := &programReader{r: pipe, wait: func() error {
			if err := ended(cmd); err != nil {
				return fail(err)
			}
			return nil
		}}
		n, err = t.In(from)
		if !from.done { // an error came first: the program may still wait for its reader
			pipe.Close()
			_ = cmd.Wait()
		}
		return n, err
	}
	pipe, err := cmd.StdinPipe()
	if err == nil {
		cmd.Stdout = os.Stdout
		err = cmd.Start()
	}
	if err != nil {
		return 0, fail(err)
	}
	n, err = t.Out(pipe)
	pipe.Close()
	if e := ended(cmd); e != nil && err == nil {
		err = fail(e)
	}
	return n, err
}

// ended waits for a program whose output has been read. A process that it has left behind may keep its standard error
// open, and a busy machine may be late to read that: neither makes it fail.
func ended(cmd *exec.Cmd) error {
	if err := cmd.Wait(); !errors.Is(err, exec.ErrWaitDelay) {
		return err
	}
	return nil
}

// programReader reads a program's output. At its end it waits for the program. Where that has failed the last read is
// an error, so that the rows are not kept.
type programReader struct {
	r    io.Reader
	wait func() error
	done bool
}

func (p *programReader) Read(b []byte) (int, error) {
	if p.done {
		return 0, io.EOF
	}
	n, err := p.r.Read(b)
	if err == io.EOF {
		p.done = true
		if e := p.wait(); e != nil {
			return n, e
		}
	}
	return n, err
}

// tail keeps the end of what is written to it, for messages.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	const keep = 1000
	t.b = append(t.b, p...)
	if len(t.b) > keep {
		t.b = t.b[len(t.b)-keep:]
	}
	return len(p), nil
}

// last is the last line written, after a colon.
func (t *tail) last() string {
	s := strings.TrimSpace(strings.ToValidUTF8(string(t.b), ""))
	if s == "" {
		return ""
	}
	return ": " + s[strings.LastIndexByte(s, '\n')+1:]
}

func ExitDetail(err error) string {
	var ee *exec.ExitError
	if errors.As(err, &ee) && ee.Exited() {
		return fmt.Sprintf("child process exited with exit code %d", ee.ExitCode())
	}
	return err.Error()
}

// Resolve is the name of a file, as places.Resolve is that of a folder.
func Resolve(dir, name string) string { return places.Resolve(dir, name) }

// Reason is the system's message without the path.
func Reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	msg := err.Error()
	return strings.ToUpper(msg[:1]) + msg[1:]
}
