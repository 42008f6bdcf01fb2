package ast

import "slices"

// Statement is anything that can be run.
type Statement interface{ Position() Pos }

// ColumnDef is a column of CREATE TABLE or ADD COLUMN.
type ColumnDef struct {
	Node
	Name        string
	Type        TypeName
	NotNull     bool
	Default     Expr
	Identity    *Identity         // GENERATED … AS IDENTITY; serial types become integer + Identity
	Constraints []TableConstraint // PRIMARY KEY, UNIQUE, CHECK and REFERENCES that stand at the column
}

// Identity are the options of an identity column.
type Identity struct {
	Always     bool
	Serial     bool // of a serial type: has an ordinary default
	Start, Inc int64
}

// ObjectName names a table or another object. Schema is "" where the name is unqualified.
type ObjectName struct{ Schema, Name string }

// String prints the name as it was written.
func (n ObjectName) String() string {
	if n.Schema == "" {
		return n.Name
	}
	return n.Schema + "." + n.Name
}

// TableConstraint is PRIMARY KEY, UNIQUE, CHECK or FOREIGN KEY at table level.
type TableConstraint struct {
	Node
	Kind     string // "primary", "unique", "check", "foreign"
	Name     string
	Cols     []string
	Check    Expr
	RefTable ObjectName
	RefCols  []string
}

// CreateTable is CREATE [TEMP] TABLE. Like names the source of LIKE … [INCLUDING ALL].
type CreateTable struct {
	Node
	Schema, Name      string
	Temp, IfNotExists bool
	Cols              []ColumnDef
	Constraints       []TableConstraint
	Like              ObjectName
	LikeIncluding     bool // INCLUDING ALL: defaults, identity, indexes, constraints
}

// CreateTableAs is CREATE [TEMP] TABLE … AS select, and SELECT … INTO table.
type CreateTableAs struct {
	Node
	Schema, Name      string
	Temp, IfNotExists bool
	Cols              []string
	Query             *Select
	NoData, Matview   bool
	SQL               string // of a materialized view: the text of the query as written
	SQLAt             Pos    // position of SQL in the parsed text
}

// Refresh is REFRESH MATERIALIZED VIEW. With NoData the view cannot be read until the next one.
type Refresh struct {
	Node
	Schema, Name string
	NoData       bool
}

// CreateView is CREATE [OR REPLACE] [TEMP] VIEW; SQL is the select's source text.
type CreateView struct {
	Node
	Schema, Name  string
	Cols          []string
	Temp, Replace bool
	Query         *Select
	SQL           string // text of the query part as written
	SQLAt         Pos    // position of SQL in the parsed text
}

// Insert is INSERT INTO.
type Insert struct {
	Node
	With                []CTE
	Schema, Name, Alias string
	Cols                []string
	Query               *Select // nil: DEFAULT VALUES
	OnConflict          *OnConflict
	Returning           []Target
	Overriding          bool
}

// OnConflict is ON CONFLICT (cols) DO NOTHING | DO UPDATE SET ….
type OnConflict struct {
	Cols  []string
	Set   []Assign // nil: DO NOTHING
	Where Expr
}

// Assign is col = expr (or an element/slice assignment through Indices).
type Assign struct {
	Node
	Col     string
	Indices []Index
	X       Expr // nil: DEFAULT
}

// Update is UPDATE … SET … FROM … WHERE ….
type Update struct {
	Node
	With                []CTE
	Schema, Name, Alias string
	Set                 []Assign
	From                []FromItem
	Where               Expr
	Returning           []Target
}

// Delete is DELETE FROM … USING … WHERE ….
type Delete struct {
	Node
	With                []CTE
	Schema, Name, Alias string
	Using               []FromItem
	Where               Expr
	Returning           []Target
}

// Truncate is TRUNCATE tables.
type Truncate struct {
	Node
	Tables []ObjectName
}

// Copy is COPY table|(query) FROM|TO …; Source is the file name, program or "STDIN"/"STDOUT".
type Copy struct {
	Node
	Schema, Name       string
	Cols               []string
	Query              *Select
	From, Program, Std bool
	Source             string
	Options            CopyOptions
}

// CopyOptions of COPY; Delimiter "" means the format's own. Formats other than text and csv, and their options Whole
// and Index, are relgrad's own (docs/interop.md).
type CopyOptions struct {
	Format          string // "text", "csv", or a name in FileFormats
	Header          bool
	Match           bool // the header must have the columns' names
	Delimiter, Null string
	NullSet         bool
	Quote, Escape   string
	Whole           bool   // each array is one chunk
	Index           string // the column that gets the row's position; "": none
	Folder          FolderOptions
}

// FolderOptions are the options of the formats in FolderFormats.
type FolderOptions struct {
	Version       string  // of the table; "": the newest
	Tensor        string  // the tensor of this name instead of the table's rows; "": none
	Layout, Slice string  // of the tensor
	Shape         []int64 // of a tensor of which the elements are written
}

// FileFormats lists the formats of COPY that are not text. Package interop reads and writes them.
var FileFormats = []string{"npy", "npz", "safetensors", "arrow", "parquet"}

// FolderFormats lists the formats of COPY whose files are a folder.
var FolderFormats = []string{"delta"}

// AllFormats lists both.
func AllFormats() []string { return slices.Concat(FileFormats, FolderFormats) }

// IsFile reports whether the format is one of FileFormats.
func (o *CopyOptions) IsFile() bool { return slices.Contains(FileFormats, o.Format) }

// IsFolder reports whether the format is one of FolderFormats.
func (o *CopyOptions) IsFolder() bool { return slices.Contains(FolderFormats, o.Format) }

// AlterTable is ALTER TABLE; one action each. Kind is that of the statement: table, view, materialized view or index.
type AlterTable struct {
	Node
	Kind, Schema, Name string
	IfExists           bool
	Actions            []AlterAction
}

// AlterAction is one action of ALTER TABLE.
type AlterAction struct {
	Node
	// "add_column", "drop_column", "rename_column", "rename", "set_default", "drop_default", "set_not_null",
	// "drop_not_null", "add_constraint", "alter_type"
	Kind         string
	Col, NewName string
	Def          *ColumnDef
	Constraint   *TableConstraint
	X            Expr
	Type         TypeName
	IfExists     bool
}

// CreateIndex is CREATE [UNIQUE] INDEX.
type CreateIndex struct {
	Node
	Name                string
	Table               ObjectName
	Unique, IfNotExists bool
	Outside             bool // CONCURRENTLY: not inside a transaction block
	Keys                []SortKey
	Where               Expr
}

// Drop is DROP TABLE|VIEW|INDEX|FUNCTION|PROCEDURE|ROUTINE|SCHEMA.
type Drop struct {
	Node
	Kind              string
	Names             []ObjectName
	Args              [][]FuncParam // by function; nil: named without arguments
	IfExists, Cascade bool
	Outside           bool // CONCURRENTLY
}

// Transaction is BEGIN, COMMIT, ROLLBACK, SAVEPOINT n, RELEASE n, ROLLBACK TO n.
type Transaction struct {
	Node
	Kind string // "begin", "commit", "rollback", "savepoint", "release", "rollback_to"
	Name string
}

// Set is SET name = value(s), or RESET name (Reset).
type Set struct {
	Node
	Name         string
	Values       []string
	Local, Reset bool
}

// Show is SHOW name.
type Show struct {
	Node
	Name string
}

// Do is DO $$ … $$; Body is PL/pgSQL text that begins at BodyAt in the parsed text.
type Do struct {
	Node
	Body   string
	BodyAt Pos
}

// Call is CALL f(args).
type Call struct {
	Node
	Func *FuncCall
}

// CreateFunction is CREATE [OR REPLACE] FUNCTION|PROCEDURE.
type CreateFunction struct {
	Node
	Schema, Name       string
	Replace, Procedure bool
	Params             []FuncParam
	Returns            *TypeName // nil: void or procedure
	SetOf              bool
	Table              []FuncParam // RETURNS TABLE(…)
	Language           string
	Strict             bool   // RETURNS NULL ON NULL INPUT
	Volatility         string // "volatile" (the default), "stable", "immutable"
	Body               string
	BodyAt             Pos
}

// FuncParam is a parameter of a function.
type FuncParam struct {
	Name    string
	Type    TypeName
	Mode    string // "in", "out", "inout"
	Default Expr
}

// Explain is EXPLAIN statement.
type Explain struct {
	Node
	Analyze bool
	Stmt    Statement
}

// CreateSchema is CREATE SCHEMA.
type CreateSchema struct {
	Node
	Name        string
	IfNotExists bool
}

// Noop is a statement that Postgres needs and the embedded store does not (ANALYZE, VACUUM, GRANT, COMMENT ON, CREATE
// EXTENSION IF NOT EXISTS relgrad …). Tag is the command tag that psql prints. The objects that it names must exist.
type Noop struct {
	Node
	Tag   string
	Idle  bool // it reports that it has no effect
	About []Mention
}

// Mention is an object that a statement names: a relation (table or view), table, view, materialized view, index,
// sequence, function, procedure, routine (function or procedure) or schema, or a constraint of a table. Parts are
// columns of a relation, or the constraint.
type Mention struct {
	Kind string
	ObjectName
	Parts []string
	Args  []FuncParam // of a function named with arguments; else nil
}
