package pgsession

import (
	"errors"
	"io"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// copyIn sends the data of one COPY … FROM STDIN beside the reading of answers: a server that writes notices all the
// while would otherwise wait for its reader, and the reader for it. When the server has refused the data, the rest is
// read and dropped: the data's end is the statement's end.
type copyIn struct {
	done chan struct{}
	err  error // of the reader; set when done is closed
}

// chunk is a part of the data, and the error behind it.
type chunk struct {
	data []byte
	err  error
}

// startCopy sends the data.
func (x *exchange) startCopy() *copyIn {
	x.finishCopy()
	c := &copyIn{done: make(chan struct{})}
	chunks, ended := make(chan chunk), make(chan struct{})
	go readChunks(x.c.CopyIn(), chunks, ended)
	go func() {
		defer close(c.done)
		defer close(ended)
		to := x.s.conn.Frontend()
		var failed error // after which nothing more is sent
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
			case <-x.ctx.Done(): // the server, which waits for data, does not hear of a cancel request
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

// readChunks reads to the end, or to where nobody takes any more. A chunk goes out when it is full or the data end, not
// with each line that a reader hands over: what the server says of small data (a trigger's notices) then comes after
// their last line is read, and names the same line of the script in every run, psql's. A reader that waits for its own
// source is left behind where nobody takes any more: it cannot be woken.
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

// fill reads until the buffer is full or the reader has an error, which it returns as it is (io.ReadFull would make a
// truncated source's error and the end alike).
func fill(from io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var more int
		more, err = from.Read(buf[n:])
		n += more
	}
	return n, err
}

// finishCopy waits for the end of the data. An error of reading them is the cause of the server's.
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
