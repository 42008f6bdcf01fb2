package conn

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
	"github.com/relgrad/relgrad/pgbridge/wire"
)

// Request is a call of one of the engine's functions on a server.
type Request struct {
	Function string
	Args     map[string]any    // those that are not NULL, as decodeArgs makes them
	Settings map[string]string // the request's other fields: user, engine, threads, memory, param_table, …
}

// Atomic reports whether the call is inside a transaction that it cannot end.
func (r *Request) Atomic() bool { return r.Settings["atomic"] != "f" }

// Answer is the result of a call: rows, a query that the backend runs to get them, or bytes.
type Answer struct {
	Rows  *wire.Block
	Query string
	Reply []byte
}

// Child is a Conn to the backend that has started this process. It is the engine's end of the line.
type Child struct {
	in   *bufio.Reader
	out  io.Writer
	shm  *os.File
	mem  []byte
	lost error // why the line can no longer be used; nil: it can

	atomic bool
	open   bool // Begin has been called
}

// NewChild makes a Child from a socket to the backend and a file of shared memory.
func NewChild(line io.ReadWriter, shared *os.File) *Child {
	return &Child{in: bufio.NewReader(line), out: line, shm: shared}
}

// Serve has handle answer requests until the backend closes the line.
func (c *Child) Serve(handle func(context.Context, *Request) (*Answer, error)) error {
	for {
		kind, payload, err := wire.ReadFrame(c.in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if kind != wire.KindRequest {
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
	d := wire.Decoder{Bytes: payload}
	r := &Request{Settings: map[string]string{}, Args: map[string]any{}}
	for range d.U32() {
		key, value := d.Str(), d.Str()
		if d.Err != nil {
			return nil, d.Err
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
	return r, d.Err
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

// answer sends the result of a request, which ends it.
func (c *Child) answer(a *Answer, err error) error {
	if err == nil && a != nil && a.Rows != nil {
		if _, err = c.ask(wire.KindOutput, a.Rows); err != nil && c.lost != nil {
			return c.lost
		}
	}
	switch {
	case err != nil:
		return wire.WriteFrame(c.out, wire.KindFailed, wire.EncodeError(err))
	case a != nil && a.Query != "":
		var e wire.Encoder
		e.Str(a.Query)
		return wire.WriteFrame(c.out, wire.KindDoneQuery, e.Bytes)
	case a != nil && a.Reply != nil:
		return wire.WriteFrame(c.out, wire.KindReply, a.Reply)
	}
	return wire.WriteFrame(c.out, wire.KindDone, nil)
}

// call sends a frame and waits for its answer: C, K or an error of the server. each gets the blocks that come before.
func (c *Child) call(kind byte, payload []byte, each func(*wire.Block) error) (tag string, rows int64, err error) {
	if c.lost != nil {
		return "", 0, c.lost
	}
	if err := wire.WriteFrame(c.out, kind, payload); err != nil {
		return "", 0, c.lose(err)
	}
	var failed error
	for {
		kind, payload, err := wire.ReadFrame(c.in)
		if err != nil {
			return "", 0, c.lose(err)
		}
		switch kind {
		case wire.KindComplete:
			d := wire.Decoder{Bytes: payload}
			tag, rows = d.Str(), int64(d.U64())
			return tag, rows, errors.Join(failed, d.Err)
		case wire.KindContinue:
			return "", 0, nil
		case wire.KindError:
			return "", 0, wire.DecodeError(payload)
		case wire.KindBlock:
			if failed == nil {
				failed = c.block(payload, each)
			}
			if err := wire.WriteFrame(c.out, wire.KindContinue, nil); err != nil {
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

func (c *Child) block(payload []byte, each func(*wire.Block) error) error {
	if err := c.remap(0); err != nil {
		return err
	}
	b, err := wire.DecodeBlock(payload, c.mem)
	if err != nil || each == nil {
		return err
	}
	return each(b)
}

// remap maps all of the shared memory. It first grows the memory to size bytes if it is smaller.
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

// ask writes a block to the shared memory and sends its description.
func (c *Child) ask(kind byte, b *wire.Block) (string, error) {
	l := wire.LayOut(b)
	if err := c.remap(l.Size); err != nil {
		return "", err
	}
	l.Write(c.mem)
	tag, _, err := c.call(kind, l.Description.Bytes, nil)
	return tag, err
}

// Query implements Conn.
func (c *Child) Query(_ context.Context, sql string, readOnly bool,
	each func(*wire.Block) error) (string, int64, error) {
	flags := byte(0)
	if readOnly {
		flags = wire.FlagReadOnly
	}
	return c.query(sql, flags, each)
}

func (c *Child) query(sql string, flags byte, each func(*wire.Block) error) (string, int64, error) {
	var e wire.Encoder
	e.U8(flags)
	e.Str(sql)
	tag, rows, err := c.call(wire.KindQuery, e.Bytes, each)
	return tag, rows, inText(err, sql)
}

// Prepare implements Conn.
func (c *Child) Prepare(_ context.Context, sql string) error {
	var e wire.Encoder
	e.Str(sql)
	_, _, err := c.call(wire.KindPrepare, e.Bytes, nil)
	return inText(err, sql)
}

// Offer implements Conn.
func (c *Child) Offer(_ context.Context, b *wire.Block) (string, error) {
	if _, err := c.ask(wire.KindRows, b); err != nil {
		return "", err
	}
	return "relgrad.gen_rows() AS d(" + wire.ColumnList(b) + ")", nil
}

// InTransaction implements Conn.
func (c *Child) InTransaction() bool { return c.atomic || c.open }

// Begin implements Conn. A backend is always in a transaction. The present one has nothing left to do, so it is ended,
// and another one begins.
func (c *Child) Begin(ctx context.Context) error {
	if c.InTransaction() {
		return sqlerr.New(sqlerr.ActiveTransaction, "there is already a transaction in progress")
	}
	if err := c.end('c'); err != nil {
		return err
	}
	if _, _, err := c.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", wire.FlagOwnRisk, nil); err != nil {
		return err
	}
	c.open = true
	return nil
}

func (c *Child) end(how byte) error {
	_, _, err := c.call(wire.KindTransaction, []byte{how}, nil)
	c.open = false
	return err
}

// Commit implements Conn.
func (c *Child) Commit(context.Context) error { return c.end('c') }

// Rollback implements Conn.
func (c *Child) Rollback(context.Context) error { return c.end('r') }

// Unlock implements Conn.
func (c *Child) Unlock(_ context.Context, class, object uint32) error {
	var e wire.Encoder
	e.U32(class)
	e.U32(object)
	_, _, err := c.call(wire.KindUnlock, e.Bytes, nil)
	return err
}

// Notice shows the user a message.
func (c *Child) Notice(level, message string) {
	var e wire.Encoder
	for _, s := range []string{level, message, "", ""} {
		e.Str(s)
	}
	if err := wire.WriteFrame(c.out, wire.KindNotice, e.Bytes); err != nil {
		c.lose(err)
	}
}

// Training tells the backend which run is trained, and the step of its next commit, at first of its last, for the
// message when it is cancelled.
func (c *Child) Training(run, step, steps int64) {
	var e wire.Encoder
	for _, x := range []int64{run, step, steps} {
		e.U64(uint64(x))
	}
	if err := wire.WriteFrame(c.out, wire.KindTraining, e.Bytes); err != nil {
		c.lose(err)
	}
}
