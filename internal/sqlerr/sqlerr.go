// Package sqlerr is the one form of all errors that a user can cause.
//
// # What
//
// An Error carries what psql shows: message, SQLSTATE, position in a text, detail and hint.
//
// # Invariants
//
// Messages are lower case, hold the offending values and end without a full stop; Detail and Hint are
// sentences. Pos is a 0-based byte offset into Text.SQL, or -1.
//
// # Errors
//
// Wrapping with %w keeps the Error reachable by errors.As.
//
// # Where to add
//
// A new SQLSTATE goes into the constants below.
package sqlerr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// SQLSTATE codes in use (PostgreSQL 16, appendix A).
const (
	Syntax                = "42601"
	UndefinedColumn       = "42703"
	UndefinedTable        = "42P01"
	InsufficientPrivilege = "42501"
	UndefinedFunction     = "42883"
	UndefinedObject       = "42704"
	UndefinedParameter    = "42P02"
	DuplicateTable        = "42P07"
	DuplicateColumn       = "42701"
	DuplicateObject       = "42710"
	AmbiguousColumn       = "42702"
	AmbiguousFunction     = "42725"
	Grouping              = "42803"
	Windowing             = "42P20"
	DatatypeMismatch      = "42804"
	WrongObjectType       = "42809"
	InvalidColumnRef      = "42P10"
	IndeterminateType     = "42P18"
	CannotCoerce          = "42846"
	FeatureNotSupported   = "0A000"
	InvalidText           = "22P02"
	BadCopy               = "22P04"
	InvalidParameter      = "22023"
	NullNotAllowed        = "22004"
	NumericOutOfRange     = "22003"
	DivisionByZero        = "22012"
	ArraySubscript        = "2202E"
	DataException         = "22000"
	NotNullViolation      = "23502"
	UniqueViolation       = "23505"
	CheckViolation        = "23514"
	ForeignKeyViolation   = "23503"
	Cardinality           = "21000"
	TooComplex            = "54001"
	ProgramLimit          = "54000"
	DiskFull              = "53100"
	OutOfMemory           = "53200"
	QueryCanceled         = "57014"
	ActiveTransaction     = "25001"
	NoTransaction         = "25P01"
	FailedTransaction     = "25P02"
	InvalidTransaction    = "2D000"
	RaiseException        = "P0001"
	NoDataFound           = "P0002"
	TooManyRows           = "P0003"
	System                = "58000"
	IO                    = "58030"
	UndefinedFile         = "58P01"
	Internal              = "XX000"
	DataCorrupted         = "XX001"
	ObjectNotPrereqState  = "55000"
	SerializationFailure  = "40001"
)

// Text is a piece of SQL with its origin.
type Text struct {
	SQL  string
	File string // "" when typed in
	Line int    // 1-based line of SQL[0] in File; 0 counts as 1
	View string // the name of the view with this definition, or ""
	// Path and Stars record how names of a view were resolved when it was created: the schemas of unqualified names
	// (nil: the session's), and for each * by its position the columns that it stood for, as "item.column".
	Path  []string
	Stars map[int][]string
}

// Error is an error with SQLSTATE, position, detail and hint.
type Error struct {
	Code, Message, Detail, Hint string
	Context                     string // "PL/pgSQL function inline_code_block line 5 at SQL statement"
	Text                        *Text  // the text that Pos points into; nil when unknown
	Pos                         int    // 0-based byte offset, -1 when unknown
	Shown                       string // the whole text as psql shows it, if a server made it; "": Render makes it
	Verbose                     string // the whole text as psql's \errverbose shows it
	Err                         error  // wrapped cause, may be nil
}

// New makes an error without a position.
func New(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Pos: -1}
}

// At makes an error at a byte offset of a text that is filled in later (see In).
func At(pos int, code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Pos: pos}
}

// Broken is the error of a fault in relgrad itself: something has happened that should be impossible.
func Broken(room, format string, args ...any) *Error {
	return New(Internal, "internal error: "+room+": "+format, args...)
}

// CancelMessage is PostgreSQL's message of a statement whose user no longer waits for it.
const CancelMessage = "canceling statement due to user request"

// Canceled is the error of such a statement; cause may be nil.
func Canceled(cause error) *Error { return New(QueryCanceled, CancelMessage).Wrap(cause) }

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithDetail sets the detail and returns e.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// Wrap sets the cause and returns e.
func (e *Error) Wrap(err error) *Error {
	e.Err = err
	return e
}

// Error returns the message alone.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// SQLState returns the SQLSTATE: five characters that name the kind of error, as PostgreSQL's appendix A lists them.
func (e *Error) SQLState() string { return e.Code }

// Position returns the position of the error in the statement's text: a character, counted from 1 as PostgreSQL does; 0
// where it is unknown.
func (e *Error) Position() int {
	if e.Text == nil || e.Pos < 0 || e.Pos > len(e.Text.SQL) {
		return 0
	}
	return utf8.RuneCountInString(e.Text.SQL[:e.Pos]) + 1
}

// From makes an Error that wraps another error; an error that wraps an Error already is returned as it is.
func From(err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	code := Internal
	var path *fs.PathError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Canceled(err)
	case errors.Is(err, fs.ErrNotExist):
		code = UndefinedFile
	case errors.As(err, &path):
		code = IO
	}
	return New(code, "%s", err.Error()).Wrap(err)
}

// In sets the error's text unless it has one.
func In(err error, t *Text) error {
	var e *Error
	if errors.As(err, &e) && e.Text == nil {
		e.Text = t
	}
	return err
}

// Code returns the SQLSTATE of err, "XX000" when it has none, "" for nil.
func Code(err error) string {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

// LineCol gives the 1-based line and column (in characters) of e in its text; zeros when unknown.
func (e *Error) LineCol() (line, col int) {
	if e.Text == nil || e.Pos < 0 || e.Pos > len(e.Text.SQL) {
		return 0, 0
	}
	before := e.Text.SQL[:e.Pos]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// Render prints err as psql does: ERROR line, the line of text with a caret, DETAIL, HINT, CONTEXT.
func Render(err error) string {
	var b strings.Builder
	var e *Error
	if !errors.As(err, &e) {
		return "ERROR:  " + err.Error() + "\n"
	}
	if e.Shown != "" {
		return e.Shown
	}
	if t := e.Text; t != nil && t.File != "" {
		line, _ := e.LineCol()
		fmt.Fprintf(&b, "relgrad:%s:%d: ", t.File, max(t.Line, 1)+max(line, 1)-1)
	}
	fmt.Fprintf(&b, "ERROR:  %s\n", shorten(err.Error()))
	if line, col := e.LineCol(); line > 0 {
		text := strings.Split(e.Text.SQL, "\n")[line-1]
		text, col = clip(strings.ReplaceAll(text, "\t", " "), col)
		head := fmt.Sprintf("LINE %d: ", line)
		if e.Text.View != "" {
			head = fmt.Sprintf("VIEW %s, LINE %d: ", e.Text.View, line)
		}
		fmt.Fprintf(&b, "%s%s\n%s^\n", head, text, strings.Repeat(" ", utf8.RuneCountInString(head)+col-1))
	}
	for _, f := range []struct{ name, text string }{{"DETAIL", e.Detail}, {"HINT", e.Hint}, {"CONTEXT", e.Context}} {
		if f.text != "" {
			fmt.Fprintf(&b, "%s:  %s\n", f.name, shorten(f.text))
		}
	}
	return b.String()
}

// clip cuts a long line to a window around column col, as psql does.
func clip(s string, col int) (string, int) {
	const width = 120
	r := []rune(s)
	if len(r) <= width {
		return s, col
	}
	from := max(0, min(col-1-width/2, len(r)-width))
	out := string(r[from:min(len(r), from+width)])
	if from > 0 {
		out, col = "..."+out, col-from+3
	}
	if from+width < len(r) {
		out += "..."
	}
	return out, col
}

// Nearest returns the candidate with the smallest edit distance to name, or "" when none is similar.
func Nearest(name string, candidates []string) string {
	far := 1 // in a word of four letters, two changes make another word
	if n := len(name); n > 4 {
		far = max(2, n/3)
	}
	best, bestD := "", far+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < bestD || d == bestD && best != "" && c < best {
			best, bestD = c, d
		}
	}
	return best
}

// distance is the number of insertions, deletions, replacements and swaps of neighbours between two words.
func distance(a, b string) int {
	var old []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := row[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			next[j] = min(cost, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], old[j-2]+1)
			}
		}
		old, row = row, next
	}
	return row[len(b)]
}

// shorten cuts a message that contains a very long value.
func shorten(s string) string {
	const head, tail = 300, 100
	if len(s) <= 2*(head+tail) {
		return s
	}
	r := []rune(s)
	if len(r) <= head+tail {
		return s
	}
	return string(r[:head]) + " … " + string(r[len(r)-tail:])
}
