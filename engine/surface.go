package engine

// Signature describes a function or procedure of the engine for its users.
type Signature struct {
	Name, Args, Result string
	Procedure          bool
	Client             bool // it runs in relgrad's own process only; a server has no such function
	Doc                string
}

// Surface lists the engine's functions. Functions in losses are listed by the registry of package kernels.
var Surface = []Signature{
	{Name: "gradient", Args: "loss text, param anyelement, step bigint DEFAULT NULL, seed bigint DEFAULT 0",
		Result: "SETOF anyelement",
		Doc: "rows of the table with the gradient of the loss in the value columns: SELECT * FROM gradient('loss', " +
			"NULL::w)"},
	{Name: "backward", Args: "loss text, params text[], step bigint DEFAULT NULL, seed bigint DEFAULT 0",
		Result: "double precision",
		Doc:    "the loss; fills the temporary tables w_grad, … in the same pass: SELECT backward('loss', ARRAY['w'])"},
	{Name: "check_gradient",
		Args: "loss text, param text, samples bigint DEFAULT 100, step bigint DEFAULT NULL, seed bigint DEFAULT 0, " +
			"batch text DEFAULT NULL, batch_size bigint DEFAULT NULL",
		Result: "TABLE(key text, \"column\" text, element bigint, analytic double precision, \"numeric\" double " +
			"precision, error double precision, ok boolean)",
		Doc: "sampled elements of the gradient against central differences, worst first: SELECT * FROM " +
			"check_gradient('loss', 'w')"},
	{Name: "explain_gradient", Args: "loss text, param text, stage text DEFAULT 'sql'", Result: "text",
		Doc: "a stage of the plan (ra, grad, opt, physical, sql, all): SELECT explain_gradient('loss', 'w')"},
	{Name: "delta_table", Args: "dir text, version bigint DEFAULT NULL", Result: "SETOF record", Client: true,
		Doc: "rows of a table of Delta Lake in a folder or bucket, read where they lie: SELECT * FROM " +
			"delta_table('s3://bucket/path')"},
	{Name: "delta_tensor",
		Args:   "dir text, name text, slice text DEFAULT NULL, version bigint DEFAULT NULL",
		Result: "SETOF record", Client: true,
		Doc: "a tensor in such a table: its rows, or its elements that are not zero: SELECT * FROM delta_tensor('dir', " +
			"'images', slice => '0:100, :, 3')"},
	{Name: "file_table", Args: "file text", Result: "SETOF record", Client: true,
		Doc: "rows of a csv, tsv, parquet, arrow, npy, npz or safetensors file, relative to the folder in which relgrad " +
			"was started; FROM 'file' stands for it: SELECT * FROM 'ratings.csv'"},
	{Name: "train", Args: "loss text, params text[], option => value, …", Procedure: true,
		Doc: "minimises the loss over the parameters: CALL train('loss', ARRAY['w'], lr => 0.01, epochs => 100); CALL " +
			"train(resume => 1) goes on with a run"},
	{Name: "current_step", Result: "bigint",
		Doc: "the step of the gradient, backward or train call that reads the view, 0 outside"},
	{Name: "current_epoch", Result: "bigint",
		Doc: "the epoch of the train call that reads the view, from 1; without batch the step; 0 outside"},
	{Name: "current_seed", Result: "bigint",
		Doc: "the seed of the gradient, backward or train call that reads the view, 0 outside"},
}
