package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/apart"
	"github.com/relgrad/relgrad/internal/encoded"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/cost"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// maxServers is at how many other servers the tables of a loss may lie.
const maxServers = 63

// spread are the tables of a plan of which parts lie at other servers.
type spread struct {
	parts   map[string][]catalog.Part // by table
	by      map[string]catalog.Parts  // by table: how rows are spread over them
	servers []string                  // by site, behind the first, which is this session's
}

// spreadOf finds them; nil: there are none.
func (db *compiler) spreadOf(c *Compiled) (*spread, error) {
	from, ok := db.Database.(catalog.Parted)
	if !ok {
		return nil, nil
	}
	out, known := &spread{parts: map[string][]catalog.Part{}, by: map[string]catalog.Parts{}}, map[string]bool{}
	var failed error
	ra.Walk(func(n *ra.Node) {
		// rows of parameters are in this session's memory, wherever they are stored
		if n.Op != ra.Scan || failed != nil || slices.ContainsFunc(c.Tables, func(t *ra.Table) bool {
			return same(t, n.Table)
		}) {
			return
		}
		// one row is read here, wherever it lies; what a before_step changes is seen only here before it commits
		if n.PerStep || len(n.Table.Key) == 0 {
			return
		}
		parts, err := from.Parts(n.Table.Schema, n.Table.Name)
		if failed = err; len(parts.List) == 0 {
			return
		}
		for _, p := range parts.List {
			if p.Server != "" {
				known[p.Server] = true
			}
		}
		out.parts[tableKey(n.Table)], out.by[tableKey(n.Table)] = parts.List, parts
	}, c.Res.Plan.Nodes()...)
	if failed != nil || len(known) == 0 {
		return nil, failed
	}
	if len(known) > maxServers {
		return nil, sqlerr.New(sqlerr.ProgramLimit, "the tables of the loss lie at %d servers, more than %d", len(known),
			maxServers)
	}
	out.servers = slices.Sorted(maps.Keys(known))
	return out, nil
}

// guard tells which tables at other servers are read through their foreign tables, all rows of them, and why; with
// relgrad.strict it refuses that. readOnly: those that a database would read there are, too.
func (db *compiler) guard(c *Compiled, readOnly bool) (err error) {
	from, ok := db.Database.(catalog.Parted)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	ra.Walk(func(n *ra.Node) {
		if n.Op != ra.Scan || err != nil || seen[tableKey(n.Table)] ||
			slices.ContainsFunc(c.Tables, func(t *ra.Table) bool { return same(t, n.Table) }) {
			return
		}
		seen[tableKey(n.Table)] = true
		var why, hint string
		if why, hint, err = from.Through(n.Table.Schema, n.Table.Name); err != nil {
			return
		}
		if why == "" && (n.PerStep || readOnly) {
			why, hint, err = elsewhere(from, n)
		}
		if why != "" && err == nil {
			err = db.through(n.Table, why, hint)
		}
	}, c.Res.Plan.Nodes()...)
	return err
}

// elsewhere says why a table is read here though its parts at other servers could be read there.
func elsewhere(from catalog.Parted, n *ra.Node) (why, hint string, err error) {
	parts, err := from.Parts(n.Table.Schema, n.Table.Name)
	switch {
	case err != nil || !slices.ContainsFunc(parts.List, func(p catalog.Part) bool { return p.Server != "" }):
		return "", "", err
	case n.PerStep:
		return "before_step may change it", "The chunk engine reads so only what a before_step names as changed.", nil
	}
	return "gradient() writes nothing, not even temporary tables", "SET relgrad.engine = chunk, or call backward().", nil
}

// through says that a table is read through its foreign tables, or refuses it.
func (db *compiler) through(t *ra.Table, why, hint string) error {
	text := fmt.Sprintf("table \"%s\" is read through its foreign tables: %s", t.Name, why)
	if strict, _ := db.Setting("relgrad.strict"); strict == "on" {
		return sqlerr.New(sqlerr.ObjectNotPrereqState, "%s", text).WithDetail("relgrad.strict is on.").WithHint("%s", hint)
	}
	db.Notify("NOTICE", text)
	return nil
}

// same reports whether two descriptions are of one table.
func same(a, b *ra.Table) bool { return a.Schema == b.Schema && a.Name == b.Name }

// at are the parts of the tables at a site.
func (s *spread) at(site int) map[string][]catalog.Part {
	out, name := map[string][]catalog.Part{}, ""
	if site > 0 {
		name = s.servers[site-1]
	}
	for t, parts := range s.parts {
		out[t] = slices.DeleteFunc(slices.Clone(parts), func(p catalog.Part) bool { return p.Server != name })
	}
	return out
}

// sites says where rows lie: those of partitions where these are; parameters, tables that are only here, and results at
// this session's site.
func (s *spread) sites(p *ra.Plan) physical.Sites {
	stored, spread := physical.Partitioned(p, s.hashed)
	return physical.Sites{N: 1 + len(s.servers), First: true, Spread: spread,
		Stored: func(n *ra.Node) (physical.Placement, bool) {
			if n.Op == ra.Scan && s.parts[tableKey(n.Table)] != nil {
				return stored(n), true
			}
			return physical.At(0), true
		}}
}

// hashed tells by which column of a Scan's table its partitions are, and their sites.
func (s *spread) hashed(n *ra.Node) (col int, fn physical.Function, ok bool) {
	by := s.by[tableKey(n.Table)]
	if by.By == "" {
		return 0, fn, false
	}
	if fn.Kind = physical.Partitions; by.Citus {
		fn.Kind = physical.Shards
	}
	for _, p := range s.parts[tableKey(n.Table)] {
		fn.At = append(fn.At, int32(slices.Index(s.servers, p.Server)+1)) // of this server: 0
	}
	return n.Table.Column(by.By), fn, true
}

// Servers are the limits for which plans of several servers are made: a network of 10 Gbit/s at the server that is
// called, and what PostgreSQL takes and gives by one connection; a statement for each exchange. They are no
// measurements, so the same query has the same plan each time.
var Servers = physical.Cluster{Network: 3e8, Hub: 1.25e9, Latency: 5e-4, Operations: 5e10, Reads: 8e9}

// serverCosts are what plans of several servers make least. They know how many values columns of the tables there have.
func (db *compiler) serverCosts(c *Compiled, s *spread) (physical.Costs, error) {
	out := physical.Costs{Cluster: Servers}
	if db.Cluster != nil {
		out = *db.Cluster
	}
	out.Cluster.Memory = cmp.Or(out.Cluster.Memory, db.memory())
	if text, ok := db.Setting("relgrad.server_limits"); ok && text != "" && db.Cluster == nil {
		var err error
		if out.Cluster, err = physical.ReadCluster(strings.NewReader(text), out.Cluster); err != nil {
			return out, inLimits(err)
		}
	} else if db.Cluster == nil {
		out.Cluster.Shared = true
		for _, server := range s.servers {
			near, err := db.Database.(catalog.Parted).Near(server)
			if err != nil {
				return out, err
			}
			out.Cluster.Shared = out.Cluster.Shared && near
		}
	}
	if out.Cluster.Tables != nil {
		return out, nil
	}
	out.Cluster.Tables = map[string]cost.Size{}
	var failed error
	ra.Walk(func(n *ra.Node) {
		if n.Op != ra.Scan || s.parts[tableKey(n.Table)] == nil || failed != nil {
			return
		}
		t := n.Table
		size, ok := out.Cluster.Tables[t.Name]
		if !ok {
			size = cost.Size{Rows: float64(t.Rows), Values: map[string]float64{}}
			out.Cluster.Tables[t.Name] = size
		}
		for _, col := range n.TableCols {
			if col == ra.RowID || t.Cols[col].Type.Kind != kernels.Int || t.Cols[col].Type.Shape != nil ||
				len(t.Key) == 1 && t.Key[0] == col || size.Values[t.Cols[col].Name] > 0 {
				continue
			}
			name := t.Cols[col].Name
			size.Values[name], failed = db.Database.(catalog.Parted).Distinct(t.Schema, t.Name, name, t.Rows)
		}
	}, c.Res.Plan.Nodes()...)
	return out, failed
}

// inLimits is an error in relgrad.server_limits.
func inLimits(err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Message = "relgrad.server_limits: " + e.Message
	return &out
}

// String tells which site is which server, and where tables lie.
func (s *spread) String() string {
	var b strings.Builder
	b.WriteString("site 0: this server\n")
	for i, name := range s.servers {
		fmt.Fprintf(&b, "site %d: server %s\n", i+1, name)
	}
	for _, t := range slices.Sorted(maps.Keys(s.parts)) {
		_, name, _ := strings.Cut(t, "\x00")
		fmt.Fprintf(&b, "table %s:", name)
		for i, p := range s.parts[t] {
			at := p.Server
			if at == "" {
				at = "this server"
			}
			fmt.Fprintf(&b, "%s %s at %s", map[bool]string{true: ","}[i > 0], sqltext.Name(p.Schema, p.Name), at)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// choose is the plan of a loss of which tables lie at other servers; nil: all are here.
func (db *compiler) choose(ctx context.Context, c *Compiled) (*spread, *physical.Choice, error) {
	s, err := db.spreadOf(c)
	if s == nil || err != nil {
		return nil, nil, err
	}
	costs, err := db.serverCosts(c, s)
	if err != nil {
		return nil, nil, err
	}
	found, err := physical.Choose(ctx, c.Res.Plan, s.sites(c.Res.Plan), costs)
	return s, found, err
}

// atServers builds the program of a plan of which tables lie at other servers, at all of them.
func (db *compiler) atServers(ctx context.Context, c *Compiled, s *spread, found *physical.Choice,
	o executor.Options) (*executor.Program, error) {
	c.placed = found
	l, to := db.leads(s), db.Database.(catalog.Parted)
	for _, server := range s.servers { // before several are sent to at once
		if err := to.Connect(ctx, server); err != nil {
			return nil, err
		}
		l.lines = append(l.lines, keptLine{to, server})
	}
	return l.open(ctx, found.Plan, s, &partSource{db: db.Catalogue, parts: s.at(0)}, o)
}

// keptLine is the session at a server that is kept.
type keptLine struct {
	to     catalog.Parted
	server string
}

// Send implements catalog.Line.
func (k keptLine) Send(ctx context.Context, message []byte) ([]byte, error) {
	return k.to.Send(ctx, k.server, message)
}

// Close implements catalog.Line.
func (k keptLine) Close() error { return nil }

// leads is a new program at servers, without sessions there.
func (db *compiler) leads(s *spread) *leading {
	*db.led++
	l := &leading{number: *db.led, servers: s.servers, patience: db.Database.(catalog.Parted).Patience()}
	callers := make([]apart.Caller, len(s.servers)+1)
	for i := range s.servers {
		callers[i+1] = &caller{l, i}
	}
	l.conductor = apart.NewConductor(callers)
	return l
}

// leading is a program whose other sites are at servers.
type leading struct {
	number    uint64
	servers   []string
	lines     []catalog.Line // to them
	conductor *apart.Conductor
	patience  time.Duration
}

// open has all sites compile the plan.
func (l *leading) open(ctx context.Context, plan *physical.Plan, s *spread, src ra.Source,
	o executor.Options) (p *executor.Program, err error) {
	texts, err := l.openings(plan, s, opening{Force64: o.Force64, Many: o.Many, Env: o.Env})
	if err != nil {
		l.Close()
		return nil, err
	}
	_, err = l.do(ctx, texts, func(ctx context.Context) (err error) {
		p, err = executor.CompileApart(ctx, plan, 0, src, l.conductor, o)
		return err
	})
	if err != nil {
		p.Close()
		l.Close()
		return nil, err
	}
	p.Lead(ctx, l)
	return p, nil
}

// openings are the first commands of a program, by site.
func (l *leading) openings(plan *physical.Plan, s *spread, o opening) (texts [][]byte, err error) {
	texts = make([][]byte, len(l.servers)+1)
	for i := range l.servers {
		o.Version, o.Site, o.Parts, o.Waits = build, i+1, s.at(i+1), l.patience
		if texts[i+1], err = encoded.Append(nil, o, nil); err == nil {
			texts[i+1], err = apart.AppendPlan(texts[i+1], plan, func(t *ra.Table) *ra.Table { return t })
		}
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// Do implements executor.Conductor.
func (l *leading) Do(ctx context.Context, command []byte, f func(ctx context.Context) error) ([][]byte, error) {
	return l.do(ctx, slices.Repeat([][]byte{command}, len(l.servers)+1), f)
}

func (l *leading) do(ctx context.Context, commands [][]byte, f func(ctx context.Context) error) ([][]byte, error) {
	replies, err := l.conductor.DoEach(ctx, commands, f)
	var at *apart.Failed
	if errors.As(err, &at) {
		err = l.atServer(at)
	}
	return replies, err
}

// atServer is an error of a member, with its server.
func (l *leading) atServer(at *apart.Failed) error {
	var e *sqlerr.Error
	if !errors.As(at.Err, &e) {
		return at.Err
	}
	out := *e
	prefix := "server \"" + l.servers[at.Site-1] + "\": "
	if len(out.Message) < len(prefix) || out.Message[:len(prefix)] != prefix {
		out.Message = prefix + out.Message
	}
	return &out
}

// closing is how long the members of a program may take to free it.
const closing = 5 * time.Second

// Close implements executor.Conductor: members free their programs. One that cannot be reached has ended.
func (l *leading) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	for _, line := range l.lines {
		_, _ = line.Send(ctx, l.message([]byte(ends)))
		_ = line.Close()
	}
}

func (l *leading) message(of []byte) []byte {
	out := binary.AppendUvarint(nil, l.number)
	out = binary.AppendUvarint(out, uint64(len(l.servers)+1))
	return append(out, of...)
}

// caller reaches the member at a server.
type caller struct {
	*leading
	server int
}

// Call implements apart.Caller.
func (c *caller) Call(ctx context.Context, message []byte) ([]byte, error) {
	return c.lines[c.server].Send(ctx, c.message(message))
}
