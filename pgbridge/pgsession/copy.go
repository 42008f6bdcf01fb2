package pgsession

import (
	"errors"
	"io"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// copyIn sends the data of one COPY … FROM STDIN while the server's answers are read: a server that keeps writing
// notices waits until they are read, and would never take the data. Data after a refusal by the server are read and
// dropped, because the statement ends at their end.
type copyIn struct {
	done chan struct{}
	err  error // the data's reader's error, set before done is closed
}

// chunk is a part of the data, and the reader's error after it.
type chunk struct {
	data []byte
	err  error
}

// startCopy begins to send the data.
func (x *exchange) startCopy() *copyIn {
	x.finishCopy()
	c := &copyIn{done: make(chan struct{})}
	chunks, ended := make(chan chunk), make(chan struct{})
	go readChunks(x.c.CopyIn(), chunks, ended)
	go func() {
		defer close(c.done)
		defer close(ended)
		to := x.s.conn.Frontend()
		var failed error // after it nothing more is sent
		send := func(m pgproto3.FrontendMessage) {
			if failed == nil {
				to.Send(m)
				failed = to.Flush()
			}
		}
		for c.err == nil {
			select {
			case part := <-chunks:
				if len(part.data) > 0 {
					send(&pgproto3.CopyData{Data: part.data})
				}
				c.err = part.err
			case <-x.ctx.Done(): // a server that waits for data does not notice a cancel request
				c.err = sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
			}
		}
		if errors.Is(c.err, io.EOF) {
			c.err = nil
			send(&pgproto3.CopyDone{})
			return
		}
		send(&pgproto3.CopyFail{Message: c.err.Error()})
	}()
	return c
}

// readChunks reads to the end of the data, or until ended is closed. It passes on a chunk when it is full or the data
// end, not line by line. What the server says about small data (a trigger's notices) then comes after their last line
// is read, so that the message names the same line of the script in every run, and in psql. A reader that waits for its
// own source cannot be woken: it is left behind.
func readChunks(from io.Reader, to chan<- chunk, ended <-chan struct{}) {
	bufs := [2][]byte{make([]byte, 1<<16), make([]byte, 1<<16)} // one is filled while the other is sent
	for i := 0; ; i++ {
		n, err := fill(from, bufs[i%2])
		select {
		case to <- chunk{bufs[i%2][:n], err}:
		case <-ended:
			return
		}
		if err != nil {
			return
		}
	}
}

// fill reads until the buffer is full or the reader has an error, which it returns unchanged. (io.ReadFull would not
// distinguish the end from a truncated source.)
func fill(from io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var more int
		more, err = from.Read(buf[n:])
		n += more
	}
	return n, err
}

// finishCopy waits for the end of the data. An error in reading them is kept: it is the cause of the server's error.
func (x *exchange) finishCopy() {
	if x.copy == nil {
		return
	}
	<-x.copy.done
	if x.copy.err != nil {
		x.keep(x.copy.err)
	}
	x.copy = nil
}
