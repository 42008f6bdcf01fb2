package gradtest

import (
	"bufio"
	"context"
	"encoding/csv"
	"math/rand"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/manual"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels"
)

// peerTables are the tables that kernels.PeerTables describes.
func peerTables() *memdb.DB {
	r := rand.New(rand.NewSource(4))
	unit := func(n int, shape ...int) *column.Column {
		v := column.New(kernels.Type{Kind: kernels.Float64, Shape: shape}, n)
		for i := range v.F64() {
			v.F64()[i] = 0.1 + 0.8*r.Float64()
		}
		return v
	}
	u := unit(4)
	for i := range u.F64() {
		u.F64()[i]++
	}
	db := memdb.New()
	db.Create("t", 1, memdb.Column{Name: "id", Data: ints(0, 1, 2, 3)}, memdb.Column{Name: "n", Data: ints(0, 2, 1, 2)},
		memdb.Column{Name: "x", Data: unit(4)},
		memdb.Column{Name: "y", Data: unit(4)}, memdb.Column{Name: "u", Data: u}, memdb.Column{Name: "v", Data: unit(4, 3)},
		memdb.Column{Name: "w", Data: unit(4, 3)},
		memdb.Column{Name: "m", Data: unit(4, 2, 3)}, memdb.Column{Name: "s", Data: unit(4, 3, 3)})
	db.Create("seq", 1, memdb.Column{Name: "i", Data: ints(0, 1, 2, 3, 4, 5)}, memdb.Column{Name: "x", Data: unit(6)})
	db.Create("taps", 1, memdb.Column{Name: "k", Data: ints(0, 1, 2)}, memdb.Column{Name: "x", Data: unit(3)})
	db.Create("grid", 2, memdb.Column{Name: "r", Data: ints(0, 0, 0, 1, 1, 1, 2, 2, 2)},
		memdb.Column{Name: "c", Data: ints(0, 1, 2, 0, 1, 2, 0, 1, 2)}, memdb.Column{Name: "x", Data: unit(9)})
	db.Create("edge", 2, memdb.Column{Name: "src", Data: ints(0, 1, 2, 2)},
		memdb.Column{Name: "dst", Data: ints(1, 2, 0, 1)}, memdb.Column{Name: "weight", Data: unit(4)})
	db.Create("node", 1, memdb.Column{Name: "id", Data: ints(0, 1, 2)}, memdb.Column{Name: "v", Data: unit(3, 3)})
	return db
}

// peerLosses are the losses that an entry's SQL may stand in: it may be a number, a chunk or a condition.
func peerLosses(p manual.Peer) []string {
	rest := ""
	if p.How == manual.Constant {
		rest = " + (SELECT sum(x * x) FROM t)" // a loss that reaches no parameter is an error
	}
	if strings.HasPrefix(p.SQL, "SELECT") {
		return []string{"SELECT (" + p.SQL + ")" + rest}
	}
	return []string{
		"SELECT sum(" + p.SQL + ")" + rest + " FROM t", "SELECT sum(dot(tanh(" + p.SQL + "), (" + p.SQL +
			")))" + rest + " FROM t",
		"SELECT sum((" + p.SQL + ")::int)" + rest + " FROM t",
	}
}

var callsKernel = regexp.MustCompile(`^([a-z_0-9]+)\(`)

// TestPeers binds and differentiates the SQL of every entry of the table of other libraries' operations, and
// compares the gradients with differences.
func TestPeers(t *testing.T) {
	ctx, db, env := context.Background(), peerTables(), &kernels.Env{Seed: 1, Step: 2}
	for _, f := range manual.Peers() {
		for _, p := range f.Peers {
			if (p.SQL == "") != (p.How == manual.OutOfScope) || p.SQL == "" && p.Note == "" {
				t.Errorf("%s: an operation out of scope has a reason, any other SQL", p.Names)
			}
			if p.SQL == "" {
				continue
			}
			if m := callsKernel.FindStringSubmatch(p.SQL); p.How == manual.AsKernel && m != nil && kernels.Find(m[1]) == nil {
				t.Errorf("%s: %s is no kernel", p.Names, m[1])
			}
			if err := checkPeer(ctx, db, env, p); err != nil {
				t.Errorf("%s: %s: %v", p.Names, p.SQL, err)
			}
		}
	}
}

// checkPeer takes the first loss that binds.
func checkPeer(ctx context.Context, db *memdb.DB, env *kernels.Env, p manual.Peer) (err error) {
	for _, loss := range peerLosses(p) {
		var params []string
		for name := range db.Tables {
			if regexp.MustCompile(`\b(FROM|JOIN|,) ` + name + `\b`).MatchString(loss) {
				params = append(params, name)
			}
		}
		b, bad := Bind(ctx, db, loss, params)
		if bad != nil && strings.Contains(bad.Error(), "does not depend on") { // a table of keys only
			for i := range params {
				if b, bad = Bind(ctx, db, loss, params[i:i+1]); bad == nil {
					break
				}
			}
		}
		if bad != nil {
			err = bad
			continue
		}
		if strings.Contains(p.SQL, "stop_gradient") { // which differences see through
			return nil
		}
		return b.Check(ctx, db, env, 1e-6)
	}
	return err
}

// TestAggregates differentiates the losses of the manual's aggregates. A metric is refused.
func TestAggregates(t *testing.T) {
	ctx, db, env := context.Background(), peerTables(), &kernels.Env{Seed: 1, Step: 2}
	for _, a := range kernels.Aggregates() {
		if a.Loss == "" {
			_, err := Bind(ctx, db, "SELECT "+a.Name+"(x, y) FROM t", []string{"t"})
			if err == nil || !strings.Contains(err.Error(), a.Name+" is a metric") {
				t.Errorf("%s: %v", a.Name, err)
			}
			continue
		}
		b, err := Bind(ctx, db, a.Loss, []string{"t"})
		if err == nil {
			err = b.Check(ctx, db, env, 1e-6)
		}
		if err != nil {
			t.Errorf("%s: %s: %v", a.Name, a.Loss, err)
		}
	}
}

// TestPeersCover asks of every name in the lists of what other libraries differentiate an entry, and of every name
// in the table that it is in a list.
func TestPeersCover(t *testing.T) {
	dir := filepath.Join(need.Data(t), "autodiff_op_list")
	names := peerNames(t, dir)
	if len(names) < 767 {
		t.Fatalf("%d names", len(names))
	}
	count, all := map[manual.How]int{}, manual.Peers()
	for n := range names {
		p := manual.FindPeer(all, n)
		if p == nil {
			t.Errorf("%s is in no family", n)
			continue
		}
		count[p.How]++
	}
	for _, f := range manual.Peers() {
		for _, p := range f.Peers {
			for _, pattern := range strings.Fields(p.Names) {
				if !listed(pattern, names) {
					t.Errorf("no list has an operation %s", pattern)
				}
			}
		}
	}
	t.Logf("%d names: %v", len(names), count)
}

// listed reports whether a name of the table is that of a listed operation, an overload or an in-place form.
func listed(pattern string, names map[string]bool) bool {
	for n := range names {
		plain, _, _ := strings.Cut(n, ".")
		for _, form := range []string{n, plain, strings.TrimSuffix(plain, "_")} {
			if ok, err := path.Match(pattern, form); ok && err == nil {
				return true
			}
		}
	}
	return false
}

func peerNames(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, name := range []string{"hips_autograd_systematic_functions.txt", "jax_lax_grad_test_ops.txt",
		"pytorch_derivatives_ops.csv"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if strings.HasSuffix(name, ".csv") {
			rows, err := csv.NewReader(f).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows[1:] {
				out[r[0]] = true
			}
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			if n := strings.TrimSpace(s.Text()); n != "" {
				out[n] = true
			}
		}
	}
	return out
}
