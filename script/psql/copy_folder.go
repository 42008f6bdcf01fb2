package psql

import (
	"context"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// FolderCopier is a Server that runs a \copy between the server and a folder of this machine, such as a table of Delta
// Lake. query is the text of the query that a \copy to a folder reads, "" for a table.
type FolderCopier interface {
	CopyFolder(ctx context.Context, c *ast.Copy, text *ast.Text, query string) (*script.Result, error)
}

// namesFolder reports whether the options of a COPY name a format whose files are a folder.
func namesFolder(tail string) bool {
	format := false
	for at := 0; ; {
		t := parse.Lex(tail, at)
		if t.Kind == parse.TokEOF || t.Kind == parse.TokUnfinished {
			return false
		}
		word := strings.ToLower(strings.Trim(tail[t.At:t.End], `'"`))
		if format && slices.Contains(ast.FolderFormats, word) {
			return true
		}
		format = word == "format"
		at = t.End
	}
}

// copyFolder is \copy on a server with a folder. Only the server need understand the query.
func copyFolder(r *Runner, ctx context.Context, a *copyArgs, text *ast.Text) error {
	f, ok := r.server.(FolderCopier)
	if !ok {
		return r.report(sqlerr.In(sqlerr.New(sqlerr.FeatureNotSupported, "this session copies no folders"), text))
	}
	query, readable := "", text
	if strings.HasPrefix(a.head, "(") && strings.HasSuffix(a.head, ")") {
		query = a.head[1 : len(a.head)-1]
		plain := *text
		plain.SQL = strings.Replace(text.SQL, a.head, "(SELECT 1)", 1)
		readable = &plain
	}
	c, _, err := parseCopy(readable)
	if err != nil {
		return r.report(sqlerr.In(err, text))
	}
	client := r.client(nil, r.show)
	err = r.begin(ctx, a.sql(), client)
	var res *script.Result
	if err == nil {
		res, err = f.CopyFolder(ctx, c, text, query)
	}
	if err != nil {
		return r.failed(ctx, a.sql(), err)
	}
	for _, n := range res.Notices {
		r.notice(n)
	}
	return client.Result(res)
}
