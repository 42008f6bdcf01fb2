package serverstest

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/need"
)

// TestCitus: what a loss gives over tables that Citus distributes. RELGRAD_CITUS_DSN names the database of a
// coordinator with worker nodes, in which the extensions citus and relgrad are; its schema citus_test is made anew.
func TestCitus(t *testing.T) {
	dsn := os.Getenv("RELGRAD_CITUS_DSN")
	if dsn == "" {
		need.Absent(t, "citus", "RELGRAD_CITUS_DSN names no coordinator")
	}
	pg, err := pgconn.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Close(context.Background())
	c := &session{t: t, pg: pg}
	t.Logf("%s, nodes %v", c.must("SELECT citus_version()"), c.must("SELECT nodename, nodeport FROM pg_dist_node"))
	for _, m := range models {
		if m.paramsApart() { // Citus updates no table from rows of the session's
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			c := &session{t: t, pg: pg}
			c.must("RESET ALL; SET search_path = citus_test, public, relgrad; DROP SCHEMA IF EXISTS citus_test CASCADE")
			c.must("CREATE SCHEMA citus_test")
			c.must("%s", m.setup)
			results(c, m, "one")
			m.views(c, func() {
				for _, x := range m.spread {
					c.must("SELECT distribute('%s', by => '%s')", x.name, x.by)
				}
			})
			for _, limits := range []string{"", `{"operations": "10Mflop", "reads": "10MB"}`} {
				for _, engine := range []string{"chunk", "sql"} {
					c.must("SET relgrad.engine = %s; SET relgrad.strict = on; SET relgrad.server_limits = '%s'", engine, limits)
					as := engine + map[bool]string{true: "_apart"}[limits != ""]
					results(c, m, as)
					same(t, c, m, as, "grad", "new")
				}
			}
			text := strings.Join(c.must("SELECT explain_gradient('loss', '%s', 'sites')", m.params[0][0]), "\n")
			if !strings.Contains(text, "server citus node ") || !strings.Contains(text, "shards at ") {
				t.Errorf("the plan does not tell the nodes, or where rows lie:\n%s", text)
			}
			if sql := strings.Join(c.must("SELECT explain_gradient('loss', '%s', 'sql')", m.params[0][0]), "\n"); !strings.
				Contains(sql, "FROM citus_test."+m.spread[0].name+"_1") {
				t.Errorf("no node reads a shard:\n%s", sql)
			}
			x := m.spread[len(m.spread)-1]
			c.must("BEGIN; DELETE FROM %s WHERE %s = 7", x.name, x.by)
			if _, err := c.run("SELECT backward('loss', ARRAY['" + m.params[0][0] + "'], step => 1)"); err == nil ||
				!strings.Contains(err.Error(), "this transaction has changed its rows") {
				t.Errorf("rows that the transaction has changed: %v", err)
			}
			c.must("ROLLBACK; RESET relgrad.engine; RESET relgrad.server_limits; RESET relgrad.strict")
			rows := "SELECT count(*) FROM " + x.name
			kept := c.must("%s", rows)[0]
			c.must("ANALYZE %s", x.name)
			if at := c.must(`SELECT sum(rows) FROM servers WHERE name LIKE 'citus node %%' AND state = 'ready' AND `+
				`"table" = '%s' GROUP BY name`, x.name); len(at) < 2 {
				t.Errorf("relgrad.servers lists parts of %s at %d nodes", x.name, len(at))
			}
			m.views(c, func() { c.must("SELECT undistribute('%s')", x.name) })
			now, citus := c.must("%s", rows)[0], "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = '%s'::regclass"
			if left := c.must(citus, x.name)[0]; now != kept || left != "0" {
				t.Errorf("%s of %s rows of %s have come back, and Citus knows of %s", now, kept, x.name, left)
			}
		})
	}
}
