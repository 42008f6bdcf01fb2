package parse

import (
	"errors"
	"path/filepath"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/pganalyze/pg_query_go/v5/parser"

	"github.com/relgrad/relgrad/sqlfront/ast"
)

// FROM 'file.csv' is not Postgres's grammar. Where the parser stops at such a string, its quotes become those of a
// name: "file.csv" has as many bytes, so every position stays what it was. What becomes of the name is a call of
// file_table('file.csv').

// parsed parses the converter's text.
func (c *Converter) parsed() (*pg.ParseResult, error) {
	tree, first := pg.Parse(c.Src)
	src := []byte(c.Src)
	for err := first; err != nil; tree, err = pg.Parse(string(src)) {
		t, ok := c.fileAt(err)
		if !ok {
			return nil, first
		}
		src[t.At], src[t.End-1] = '"', '"'
		for i := t.At + 1; i < t.End-1; i++ {
			if src[i] == '"' { // the name is read from the text
				src[i] = '_'
			}
		}
		if c.files == nil {
			c.files = map[int32]string{}
		}
		c.files[int32(t.At)] = strings.ReplaceAll(c.Src[t.At+1:t.End-1], "''", "'")
	}
	c.strange = first
	return tree, nil
}

// fileAt finds the string that stands where a table should, if the parser stopped there.
func (c *Converter) fileAt(err error) (t Token, ok bool) {
	var pe *parser.Error
	if !errors.As(err, &pe) || !strings.HasPrefix(pe.Message, "syntax error") || pe.Cursorpos < 1 {
		return t, false
	}
	at := byteOffset(c.Src, pe.Cursorpos-1)
	if at >= len(c.Src) || c.Src[at] != '\'' || c.files[int32(at)] != "" {
		return t, false
	}
	var before Token
	for t = Lex(c.Src, 0); t.Kind != TokEOF && t.At < at; t = Lex(c.Src, t.End) {
		before = t
	}
	return t, t.At == at && t.Kind == TokString && t.End-t.At > 2 &&
		(before.Is("from") || before.Is("join") || before.Is(","))
}

// fileTable makes the call that a name in FROM stands for, nil where it is a table's.
func fileTable(c *Converter, r *pg.RangeVar) ast.FromItem {
	name, ok := c.files[r.Location]
	if !ok || r.Schemaname != "" {
		return nil
	}
	delete(c.files, r.Location)
	node := c.node(r.Location)
	out := &ast.FuncFrom{Node: node, Alias: aliasOf(c, r.Alias), Func: &ast.FuncCall{Node: node, Name: "file_table",
		ArgNames: []string{""}, Args: []ast.Expr{&ast.Literal{Node: node, Kind: ast.LitString, Value: name}}}}
	if out.Alias.Name == "" {
		out.Alias.Name, _, _ = strings.Cut(filepath.Base(name), ".")
	}
	return out
}
