package einsum

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// String writes the sum as a formula, and what its rows are combinations of. A label has its length, where it is known.
func (e *Einsum) String() string {
	w := e.writer()
	var b strings.Builder
	b.WriteString(e.Formula() + "\n  rows")
	for i, read := range e.Rows.Reads {
		switch {
		case e.Rows.Whole(i):
			fmt.Fprintf(&b, " %s%s", w.reads[i], w.labels(e.Rows.Columns(i), nil))
		case read.Node.Out != nil && !read.part:
			for _, p := range read.Node.Pred {
				fmt.Fprintf(&b, " [%s]", w.term(Term{X: p, Read: i}))
			}
			for _, c := range e.Rows.Computed(i) {
				fmt.Fprintf(&b, " [%s = %s]", w.label[c.Label], w.term(c.Value))
			}
		}
	}
	b.WriteString("\n")
	return b.String()
}

// Formula writes the sum alone.
func (e *Einsum) Formula() string {
	w := e.writer()
	return e.Node.Cols[e.Col].Name + w.labels(e.By, e.Inner) + " = " + w.product()
}

// Term writes a term of the sum.
func (e *Einsum) Term(t Term) string { return e.writer().term(t) }

func (e *Einsum) writer() writer { return writer{e, e.Names(), e.Rows.names()} }

type writer struct {
	*Einsum
	label []string
	reads []string
}

// Names are those of the labels: of keys as their columns, of axes of chunks single letters.
func (e *Einsum) Names() (out []string) {
	letter := 'a'
	for l := range e.Lens {
		switch {
		case l < len(e.Rows.Keys):
			out = append(out, distinct(e.Rows.Keys[l].Name, out))
		case slices.Contains(e.By, l):
			out = append(out, distinct("group", out))
		default:
			out, letter = append(out, distinct(string(letter), out)), letter+1
		}
	}
	return out
}

// names of the reads: their tables, or what they are.
func (r *Rows) names() (out []string) {
	for _, read := range r.Reads {
		name := strings.ToLower(read.Node.Op.String())
		if read.Node.Table != nil {
			name = read.Node.Table.Name
		}
		out = append(out, distinct(name, out))
	}
	return out
}

// distinct numbers a name that is taken.
func distinct(name string, taken []string) string {
	for n, s := 2, name; ; n++ {
		if !slices.Contains(taken, s) {
			return s
		}
		s = fmt.Sprintf("%s%d", name, n)
	}
}

// labels in brackets: of keys; of the chunk.
func (w writer) labels(keys, inner []int) string {
	text := func(labels []int) string {
		var out []string
		for _, l := range labels {
			out = append(out, w.label[l])
			if w.Lens[l] > 0 {
				out[len(out)-1] += ":" + strconv.Itoa(w.Lens[l])
			}
		}
		return strings.Join(out, " ")
	}
	if len(inner) == 0 {
		return "[" + text(keys) + "]"
	}
	return "[" + text(keys) + "; " + text(inner) + "]"
}

func (w writer) product() string {
	var times, by []string
	for _, s := range w.Scalars {
		if s.Divide {
			by = append(by, w.term(s.V))
		} else {
			times = append(times, w.term(s.V))
		}
	}
	for _, o := range w.Operands {
		if text := w.term(o.V) + w.labels(w.Rows.Labels(o.V), o.Inner); o.Divide {
			by = append(by, text)
		} else {
			times = append(times, text)
		}
	}
	if len(times) == 0 {
		times = []string{"1"}
	}
	text := strings.Join(append([]string{strings.Join(times, " · ")}, by...), " / ")
	if w.Neg {
		text = "- " + text
	}
	if w.Node.Op == ra.Aggregate {
		text = w.Agg.String() + " " + text
	}
	return text
}

func (w writer) term(t Term) string {
	if t.Leaf {
		return w.reads[t.Read] + "." + w.Rows.Reads[t.Read].Node.Col(t.X.Col.ID).Name
	}
	return t.X.Format(func(c kernels.Col) string { return w.term(w.Rows.Input(t.Read, c)) })
}
