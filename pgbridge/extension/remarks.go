package extension

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
)

// Remark is the comment on the objects of one name: the overloads of a function, the operators of one sign.
type Remark struct{ Kind, Name, Text string }

// The kinds of objects that have comments. A prefix operator's name is "prefix " and its sign, a column's is
// relation.column.
const (
	Routine  = "routine" // a function, an aggregate, a procedure
	Operator = "operator"
	Relation = "relation" // a table, a view, a sequence
	Column   = "column"
)

// generatedRemarks say what functions do that are no kernels of the registry, by their names.
var generatedRemarks = map[string]string{
	"gen_changed":   "raises an error: a definition has changed since the text was made",
	"gen_shaped":    "whether x has that shape",
	"gen_row_id":    "a row's place in its table as one number",
	"gen_text_key":  "a text as a part of row_key's key",
	"gen_float_key": "a number as a part of row_key's key: its bits",
}

// bridgeRemarks say what the engine answers: the texts of the engine's own list, where it has them (a test compares
// them). What servers without the library lack stands behind gradient, backward and explain_gradient.
var bridgeRemarks = []Remark{
	{Routine, "gradient", "rows of the table with the gradient of the loss in the value columns: SELECT * FROM " +
		"gradient('loss', NULL::w)"},
	{Routine, "backward", "the loss; fills the temporary tables w_grad, … in the same pass: SELECT backward('loss', " +
		"ARRAY['w'])"},
	{Routine, "explain_gradient", "a stage of the plan (ra, grad, opt, physical, sql, all): SELECT " +
		"explain_gradient('loss', 'w')"},
	{Routine, "check_gradient", "sampled elements of the gradient against central differences, worst first: SELECT * " +
		"FROM check_gradient('loss', 'w')"},
	{Routine, "distribute", "spreads a table over the servers that the role has a user mapping for: SELECT " +
		"distribute('rating', by => 'u')"},
	{Routine, "undistribute", "brings the rows of a distributed table back into an ordinary one: SELECT " +
		"undistribute('rating')"},
	{Routine, "gen_servers", "what the view servers shows"},
	{Routine, "gen_member", "by which a session at another server leads this one: a message and its answer"},
	{Routine, "gen_rows", "called by generated SQL only: rows that the engine holds"},
	{Routine, "gen_place", "called by generated SQL only: a hash of where a row stands, and of its version"},
}

// trainDoc is what train does.
const trainDoc = "minimises the loss over the parameters: CALL train('loss', ARRAY['w'], lr => 0.01, epochs => 100); " +
	"CALL train(resume => 1) goes on with a run"

// anyRemark is the comment on anyTrain.
var anyRemark = Remark{Routine, "train of any", "the error of train with an option by a name that other programs " +
	"have, such as learning_rate, which says its name here"}

// relationRemarks say what tables, views and sequences hold.
var relationRemarks = []Remark{
	{Relation, "run_id", "numbers of runs"},
	{Relation, "run_row", "what train records of each run; read it through the view run"},
	{Relation, "loss", "the loss of each step of each run"},
	{Relation, "state", "the state of optimizers, with which a run goes on"},
	{Relation, "validation", "the figures of the validations of each run"},
	{Relation, "mark", "how far runs of other servers are whose parameters lie here"},
	{Relation, "run", "runs of train: those of who asks; a superuser sees all"},
}

// serversRemarks are those of the view servers and its columns.
var serversRemarks = []Remark{
	{Relation, "servers", "servers of postgres_fdw that the role has a user mapping for, and the tables there that " +
		"losses read"},
	{Column, "servers.name", "the server's name"},
	{Column, "servers.state", "whether it answers and has relgrad"},
	{Column, "servers.version", "the version of relgrad there"},
	{Column, "servers.table", "the table whose rows are there"},
	{Column, "servers.rows", "how many rows it has there, by its statistics"},
	{Column, "servers.bytes", "how large it is there, by its statistics"},
}

// runColumns say what each column of what train records holds; those of run are run_row's too.
var runColumns = []Remark{
	{Column, "run.run", "number of the run, which resume takes"},
	{Column, "run.loss", "the loss: a view or a query"},
	{Column, "run.parameters", "the tables, or table.column, that are trained"},
	{Column, "run.options", "the options of train with which it began, those that were not given too"},
	{Column, "run.seed", "seed of the draws"},
	{Column, "run.status", "running, finished, stopped by … , cancelled, failed or interrupted"},
	{Column, "run.step", "steps that are done and committed"},
	{Column, "run.best", "lowest validation"},
	{Column, "run.waited", "validations since the lowest one"},
	{Column, "run.name", "option name of train"},
	{Column, "run.note", "option note of train"},
	{Column, "run.tags", "option tags of train"},
	{Column, "run.started", "when it began"},
	{Column, "run.updated", "when it was committed last"},
	{Column, "run.keys", "count and hash of the rows that are trained: a resumed run must find the same"},
	{Column, "run.context", "settings of the session that began it, as JSON: a resumed run has them"},
	{Column, "run.progress", "what changes while it runs, as JSON: options taken anew, the step of the best validation"},
	{Column, "run.owner", "the role that trained"},
	{Column, "loss.run", "number of the run"},
	{Column, "loss.step", "number of the step, from 1"},
	{Column, "loss.epoch", "the pass over batch that the step belongs to, from 1; without batch the step"},
	{Column, "loss.loss", "the loss before the step's update"},
	{Column, "loss.validation", "the first validation figure behind the step; NULL: it was not validated"},
	{Column, "loss.at", "when the step was done"},
	{Column, "loss.owner", "the role that trained"},
	{Column, "state.run", "number of the run"},
	{Column, "state.parameter", "table.column"},
	{Column, "state.name", "a buffer of the optimizer; value, best, last: values of the parameter itself"},
	{Column, "state.row", "number of the piece, from 0"},
	{Column, "state.v", "4096 numbers, the last piece filled up with zeros"},
	{Column, "state.owner", "the role that trained"},
	{Column, "validation.run", "number of the run"},
	{Column, "validation.step", "number of the step behind which it was validated"},
	{Column, "validation.position", "number of the column of validate, from 1; the first one decides"},
	{Column, "validation.name", "name of that column"},
	{Column, "validation.value", "the figure; NULL: it was NULL or not a number"},
	{Column, "validation.owner", "the role that trained"},
	{Column, "mark.leader", "the server and database from which the run is led"},
	{Column, "mark.run", "number of the run there"},
	{Column, "mark.step", "the step after which the parameters here were written last"},
	{Column, "mark.owner", "the role that trained"},
}

// Remarks are the comments on functions, operators and aggregates, each name once.
func Remarks() ([]Remark, error) {
	list, err := Objects()
	if err != nil {
		return nil, err
	}
	var out []Remark
	known := map[string]bool{}
	add := func(kind, name, text string) {
		if !known[kind+name] {
			out = append(out, Remark{kind, name, text})
		}
		known[kind+name] = true
	}
	for _, o := range list {
		if o.Function != nil {
			add(Routine, o.Function.Name, functionRemark(o.Function.Name))
		}
	}
	for _, op := range operators {
		name := op.sign
		if op.kernel == "neg" {
			name = "prefix " + name
		}
		add(Operator, name, kernels.Lookup(op.kernel).Doc)
	}
	for _, a := range kernels.Aggregates() {
		if !builtin[a.Name] {
			add(Routine, a.Name, a.Doc)
		}
	}
	return out, nil
}

// functionRemark is the comment on a function of Objects.
func functionRemark(name string) string {
	if text := partRemark(name); text != "" {
		return text
	}
	short, internal := strings.CutPrefix(name, generatedPrefix)
	doc := generatedRemarks[name]
	if doc == "" {
		doc = kernels.Lookup(strings.TrimPrefix(short, "chunk_")).Doc
	}
	if internal {
		return "called by generated SQL only: " + doc
	}
	return doc
}

// partRemark is the comment on a function that is a part of aggregates; "" for others.
func partRemark(name string) string {
	var of []string
	for _, a := range kernels.Aggregates() {
		for _, f := range folds[a.Name] {
			last := strings.HasPrefix(name, f.value) && strings.HasPrefix(name, "agg_")
			if name == f.step || name == f.merge || last && isLast(f, name) {
				of = append(of, a.Name)
				break
			}
		}
	}
	if of == nil {
		return ""
	}
	return "a part of the aggregates " + strings.Join(of, ", ")
}

// isLast reports whether a function gives the result of an aggregate for one of its types.
func isLast(f fold, name string) bool {
	for _, t := range f.types {
		if last, _ := f.last(t); last == name {
			return true
		}
	}
	return false
}

// serverRemarks are the comments on what the engine answers, and on what train records.
func serverRemarks() []Remark {
	return slices.Concat(bridgeRemarks, []Remark{{Routine, "train", trainRemark()}, anyRemark}, serversRemarks,
		RunRemarks())
}

// CompiledRemarks are the comments on the engine's functions that the portable tier has too.
func CompiledRemarks() []Remark { return bridgeRemarks[:3] }

// RunRemarks are the comments on the tables of training runs.
func RunRemarks() []Remark {
	out := append([]Remark{{Routine, "impl_change_run", "the trigger by which who may change everything in run_row " +
		"changes the view run"}}, relationRemarks...)
	for _, c := range runColumns {
		out = append(out, c)
		if column, of := strings.CutPrefix(c.Name, "run."); of {
			out = append(out, Remark{Column, "run_row." + column, c.Text})
		}
	}
	return out
}

// trainRemark is the comment on the procedure train: what its options that are not given are.
func trainRemark() string {
	var given, none []string
	for _, o := range trainOptions {
		if o.value == "" {
			none = append(none, o.name)
		} else {
			given = append(given, o.name+" => "+o.value)
		}
	}
	return trainDoc + ". An option that is NULL is not given, and then is what it would be by " +
		strings.Join(given, ", ") + "; nothing stands for " + strings.Join(none, ", ")
}

// comment is the statement that puts comments on objects of the schema relgrad. It fails where one of them is not
// there.
// One statement with each text once is a fifth of the size of one for each object.
const comment = `
-- What psql's \dn+, \df+, \do+ and \d+ say.
COMMENT ON SCHEMA relgrad IS 'gradients of losses written as SQL, and training; gen_… and impl_… are internal';
DO $do$
DECLARE
  object text;
  remark text;
BEGIN
  FOR object, remark IN
    WITH said (kind, name, remark) AS (VALUES
      %s
    ), found AS (
      SELECT 'routine' AS kind, proname || CASE WHEN '"any"'::regtype = ANY (proargtypes) THEN ' of any' ELSE '' END
        AS name, format('ROUTINE %%s', oid::regprocedure) AS object
      FROM pg_proc WHERE pronamespace = 'relgrad'::regnamespace
      UNION ALL
      SELECT 'operator', CASE oprleft WHEN 0 THEN 'prefix ' ELSE '' END || oprname, format('OPERATOR %%s',
        oid::regoperator)
      FROM pg_operator WHERE oprnamespace = 'relgrad'::regnamespace
      UNION ALL
      SELECT 'relation', relname, format('%%s %%s',
        CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass)
      FROM pg_class WHERE relnamespace = 'relgrad'::regnamespace AND relkind IN ('r', 'v', 'S')
      UNION ALL
      SELECT 'column', relname || '.' || attname, format('COLUMN %%s.%%I', attrelid::regclass, attname)
      FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
      WHERE relnamespace = 'relgrad'::regnamespace AND relkind IN ('r', 'v') AND attnum > 0 AND NOT attisdropped
    )
    SELECT found.object, said.remark FROM said LEFT JOIN found USING (kind, name)
  LOOP
    EXECUTE format('COMMENT ON %%s IS %%L', object, remark);
  END LOOP;
END $do$;
`

// Comments is the statement that puts comments on objects. Each remark must have one.
func Comments(list []Remark) string {
	rows := make([]string, len(list))
	for i, r := range list {
		rows[i] = fmt.Sprintf("('%s', %s, %s)", r.Kind, sqltext.Text(r.Name), sqltext.Text(r.Text))
	}
	return fmt.Sprintf(comment, strings.Join(rows, ",\n      "))
}
