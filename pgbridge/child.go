package pgbridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Request is a call of one of the engine's functions on a server.
type Request struct {
	Function string
	Args     map[string]any    // those that are not NULL, as encoding/json reads them, numbers as json.Number
	Settings map[string]string // the other fields of the request: user, engine, threads, memory, param_table, …
}

// Atomic reports whether the call stands inside a transaction that it cannot end.
func (r *Request) Atomic() bool { return r.Settings["atomic"] != "f" }

// Answer is what a call gives: rows, or a query that the backend runs for them.
type Answer struct {
	Rows  *Block
	Query string
}

// Child is the engine's end of the line to the backend that has started it.
type Child struct {
	in   *bufio.Reader
	out  io.Writer
	shm  *os.File
	mem  []byte
	lost error // the line is out of step

	atomic bool
	open   bool // Begin has been called
}

// NewChild speaks to a backend through a socket and a file of shared memory.
func NewChild(line io.ReadWriter, shared *os.File) *Child {
	return &Child{in: bufio.NewReader(line), out: line, shm: shared}
}

// Serve answers requests until the backend closes the line.
func (c *Child) Serve(handle func(context.Context, *Request) (*Answer, error)) error {
	for {
		kind, payload, err := readFrame(c.in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if kind != kindRequest {
			return fmt.Errorf("pgbridge: a frame %q where a request is expected", kind)
		}
		req, err := decodeRequest(payload)
		if err != nil {
			return err
		}
		c.atomic, c.open = req.Atomic(), false
		answer, err := handle(context.Background(), req)
		if c.lost != nil {
			return c.lost
		}
		if err := c.answer(answer, err); err != nil {
			return err
		}
	}
}

func decodeRequest(payload []byte) (*Request, error) {
	d := dec{b: payload}
	r := &Request{Settings: map[string]string{}, Args: map[string]any{}}
	for range d.u32() {
		key, value := d.str(), d.str()
		if d.err != nil {
			return nil, d.err
		}
		switch key {
		case "function":
			r.Function = value
		case "args":
			if err := decodeArgs(value, r.Args); err != nil {
				return nil, err
			}
		default:
			r.Settings[key] = value
		}
	}
	return r, d.err
}

// decodeArgs reads the arguments: bool, int64, float64, string, []string; other values keep their JSON text.
func decodeArgs(text string, args map[string]any) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return fmt.Errorf("pgbridge: the arguments: %w", err)
	}
	for name, r := range raw {
		var b bool
		var i int64
		var f float64
		var s string
		var list []string
		switch {
		case json.Unmarshal(r, &b) == nil:
			args[name] = b
		case json.Unmarshal(r, &i) == nil:
			args[name] = i
		case json.Unmarshal(r, &f) == nil:
			args[name] = f
		case json.Unmarshal(r, &s) == nil:
			args[name] = s
		case json.Unmarshal(r, &list) == nil:
			args[name] = list
		default:
			args[name] = string(r)
		}
	}
	return nil
}

// answer sends the end of a request.
func (c *Child) answer(a *Answer, err error) error {
	if err == nil && a != nil && a.Rows != nil {
		if _, err = c.ask(kindOutput, a.Rows); err != nil && c.lost != nil {
			return c.lost
		}
	}
	switch {
	case err != nil:
		return writeFrame(c.out, kindFailed, encodeError(err))
	case a != nil && a.Query != "":
		var e enc
		e.str(a.Query)
		return writeFrame(c.out, kindDoneQuery, e.b)
	}
	return writeFrame(c.out, kindDone, nil)
}

// call sends a frame and returns the answer, which is C, K or an error of the server; each reads blocks before it.
func (c *Child) call(kind byte, payload []byte, each func(*Block) error) (tag string, rows int64, err error) {
	if c.lost != nil {
		return "", 0, c.lost
	}
	if err := writeFrame(c.out, kind, payload); err != nil {
		return "", 0, c.lose(err)
	}
	var failed error
	for {
		kind, payload, err := readFrame(c.in)
		if err != nil {
			return "", 0, c.lose(err)
		}
		switch kind {
		case kindComplete:
			d := dec{b: payload}
			tag, rows = d.str(), int64(d.u64())
			return tag, rows, errors.Join(failed, d.err)
		case kindContinue:
			return "", 0, nil
		case kindError:
			return "", 0, decodeError(payload)
		case kindBlock:
			if failed == nil {
				failed = c.block(payload, each)
			}
			if err := writeFrame(c.out, kindContinue, nil); err != nil {
				return "", 0, c.lose(err)
			}
		default:
			return "", 0, c.lose(fmt.Errorf("pgbridge: a frame %q as an answer", kind))
		}
	}
}

func (c *Child) lose(err error) error {
	c.lost = err
	return err
}

func (c *Child) block(payload []byte, each func(*Block) error) error {
	if err := c.remap(0); err != nil {
		return err
	}
	b, err := decodeBlock(payload, c.mem)
	if err != nil || each == nil {
		return err
	}
	return each(b)
}

// remap maps all of the shared memory, which is made at least as large as asked.
func (c *Child) remap(size uint64) error {
	st, err := c.shm.Stat()
	if err != nil {
		return err
	}
	have := uint64(st.Size())
	if have < size {
		if err := c.shm.Truncate(int64(size)); err != nil {
			return sqlerr.New(sqlerr.OutOfMemory, "could not make the shared memory %d bytes large", size).Wrap(err)
		}
		have = size
	}
	if uint64(len(c.mem)) == have {
		return nil
	}
	if c.mem != nil {
		if err := syscall.Munmap(c.mem); err != nil {
			return err
		}
		c.mem = nil
	}
	if have == 0 {
		return nil
	}
	c.mem, err = syscall.Mmap(int(c.shm.Fd()), 0, int(have), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return sqlerr.New(sqlerr.OutOfMemory, "could not map %d bytes of shared memory", have).Wrap(err)
	}
	return nil
}

// ask sends a block in a frame.
func (c *Child) ask(kind byte, b *Block) (string, error) {
	l := layOut(b)
	if err := c.remap(l.size); err != nil {
		return "", err
	}
	for _, put := range l.put {
		put(c.mem)
	}
	tag, _, err := c.call(kind, l.desc.b, nil)
	return tag, err
}

// Query implements Conn.
func (c *Child) Query(_ context.Context, sql string, readOnly bool, each func(*Block) error) (string, int64, error) {
	flags := byte(0)
	if readOnly {
		flags = flagReadOnly
	}
	return c.query(sql, flags, each)
}

func (c *Child) query(sql string, flags byte, each func(*Block) error) (string, int64, error) {
	var e enc
	e.u8(flags)
	e.str(sql)
	tag, rows, err := c.call(kindQuery, e.b, each)
	return tag, rows, inText(err, sql)
}

// Prepare implements Conn.
func (c *Child) Prepare(_ context.Context, sql string) error {
	var e enc
	e.str(sql)
	_, _, err := c.call(kindPrepare, e.b, nil)
	return inText(err, sql)
}

// Offer implements Conn.
func (c *Child) Offer(_ context.Context, b *Block) (string, error) {
	if _, err := c.ask(kindRows, b); err != nil {
		return "", err
	}
	return "relgrad.gen_rows() AS d(" + columnList(b) + ")", nil
}

// InTransaction implements Conn.
func (c *Child) InTransaction() bool { return c.atomic || c.open }

// Begin implements Conn. A backend is always in a transaction; the present one, in which nothing is left to be done,
// ends.
func (c *Child) Begin(ctx context.Context) error {
	if c.InTransaction() {
		return sqlerr.New(sqlerr.ActiveTransaction, "there is already a transaction in progress")
	}
	if err := c.end('c'); err != nil {
		return err
	}
	if _, _, err := c.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", flagOwnRisk, nil); err != nil {
		return err
	}
	c.open = true
	return nil
}

func (c *Child) end(how byte) error {
	_, _, err := c.call(kindTransaction, []byte{how}, nil)
	c.open = false
	return err
}

// Commit implements Conn.
func (c *Child) Commit(context.Context) error { return c.end('c') }

// Rollback implements Conn.
func (c *Child) Rollback(context.Context) error { return c.end('r') }

// Unlock implements Conn.
func (c *Child) Unlock(_ context.Context, class, object uint32) error {
	var e enc
	e.u32(class)
	e.u32(object)
	_, _, err := c.call(kindUnlock, e.b, nil)
	return err
}

// Notice shows the user a message.
func (c *Child) Notice(level, message string) {
	var e enc
	for _, s := range []string{level, message, "", ""} {
		e.str(s)
	}
	if err := writeFrame(c.out, kindNotice, e.b); err != nil {
		c.lose(err)
	}
}

// training tells the backend which run is trained and how far its commits are, for whoever cancels it.
func (c *Child) training(run, step, steps int64) {
	var e enc
	for _, x := range []int64{run, step, steps} {
		e.u64(uint64(x))
	}
	if err := writeFrame(c.out, kindTraining, e.b); err != nil {
		c.lose(err)
	}
}
