package engine

import (
	"context"
	"encoding/binary"
	"runtime/debug"
	"slices"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/apart"
	"github.com/relgrad/relgrad/internal/encoded"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// A loss that reads parts of tables at other servers runs at several sites: this session is one, and each server has
// another, in the engine beside a session there. Messages to it begin with the number of a program of this session.

// opening is the first command of a program at a member; the plan follows it.
type opening struct {
	Version string // of the build: both sides have the same types
	Site    int
	SQL     bool // the databases compute
	Steps   bool // of these: several steps
	Force64 bool
	Many    bool
	Env     kernels.Env
	Waits   time.Duration             // of a call, until it answers that the site still computes
	Parts   map[string][]catalog.Part // of tables, by schema and name: those at this server
}

// tableKey is the key of opening.Parts.
func tableKey(t *ra.Table) string { return t.Schema + "\x00" + t.Name }

// build identifies what this program is made of.
var build = func() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return "unknown"
	}
	return info.Main.Version + " " + info.GoVersion
}()

// ends is what a message holds, in place of one of apart, that closes a program.
const ends = "x"

// patience is that of the call that opens a program, which says what its own is.
const patience = 250 * time.Millisecond

// Members are the programs that sessions of other servers lead in this one.
type Members struct {
	db *Engine
	of map[uint64]*member
}

type member struct {
	*apart.Member
	db      *Engine
	program obedient // nil: there is none yet
}

// obedient is a program that another site leads.
type obedient interface {
	Obey(ctx context.Context, command []byte) (reply []byte, err error)
	Close()
}

// NewMembers has no programs yet.
func NewMembers(db *Engine) *Members { return &Members{db, map[uint64]*member{}} }

// Close ends all programs.
func (m *Members) Close() {
	if m == nil {
		return
	}
	for number, p := range m.of {
		p.end()
		delete(m.of, number)
	}
}

// Call answers a message: the number of a program, how many sites it has, and a message of apart.
func (m *Members) Call(ctx context.Context, message []byte) ([]byte, error) {
	number, used := binary.Uvarint(message)
	sites, more := binary.Uvarint(message[max(used, 0):])
	if used <= 0 || more <= 0 || sites < 2 || sites > maxServers+1 {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "a message of %d bytes is none of a session that leads this one",
			len(message)).WithHint("Another server's engine calls this function; users have no use for it.")
	}
	message = message[used+more:]
	p := m.of[number]
	if string(message) == ends {
		if p != nil {
			p.end()
			delete(m.of, number)
		}
		return []byte{}, nil
	}
	if p == nil {
		p = &member{db: m.db}
		p.Member = apart.NewMember(int(sites), p.obey)
		p.Wait(patience)
		m.of[number] = p
	}
	return p.Call(ctx, message)
}

func (p *member) end() {
	p.Close()
	if p.program != nil {
		p.program.Close()
	}
}

// obey does a command: the first one opens the program.
func (p *member) obey(ctx context.Context, command []byte) (reply []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = sqlerr.FromPanic(r)
		}
	}()
	if p.program != nil {
		return p.program.Obey(ctx, command)
	}
	var o opening
	rest, err := encoded.Read(command, &o, nil)
	if err == nil && o.Version != build {
		err = sqlerr.New(sqlerr.ObjectNotPrereqState, "relgrad is of build %s here, and of %s where the loss is", build,
			o.Version)
	}
	if err != nil {
		return nil, err
	}
	plan, _, err := apart.ReadPlan(rest)
	if err != nil {
		return nil, err
	}
	p.Wait(o.Waits)
	if o.SQL {
		return nil, p.queries(plan, o)
	}
	opt := p.db.options(nil)
	opt.Force64, opt.Many, opt.Env = o.Force64, o.Many, o.Env
	src := &partSource{db: p.db.Catalogue, within: p.Within, parts: o.Parts, site: o.Site}
	program, err := executor.CompileApart(ctx, plan, o.Site, src, p, opt)
	if program != nil {
		p.program = program
	}
	return nil, err
}

// partSource reads the parts of tables that lie at a site.
type partSource struct {
	db     ra.Source
	within func(func() error) error // the database is asked only in it; nil: always
	parts  map[string][]catalog.Part
	site   int
}

// siteRows is how many rows a table has at a site at most: rows without a key are told apart by their numbers there.
const siteRows = 1 << 40

// Read implements ra.Source: the rows of the parts, one part below the other.
func (s *partSource) Read(ctx context.Context, t *ra.Table, cols []int) (out []*column.Column, err error) {
	parts, spread := s.parts[tableKey(t)]
	if !spread {
		return s.read(ctx, t, cols)
	}
	for i, c := range cols {
		out = append(out, column.New(kernels.Type{Kind: kernels.Int}, 0))
		if c != ra.RowID {
			out[i] = column.New(t.Cols[c].Type, 0)
		}
	}
	for n, p := range parts {
		own := *t
		own.Schema, own.Name, own.Rows = p.Schema, p.Name, 0
		read, err := s.read(ctx, &own, cols)
		if err != nil {
			return nil, err
		}
		for i, c := range read {
			if n == 0 {
				out[i] = c
			} else {
				out[i].Append(c)
			}
		}
	}
	if at := slices.Index(cols, ra.RowID); at >= 0 {
		for r := range out[at].I64() {
			out[at].I64()[r] = int64(s.site)*siteRows + int64(r)
		}
	}
	return out, nil
}

func (s *partSource) read(ctx context.Context, t *ra.Table, cols []int) (out []*column.Column, err error) {
	if s.within == nil {
		return s.db.Read(ctx, t, cols)
	}
	err = s.within(func() error {
		out, err = s.db.Read(ctx, t, cols)
		return err
	})
	return out, err
}

// Opaque implements ra.Source.
func (s *partSource) Opaque(ctx context.Context, n *ra.Node, env *kernels.Env) ([]*column.Column, error) {
	if s.within != nil {
		return nil, sqlerr.Broken("engine", "a sub-query is to be run at site %d", s.site)
	}
	return s.db.Opaque(ctx, n, env)
}
