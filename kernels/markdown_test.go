package kernels

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/manual"
)

var update = flag.Bool("update", false, "rewrite docs/kernels.md")

func TestMarkdown(t *testing.T) {
	const path = "../docs/kernels.md"
	want := Markdown()
	if *update {
		if err := os.MkdirAll("../docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the registry says; run go test ./kernels -run TestMarkdown -update", path)
	}
}

// Markdown renders the registry as the manual's page docs/kernels.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(manualHead)
	for _, internal := range []bool{false, true} {
		if internal {
			aggregatesMarkdown(&b)
			b.WriteString("\n# Operators and internal kernels\n\nThese have no name in SQL; plans print them.\n")
		}
		for _, d := range All() {
			if d.Internal == internal {
				writeMarkdown(d, &b)
			}
		}
	}
	peersMarkdown(&b)
	return b.String()
}

const manualHead = `<!-- Generated from the registry by go test ./kernels -run TestMarkdown -update. Do not edit. -->

# Kernels

T stands for real or double precision; a chunk T[] has a fixed shape such as [2,3]. Element-wise kernels take
numbers and chunks and broadcast as numpy does: shapes are aligned at the right, and lengths are equal or 1. A ` +
	`chunk keeps its type
against any number; real with double precision gives double precision. Kernels are strict: a NULL argument
gives NULL, unless said otherwise. Axes and subscripts count from 1, labels and positions from 0. Float
kernels follow IEEE 754 and raise no errors. What a kernel gives, and its first and second derivative, is right to ` +
	`8 units in the last
place wherever the result is a number (of vectors the largest element's unit counts, where a sum crosses zero that ` +
	`of its terms; of denormal
numbers ten bits are given away), also in the tails, beside 1 and where squares leave the range, or to as many ` +
	`units as an entry says.
sqnorm itself gives Infinity for elements beyond 1e154 and 0 for those beneath 1e-162, also in sqrt(sqnorm(x)), ` +
	`where norm(x) has all its digits.
Products of matrices of real, where a library makes them, take numbers below 1.2e-38 for zero: with them, processors ` +
	`would be a hundred times slower.

In the derivatives, g is the upstream gradient, which has the result's shape, and each line gives what it
contributes to one argument. Where an argument was repeated by broadcasting, sum_to sums its contribution.
`

func writeMarkdown(d *Def, b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s(%s)\n\n%s\n", d.Name, d.Args, d.Doc)
	for _, note := range []struct{ head, text string }{{"Kinks", d.Kink}, {"NULL", d.Null}} {
		if note.text != "" {
			fmt.Fprintf(b, "\n%s: %s\n", note.head, note.text)
		}
	}
	if d.Ulps > 0 {
		fmt.Fprintf(b, "\nDigits: right to %d units in the last place.\n", d.Ulps)
	}
	if types := signaturesOf(d); len(types) > 0 {
		fmt.Fprintf(b, "\nFor example `%s`.\n", strings.Join(types, "`, `"))
	}
	switch {
	case d.IsMacro():
		if e, err := d.call(d.Calls()[0]); err == nil {
			fmt.Fprintf(b, "\nStands for `%s`.\n", e.Format(columnNames(d)))
		}
	case d.Zero:
		b.WriteString("\nDerivative: 0.\n")
	case d.VJP == nil:
		fmt.Fprintf(b, "\nNot differentiable: %s\n", d.NoGrad)
	default:
		writeDerivative(d, b)
	}
}

// signaturesOf are the sample calls' types, at most four.
func signaturesOf(d *Def) []string {
	var out []string
	for _, s := range d.Calls() {
		e, err := d.call(s)
		if err != nil || len(out) == 4 {
			continue
		}
		args := lists.Map(s.Types, func(t Type) string { return t.String() })
		out = append(out, fmt.Sprintf("%s(%s) → %v", d.Name, strings.Join(args, ", "), e.Type))
	}
	return out
}

// writeDerivative prints the contribution to each argument of the first sample.
func writeDerivative(d *Def, b *strings.Builder) {
	e, err := d.call(d.Calls()[0])
	if err != nil {
		return
	}
	t := e.Type
	t.Nullable = false
	for i, c := range d.VJP(e, Column(Col{Input: 1}, t)) {
		if c == nil {
			continue
		}
		guard := ""
		if d.Guarded != nil {
			if cond := d.Guarded(e)[i]; cond != nil {
				guard = fmt.Sprintf(" where `%s`, else 0", cond.Format(columnNames(d)))
			}
		}
		fmt.Fprintf(b, "\n∂%s: `%s`%s\n", columnNames(d)(e.Args[i].Col), c.Format(columnNames(d)), guard)
	}
}

// columnNames names the columns of a sample's call.
func columnNames(d *Def) func(c Col) string {
	return func(c Col) string {
		if c.Input == 1 {
			return "g"
		}
		names, i := d.argNames(), int(c.ID)-1
		if i < len(names) {
			return names[i]
		}
		return string(rune('a' + i))
	}
}

// aggregatesMarkdown is the chapter of the manual.
func aggregatesMarkdown(b *strings.Builder) {
	b.WriteString("\n# Aggregates\n\nThey fold the rows of a group, or of PARTITION BY behind OVER, and take FILTER " +
		"(WHERE …). Rows where the argument is NULL are skipped; of no " +
		"rows the result is NULL, unless said otherwise. Each\nrow of the group receives what stands under Derivative, a " +
		"row that is NULL or filtered out nothing; " +
		"g is the upstream gradient of the group's result. Any other aggregate of Postgres may stand in a sub-query that " +
		"reads no parameter.\n")
	for _, a := range aggregates {
		fmt.Fprintf(b, "\n## %s(%s)\n\n%s\n", a.Name, a.Args, a.Doc)
		if a.Null != "" {
			fmt.Fprintf(b, "\nNULL: %s\n", a.Null)
		}
		if a.Loss == "" {
			fmt.Fprintf(b, "\nA metric: no part of a loss, which takes %s.\n", a.Instead)
			continue
		}
		fmt.Fprintf(b, "\nDerivative: %s.\n", a.Derivative)
	}
}

// peersMarkdown is the chapter of the manual.
func peersMarkdown(b *strings.Builder) {
	b.WriteString("\n# Operations of other libraries\n\nWhat becomes of the operations that jax.lax, PyTorch and HIPS " +
		"autograd differentiate. " +
		"An overload (add.Tensor) and an in-place form (relu_) are what their operation is. A derivative of an operation\n" +
		"(…_backward) needs nothing: gradients are queries, and differentiable again. " + manual.PeerTables + "\n")
	for _, f := range manual.Peers() {
		fmt.Fprintf(b, "\n## %s\n\n| operations | | here |\n|---|---|---|\n", f.Title)
		for _, p := range f.Peers {
			text := p.Note
			if p.SQL != "" {
				text = "`" + strings.ReplaceAll(p.SQL, "|", "\\|") + "`"
				if p.Note != "" {
					text += " " + p.Note
				}
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", "`"+strings.ReplaceAll(strings.Join(strings.Fields(p.Names), "`, `"), "*", "…")+
				"`", p.How, text)
		}
	}
}
