package extension

import (
	"fmt"
	"strings"
)

// bridgeFunc is a function that the engine answers.
type bridgeFunc struct {
	name, args, result, kind string
}

// bridgeFuncs are those functions; their arguments and results are those of the engine's own list. None but gen_place, a hash, is parallel
// safe: the engine sets parameters and opens subtransactions, which the server refuses while workers run. The
// queries that it has the server run may use workers.
var bridgeFuncs = []bridgeFunc{
	{"gradient", "loss text, param anyelement, step bigint DEFAULT NULL, seed bigint DEFAULT 0", "SETOF anyelement", "STABLE PARALLEL UNSAFE COST 100000 ROWS 1000"},
	{"backward", "loss text, params text[], step bigint DEFAULT NULL, seed bigint DEFAULT 0", "double precision", "VOLATILE PARALLEL UNSAFE COST 100000"},
	{"check_gradient", "loss text, param text, samples bigint DEFAULT 100, step bigint DEFAULT NULL, seed bigint DEFAULT 0, batch text DEFAULT NULL, batch_size bigint DEFAULT NULL",
		"TABLE(key text, \"column\" text, element bigint, analytic double precision, \"numeric\" double precision, error double precision, ok boolean)",
		"STABLE PARALLEL UNSAFE COST 1000000 ROWS 100"},
	{"explain_gradient", "loss text, param text, stage text DEFAULT 'sql'", "text", "VOLATILE PARALLEL UNSAFE COST 100000"}, // EXPLAIN is for volatile functions only
	{"gen_rows", "", "SETOF record", "STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000"},
	{"gen_place", "tableoid oid, place tid, xmin xid, cmin cid", "bigint", "IMMUTABLE STRICT PARALLEL SAFE"},
}

// trainOption is a named argument of train and its type. sparse is a boolean or a list of parameters.
type trainOption struct{ name, sql string }

// trainOptions are all options of train, in the manual's order; a test compares them with package train, which stands
// above this one.
var trainOptions = []trainOption{
	{"optimizer", "text"}, {"lr", "double precision"}, {"momentum", "double precision"}, {"beta1", "double precision"}, {"beta2", "double precision"},
	{"alpha", "double precision"}, {"epsilon", "double precision"}, {"weight_decay", "double precision"},
	{"schedule", "text"}, {"warmup", "bigint"}, {"step_size", "bigint"}, {"gamma", "double precision"}, {"eta_min", "double precision"}, {"clip_norm", "double precision"},
	{"nonnegative", "text[]"}, {"project", "text[]"}, {"options", "jsonb"}, {"sparse", "anyelement"},
	{"batch", "text"}, {"batch_size", "bigint"}, {"before_step", "text"}, {"epochs", "bigint"}, {"seed", "bigint"},
	{"validate", "text"}, {"every", "bigint"}, {"patience", "bigint"}, {"tolerance", "double precision"}, {"max_seconds", "double precision"}, {"resume", "bigint"},
}

// runTables are what train records, as in the embedded store, each user's own. A sequence numbers the runs, since no
// user sees the numbers of others.
const runTables = `-- What train() records. Rows belong to the user who trains, and nobody else sees them; pg_dump keeps them.
CREATE SEQUENCE run_id;
CREATE TABLE run (run bigint PRIMARY KEY, loss text NOT NULL, params text NOT NULL, keys text NOT NULL, options text NOT NULL, seed bigint NOT NULL,
  status text NOT NULL, step bigint NOT NULL, best double precision, since bigint NOT NULL, started timestamp NOT NULL, updated timestamp NOT NULL, rest text,
  owner name NOT NULL DEFAULT current_user);
CREATE TABLE loss (run bigint, step bigint, epoch bigint NOT NULL, loss double precision NOT NULL, validation double precision, at timestamp NOT NULL,
  owner name NOT NULL DEFAULT current_user, PRIMARY KEY (run, step, owner));
CREATE TABLE state (run bigint, parameter text, name text, row bigint, v double precision[],
  owner name NOT NULL DEFAULT current_user, PRIMARY KEY (run, parameter, name, row, owner));
ALTER TABLE state ALTER COLUMN v SET STORAGE EXTERNAL;
GRANT USAGE ON SEQUENCE run_id TO PUBLIC;
`

// runTable is what each of them needs.
const runTable = `ALTER TABLE %[1]s ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON %[1]s USING (owner = current_user) WITH CHECK (owner = current_user);
GRANT SELECT, INSERT, UPDATE, DELETE ON %[1]s TO PUBLIC;
`

// kept makes pg_dump keep what is in them: it leaves out an extension's tables.
const kept = "SELECT pg_catalog.pg_extension_config_dump('relgrad.%s', '');\n"

var runTableNames = []string{"run", "loss", "state"}

// RunTables is the script that makes the tables of training runs in the current schema.
func RunTables() string {
	s := runTables
	for _, t := range runTableNames {
		s += fmt.Sprintf(runTable, t)
	}
	return s
}

// writeBridge writes the functions of the engine and its tables.
func writeBridge(b *strings.Builder) {
	b.WriteString("\n-- Functions that the engine answers, the program relgrad-engine beside the library.\n")
	for _, f := range bridgeFuncs {
		fmt.Fprintf(b, "CREATE FUNCTION %s(%s) RETURNS %s LANGUAGE c %s AS 'MODULE_PATHNAME', 'relgrad_%s';\n", f.name, f.args, f.result, f.kind, f.name)
	}
	fmt.Fprintf(b, "CREATE PROCEDURE train(%s) LANGUAGE c AS 'MODULE_PATHNAME', 'relgrad_train';\n", TrainArgs())
	b.WriteString("\n" + RunTables())
	for _, t := range append([]string{"run_id"}, runTableNames...) {
		fmt.Fprintf(b, kept, t)
	}
}

// TrainArgs are the arguments of the procedure train, as SQL.
func TrainArgs() string {
	args := []string{"loss text DEFAULT NULL", "params text[] DEFAULT NULL"}
	for _, o := range trainOptions {
		value := "NULL"
		if o.sql == "anyelement" {
			value = "NULL::boolean"
		}
		args = append(args, o.name+" "+o.sql+" DEFAULT "+value)
	}
	return strings.Join(args, ", ")
}
