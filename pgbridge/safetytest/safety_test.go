package safetytest

import (
	"testing"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

// model is what most cases use: a regression whose gradient is known.
const model = `CREATE TABLE point (id int PRIMARY KEY, x double precision, y double precision);
INSERT INTO point SELECT i, i / 10.0, 3 * (i / 10.0) + 1 FROM generate_series(0, 20) AS g(i);
CREATE TABLE trend (id int PRIMARY KEY, slope double precision, shift double precision);
INSERT INTO trend VALUES (1, 0, 0);
CREATE VIEW loss AS SELECT avg((y - (slope * x + shift)) ^ 2) AS loss FROM point CROSS JOIN trend;`

// slope is the gradient's of model at its beginning: -2 avg(x y).
const slope = "-10.2"

// env is what a case works in: a database of its own with the extension and the model.
type env struct {
	*session
	c  *pgcluster.Cluster
	db string
}

// another opens another session on the case's database.
func (e *env) another(extra ...string) *session {
	return open(e.t, e.c.DSN, append(extra, "dbname="+e.db)...)
}

// TestSafety runs cases that share a server.
func TestSafety(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := pgcluster.Start(t)
	admin := open(t, c.DSN)

	for _, x := range []struct {
		name string
		test func(*env)
	}{
		{"Memory", memory}, {"Large", large}, {"Timeouts", timeouts}, {"Discard", discard}, {"Savepoints", savepoints},
		{"Functions", functions}, {"Exceptions", exceptions},
		{"Prepared", prepared}, {"Workers", workers}, {"ReadOnly", readOnly}, {"Standby", standby},
		{"SameParameter", sameParameter}, {"Changed", changed}, {"Planned", planned}, {"Raced", raced},
		{"Outside", outside}, {"Resumed", resumed},
		{"Denied", denied}, {"Columns", columns}, {"RowSecurity", rowSecurity}, {"Runs", runs}, {"Names", names},
		{"Paths", paths}, {"Builtin", builtin},
		{"Resumes", resumes}, {"Records", records}, {"ViewRights", viewRights}, {"Guarded", guarded},
		{"GradTables", gradTables}, {"Caps", caps}, {"Installs", installs},
		{"NotPermitted", notPermitted}, {"NotRunning", notRunning}, {"Portable", portable}, {"PortablePaths", portablePaths},
		{"SettingsPage", settingsPage}, {"Sites", sites},
		{"Dropped", dropped}, {"Dump", dump}, {"Upgrade", upgrade},
	} {
		t.Run(x.name, func(t *testing.T) {
			e := &env{c: c, db: "case_" + x.name}
			admin.must(`CREATE DATABASE "` + e.db + `" TEMPLATE template0`)
			e.session = open(t, c.DSN, "dbname="+e.db)
			e.must("CREATE EXTENSION relgrad; " + model)
			x.test(e)
		})
	}
	admin.Close(t.Context())
	unharmed(t, c)
}
