package pgsession

import (
	"errors"
	"io"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// copyIn sends the data of one COPY … FROM STDIN beside the reading of answers: a server that writes notices all the
// while would otherwise wait for its reader, and the reader for it. When the server has refused the data, the rest is read and dropped:
// the data's end is the statement's end.
type copyIn struct {
	done chan struct{}
	err  error // of the reader; set when done is closed
}

// startCopy sends the data.
func (x *exchange) startCopy() *copyIn {
	x.finishCopy()
	c := &copyIn{done: make(chan struct{})}
	from, to := x.c.CopyIn(), x.s.conn.Frontend()
	go func() {
		defer close(c.done)
		var sent error // after which nothing more is sent
		flush := func(m pgproto3.FrontendMessage) {
			if sent == nil {
				to.Send(m)
				sent = to.Flush()
			}
		}
		buf := make([]byte, 1<<16)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				flush(&pgproto3.CopyData{Data: buf[:n]})
			}
			if err == nil && x.ctx.Err() != nil { // the server waits for data and hears of no cancel request
				err = sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
			}
			switch {
			case err == nil:
				continue
			case errors.Is(err, io.EOF):
				flush(&pgproto3.CopyDone{})
			default:
				c.err = err
				flush(&pgproto3.CopyFail{Message: err.Error()})
			}
			return
		}
	}()
	return c
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
