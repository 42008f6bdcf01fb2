package psql

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	textwidth "golang.org/x/text/width"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/plpgsql"
)

// Format of results, as \pset format.
const (
	FormatAligned   = "aligned"
	FormatUnaligned = "unaligned"
	FormatCSV       = "csv"
	FormatJSON      = "json"
)

// printer prints results as psql does.
type printer struct {
	format               string
	tuplesOnly, expanded bool
	null                 string
	fieldSep             string // of the unaligned format
	footer               bool
	title                string
	border               int      // 0, 1 or 2
	footers              []string // printed in place of the number of rows; nil: the number is printed
}

func newPrinter(format string) *printer {
	return &printer{format: format, fieldSep: "|", footer: true, border: 1}
}

// cells formats all values; numbers is true for columns that align to the right.
func (p *printer) cells(r *script.Result) (rows [][]string, right []bool) {
	right = make([]bool, len(r.Cols))
	for i, c := range r.Cols {
		switch c.Type {
		case "smallint", "integer", "bigint", "real", "double precision", "numeric", "oid", "xid", "xid8", "cid", "money":
			right[i] = true
		}
	}
	for _, row := range r.Rows {
		out := make([]string, len(row))
		for i, v := range row {
			if v == nil {
				out[i] = p.null
			} else {
				out[i] = plpgsql.Format(v, r.Cols[i].Type)
			}
		}
		rows = append(rows, out)
	}
	return rows, right
}

// sheet prints a result in one or several parts.
type sheet struct {
	*printer
	w      io.Writer
	b      strings.Builder // text of a part
	rows   int             // rows printed so far
	begun  bool
	widths []int // of an aligned table's columns, or of the names and the values of expanded ones
}

// print writes one result in the printer's format.
func (p *printer) print(w io.Writer, r *script.Result) error {
	return (&sheet{printer: p, w: w}).part(r)
}

// part writes the rows of a part; the last one ends the table.
func (s *sheet) part(r *script.Result) error {
	s.b.Reset()
	switch {
	case s.format == FormatJSON:
		if err := s.json(r); err != nil {
			return err
		}
	case s.format == FormatCSV:
		s.csv(r)
	case s.format == FormatUnaligned && s.expanded:
		s.unalignedExpanded(r)
	case s.format == FormatUnaligned:
		s.unaligned(r)
	case s.expanded && len(r.Rows) == 0 && s.rows == 0:
		s.foot(&s.b, 0)
		s.b.WriteByte('\n')
	case s.expanded:
		s.alignedExpanded(r)
	default:
		s.aligned(r)
	}
	s.rows, s.begun = s.rows+len(r.Rows), true
	_, err := io.WriteString(s.w, s.b.String())
	return err
}

func rowCount(n int) string {
	if n == 1 {
		return "(1 row)"
	}
	return fmt.Sprintf("(%d rows)", n)
}

// foot prints the lines under a table.
func (p *printer) foot(b *strings.Builder, rows int) {
	switch {
	case p.tuplesOnly:
	case p.footers != nil:
		for _, line := range p.footers {
			fmt.Fprintln(b, line)
		}
	case p.footer:
		fmt.Fprintln(b, rowCount(rows))
	}
}

func pad(b *strings.Builder, n int) {
	for range n {
		b.WriteByte(' ')
	}
}

// width is the number of columns that a text takes on a terminal.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += RuneWidth(r)
	}
	return n
}

// RuneWidth is the number of columns that a character takes: two for those of East Asia and emoji, none for those that
// combine with another (Unicode Standard Annex 11).
func RuneWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if k := textwidth.LookupRune(r).Kind(); k == textwidth.EastAsianWide || k == textwidth.EastAsianFullwidth {
		return 2
	}
	return 1
}

// lines splits a cell at its newlines. Tabs and control characters are written as escapes, as pg_wcsformat in psql's
// mbprint.c does.
func lines(s string) []string {
	if strings.IndexFunc(s, unicode.IsControl) < 0 {
		return []string{s}
	}
	out := strings.Split(s, "\n")
	for i, line := range out {
		var b strings.Builder
		n := 0 // columns so far
		for _, r := range line {
			text := string(r)
			switch {
			case r == '\r':
				text = "\\r"
			case r == '\t':
				text = strings.Repeat(" ", 8-n%8)
			case r < 0x80 && unicode.IsControl(r):
				text = fmt.Sprintf("\\x%02X", r)
			case unicode.IsControl(r):
				text = fmt.Sprintf("\\u%04X", r)
			}
			n += width(text)
			b.WriteString(text)
		}
		out[i] = b.String()
	}
	return out
}

func cellWidth(s string) int {
	n := 0
	for _, l := range lines(s) {
		n = max(n, width(l))
	}
	return n
}

// aligned prints a table with a centred header.
func (s *sheet) aligned(r *script.Result) {
	b := &s.b
	rows, right := s.cells(r)
	if !s.begun {
		s.widths = make([]int, len(r.Cols))
		for i, c := range r.Cols {
			s.widths[i] = cellWidth(c.Name) // even if the header is not shown
		}
	}
	for _, row := range rows {
		for i, c := range row {
			s.widths[i] = max(s.widths[i], cellWidth(c))
		}
	}
	if !s.tuplesOnly && !s.begun {
		s.top(r.Cols)
	}
	for _, row := range rows {
		if len(row) > 0 {
			s.row(b, row, s.widths, right)
		}
	}
	if r.More {
		return
	}
	if !s.tuplesOnly {
		s.rule(b, s.widths, 2)
	}
	s.foot(b, s.rows+len(rows))
	b.WriteByte('\n')
}

// top prints the title and header above the rows.
func (s *sheet) top(cols []script.Col) {
	if s.title != "" { // centred over the table
		total := 3*len(s.widths) - 1
		for _, n := range s.widths {
			total += n
		}
		pad(&s.b, (total-width(s.title))/2)
		fmt.Fprintln(&s.b, s.title)
	}
	s.rule(&s.b, s.widths, 2)
	if len(cols) > 0 {
		s.header(&s.b, cols, s.widths)
	}
	s.rule(&s.b, s.widths, 0)
}

// rule draws a horizontal line, unless the border is thinner than needed.
func (p *printer) rule(b *strings.Builder, widths []int, needed int) {
	if p.border < needed {
		return
	}
	if len(widths) == 0 {
		b.WriteString([]string{"", "--", "+--"}[p.border])
	}
	for i, n := range widths {
		switch {
		case p.border == 0 && i > 0:
			b.WriteByte(' ')
		case p.border == 1 && i > 0, p.border == 2:
			b.WriteByte('+')
		}
		if p.border > 0 {
			n += 2
		}
		b.WriteString(strings.Repeat("-", n))
	}
	if p.border == 2 {
		b.WriteByte('+')
	}
	b.WriteByte('\n')
}

func (p *printer) header(b *strings.Builder, cols []script.Col, widths []int) {
	heads := make([][]string, len(cols))
	height := 1
	for i, c := range cols {
		heads[i] = lines(c.Name)
		height = max(height, len(heads[i]))
	}
	for n := range height {
		for i := range cols {
			p.left(b, i)
			text, more := "", " "
			if n < len(heads[i]) {
				text = heads[i][n]
			}
			if n+1 < len(heads[i]) {
				more = "+"
			}
			space := widths[i] - width(text)
			pad(b, space/2)
			b.WriteString(text)
			pad(b, space-space/2)
			b.WriteString(more)
		}
		if p.border == 2 {
			b.WriteByte('|')
		}
		b.WriteByte('\n')
	}
}

// left draws the line between columns i-1 and i.
func (p *printer) left(b *strings.Builder, i int) {
	switch {
	case p.border == 0:
	case i > 0 || p.border == 2:
		b.WriteString("| ")
	default:
		b.WriteByte(' ')
	}
}

// row prints one row; a cell of several lines ends all but its last with a plus sign.
func (p *printer) row(b *strings.Builder, row []string, widths []int, right []bool) {
	parts := make([][]string, len(row))
	height := 1
	for i, c := range row {
		parts[i] = lines(c)
		height = max(height, len(parts[i]))
	}
	for n := range height {
		for i := range row {
			p.left(b, i)
			text, more := "", false
			if n < len(parts[i]) {
				text, more = parts[i][n], n+1 < len(parts[i])
			}
			last := i == len(row)-1 && p.border < 2
			if right[i] {
				pad(b, widths[i]-width(text))
				b.WriteString(text)
			} else {
				b.WriteString(text)
				if !last || more {
					pad(b, widths[i]-width(text))
				}
			}
			switch {
			case more:
				b.WriteByte('+')
			case !last:
				b.WriteByte(' ')
			}
		}
		if p.border == 2 {
			b.WriteByte('|')
		}
		b.WriteByte('\n')
	}
}

// alignedExpanded prints each row as a list of name and value.
func (s *sheet) alignedExpanded(r *script.Result) {
	b := &s.b
	rows, _ := s.cells(r)
	if !s.begun {
		s.widths = []int{0, 0}
		if s.title != "" && !s.tuplesOnly {
			fmt.Fprintln(b, s.title)
		}
	}
	for i, c := range r.Cols {
		s.widths[0] = max(s.widths[0], cellWidth(c.Name))
		for _, row := range rows {
			s.widths[1] = max(s.widths[1], cellWidth(row[i]))
		}
	}
	for n, row := range rows {
		s.record(r.Cols, row, s.rows+n)
	}
	if !r.More {
		b.WriteByte('\n')
	}
}

// record prints row n of an expanded table.
func (s *sheet) record(cols []script.Col, row []string, n int) {
	b, head, data := &s.b, s.widths[0], s.widths[1]
	if !s.tuplesOnly {
		s.recordLine(b, n+1, head, data)
	} else if n > 0 {
		b.WriteByte('\n')
	}
	for i, c := range cols {
		for k, text := range lines(row[i]) {
			name, more := "", ""
			if k == 0 {
				name = c.Name
			}
			if k+1 < len(lines(row[i])) {
				more = strings.Repeat(" ", data-width(text)) + "+"
			}
			b.WriteString(name)
			pad(b, head-width(name))
			if s.border > 0 {
				b.WriteString(" |")
			}
			b.WriteString(" " + text + more + "\n")
		}
	}
}

// recordLine is -[ RECORD 1 ]---+------, as print_aligned_vertical_line draws it.
func (p *printer) recordLine(b *strings.Builder, n, head, data int) {
	if p.border == 0 {
		text := fmt.Sprintf("* Record %d", n)
		b.WriteString(text)
		pad(b, head+1+data-width(text))
		b.WriteByte('\n')
		return
	}
	text := fmt.Sprintf("-[ RECORD %d ]", n)
	for width(text) < head+3+data {
		if width(text) == head+1 {
			text += "+"
		} else {
			text += "-"
		}
	}
	b.WriteString(text + "\n")
}

func names(cols []script.Col) []string {
	return lists.Map(cols, func(c script.Col) string { return c.Name })
}

func (s *sheet) unaligned(r *script.Result) {
	b := &s.b
	rows, _ := s.cells(r)
	if !s.tuplesOnly && !s.begun {
		if s.title != "" {
			fmt.Fprintln(b, s.title)
		}
		fmt.Fprintln(b, strings.Join(names(r.Cols), s.fieldSep))
	}
	for _, row := range rows {
		if len(row) > 0 {
			fmt.Fprintln(b, strings.Join(row, s.fieldSep))
		}
	}
	if !r.More {
		s.foot(b, s.rows+len(rows))
	}
}

func (s *sheet) unalignedExpanded(r *script.Result) {
	rows, _ := s.cells(r)
	for n, row := range rows {
		if s.rows+n > 0 {
			s.b.WriteByte('\n')
		}
		for i, c := range r.Cols {
			fmt.Fprintln(&s.b, c.Name+s.fieldSep+row[i])
		}
	}
}

// csv prints as psql --csv: quoted only where needed.
func (s *sheet) csv(r *script.Result) {
	rows, _ := s.cells(r)
	line := func(fields []string) {
		for i, f := range fields {
			if i > 0 {
				s.b.WriteByte(',')
			}
			if strings.ContainsAny(f, ",\"\r\n") || f == `\.` {
				f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
			}
			s.b.WriteString(f)
		}
		s.b.WriteByte('\n')
	}
	if !s.tuplesOnly && !s.begun {
		line(names(r.Cols))
	}
	for _, row := range rows {
		line(row)
	}
}
