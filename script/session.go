package script

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Session is where the statements of a script run: a Store or a Server.
type Session interface {
	// InTransaction tells whether BEGIN has run without COMMIT or ROLLBACK.
	InTransaction() bool
	// Failed tells whether a statement of the open transaction failed.
	Failed() bool
}

// Store is a Session that runs statements as trees, one at a time. Statements that PL/pgSQL code needs
// (DO, CALL of a user's procedure) never reach it. Each Exec outside BEGIN … COMMIT is a transaction.
type Store interface {
	Session
	// Exec runs one statement. Positions in stmt point into text. A cancelled ctx ends it with 57014.
	Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*Result, error)
	// CopyIn reads COPY data from r; name is the source in messages. It returns the number of rows.
	CopyIn(ctx context.Context, c *ast.Copy, text *ast.Text, r io.Reader, name string) (int64, error)
	// CopyOut writes COPY data to w and returns the number of rows.
	CopyOut(ctx context.Context, c *ast.Copy, text *ast.Text, w io.Writer) (int64, error)
	// Function returns a function or procedure that the user created, nil for any other name.
	Function(schema, name string) *ast.CreateFunction
	// Columns returns the columns of a table or view, false when there is none of that name.
	Columns(schema, name string) ([]Col, bool)
}

// Col is a column of a result or relation. Type is a Postgres type name ("integer", "real[]").
type Col struct{ Name, Type string }

// Result is what a statement gives back.
type Result struct {
	Tag     string // psql's command tag: "INSERT 0 3", "CREATE TABLE", "SELECT 2"
	HasRows bool   // there is a table to print, even an empty one
	Cols    []Col
	More    bool    // more rows of the same result follow in another Result, which has the tag
	Rows    [][]any // nil, bool, int64, float64, string, *tensor.Tensor or a slice of these
	Notices []Notice
}

// Count is the number of rows in the tag, 0 where it has none.
func (r *Result) Count() int64 {
	n, _ := strconv.ParseInt(r.Tag[strings.LastIndexByte(r.Tag, ' ')+1:], 10, 64)
	return n
}

// Notice is a message of a running statement.
type Notice struct {
	Level                 string // "NOTICE", "WARNING", "INFO"
	Message, Detail, Hint string
}

// Canceled is the error of a context that has ended.
func Canceled(ctx context.Context) error {
	if ctx.Err() != nil {
		return sqlerr.Canceled(nil)
	}
	return nil
}
