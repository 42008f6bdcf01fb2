package columns

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Field is one field of a line; text is valid until the next line.
type Field struct {
	Text []byte
	Null bool
}

// CopyReader reads COPY's text and csv formats.
type CopyReader struct {
	r                    *bufio.Reader
	csv                  bool
	delim, quote, escape byte
	null                 []byte
	header               bool
	Names                []string // names that the header must have; nil: any
	Line                 int      // of the current record, from 1
	lines                int      // lines read so far
	Raw                  []byte
	buf                  []byte // unescaped fields
	Fields               []Field
	cols                 int

	longest int
}

// NewCopyReader reads records of cols fields. None may be longer than longest bytes.
func NewCopyReader(r io.Reader, o ast.CopyOptions, cols, longest int) *CopyReader {
	p := &CopyReader{r: bufio.NewReaderSize(r, 1<<18), csv: o.Format == "csv", delim: '\t', quote: '"', null: []byte(`\N`),
		header: o.Header, cols: cols, longest: longest}
	if p.csv {
		p.delim, p.null = ',', nil
	}
	if o.Delimiter != "" {
		p.delim = o.Delimiter[0]
	}
	if o.NullSet {
		p.null = []byte(o.Null)
	}
	if o.Quote != "" {
		p.quote = o.Quote[0]
	}
	p.escape = p.quote
	if o.Escape != "" {
		p.escape = o.Escape[0]
	}
	return p
}

// readLine appends the next physical line to raw; io.EOF when there is none.
func (p *CopyReader) readLine() error {
	start := len(p.Raw)
	for {
		b, err := p.r.ReadSlice('\n')
		if len(p.Raw)+len(b) > p.longest {
			if start == 0 {
				p.Line = p.lines + 1
			}
			return sqlerr.New(sqlerr.ProgramLimit, "a row of more than %d MB cannot be copied", p.longest>>20).
				WithHint("A quote that is not closed, or lines that do not end in a newline, make one row of many.")
		}
		p.Raw = append(p.Raw, b...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err == io.EOF && len(p.Raw) > start {
			err = nil
		}
		var e *sqlerr.Error
		if errors.As(err, &e) { // the program that writes the data has failed
			return e
		}
		if err != nil && err != io.EOF {
			return sqlerr.New(sqlerr.IO, "could not read the data: %v", err)
		}
		if err == nil {
			p.lines++
		}
		return err
	}
}

// Next returns the fields of the next record.
func (p *CopyReader) Next() ([]Field, error) {
	for {
		p.Raw = p.Raw[:0]
		if err := p.readLine(); err != nil {
			return nil, err
		}
		p.Line = p.lines
		if p.header {
			p.header = false
			if err := p.restOfRecord(); err != nil {
				return nil, err
			}
			if err := p.matchHeader(); err != nil {
				return nil, err
			}
			continue
		}
		if !p.csv && bytes.Equal(bytes.TrimRight(p.Raw, "\r\n"), []byte(`\.`)) {
			return nil, io.EOF
		}
		if err := p.restOfRecord(); err != nil {
			return nil, err
		}
		if !utf8.Valid(p.Raw) {
			return nil, sqlerr.New("22021", "invalid byte sequence for encoding \"UTF8\"").
				WithHint("Convert the file to UTF-8; one in Latin-1 by iconv -f latin1 -t utf8 FILE > NEW.")
		}
		if bytes.IndexByte(p.Raw, 0) >= 0 {
			return nil, sqlerr.New("22021", "invalid byte sequence for encoding \"UTF8\": 0x00")
		}
		return p.split()
	}
}

// matchHeader compares the header with the columns' names.
func (p *CopyReader) matchHeader() error {
	if p.Names == nil {
		return nil
	}
	fields, err := p.split()
	if err != nil {
		return err
	}
	if len(fields) != len(p.Names) {
		return sqlerr.New(sqlerr.BadCopy, "wrong number of fields in header line: got %d, expected %d", len(fields),
			len(p.Names))
	}
	for i, f := range fields {
		if string(f.Text) != p.Names[i] {
			return sqlerr.New(sqlerr.BadCopy, "column name mismatch in header line field %d: got \"%s\", expected \"%s\"", i+1,
				f.Text, p.Names[i])
		}
	}
	return nil
}

// restOfRecord reads more lines while a csv quote is open.
func (p *CopyReader) restOfRecord() error {
	if !p.csv {
		return nil
	}
	for from, open := 0, false; ; {
		open = p.scan(from, open)
		if !open {
			return nil
		}
		from = len(p.Raw)
		if err := p.readLine(); err == io.EOF {
			return sqlerr.New(sqlerr.BadCopy, "unterminated CSV quoted field")
		} else if err != nil {
			return err
		}
	}
}

// scan reports whether a quote is open at the end of raw.
func (p *CopyReader) scan(from int, open bool) bool {
	b := p.Raw[from:]
	if p.escape == p.quote { // pairs inside quotes cancel out
		return (bytes.Count(b, []byte{p.quote})%2 == 1) != open
	}
	for i := 0; i < len(b); i++ {
		switch {
		case open && b[i] == p.escape && i+1 < len(b) && (b[i+1] == p.quote || b[i+1] == p.escape):
			i++
		case b[i] == p.quote:
			open = !open
		}
	}
	return open
}

func (p *CopyReader) split() ([]Field, error) {
	line := p.Raw
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	p.Fields, p.buf = p.Fields[:0], p.buf[:0]
	if cap(p.buf) < len(line) {
		p.buf = make([]byte, 0, 2*len(line)) // fields point into buf, so it must not move
	}
	if p.cols == 0 && len(line) == 0 {
		return p.Fields, nil
	}
	if p.csv {
		return p.Fields, p.splitCSV(line)
	}
	p.splitText(line)
	return p.Fields, nil
}

func (p *CopyReader) splitCSV(line []byte) error {
	for i := 0; ; {
		end := bytes.IndexByte(line[i:], p.delim)
		if end < 0 {
			end = len(line) - i
		}
		if f := line[i : i+end]; bytes.IndexByte(f, p.quote) < 0 { // a field without quotes
			p.Fields = append(p.Fields, Field{f, bytes.Equal(f, p.null)})
			i += end
		} else {
			start, quoted := len(p.buf), false
			i, quoted = p.quoted(line, i)
			f := p.buf[start:]
			p.Fields = append(p.Fields, Field{f, !quoted && bytes.Equal(f, p.null)})
		}
		if i >= len(line) {
			return nil
		}
		i++ // the delimiter
		if i == len(line) {
			p.Fields = append(p.Fields, Field{nil, len(p.null) == 0})
			return nil
		}
	}
}

// quoted unescapes a field that has quotes into buf and returns where it ends.
func (p *CopyReader) quoted(line []byte, i int) (end int, quoted bool) {
	open := false
	for i < len(line) {
		c := line[i]
		switch {
		case open && c == p.escape && i+1 < len(line) && (line[i+1] == p.quote || line[i+1] == p.escape):
			p.buf = append(p.buf, line[i+1])
			i++
		case c == p.quote:
			open, quoted = !open, true
		case !open && c == p.delim:
			return i, quoted
		default:
			p.buf = append(p.buf, c)
		}
		i++
	}
	return i, quoted
}

func (p *CopyReader) splitText(line []byte) {
	for i := 0; ; {
		end := i
		escaped := false
		for end < len(line) && line[end] != p.delim {
			if line[end] == '\\' && end+1 < len(line) {
				escaped = true
				end++
			}
			end++
		}
		f := line[i:end]
		null := bytes.Equal(f, p.null)
		if escaped && !null {
			start := len(p.buf)
			p.unescape(f)
			f = p.buf[start:]
		}
		p.Fields = append(p.Fields, Field{f, null})
		if end >= len(line) {
			return
		}
		i = end + 1
	}
}

// unescape appends a text field with its backslash sequences resolved.
func (p *CopyReader) unescape(f []byte) {
	for i := 0; i < len(f); i++ {
		if f[i] != '\\' || i+1 == len(f) {
			p.buf = append(p.buf, f[i])
			continue
		}
		i++
		switch c := f[i]; c {
		case 'b':
			p.buf = append(p.buf, '\b')
		case 'f':
			p.buf = append(p.buf, '\f')
		case 'n':
			p.buf = append(p.buf, '\n')
		case 'r':
			p.buf = append(p.buf, '\r')
		case 't':
			p.buf = append(p.buf, '\t')
		case 'v':
			p.buf = append(p.buf, '\v')
		default:
			p.buf = append(p.buf, c)
		}
	}
}

// copyWriter prints COPY's text and csv formats.
type copyWriter struct {
	W           *bufio.Writer
	csv         bool
	delim       byte
	quote, null string
}

// NewCopyWriter prints rows to w.
func NewCopyWriter(w io.Writer, o ast.CopyOptions) *copyWriter {
	out := &copyWriter{W: bufio.NewWriterSize(w, 1<<16), csv: o.Format == "csv", delim: '\t', quote: `"`, null: `\N`}
	if out.csv {
		out.delim, out.null = ',', ""
	}
	if o.Delimiter != "" {
		out.delim = o.Delimiter[0]
	}
	if o.NullSet {
		out.null = o.Null
	}
	if o.Quote != "" {
		out.quote = o.Quote
	}
	return out
}

// Row prints one line. types nil: all values are texts.
func (o *copyWriter) Row(vals []any, types []catalog.Type) error {
	for i, v := range vals {
		if i > 0 {
			o.W.WriteByte(o.delim)
		}
		if v == nil {
			o.W.WriteString(o.null)
			continue
		}
		t := catalog.Text
		if types != nil {
			t = types[i]
		}
		s := Format(v, t.String())
		if !o.csv {
			o.escape(s)
			continue
		}
		if s == o.null || strings.ContainsAny(s, o.quote+"\r\n"+string(o.delim)) || len(vals) == 1 && s == `\.` {
			s = o.quote + strings.ReplaceAll(s, o.quote, o.quote+o.quote) + o.quote
		}
		o.W.WriteString(s)
	}
	if err := o.W.WriteByte('\n'); err != nil {
		return sqlerr.New(sqlerr.IO, "could not write the data: %v", err)
	}
	return nil
}

func (o *copyWriter) escape(s string) {
	const from, to = "\b\f\n\r\t\v\\", "bfnrtv\\"
	for i := range len(s) {
		if k := strings.IndexByte(from, s[i]); k >= 0 {
			o.W.WriteByte('\\')
			o.W.WriteByte(to[k])
		} else if s[i] == o.delim {
			o.W.WriteByte('\\')
			o.W.WriteByte(s[i])
		} else {
			o.W.WriteByte(s[i])
		}
	}
}
