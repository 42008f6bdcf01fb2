package engine

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/train"
)

// Batch is the relation of whose rows a run takes mini-batches. It holds the identities of the rows, sorted by value;
// each epoch draws a permutation of them. So batches depend neither on the order of rows in the table nor on the
// session's earlier work.
type Batch struct {
	*bind.Batch
	db     *compiler
	config *train.Config
	N      int              // number of rows
	keys   []*column.Column // identities
	reads  []Object         // tables from which they are read
	order  []int32          // order in which a step takes rows: rows that share a matrix follow each other
	place  []int32          // by row: its position in order
	epoch  int64            // of perm; 0: none
	perm   []int32
	stream *stream // of a view whose rows are read as the steps need them; nil: the rows are found by their keys
}

// OpenBatch finds the relation that a run's option names and reads its identities; nil where the option is not given.
func (db *compiler) OpenBatch(ctx context.Context, config *train.Config, names []string) (*Batch, error) {
	name := config.Batch
	if name == "" {
		return nil, nil
	}
	var params []bind.ParamRef
	for i, p := range names {
		ref, _, err := bind.ParseParam(ctx, db.Catalogue, p)
		if err != nil {
			return nil, About(err, "params", i)
		}
		params = append(params, ref)
	}
	from, streams := db.Database.(catalog.Streamer)
	found, err := bind.ResolveBatch(ctx, db.Catalogue, name, params, streams)
	if err != nil {
		return nil, About(err, "batch", 0)
	}
	b := &Batch{Batch: found, db: db, config: config}
	if b.Streamed != nil {
		err = b.open(ctx, from)
	} else if b.keys, err = b.read(ctx, b.Key); err == nil {
		b.N = b.keys[0].Len()
	}
	if err != nil {
		return nil, About(err, "batch", 0)
	}
	if b.N == 0 {
		return nil, About(sqlerr.New(sqlerr.InvalidParameter, "batch %q has no rows", name), "batch", 0)
	}
	b.Size = min(config.BatchSize, int64(b.N))
	if b.stream != nil {
		return b, About(config.SetRows(int64(b.N)), "batch", 0)
	}
	if config.BeforeStep == "" { // it may change that order, and a resumed run would begin with that
		b.Order = b.findOrder
	}
	b.Rows = b.ofStep
	return b, About(config.SetRows(int64(b.N)), "batch", 0)
}

// read reads columns of the batch, sorted by value.
func (b *Batch) read(ctx context.Context, names []string) ([]*column.Column, error) {
	at := ast.Node{At: -1}
	sel := &ast.Select{Node: at, From: []ast.FromItem{&ast.TableRef{Node: at, Schema: b.Schema, Name: b.Name}}, End: -1}
	for _, k := range names {
		sel.Targets = append(sel.Targets, ast.Target{Node: at, X: &ast.ColumnRef{Node: at, Names: []string{k}}, Name: k})
	}
	cat := b.db.Catalogue
	env := cat.Env
	cat.Env = kernels.Env{Seed: b.config.Seed}
	b.reads = nil
	back := cat.Watch(func(schema, name string) error {
		b.reads = append(b.reads, Object{Schema: schema, Table: name})
		return nil
	})
	defer func() {
		cat.Env = env
		back()
	}()
	_, cols, err := b.db.Query(ctx, sel, &ast.Text{})
	if err != nil {
		return nil, err
	}
	order := sorted(cols)
	for i, v := range cols {
		cols[i] = column.Gather(v, order)
	}
	return cols, nil
}

// findOrder finds the order in which a step takes its rows, so that those that share a matrix follow each other.
func (b *Batch) findOrder(ctx context.Context) error {
	reads := b.reads
	cols, err := b.read(ctx, append(slices.Clone(b.Key), b.Near))
	if b.reads = reads; err != nil || cols[0].Len() != b.N { // before_step has changed the rows, which Unchanged reports
		return err
	}
	b.order, b.place = sorted(cols[len(b.Key):]), make([]int32, b.N)
	for i, row := range b.order {
		b.place[row] = int32(i)
	}
	return nil
}

// sorted lists the rows sorted by value, the first column first; the order of equal rows is kept.
func sorted(cols []*column.Column) []int32 {
	order := make([]int32, cols[0].Len())
	for i := range order {
		order[i] = int32(i)
	}
	compare := func(a, b int32) int {
		for _, v := range cols {
			if c := compareKeys(v, int(a), int(b)); c != 0 {
				return c
			}
		}
		return 0
	}
	if !slices.IsSortedFunc(order, compare) {
		slices.SortStableFunc(order, compare)
	}
	return order
}

// compareKeys compares two rows of an identity's column, NULL first.
func compareKeys(v *column.Column, a, b int) int {
	switch x, y := v.IsNull(a), v.IsNull(b); {
	case x && y:
		return 0
	case x:
		return -1
	case y:
		return 1
	case v.Kind() == column.I64:
		return cmp.Compare(v.I64()[a], v.I64()[b])
	case v.Kind() == column.Str:
		return strings.Compare(v.Texts()[a], v.Texts()[b])
	case v.Kind() == column.F64:
		return cmp.Compare(v.F64()[a], v.F64()[b])
	}
	return cmp.Compare(v.F32()[a], v.F32()[b])
}

// ofStep returns the identities of a step's rows, in their own order or in that of Near. The draw decides which rows
// they are, not in which order they are summed.
func (b *Batch) ofStep(env *kernels.Env) ([]*column.Column, error) {
	if env.Step < 1 {
		return nil, sqlerr.New(sqlerr.Internal, "internal error: step %d has no batch", env.Step)
	}
	epoch, from, to := b.config.Slice(env.Step)
	if epoch != b.epoch {
		b.epoch, b.perm = epoch, train.Permutation(env.Seed, epoch, b.N)
	}
	rows := slices.Clone(b.perm[from:to])
	for i, row := range rows {
		if b.place != nil {
			rows[i] = b.place[row]
		}
	}
	slices.Sort(rows)
	for i, at := range rows {
		if b.order != nil {
			rows[i] = b.order[at]
		}
	}
	return lists.Map(b.keys, func(k *column.Column) *column.Column { return column.Gather(k, rows) }), nil
}

// Hash identifies the rows: a run can only be resumed with the same ones.
func (b *Batch) Hash() string {
	if b.stream != nil {
		return fmt.Sprintf("batch %s.%s %d %s", b.Schema, b.Name, b.N, b.stream.Hash())
	}
	h := fnv.New64a()
	for _, v := range b.keys {
		fmt.Fprint(h, v.I64(), v.F64(), v.F32(), Apart(v.Texts()), truths(v.Valid()))
	}
	return fmt.Sprintf("batch %s.%s %d %x", b.Schema, b.Name, b.N, h.Sum64())
}

// truths are bytes as truth values, as which a run's hash has them.
func truths(b []byte) (out []bool) {
	for _, x := range b {
		out = append(out, x != 0)
	}
	return out
}

// Unchanged refuses a run whose rows differ from those at its beginning because before_step has changed a table.
func (b *Batch) Unchanged(ctx context.Context, t Object) error {
	if b == nil || b.stream != nil || !slices.Contains(b.reads, t) {
		return nil
	}
	now := *b
	var err error
	if now.keys, err = now.read(ctx, now.Key); err != nil {
		return err
	}
	if now.N = now.keys[0].Len(); now.Hash() != b.Hash() {
		return sqlerr.New(sqlerr.ObjectNotPrereqState, "before_step has changed the rows of the batch %q", b.Name).
			WithHint("Its rows are drawn from those that are there when the run begins. A table that before_step fills needs " +
				"no batch.")
	}
	return nil
}

// Apart quotes texts so that they can be joined without ambiguity.
func Apart(texts []string) []string {
	var out []string
	for _, s := range texts {
		out = append(out, strconv.Quote(s))
	}
	return out
}
