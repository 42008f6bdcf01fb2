// Package manual holds what is written for the manual alone.
//
// # What
//
// Peers reads peers.txt: what becomes here of the operations that jax.lax, PyTorch and HIPS autograd differentiate. The
// page docs/kernels.md ends with it, and the tests of internal/gradtest differentiate it.
//
// # Invariants
//
// No program of relgrad's imports this package; its tests do.
//
// # Errors
//
// None: the file is ours.
//
// # Where to add
//
// An operation is a line of peers.txt below its family, whose title begins with #. The line holds names, how, SQL and a
// note, separated by tabs.
package manual

import (
	_ "embed"
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

// Peer is what relgrad has for some operations that other libraries differentiate: their names, and the same in SQL or
// the reason why not. A name may hold * for any text.
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
	"matrices m [2,3] and s [3,3] and the integer n in 0 … 2; `seq(i, x)` and `taps(k, x)` hold a signal and a filter, " +
	"`grid(r, c, x)` an image, `edge(src, dst, weight)` a sparse matrix and `node(id, v)` embeddings."

//go:embed peers.txt
var peers string

// Peers is the whole table.
func Peers() (all []PeerFamily) {
	for line := range strings.Lines(peers) {
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "# "); ok {
			all = append(all, PeerFamily{Title: title})
			continue
		}
		p := append(strings.Split(line, "\t"), "", "")
		f := &all[len(all)-1]
		f.Peers = append(f.Peers, Peer{p[0], How(p[1]), p[2], p[3]})
	}
	return all
}

// FindPeer is the entry of an operation's name in a table, or nil. An overload (add.Tensor) and an in-place form
// (relu_) are what their operation is, unless they have an entry of their own.
func FindPeer(all []PeerFamily, name string) *Peer {
	plain, _, _ := strings.Cut(name, ".")
	for _, n := range []string{name, plain, strings.TrimSuffix(plain, "_")} {
		for _, wild := range []bool{false, true} {
			for f := range all {
				for p := range all[f].Peers {
					if peer := &all[f].Peers[p]; peer.names(n, wild) {
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
	for n := range strings.FieldsSeq(p.Names) {
		if ok, err := path.Match(n, name); strings.Contains(n, "*") == wild && ok && err == nil {
			return true
		}
	}
	return false
}
