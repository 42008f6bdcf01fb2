package kernels

import "strings"

// Named is a type of a database whose values stand in the algebra as texts: a date, an enum, an address. The database
// says what may be done with such a text; the binder refuses all else, so that no value is ever compared as its text
// where the database would compare it otherwise. A text without one is a text of the database's own collation.
type Named struct {
	Name string // as the database prints it in SQL; "text" for a text with a collation
	// Collation is that of a column's own declaration; "" for the database's.
	Collation string
	// Equal and Order say why two values cannot be compared for equality, or be put in order; "" where equal values have
	// equal texts, or the texts' bytes have the values' order.
	Equal, Order string
	// NoText says why a value cannot be cast to text; "" where Plain gives what the database does.
	NoText string
	// Setting decides the text that a value is cast to; "" for none.
	Setting string
	// Loose says that the text by which a value is carried follows settings of the session, under some of which it does
	// not read back as the same value.
	Loose bool
	// Cases says why a text cannot be put into upper or lower case, where not for ASCII alone; "" where it can.
	Cases string
	// Read is SQL that gives a value's text, with $ for the value; "" for a cast to text. See SQL.
	Read string
	// Keyed says that a text may begin with what orders it, and a KeyEnd: see Plain.
	Keyed bool
	// ByKey says that equal values may have different texts, whose keys are equal: they compare by the kernel order_key.
	ByKey bool
	// Ask finds Equal where only the values tell, when a comparison asks for it; nil: Equal is known. Asked tells that
	// it has been asked for and was "", which a plan may rest on.
	Ask   func() string
	Asked *bool
}

// Comparable says why two values cannot be compared for equality, "" where they can.
func (n *Named) Comparable() string {
	if n.Ask != nil {
		return n.Ask()
	}
	return n.Equal
}

// AsText is the type of a value of n cast to text, with n's collation.
func (n *Named) AsText() *Named {
	if n.IsText() {
		return n
	}
	if n.Collation == "" {
		return nil
	}
	t := *n
	t.Name = Text.String()
	return &t
}

// SQL reads a value's text.
func (n *Named) SQL(x string) string {
	if n == nil || n.Read == "" {
		return x + "::pg_catalog.text"
	}
	return strings.ReplaceAll(n.Read, "$", x)
}

// KeyEnd ends the part of a keyed text that orders it. No text of a keyed type contains it otherwise.
const KeyEnd = "\x1f"

// IsText reports a type that text functions take.
func (n *Named) IsText() bool { return n == nil || n.Name == "text" }

// String is the type's name; text for nil.
func (n *Named) String() string {
	if n == nil {
		return Text.String()
	}
	return n.Name
}

// ByteText is a text of a collation that compares byte by byte, whatever the database's is.
var ByteText = &Named{Name: "text", Collation: "C"}

// Plain is the database's own text of a keyed one.
func (n *Named) Plain(s string) string {
	if n == nil || !n.Keyed {
		return s
	}
	return plain(s)
}

func plain(s string) string { return s[strings.Index(s, KeyEnd)+1:] }

// EarlyKey and LateKey begin the texts of dates and times before the year 1 and after 9999, which order as bytes among
// the others: -infinity, /…, 0001-01-01, …, a…, infinity. Ten digits follow, the days since 0001-01-01 plus FarDays,
// then the time.
const (
	EarlyKey = "/"
	LateKey  = "a"
	FarDays  = 10_000_000
)

// midnight gives a date the text of its first moment as a timestamp.
func midnight(date string) string {
	key, own, far := strings.Cut(date, KeyEnd)
	switch {
	case strings.HasSuffix(date, "infinity"):
		return date
	case !far:
		return date + " 00:00:00"
	}
	day, early := strings.CutSuffix(own, " BC")
	if own = day + " 00:00:00"; early {
		own += " BC"
	}
	return key + " 00:00:00.000000" + KeyEnd + own
}

func init() {
	registerText("plain", "s", "The database's own text of a value whose text begins with what orders it.", true, Text,
		func(a []Value) Value { return TextValue(plain(a[0].T)) })
	registerText("order_key", "s", "What orders a value whose text begins with it.", true, Text, func(a []Value) Value {
		key, _, _ := strings.Cut(a[0].T, KeyEnd)
		return TextValue(key)
	})
	registerText("midnight", "s", "The text of a date's first moment as a timestamp.", true, Text,
		func(a []Value) Value { return TextValue(midnight(a[0].T)) })
}
