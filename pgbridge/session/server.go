package session

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/pgbridge/wire"
)

// server is what the parts of a session share: the connection, and the state of what has been read from it.
type server struct {
	conn  conn.Conn
	begun uint64 // counts transactions and requests
	err   error  // an error that could not be returned; the next method that can returns it
	// known are the parts that keep answers of the server. state is the server's mark of the catalogues' state when
	// they were read; "" if the server gives none.
	known []interface{ drop() }
	state string
}

// forget drops all answers, because they may have changed.
func (s *server) forget() {
	s.state = ""
	for _, k := range s.known {
		k.drop()
	}
}

// fail keeps an error for the next method that can return it.
func (s *server) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// failed returns the error that was kept, and forgets it.
func (s *server) failed() error {
	err := s.err
	s.err = nil
	return err
}

// texts runs a query of our own on the catalogues and returns its values as texts, NULL as "".
func (s *server) texts(sql string) (out [][]string, err error) {
	return textsOf(context.Background(), s.conn, sql)
}

func textsOf(ctx context.Context, c conn.Conn, sql string) (out [][]string, err error) {
	_, _, err = c.Query(ctx, sql, true, func(b *wire.Block) error {
		for row := range b.Rows {
			r := make([]string, len(b.Cols))
			for i, c := range b.Cols {
				if !c.Data.IsNull(row) {
					r[i] = c.Data.Value(row).String()
				}
				if c.Data.Kind() == column.Str {
					r[i] = c.Data.Texts()[row]
				}
			}
			out = append(out, r)
		}
		return nil
	})
	return out, err
}

func (s *server) result(ctx context.Context, sql string) (*catalog.Result, error) {
	out := &catalog.Result{}
	tag, rows, err := s.conn.Query(ctx, sql, false, func(b *wire.Block) error {
		if !out.HasRows {
			out.HasRows = true
			for _, c := range b.Cols {
				out.Cols = append(out.Cols, catalog.ResultCol{Name: c.Name, Type: typeOf(pgTypes[c.OID]).String()})
			}
		}
		for row := range b.Rows {
			r := make([]any, len(b.Cols))
			for i, c := range b.Cols {
				r[i] = catalog.Value(c.Data, row)
			}
			out.Rows = append(out.Rows, r)
		}
		return nil
	})
	out.Tag, out.Count = tag, rows
	return out, err
}

// local reports whether settings should end with the transaction: a backend's session is its user's, and must not keep
// them.
func (s *server) local() bool {
	_, remote := s.conn.(*conn.Remote)
	return !remote || s.conn.InTransaction()
}

// bare removes an error's position in a statement of our own.
func bare(err error) error {
	if e, ok := err.(*sqlerr.Error); ok {
		e.Text, e.Pos = nil, -1
	}
	return err
}

// pgTypes are the names of types by their OIDs in results.
var pgTypes = map[uint32]string{
	pgtype.BoolOID: "boolean", pgtype.Int2OID: "smallint", pgtype.Int4OID: "integer", pgtype.Int8OID: "bigint",
	pgtype.OIDOID: "bigint", pgtype.Float4OID: "real", pgtype.Float8OID: "double precision", pgtype.NumericOID: "numeric",
	pgtype.TextOID: "text", pgtype.VarcharOID: "text", pgtype.NameOID: "text", pgtype.DateOID: "date",
	pgtype.TimestampOID: "timestamp", pgtype.TimestamptzOID: "timestamp with time zone",
	pgtype.Float4ArrayOID: "real[]", pgtype.Float8ArrayOID: "double precision[]", pgtype.Int8ArrayOID: "bigint[]",
	pgtype.Int4ArrayOID: "integer[]", pgtype.TextArrayOID: "text[]",
}
