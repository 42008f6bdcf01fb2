package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/pgbridge/wire"
)

// Remote is a Conn over the protocol that clients use.
type Remote struct {
	pg *pgconn.PgConn
}

// Dial connects; see ParseDSN. notice receives the server's messages.
func Dial(ctx context.Context, dsn string, notice func(level, message string)) (*Remote, error) {
	config, err := ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if notice != nil {
			notice(n.Severity, n.Message)
		}
	}
	return Open(ctx, config)
}

// Open is Dial for a config.
func Open(ctx context.Context, config *pgconn.Config) (*Remote, error) {
	// a cancelled statement ends, the connection stays
	config.BuildContextWatcherHandler = func(pg *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: pg, DeadlineDelay: cancelTime}
	}
	pg, err := Connect(ctx, config)
	if err != nil {
		return nil, err
	}
	return &Remote{pg}, nil
}

// Attach makes a Conn from an open connection.
func Attach(pg *pgconn.PgConn) *Remote { return &Remote{pg} }

// cancelTime is how long a server may take to end a cancelled statement.
const cancelTime = 5 * time.Second

// Closed reports whether the connection is lost.
func (r *Remote) Closed() bool { return r.pg.IsClosed() }

// PID is the server's process of the connection.
func (r *Remote) PID() uint32 { return r.pg.PID() }

// Call runs a statement with one argument of bytes and returns its only value, which is bytes.
func (r *Remote) Call(ctx context.Context, sql string, argument []byte) ([]byte, error) {
	const binary = 1
	res := r.pg.ExecParams(ctx, sql, [][]byte{argument}, []uint32{pgtype.ByteaOID}, []int16{binary},
		[]int16{binary}).Read()
	if res.Err != nil {
		return nil, serverError(res.Err, sql)
	}
	if len(res.Rows) != 1 || len(res.Rows[0]) != 1 {
		return nil, sqlerr.Broken("pgbridge/conn", "%d rows answer a call", len(res.Rows))
	}
	return res.Rows[0][0], nil
}

// Close ends the connection.
func (r *Remote) Close() error { return r.pg.Close(context.Background()) }

// serverError turns an error of the server into an *sqlerr.Error.
func serverError(err error, sql string) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err
	}
	out := &sqlerr.Error{Code: e.Code, Message: e.Message, Detail: e.Detail, Hint: e.Hint,
		Context: e.Where, Pos: -1, Err: err}
	switch {
	case e.InternalPosition > 0:
		wire.Place(out, e.InternalQuery, fmt.Sprint(e.InternalPosition))
	case e.Position > 0:
		wire.Place(out, sql, fmt.Sprint(e.Position))
	}
	return out
}

// Query implements Conn.
func (r *Remote) Query(ctx context.Context, sql string, readOnly bool,
	each func(*wire.Block) error) (tag string, rows int64, err error) {
	if !readOnly {
		return r.query(ctx, sql, each)
	}
	err = r.alone(ctx, func() error {
		tag, rows, err = r.query(ctx, sql, each)
		return err
	})
	return tag, rows, err
}

// alone runs f so that a failure inside a transaction undoes only f. The engine asks the server questions that it may
// refuse, such as a sub-query with names from outside of it, and then goes on.
func (r *Remote) alone(ctx context.Context, f func() error) error {
	if r.pg.TxStatus() != 'T' {
		return f()
	}
	if err := r.simple(ctx, "SAVEPOINT relgrad_statement"); err != nil {
		return err
	}
	err := f()
	end := "RELEASE relgrad_statement"
	if err != nil {
		end = "ROLLBACK TO relgrad_statement; " + end
	}
	if e := r.simple(context.WithoutCancel(ctx), end); err == nil {
		err = e
	}
	return err
}

func (r *Remote) query(ctx context.Context, sql string, each func(*wire.Block) error) (string, int64, error) {
	if e := r.pg.ParameterStatus("client_encoding"); e != "UTF8" { // a script may have set it
		return "", 0, sqlerr.New(sqlerr.ObjectNotPrereqState, "client_encoding is %s, and relgrad reads UTF8", e).
			WithHint("SET client_encoding = 'UTF8'.")
	}
	d, err := r.pg.Prepare(ctx, "", sql, nil)
	if err != nil {
		return "", 0, serverError(err, sql)
	}
	if len(d.ParamOIDs) > 0 {
		return "", 0, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
	}
	b := wire.NewRowReader(d.Fields, each)
	result := r.pg.ExecPrepared(ctx, "", nil, nil, b.Formats())
	var failed error
	for result.NextRow() {
		if failed == nil {
			failed = b.Add(result.Values())
		}
	}
	tag, err := result.Close()
	if err == nil {
		err = failed
	}
	if err == nil {
		err = b.End()
	}
	return tag.String(), tag.RowsAffected(), serverError(err, sql)
}

// Columns are the names and types of a query's columns. It is not run.
func (r *Remote) Columns(ctx context.Context, sql string) (names, types []string, err error) {
	d, err := r.pg.Prepare(ctx, "", sql, nil)
	if err != nil {
		return nil, nil, serverError(err, sql)
	}
	for _, f := range d.Fields {
		ask := fmt.Sprintf("SELECT format_type(%d, %d)", f.DataTypeOID, f.TypeModifier)
		res := r.pg.ExecParams(ctx, ask, nil, nil, nil, nil).Read()
		if res.Err != nil {
			return nil, nil, serverError(res.Err, ask)
		}
		names, types = append(names, f.Name), append(types, string(res.Rows[0][0]))
	}
	return names, types, nil
}

// Failed reports whether a transaction has failed and is to be rolled back.
func (r *Remote) Failed() bool { return r.pg.TxStatus() == 'E' }

// CopyOut writes what COPY … TO STDOUT gives.
func (r *Remote) CopyOut(ctx context.Context, sql string, to io.Writer) error {
	_, err := r.pg.CopyTo(ctx, to, sql)
	return serverError(err, sql)
}

// CopyIn sends what COPY … FROM STDIN reads and returns the number of rows.
func (r *Remote) CopyIn(ctx context.Context, sql string, from io.Reader) (int64, error) {
	tag, err := r.pg.CopyFrom(ctx, from, sql)
	return tag.RowsAffected(), serverError(err, sql)
}

// Prepare implements Conn.
func (r *Remote) Prepare(ctx context.Context, sql string) error {
	return r.alone(ctx, func() error {
		_, err := r.pg.Prepare(ctx, "", sql, nil)
		return serverError(err, sql)
	})
}

// InTransaction implements Conn.
func (r *Remote) InTransaction() bool { return r.pg.TxStatus() != 'I' }

// Begin implements Conn.
func (r *Remote) Begin(ctx context.Context) error {
	return r.simple(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ")
}

// Commit implements Conn.
func (r *Remote) Commit(ctx context.Context) error { return r.simple(ctx, "COMMIT") }

// Rollback implements Conn.
func (r *Remote) Rollback(ctx context.Context) error { return r.simple(ctx, "ROLLBACK") }

// Unlock implements Conn: the server releases the lock with the connection.
func (r *Remote) Unlock(context.Context, uint32, uint32) error { return nil }

func (r *Remote) simple(ctx context.Context, sql string) error {
	return serverError(r.pg.Exec(ctx, sql).Close(), sql)
}

// Offer implements Conn: a temporary table, filled by COPY.
func (r *Remote) Offer(ctx context.Context, b *wire.Block) (string, error) {
	const name = "pg_temp.relgrad_rows"
	end := "" // outside of a transaction, the table stays until the next Offer
	if r.InTransaction() {
		end = " ON COMMIT DROP"
	}
	if err := r.simple(ctx, DropTemp("relgrad_rows")+"; CREATE TEMP TABLE relgrad_rows ("+
		wire.ColumnList(b)+")"+end); err != nil {
		return "", err
	}
	in, out := io.Pipe()
	go func() { out.CloseWithError(wire.WriteCopy(out, b)) }()
	_, err := r.pg.CopyFrom(ctx, in, "COPY "+name+" FROM STDIN (FORMAT binary)")
	in.CloseWithError(errors.New("the server takes no more rows"))
	return name + " AS d", serverError(err, "")
}

// DropTemp is a statement that drops a temporary table if there is one, without the NOTICE of IF EXISTS.
func DropTemp(name string) string {
	return "DO $$ BEGIN IF pg_catalog.to_regclass('pg_temp." + name + "') IS NOT NULL THEN DROP TABLE pg_temp." +
		name + "; END IF; END $$"
}

// Script runs any number of statements, without their rows.
func (r *Remote) Script(ctx context.Context, sql string) error { return r.simple(ctx, sql) }
