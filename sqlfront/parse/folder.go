package parse

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// folderOption are the options of COPY that only formats of folders have. Each says for which directions it is and sets
// it; false: not with this value.
var folderOption = map[string]*folderRule{
	"version": {from: true, set: func(o *ast.FolderOptions, v string) bool {
		n, err := strconv.ParseInt(v, 10, 64)
		o.Version = v
		return err == nil && n >= 0
	}},
	"tensor": {from: true, to: true, set: func(o *ast.FolderOptions, v string) bool {
		o.Tensor = v
		return v != ""
	}},
	"slice": {from: true, tensor: true, set: func(o *ast.FolderOptions, v string) bool {
		o.Slice = v
		return true
	}},
	"layout": {to: true, tensor: true, set: func(o *ast.FolderOptions, v string) bool {
		o.Layout = v
		return v != ""
	}},
	"shape": {to: true, tensor: true, set: func(o *ast.FolderOptions, v string) bool {
		var ok bool
		o.Shape, ok = Shape(v)
		return ok
	}},
}

type folderRule struct {
	from, to, tensor bool
	set              func(*ast.FolderOptions, string) bool
}

// Shape reads the shape of a tensor, such as 183,24.
func Shape(text string) (out []int64, ok bool) {
	for _, p := range strings.Split(strings.Trim(text, "() "), ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(p), 10, 64)
		if err != nil || n < 0 {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// copyFolder reads an option of folders. It returns false for other options.
func copyFolder(c *stmtConv, o *ast.CopyOptions, d *pg.DefElem, at ast.Pos) bool {
	rule := folderOption[d.Defname]
	if rule == nil {
		return false
	}
	text := ""
	switch v := d.Arg.GetNode().(type) {
	case *pg.Node_String_:
		text = v.String_.Sval
	case *pg.Node_Integer:
		text = strconv.Itoa(int(v.Integer.Ival))
	case *pg.Node_Float:
		text = v.Float.Fval
	}
	if !rule.set(&o.Folder, text) {
		c.fail(at, sqlerr.InvalidParameter, "Write VERSION 3, TENSOR 'a', SLICE '0:100, :, 3', LAYOUT csf, SHAPE '183,24'.",
			"invalid value for the COPY option %s: \"%s\"", strings.ToUpper(d.Defname), text)
	}
	return true
}

// folderOptionsFit refuses options that a folder does not have, or not in this direction.
func folderOptionsFit(c *stmtConv, out *ast.Copy, s *pg.CopyStmt) {
	for _, n := range s.Options {
		d := n.GetDefElem()
		rule := folderOption[d.Defname]
		direction := map[bool]string{true: "FROM", false: "TO"}[out.From]
		switch {
		case d.Defname == "format" || d.Defname == "index" && out.From:
		case rule == nil || out.From && !rule.from || !out.From && !rule.to:
			c.fail(c.pos(d.Location), sqlerr.FeatureNotSupported,
				"Options of this format are TENSOR; with FROM, VERSION, SLICE and INDEX; with TO, LAYOUT and SHAPE.",
				"the COPY option %s has no meaning for COPY … %s with the format %s", strings.ToUpper(d.Defname), direction,
				out.Options.Format)
		case rule.tensor && out.Options.Folder.Tensor == "":
			c.fail(c.pos(d.Location), sqlerr.InvalidParameter, "Name the tensor, TENSOR 'name'.",
				"the COPY option %s needs the name of a tensor", strings.ToUpper(d.Defname))
		}
	}
}
