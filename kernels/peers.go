package kernels

import (
	"fmt"
	"path"
	"strings"
)

// How says what becomes of an operation of another library.
type How string

// The ways.
const (
	AsKernel   How = "kernel"       // one call of a kernel, one operator or one aggregate
	Expressed  How = "expressible"  // several of them
	Constant   How = "derivative 0" // either, piecewise constant (law 5)
	OutOfScope How = "out of scope"
)

// Peer is what relgrad has for some operations that other libraries differentiate (jax.lax, PyTorch, HIPS
// autograd): their names, and the same in SQL or the reason why not. A name may hold * for any text.
//
// SQL is an expression over the columns of the table t, or a whole loss that begins with SELECT; PeerTables says
// over which tables. Each is bound, differentiated and compared with differences in a test.
type Peer struct {
	Names string // separated by spaces
	How   How
	SQL   string
	Note  string // what to know; for OutOfScope the reason
}

// PeerFamily is a chapter of the table.
type PeerFamily struct {
	Title string
	Peers []Peer
}

// PeerTables describes the tables of the expressions for the manual.
const PeerTables = "`t` has the numbers x, y in (0,1) and u > 1, the vectors v, w [3] with elements in (0,1), the " +
	"matrices m [2,3] and " +
	"s [3,3] and the integer n in 0 … 2; `seq(i, x)` and `taps(k, x)` hold a signal and a filter, " +
	"`grid(r, c, x)` an image, " +
	"`edge(src, dst, weight)` a sparse matrix and `node(id, v)` embeddings."

// Peers returns the whole table.
func Peers() []PeerFamily { return peerFamilies }

// FindPeer returns the entry of an operation's name, or nil. An overload (add.Tensor) and an in-place form (relu_)
// are what their operation is, unless they have an entry of their own.
func FindPeer(name string) *Peer {
	plain, _, _ := strings.Cut(name, ".")
	for _, n := range []string{name, plain, strings.TrimSuffix(plain, "_")} {
		for _, wild := range []bool{false, true} {
			for f := range peerFamilies {
				for p := range peerFamilies[f].Peers {
					if peer := &peerFamilies[f].Peers[p]; peer.names(n, wild) {
						return peer
					}
				}
			}
		}
	}
	return nil
}

// names reports whether the entry names an operation, by a pattern or as it is.
func (p *Peer) names(name string, wild bool) bool {
	for _, n := range strings.Fields(p.Names) {
		if strings.Contains(n, "*") != wild {
			continue
		}
		if ok, err := path.Match(n, name); ok && err == nil {
			return true
		}
	}
	return false
}

// peersMarkdown is the chapter of the manual.
func peersMarkdown(b *strings.Builder) {
	b.WriteString("\n# Operations of other libraries\n\nWhat becomes of the operations that jax.lax, PyTorch and HIPS " +
		"autograd differentiate. " +
		"An overload (add.Tensor) and an in-place form (relu_) are what their operation is. A derivative of an operation\n" +
		"(…_backward) needs nothing: gradients are queries, and differentiable again. " + PeerTables + "\n")
	for _, f := range peerFamilies {
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
