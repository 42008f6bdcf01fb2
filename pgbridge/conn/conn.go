package conn

import (
	"context"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/pgbridge/wire"
)

// Conn runs SQL on a server for a Session, one statement at a time.
type Conn interface {
	// Query runs one statement and calls each with its rows, block by block; each may be nil. If the Conn can do that,
	// a statement that fails inside a transaction undoes only itself.
	Query(ctx context.Context, sql string, readOnly bool, each func(*wire.Block) error) (tag string, rows int64, err error)
	// Prepare has the server parse and analyse a statement.
	Prepare(ctx context.Context, sql string) error
	// Offer makes rows readable for statements until the next Offer. from is what to write in FROM; its alias is d, and
	// its columns have the block's names.
	Offer(ctx context.Context, b *wire.Block) (from string, err error)
	// InTransaction reports whether a transaction is open: one that Commit would end, or the caller's, which only the
	// caller can end (Request.Atomic).
	InTransaction() bool
	// Begin opens a transaction that sees one state of the database.
	Begin(ctx context.Context) error
	Commit(ctx context.Context) error
	Rollback(ctx context.Context) error
	// Unlock makes sure that an advisory lock of the session is released at the end, even if this process dies.
	Unlock(ctx context.Context, class, object uint32) error
}

// inText gives an error of the server the statement as its text, because its position counts characters of that. The
// server's own mention of the statement is dropped: the engine made it, not the user.
func inText(err error, sql string) error {
	e, ok := err.(*sqlerr.Error)
	if !ok {
		return err
	}
	if e.Text == nil && e.Pos >= 0 {
		e.Text, e.Pos = &sqlerr.Text{SQL: sql}, wire.ByteAt(sql, e.Pos)
	}
	if at := strings.LastIndex(e.Context, sql); at >= 0 && sql != "" {
		before, after := e.Context[:at], e.Context[at+len(sql):]
		before = before[:strings.LastIndexByte(before, '\n')+1]
		_, after, _ = strings.Cut(after, "\n")
		e.Context = strings.TrimSuffix(before+after, "\n")
	}
	return err
}
