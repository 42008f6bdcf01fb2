package pgsuite

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/plpgsql"
	"github.com/relgrad/relgrad/script/psql"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

var (
	all   = flag.Bool("all", false, "run every file of the suite, not those that fit the budget")
	files = flag.String("files", "", "run these files only, by name without .sql, separated by commas")
)

// budgeted are the files that run without -all and -files: those whose statements have no difference left.
var budgeted = strings.Fields(
	`aggregates alter_generic alter_table arrays boolean brin brin_multi btree_index case char cluster ` +
		`collate.icu.utf8 collate.linux.utf8 combocid compression constraints copy copy2 copydml copyselect ` +
		`create_function_sql create_index create_operator create_procedure create_table create_table_like ` +
		`create_view date delete drop_if_exists encoding enum event_trigger expressions fast_default float4 float8 ` +
		`foreign_data foreign_key functional_deps generated gin groupingsets guc hash_index horology identity ` +
		`incremental_sort index_including indexing inherit insert insert_conflict int2 int4 int8 join json ` +
		`json_encoding jsonb limit lock matview memoize merge misc name numeric numeric_big numerology ` +
		`partition_prune plancache plpgsql polymorphism portals prepared_xacts privileges psql publication ` +
		`rangefuncs regex replica_identity returning rowsecurity rowtypes rules select select_distinct ` +
		`select_distinct_on select_having select_implicit select_into select_parallel select_views sequence stats ` +
		`strings subselect tablespace temp text tid timestamp timestamptz transactions triggers truncate tsrf ` +
		`tuplesort union updatable_views update uuid vacuum varchar window with write_parallel`)

// volatile marks statements whose answers differ from time to time or from place to place.
var volatile = regexp.MustCompile(
	`(?i)\brandom\s*\(|\bnow\s*\(|\bcurrent_|\blocaltime|clock_timestamp|statement_timestamp|transaction_timestamp|` +
		`timeofday|version\s*\(|\bpg_(?:[a-su-z]|t[a-xz])|\boid\b|\bctid\b|\bxmin\b|\btableoid\b|txid_|` +
		`\bregclass\b|tablesample|explain|'(?:now|today|tomorrow|yesterday)|age\(`)

// control marks what is left out: the test has the transaction, and settings of the session are those of its beginning.
var control = regexp.MustCompile(
	`(?i)^\s*(begin|start|commit|end|abort|rollback|savepoint|release|prepare|execute|` +
		`deallocate|vacuum|analyze|listen|notify|unlisten|discard|checkpoint|lock|set|reset|show)\b`)

const statementTime = 10 * time.Second

// TestSuite compares the store with a server on every statement of the suite that both accept.
func TestSuite(t *testing.T) {
	dir := suite(t)
	c := pgcluster.StartBare(t)
	names := budgeted
	switch {
	case *files != "":
		names = strings.Split(*files, ",")
	case *all:
		paths, _ := filepath.Glob(filepath.Join(dir, "sql", "*.sql"))
		names = nil
		for _, p := range paths {
			names = append(names, strings.TrimSuffix(filepath.Base(p), ".sql"))
		}
	}
	compared := 0
	b := open(t, c, dir)
	b.file("test_setup") // each file begins with its tables, and is undone
	b.must(b.store, begin)
	b.must(b.server, begin)
	for _, name := range names {
		if name == "test_setup" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b.t, b.compared, b.refused = t, 0, 0
			b.file(name)
			b.must(b.store, undo)
			b.must(b.server, undo)
			compared += b.compared
			t.Logf("%d statements compared, %d refused", b.compared, b.refused)
		})
	}
	if *files == "" && compared < 300 {
		t.Errorf("only %d statements were compared", compared)
	}
}

// both is a server and a store that hold the same. It is a script.Server, to which a Runner sends texts.
type both struct {
	t                 *testing.T
	dir               string
	pg                *pgconn.PgConn
	in                *plpgsql.Interp
	name              string
	compared, refused int
	open              map[string]string // see undetermined
}

func open(t *testing.T, c *pgcluster.Cluster, dir string) *both {
	ctx := context.Background()
	pg, err := pgconn.Connect(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pg.Close(ctx) })
	db, err := relgrad.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	b := &both{t: t, dir: dir, pg: pg, open: undetermined(t), in: plpgsql.NewInterp(script.Embedded(db), nil)}
	if _, err := b.server(
		fmt.Sprintf("SET client_min_messages = error; SET timezone = 'UTC'; SET statement_timeout = '%ds'; BEGIN",
			statementTime/time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store("BEGIN"); err != nil {
		t.Fatal(err)
	}
	return b
}

// file runs a file of the suite.
func (b *both) file(name string) {
	b.name = name
	vars := map[string]string{"ON_ERROR_STOP": "off", "abs_srcdir": b.dir, "libdir": "/nowhere",
		"dlsuffix": ".so", "ECHO": "none"}
	r := psql.NewRunner(b,
		psql.Options{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Vars: vars, Dir: b.dir})
	if err := r.RunFile(context.Background(), filepath.Join(b.dir, "sql", name+".sql")); err != nil &&
		!errors.Is(err, psql.ErrStopped) {
		b.t.Errorf("%s: %v", name, err)
	}
}

// answer is what a statement gave, as text.
type answer struct {
	cols   []string
	rows   [][]*string
	tag    string
	floats []bool // the store's: columns whose last digits may differ
	idle   bool   // the store's: a notice says that it has no effect, so that no role need be there
}

// server runs a text on the server.
func (b *both) server(sql string) (*answer, error) {
	ctx := context.Background()
	var a *answer
	m := b.pg.Exec(ctx, sql)
	for m.NextResult() {
		r := m.ResultReader()
		a = &answer{}
		for _, f := range r.FieldDescriptions() {
			a.cols = append(a.cols, f.Name)
		}
		for r.NextRow() {
			var row []*string
			for _, v := range r.Values() {
				if v == nil {
					row = append(row, nil)
					continue
				}
				s := string(v)
				row = append(row, &s)
			}
			a.rows = append(a.rows, row)
		}
		tag, _ := r.Close()
		a.tag = tag.String()
	}
	return a, m.Close()
}

// store runs a text on the store.
func (b *both) store(sql string) (*answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), statementTime)
	defer cancel()
	text := &ast.Text{SQL: sql}
	stmts, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	var a *answer
	for _, s := range stmts {
		res, err := b.in.Exec(ctx, s.Stmt, text)
		if err != nil {
			return nil, err
		}
		a = &answer{tag: res.Tag, idle: len(res.Notices) > 0 && strings.Contains(res.Notices[0].Message, " has no effect")}
		for _, c := range res.Cols {
			a.cols = append(a.cols, c.Name)
			a.floats = append(a.floats, c.Type == "double precision" || c.Type == "real")
		}
		for _, row := range res.Rows {
			var out []*string
			for i, v := range row {
				if v == nil {
					out = append(out, nil)
					continue
				}
				s := plpgsql.Format(v, res.Cols[i].Type)
				out = append(out, &s)
			}
			a.rows = append(a.rows, out)
		}
	}
	return a, nil
}

const (
	begin  = "SAVEPOINT file"
	undo   = "ROLLBACK TO SAVEPOINT file"
	save   = "SAVEPOINT here"
	keep   = "RELEASE SAVEPOINT here"
	forget = "ROLLBACK TO SAVEPOINT here; RELEASE SAVEPOINT here"
)

func (b *both) must(run func(string) (*answer, error), sql string) {
	if _, err := run(sql); err != nil {
		b.t.Fatalf("%s: %s: %v", b.name, sql, err)
	}
}

// controls reports whether one of the statements of a text is left out: several come in one text where \; stands
// between them.
func controls(sql string) bool {
	stmts, err := parse.Parse(&ast.Text{SQL: sql})
	if err != nil || len(stmts) < 2 {
		return control.MatchString(sql)
	}
	return slices.ContainsFunc(stmts, func(p parse.Parsed) bool { return control.MatchString(p.SQL) })
}

// Run implements script.Server: one statement on both.
func (b *both) Run(ctx context.Context, sql string, c *psql.Client) error {
	if controls(sql) {
		return nil
	}
	if copyIn := copyFrom.FindStringSubmatch(sql); copyIn != nil {
		return b.copyIn(sql, copyIn, c)
	}
	b.must(b.store, save)
	mine, err := b.store(sql)
	if err != nil {
		b.refused++
		b.internal(sql, err)
		b.must(b.store, forget)
		return err
	}
	b.must(b.server, save)
	its, err := b.server(sql)
	if err != nil {
		var pe *pgconn.PgError
		slow := errors.As(err, &pe) && pe.Code == sqlerr.QueryCanceled // on a machine that has other work, no answer
		if !volatile.MatchString(sql) && !mine.idle && !slow {
			b.differ(sql, mine.String(), "refused: "+err.Error())
		}
		b.must(b.store, forget)
		b.must(b.server, forget)
		return err
	}
	b.compared++
	if !volatile.MatchString(sql) {
		if why := compare(mine, its, sortedBy(sql, its.cols)); why != "" {
			b.differ(sql, why, "")
		}
	}
	b.must(b.store, keep)
	b.must(b.server, keep)
	if c.Result == nil || its.cols == nil {
		return nil
	}
	return c.Result(its.result())
}

// internal reports an error that is no refusal.
func (b *both) internal(sql string, err error) {
	switch {
	case sqlerr.Code(err) == sqlerr.Internal, strings.Contains(err.Error(), "internal error"):
		b.differ(sql, "refused: "+sqlerr.Render(err), "")
	case sqlerr.Code(err) == sqlerr.QueryCanceled:
		b.differ(sql, fmt.Sprintf("runs for more than %v", statementTime), "")
	}
}

func (b *both) differ(sql, mine, its string) {
	if b.open[b.name+" "+fingerprint(sql)] != "" && !strings.HasPrefix(mine, "refused: ") {
		return
	}
	b.t.Errorf("%s %s: %s\n  store: %s\n  server: %s", b.name, fingerprint(sql),
		strings.TrimSpace(sql), clip(mine), clip(its))
}

func clip(s string) string { return s[:min(len(s), 600)] }

var copyFrom = regexp.MustCompile(`(?is)^\s*copy\s+(.*?)\s+from\s+(stdin|'[^']*')(.*)$`)

// copyIn runs COPY … FROM with the data of the script or of a file of the suite on both.
func (b *both) copyIn(sql string, part []string, c *psql.Client) error {
	var data []byte
	var err error
	if strings.EqualFold(part[2], "stdin") {
		data, err = io.ReadAll(c.CopyIn())
	} else {
		data, err = os.ReadFile(strings.Trim(part[2], "'"))
	}
	if err != nil {
		return nil
	}
	sql = "COPY " + part[1] + " FROM STDIN" + part[3]
	text := &ast.Text{SQL: sql}
	stmts, err := parse.Parse(text)
	if err != nil {
		return err
	}
	b.must(b.store, save)
	n, err := b.in.Session.CopyIn(context.Background(), stmts[0].Stmt.(*ast.Copy), text, bytes.NewReader(data), "stdin")
	if err != nil {
		b.refused++
		b.internal(sql, err)
		b.must(b.store, forget)
		return err
	}
	b.must(b.server, save)
	tag, err := b.pg.CopyFrom(context.Background(), bytes.NewReader(data), sql)
	if err != nil || tag.RowsAffected() != n {
		b.differ(sql, fmt.Sprintf("%d rows", n), fmt.Sprint(tag, err))
		b.must(b.store, forget)
		b.must(b.server, forget)
		return err
	}
	b.must(b.store, keep)
	b.must(b.server, keep)
	b.compared++
	return nil
}

// compare says how two answers differ, "" where they do not. Rows come in any order but for that of the columns sorted.
func compare(mine, its *answer, sorted []int) string {
	if mine == nil || its == nil {
		return ""
	}
	if !slices.Equal(mine.cols, its.cols) {
		return fmt.Sprintf("columns %q instead of %q", mine.cols, its.cols)
	}
	if mine.cols == nil && mine.tag != its.tag {
		return fmt.Sprintf("%q instead of %q", mine.tag, its.tag)
	}
	if len(mine.rows) != len(its.rows) {
		return fmt.Sprintf("%d rows instead of %d:\n%sinstead of\n%s", len(mine.rows), len(its.rows), mine, its)
	}
	if equalRows(mine.rows, its.rows, mine.floats) {
		return ""
	}
	a, b := slices.Clone(mine.rows), slices.Clone(its.rows)
	slices.SortFunc(a, rowOrder)
	slices.SortFunc(b, rowOrder)
	if equalRows(a, b, mine.floats) {
		return ordering(mine, its, sorted)
	}
	for i := range a {
		if !equalRows(a[i:i+1], b[i:i+1], mine.floats) {
			return fmt.Sprintf("row %s instead of %s", rowText(a[i]), rowText(b[i]))
		}
	}
	return "rows"
}

func rowOrder(a, b []*string) int { return strings.Compare(rowText(a), rowText(b)) }

func rowText(row []*string) string {
	var out []string
	for _, v := range row {
		if v == nil {
			out = append(out, "NULL")
			continue
		}
		out = append(out, *v)
	}
	return strings.Join(out, "|")
}

func equalRows(a, b [][]*string, floats []bool) bool {
	for i := range a {
		for j := range a[i] {
			x, y := a[i][j], b[i][j]
			if (x == nil) != (y == nil) || x != nil && *x != *y && !(floats[j] && nearly(*x, *y)) {
				return false
			}
		}
	}
	return true
}

// nearly reports whether two texts are the same double but for what two mathematical libraries differ in.
func nearly(a, b string) bool {
	if !strings.ContainsAny(a+b, ".e") || max(len(a), len(b)) < 12 {
		return false
	}
	x, err := strconv.ParseFloat(a, 64)
	y, e := strconv.ParseFloat(b, 64)
	return err == nil && e == nil && math.Abs(x-y) <= 1e-14*math.Abs(y)
}

// String is the answer as a difference shows it.
func (a *answer) String() string {
	if a == nil {
		return "nothing"
	}
	out := a.tag + "\n"
	for i, row := range a.rows {
		if i == 8 {
			out += fmt.Sprintf("… %d rows\n", len(a.rows))
			break
		}
		out += rowText(row) + "\n"
	}
	return out
}

// result is the answer for psql's own commands, \gset and their like.
func (a *answer) result() *script.Result {
	r := &script.Result{Tag: a.tag, HasRows: true}
	for _, c := range a.cols {
		r.Cols = append(r.Cols, script.Col{Name: c, Type: "text"})
	}
	for _, row := range a.rows {
		var out []any
		for _, v := range row {
			if v == nil {
				out = append(out, nil)
				continue
			}
			out = append(out, *v)
		}
		r.Rows = append(r.Rows, out)
	}
	return r
}

// The rest of script.Server.

func (b *both) InTransaction() bool             { return true }
func (b *both) Failed() bool                    { return false }
func (b *both) Variables() map[string]string    { return nil }
func (b *both) Lost() bool                      { return b.pg.IsClosed() }
func (b *both) Reconnect(context.Context) error { return errors.New("no") }
func (b *both) SearchPath() []string            { return nil }
func (b *both) Objects() (*catalog.Objects, error) {
	return &catalog.Objects{}, nil
}
func (b *both) Describe(context.Context, string, string, bool) ([]psql.Sheet, error) {
	return nil, nil
}
