package pgsession

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/plpgsql"
	"github.com/relgrad/relgrad/script/psql"
)

// Run implements psql.Server.
func (s *Session) Run(ctx context.Context, sql string, c *psql.Client) error {
	if strings.IndexByte(sql, 0) >= 0 {
		return sqlerr.At(strings.IndexByte(sql, 0), "22021", "invalid byte sequence for encoding \"UTF8\": 0x00")
	}
	if s.conn.IsClosed() {
		return sqlerr.New(connectionFailure, "no connection to the server")
	}
	defer s.cancelOn(ctx)()
	s.conn.Frontend().SendQuery(&pgproto3.Query{String: sql})
	if err := s.conn.Frontend().Flush(); err != nil {
		return s.broken(err)
	}
	x := &exchange{s: s, ctx: ctx, sql: sql, c: c}
	for {
		msg, err := s.conn.ReceiveMessage(context.Background())
		if err != nil {
			x.finishCopy()
			var fatal *pgconn.PgError // the server's last error, with which it ended the connection
			if errors.As(err, &fatal) {
				x.keep(message(fatal, sql, c))
			}
			x.keep(s.broken(err))
			return x.err
		}
		if _, ready := msg.(*pgproto3.ReadyForQuery); ready {
			x.finishCopy()
			return x.err
		}
		x.message(msg)
	}
}

// broken gives up a connection that has ended, and says so.
func (s *Session) broken(err error) error {
	_ = s.Close()
	e := sqlerr.New(connectionFailure, "server closed the connection unexpectedly").Wrap(err)
	return e.WithDetail("This probably means the server terminated abnormally before or while processing the request.")
}

// exchange is one text that the server runs. An error on this side is kept, and the server's answers are read to their
// end.
type exchange struct {
	s    *Session
	ctx  context.Context
	sql  string
	c    *psql.Client
	err  error          // the first error on this side
	res  *script.Result // the result whose rows arrive now; nil: none
	size int            // bytes of these rows
	out  io.Writer      // the output of COPY … TO STDOUT
	copy *copyIn        // the input of COPY … FROM STDIN
}

// keep keeps an error unless there is an earlier one.
func (x *exchange) keep(err error) {
	if x.err == nil {
		x.err = err
	}
}

// message handles one message of the server.
func (x *exchange) message(msg pgproto3.BackendMessage) {
	switch m := msg.(type) {
	case *pgproto3.RowDescription:
		x.res = &script.Result{HasRows: true}
		for _, f := range m.Fields {
			x.res.Cols = append(x.res.Cols, script.Col{Name: string(f.Name), Type: typeNames[f.DataTypeOID]})
		}
	case *pgproto3.DataRow:
		x.row(m.Values)
	case *pgproto3.CommandComplete:
		x.complete(string(m.CommandTag))
	case *pgproto3.CopyInResponse:
		x.copy = x.startCopy()
	case *pgproto3.CopyOutResponse:
		x.out = x.c.CopyOut()
	case *pgproto3.CopyData:
		if _, err := x.out.Write(m.Data); err != nil {
			x.keep(sqlerr.New(sqlerr.IO, "could not write COPY data: %v", err).Wrap(err))
			x.out = io.Discard
		}
	case *pgproto3.CopyBothResponse:
		x.keep(sqlerr.New(sqlerr.FeatureNotSupported, "replication by COPY is not supported"))
		_ = x.s.Close() // only closing the connection ends such a COPY
	case *pgproto3.ErrorResponse:
		x.finishCopy()
		x.keep(message(pgconn.ErrorResponseToPgError(m), x.sql, x.c))
		x.res, x.out = nil, nil
	case *pgproto3.NoticeResponse:
		x.c.Notice(message(pgconn.ErrorResponseToPgError((*pgproto3.ErrorResponse)(m)), x.sql, x.c))
	case *pgproto3.NotificationResponse:
		x.c.Notify(m.Channel, m.Payload, m.PID)
	}
}

// row copies a row, whose bytes the connection will overwrite, and passes on a part of the result that is full.
func (x *exchange) row(values [][]byte) {
	if x.err != nil {
		return
	}
	row := make([]any, len(values))
	for i, v := range values {
		if v != nil {
			row[i] = string(v)
		}
		x.size += 16 + len(v)
	}
	x.res.Rows = append(x.res.Rows, row)
	if n := x.c.PartRows; n > 0 && (len(x.res.Rows) >= n || x.size >= plpgsql.PartBytes) {
		x.res.More = true
		x.keep(x.c.Result(x.res))
		x.res, x.size = &script.Result{HasRows: true, Cols: x.res.Cols}, 0
	}
}

// complete passes on a result that is complete.
func (x *exchange) complete(tag string) {
	x.finishCopy()
	res := x.res
	x.res, x.out, x.size = nil, nil, 0
	if res == nil {
		res = &script.Result{}
	}
	res.Tag = tag
	if x.err != nil {
		return
	}
	x.keep(x.c.Result(res))
}

// query runs a query of our own and returns its rows as strings, "" for NULL.
func (s *Session) query(ctx context.Context, sql string) (*script.Result, error) {
	var out *script.Result
	err := s.Run(ctx, sql, &psql.Client{
		Result: func(r *script.Result) error { out = r; return nil },
		Notice: func(error) {}, Notify: func(string, string, uint32) {},
		CopyIn: func() io.Reader { return strings.NewReader("") }, CopyOut: func() io.Writer { return io.Discard },
	})
	if err == nil && out == nil {
		err = sqlerr.New(sqlerr.Internal, "the server gave no result of %s", sql)
	}
	return out, err
}

// text is a value in a row of query, "" for NULL.
func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
