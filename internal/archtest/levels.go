// Package archtest enforces the architecture: which packages may import which, how long files are, what documents name.
//
// # What
//
// levels is the import order of ARCHITECTURE.md as a table. The tests parse the repository; they build nothing.
//
// # Invariants
//
// Every package of the module has a level. A package imports only packages of lower levels, and of its own level
// only its parent folders and its sub-folders. Test files may import anything.
//
// # Errors
//
// Each test names the file and what to do about it.
//
// # Where to add
//
// A package is one row of levels.
package archtest

// levels are the levels of packages by folder. A folder without a row has the level of its parent.
var levels = map[string]int{
	"internal/lists":             -2,
	"internal/sqltext":           -1,
	"internal/sqlerr":            -1,
	"internal/sqlerr/sqlerrtest": tools,
	"tensor":                     -1,
	"migrations":                 0,
	"internal/encoded":           0,

	"kernels": 0,
	"column":  1,

	"ra":           2,
	"ra/einsum":    2,
	"kernels/blas": 2,
	"kernels/cuda": 2,
	"kernels/cpu":  2,

	"rjp":              3,
	"sqlgen":           3,
	"sqlfront":         3,
	"sqlfront/ast":     0,
	"sqlfront/parse":   1,
	"sqlfront/print":   2,
	"sqlfront/plpgsql": 2,

	"autodiff":             4,
	"optimizer/cost":       4,
	"catalog":              4,
	"store":                7,
	"store/numeric":        0,
	"store/lite":           2,
	"store/columns":        5,
	"store/functions":      6,
	"store/definitions":    6,
	"interop":              4,
	"pgbridge/wire":        3,
	"pgbridge/conn":        4,
	"pgbridge/session":     5,
	"pgbridge/extension":   4,
	"pgbridge/safetytest":  tools,
	"pgbridge/serverstest": tools,

	"interop/delta":         5,
	"interop/delta/layouts": 6,
	"interop/delta/places":  6,
	"interop/csvfile":       6,

	"optimizer/rules":     5,
	"optimizer/eindecomp": 5,
	"optimizer/physical":  5,

	"executor/tuning":       1,
	"executor/structure":    3,
	"executor/values":       4,
	"executor/device":       5,
	"executor/device/cpu":   6,
	"executor/device/plain": 6,
	"executor/device/cuda":  6,
	"executor/forms":        6,
	"executor/apart":        6,
	"executor":              7,

	"optimizer":          6,
	"optimizer/chunking": 6,
	"train":              7,
	"engine":             8,
	"train/run":          9,
	".":                  10,
	"script":             11,
	"script/psql":        12,

	"pgbridge/pgsession": 13,
	"board":              13,

	"cmd":      14,
	"examples": 14,
	"bench":    13,

	"internal": tools, // test support and developers' tools
}

// tools is the level of packages that may import everything and that no shipped package may import.
const tools = 15

// only lists imported packages that only certain folders may import.
var only = map[string][]string{
	"github.com/pganalyze/pg_query_go": {"sqlfront"},
	"github.com/mattn/go-sqlite3":      {"store"},
	"github.com/jackc/pgx":             {"pgbridge", "internal/pgrun", "internal/pgsuite", "migrations", "bench"},
	"github.com/jackc/tern":            {"migrations"},
	"github.com/apache/arrow":          {"interop"},
	"github.com/aws":                   {"interop/delta/places"},
}

// cgo lists the folders whose Go files may import "C".
var cgo = []string{"kernels/blas", "kernels/cpu", "kernels/cuda", "store/lite"}

// maxLines bounds hand-written source files.
const maxLines = 600
