package main

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

// TestPGByName: relgrad pg accepts the name of a database in place of an address, as other commands of relgrad do.
func TestPGByName(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	c := pgcluster.Start(t)
	if out, err := exec.CommandContext(context.Background(), "psql", "-X", "-d", c.DSN, "-c",
		`CREATE DATABASE "it's"`, "-c", "CREATE DATABASE bare").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PGHOST", c.Dir)
	t.Setenv("PGUSER", "relgrad")
	t.Setenv("PGPORT", "5432")
	for _, db := range []string{"bare", "it's"} {
		if out, errs, status := both(t, "pg", "install", "--db", db); status != 0 || !strings.Contains(out, "is installed") {
			t.Errorf("pg install --db %s: status %d\n%s%s", db, status, out, errs)
		}
		if out, errs, status := both(t, "pg", "status", "--db", db); status != 0 ||
			!strings.Contains(out, "portable tier, ") {
			t.Errorf("pg status --db %s: status %d\n%s%s", db, status, out, errs)
		}
		if out, errs, status := both(t, "pg", "status", "--db", "dbname='"+strings.ReplaceAll(db, "'", `\'`)+
			"'"); status != 0 || !strings.Contains(out, "portable tier, ") {
			t.Errorf("pg status of settings for %s: status %d\n%s%s", db, status, out, errs)
		}
	}
}
