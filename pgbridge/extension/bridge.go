package extension

import (
	"fmt"
	"strings"
)

// bridgeFunc is a function that the engine answers.
type bridgeFunc struct {
	name, args, result, kind string
}

// bridgeFuncs are the functions that the engine answers, with the arguments and results of the engine's own list (a
// test compares them). Only gen_place, a hash, is parallel safe: the engine sets parameters and opens subtransactions,
// which the server refuses while workers run. Queries that the engine has the server run may use workers.
var bridgeFuncs = []bridgeFunc{
	{"gradient", "loss text, param anyelement, step bigint DEFAULT NULL, seed bigint DEFAULT 0", "SETOF anyelement",
		"STABLE PARALLEL UNSAFE COST 100000 ROWS 1000"},
	{"backward", "loss text, params text[], step bigint DEFAULT NULL, seed bigint DEFAULT 0", "double precision",
		"VOLATILE PARALLEL UNSAFE COST 100000"},
	{"check_gradient", "loss text, param text, samples bigint DEFAULT 100, step bigint DEFAULT NULL, seed bigint " +
		"DEFAULT 0, batch text DEFAULT NULL, batch_size bigint DEFAULT NULL",
		"TABLE(key text, \"column\" text, element bigint, analytic double precision, \"numeric\" double precision, error " +
			"double precision, ok boolean)",
		"STABLE PARALLEL UNSAFE COST 1000000 ROWS 100"},
	// volatile, because EXPLAIN may only run in a volatile function
	{"explain_gradient", "loss text, param text, stage text DEFAULT 'sql'", "text",
		"VOLATILE PARALLEL UNSAFE COST 100000"},
	// Overloads for a name in place of a list, and a list in place of a name. Postgres chooses the name for a text
	// without a type; one in braces is a list.
	{"backward", "loss text, params text, step bigint DEFAULT NULL, seed bigint DEFAULT 0", "double precision",
		"VOLATILE PARALLEL UNSAFE COST 100000"},
	{"check_gradient", "loss text, param text[], samples bigint DEFAULT 100, step bigint DEFAULT NULL, seed bigint " +
		"DEFAULT 0, batch text DEFAULT NULL, batch_size bigint DEFAULT NULL",
		"TABLE(key text, \"column\" text, element bigint, analytic double precision, \"numeric\" double precision, error " +
			"double precision, ok boolean)",
		"STABLE PARALLEL UNSAFE COST 1000000 ROWS 100"},
	{"explain_gradient", "loss text, param text[], stage text DEFAULT 'sql'", "text",
		"VOLATILE PARALLEL UNSAFE COST 100000"},
	{"distribute", "what text, by text, servers text[] DEFAULT NULL", "void", "VOLATILE PARALLEL UNSAFE COST 100000"},
	{"undistribute", "what text", "void", "VOLATILE PARALLEL UNSAFE COST 100000"},
	{"gen_servers", "", "TABLE(name text, state text, version text, \"table\" text, rows bigint, bytes bigint)",
		"VOLATILE PARALLEL UNSAFE COST 100000 ROWS 20"},
	{"gen_member", "message bytea", "bytea", "VOLATILE STRICT PARALLEL UNSAFE COST 100000"},
	{"gen_rows", "", "SETOF record", "STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000"},
	{"gen_place", "tableoid oid, place tid, xmin xid, cmin cid", "bigint", "IMMUTABLE STRICT PARALLEL SAFE"},
}

// trainOption is a named argument of train, its type, and what it is where it is not given, "" for nothing. sparse is a
// boolean or a list of parameters. The argument's own default is NULL, by which train tells what is given: an option
// without effect is an error, and a run that goes on takes some only.
type trainOption struct{ name, sql, value string }

// trainOptions are all options of train, in the manual's order. A test compares them with package train, which this
// package may not import.
var trainOptions = []trainOption{
	{"optimizer", "text", "'adam'"}, {"lr", "double precision", "0.001"},
	{"momentum", "double precision", "0.9"}, {"beta1", "double precision", "0.9"},
	{"beta2", "double precision", "0.999"}, {"alpha", "double precision", "0.99"},
	{"epsilon", "double precision", "1e-8"}, {"history", "bigint", "10"},
	{"weight_decay", "double precision", "0"}, {"schedule", "text", "'constant'"}, {"warmup", "bigint", "0"},
	{"step_size", "bigint", ""}, {"gamma", "double precision", "0.1"}, {"eta_min", "double precision", "0"},
	{"clip_norm", "double precision", ""}, {"nonnegative", "text[]", ""}, {"project", "text[]", ""},
	{"options", "jsonb", ""}, {"sparse", "anyelement", ""}, {"batch", "text", ""},
	{"batch_size", "bigint", ""}, {"before_step", "text", ""}, {"epochs", "bigint", "100"},
	{"seed", "bigint", "0"}, {"validate", "text", ""}, {"every", "bigint", "1"}, {"patience", "bigint", "0"},
	{"restore_best", "boolean", "false"}, {"tolerance", "double precision", ""},
	{"max_seconds", "double precision", ""}, {"progress", "text", ""}, {"name", "text", ""},
	{"note", "text", ""}, {"tags", "text[]", ""}, {"resume", "bigint", ""},
}

// trainSynonyms are names that other programs have for options of train, and common slips. A test compares them with
// package train.
var trainSynonyms = []string{"batchsize", "betas", "early_stopping", "epoch", "eps", "eta", "grad_clip", "history_size",
	"iterations", "l2", "lambda", "learning_rate", "learningrate", "max_epochs", "max_grad_norm", "max_iter", "minibatch",
	"n_epochs", "num_epochs", "optimiser", "random_state", "scheduler", "steps", "timeout", "validation", "warmup_steps",
	"weightdecay"}

// anyTrain is train for calls that no other overload takes: with an option by a name that other programs have. The
// engine says what it is called here; without it Postgres would say that there is no such procedure. A call that
// another overload takes never comes here: Postgres prefers text to "any" for the loss. That needs the options' own
// types, since an option that is a text without a type, beside "any", would leave Postgres no choice.
func anyTrain() string {
	args := strings.TrimPrefix(TrainArgs()[1], "loss text, params text")
	for _, name := range trainSynonyms {
		args += ", " + name + ` "any" DEFAULT NULL`
	}
	return `loss "any", params "any"` + args
}

// runTables are the tables in which train records runs, as in the embedded store, but each row has an owner. The server
// gives a new row of run_row its number, and of a run only its progress can be changed: a user cannot change text that
// a resumed run executes. A row of the other tables must belong to a run of the row's owner, so that nobody adds to
// another's run.
const runTables = `-- What train() records. Rows belong to the user who trains, and nobody else sees them; pg_dump ` +
	`keeps them.
CREATE SEQUENCE run_id;
CREATE TABLE run_row (run bigint PRIMARY KEY DEFAULT nextval('run_id'), loss text NOT NULL, ` +
	`parameters text[] NOT NULL, options jsonb NOT NULL, seed bigint NOT NULL,
  status text NOT NULL, step bigint NOT NULL, best double precision, waited bigint NOT NULL, name text, note text, ` +
	`tags text[],
  started timestamptz NOT NULL, updated timestamptz NOT NULL, keys text NOT NULL, context text, ` +
	`progress text, owner name NOT NULL DEFAULT current_user);
CREATE TABLE loss (run bigint, step bigint, epoch bigint NOT NULL, loss double precision NOT NULL, validation ` +
	`double precision, at timestamptz NOT NULL,
  owner name NOT NULL DEFAULT current_user, PRIMARY KEY (run, step, owner));
CREATE TABLE state (run bigint, parameter text, name text, row bigint, v double precision[],
  owner name NOT NULL DEFAULT current_user, PRIMARY KEY (run, parameter, name, row, owner));
ALTER TABLE state ALTER COLUMN v SET STORAGE EXTERNAL;
CREATE TABLE validation (run bigint, step bigint, position bigint, name text NOT NULL, value double precision,
  owner name NOT NULL DEFAULT current_user, PRIMARY KEY (run, step, position, owner));
GRANT USAGE ON SEQUENCE run_id TO PUBLIC;
ALTER TABLE run_row ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON run_row USING (owner = current_user) WITH CHECK (owner = current_user);
GRANT SELECT, DELETE, INSERT (loss, parameters, options, seed, status, step, best, waited, name, note, tags, ` +
	`started, updated, keys, context, progress),
  UPDATE (status, step, best, waited, name, note, tags, updated, progress) ON run_row TO PUBLIC;

-- How far runs of other servers are whose parameters lie here: written with these, in one transaction.
CREATE TABLE mark (leader text, run bigint, step bigint NOT NULL, owner name NOT NULL DEFAULT current_user,
  PRIMARY KEY (leader, run, owner));
ALTER TABLE mark ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON mark USING (owner = current_user) WITH CHECK (owner = current_user);
GRANT SELECT, INSERT, UPDATE, DELETE ON mark TO PUBLIC;

-- The runs of who asks; a superuser sees all. One says running while a session holds its lock (on a standby ` +
	`nobody sees that): a server
-- or a session that ended amid a run could not note it.
CREATE VIEW run WITH (security_barrier) AS SELECT run, loss, parameters, options, seed,
  CASE WHEN status = 'running' AND NOT pg_is_in_recovery() AND NOT EXISTS (SELECT FROM pg_locks AS l WHERE ` +
	`l.locktype = 'advisory' AND l.granted
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND l.classid = %d AND ` +
	`l.objid::bigint = run %% 4294967296 AND l.objsubid = 2)
    THEN 'interrupted' ELSE status END AS status,
  step, best, waited, name, note, tags, started, updated, keys, context, progress, owner
FROM run_row WHERE owner = current_user OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
GRANT SELECT, DELETE ON run TO PUBLIC;

-- Who may change everything in run_row may also do it here.
CREATE FUNCTION impl_change_run() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO relgrad.run_row (run, loss, parameters, options, seed, status, step, best, waited, name, note, ` +
	`tags, started, updated, keys, context, progress, owner)
    VALUES (coalesce(NEW.run, nextval('relgrad.run_id')), NEW.loss, NEW.parameters, NEW.options, NEW.seed, ` +
	`NEW.status, NEW.step, NEW.best, NEW.waited, NEW.name, NEW.note, NEW.tags, NEW.started, NEW.updated,
      NEW.keys, NEW.context, NEW.progress, coalesce(NEW.owner, current_user));
  ELSE
    UPDATE relgrad.run_row SET run = NEW.run, loss = NEW.loss, parameters = NEW.parameters, options = ` +
	`NEW.options, seed = NEW.seed,
      status = CASE WHEN NEW.status = OLD.status THEN status ELSE NEW.status END, step = NEW.step, best = ` +
	`NEW.best, waited = NEW.waited, name = NEW.name, note = NEW.note, tags = NEW.tags, started = NEW.started,
      updated = NEW.updated, keys = NEW.keys, context = NEW.context, progress = ` +
	`NEW.progress, owner = NEW.owner WHERE run = OLD.run;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER change INSTEAD OF INSERT OR UPDATE ON run FOR EACH ROW EXECUTE FUNCTION impl_change_run();
`

// runTable is what each table other than run_row needs.
const runTable = `ALTER TABLE %[1]s ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON %[1]s USING (owner = current_user)
  WITH CHECK (owner = current_user AND EXISTS (SELECT FROM run_row AS r WHERE r.run = %[1]s.run AND r.owner = ` +
	`current_user));
GRANT SELECT, DELETE, INSERT (%[2]s) ON %[1]s TO PUBLIC;
`

// kept has pg_dump keep the contents of a table: by default it leaves out an extension's tables.
const kept = "SELECT pg_catalog.pg_extension_config_dump('relgrad.%s', '');\n"

var keptTables = []string{"run_id", "run_row", "loss", "state", "validation"}

// lockRuns is the class of the advisory locks of runs that are being trained. Package pgbridge/session takes them.
const lockRuns = 0x72677275

// RunTables is the script that makes the tables of training runs in the current schema.
func RunTables() string {
	return fmt.Sprintf(runTables, lockRuns) +
		fmt.Sprintf(runTable, "loss", "run, step, epoch, loss, validation, at") +
		fmt.Sprintf(runTable, "state", "run, parameter, name, row, v") +
		fmt.Sprintf(runTable, "validation", "run, step, position, name, value")
}

// writeBridge writes the engine's functions and its tables.
func writeBridge(b *strings.Builder) {
	b.WriteString("\n-- Functions that the engine answers, the program relgrad-engine beside the library.\n")
	for _, f := range bridgeFuncs {
		fmt.Fprintf(b, "CREATE FUNCTION %s(%s) RETURNS %s LANGUAGE c %s AS 'MODULE_PATHNAME', 'relgrad_%s';\n", f.name,
			f.args, f.result, f.kind, f.name)
	}
	b.WriteString("-- The servers of postgres_fdw that the role has a user mapping for, and what tables have there, " +
		"by their statistics.\nCREATE VIEW servers AS SELECT * FROM relgrad.gen_servers();\n" +
		"GRANT SELECT ON servers TO PUBLIC;\n")
	for _, args := range append(TrainArgs(), anyTrain()) {
		fmt.Fprintf(b, "CREATE PROCEDURE train(%s) LANGUAGE c AS 'MODULE_PATHNAME', 'relgrad_train';\n", args)
	}
	b.WriteString("\n" + RunTables())
	for _, t := range keptTables {
		fmt.Fprintf(b, kept, t)
	}
}

// TrainArgs are the arguments of the procedure train as SQL: with a list of parameters, and with the name of one. Calls
// that resume a run leave out loss and params, so only one overload gives these a default.
func TrainArgs() []string {
	var options []string
	for _, o := range trainOptions {
		value := "NULL"
		if o.sql == "anyelement" {
			value = "NULL::boolean"
		}
		options = append(options, o.name+" "+o.sql+" DEFAULT "+value)
	}
	more := strings.Join(options, ", ")
	return []string{"loss text DEFAULT NULL, params text[] DEFAULT NULL, " + more, "loss text, params text, " + more}
}
