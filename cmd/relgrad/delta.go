package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/interop/delta/layouts"
	"github.com/relgrad/relgrad/script/psql"
)

var deltaCommand = command{name: "delta", args: "show | tensors | history | vacuum DIR|URL[@VERSION]", run: deltaTables,
	summary: "Show a table of Delta Lake, the tensors in it, or its versions; delete files that no version needs."}

// deltaActions are the actions of relgrad delta. Each returns what is printed.
var deltaActions = map[string]func(name string, s *delta.Snapshot, o *vacuum) (*catalog.Result, error){
	"show": showDelta, "tensors": deltaTensors, "history": deltaHistory, "vacuum": vacuumDelta}

// vacuum are the options of relgrad delta vacuum.
type vacuum struct {
	retention *time.Duration
	dry       bool
}

func deltaTables(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var o vacuum
	var format string
	fs.Func("retention", "vacuum: keep files that a version had within `TIME`, such as 240h or 10d (default: the table's "+
		"own, 7d where it says nothing)", func(s string) error {
		d, err := retention(s)
		o.retention = &d
		return err
	})
	fs.BoolVar(&o.dry, "dry-run", false, "vacuum: list the files, delete none")
	formatFlag(fs, &format)
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	names := []string{"show", "tensors", "history", "vacuum"}
	switch {
	case len(rest) == 0:
		return c.wrong(fs, "an action is needed: show, tensors, history or vacuum")
	case deltaActions[rest[0]] == nil:
		hint := "show, tensors, history and vacuum are known"
		if near := sqlerr.Nearest(rest[0], names); near != "" {
			hint = "perhaps you meant " + near
		}
		return c.wrong(fs, "unknown action %q; %s", rest[0], hint)
	case len(rest) != 2:
		return c.wrong(fs, "%s takes one folder, not %d", rest[0], len(rest)-1)
	case rest[0] != "vacuum" && (o.dry || o.retention != nil):
		return c.wrong(fs, "--retention and --dry-run are options of vacuum")
	}
	name, version, at, err := atVersion(ctx, rest[1])
	if err != nil {
		return err
	}
	if at && rest[0] != "show" && rest[0] != "tensors" {
		return c.wrong(fs, "%s is about all versions, not about one", rest[0])
	}
	s, err := relgrad.OpenDelta(ctx, "", name, version)
	if err != nil {
		return err
	}
	res, err := deltaActions[rest[0]](name, s, &o)
	if err != nil {
		return err
	}
	return psql.Print(os.Stdout, format, res)
}

// retention reads a duration, also in days.
func retention(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("it is negative")
	}
	return d, err
}

// emptyResult is a result without rows; names are followed by types.
func emptyResult(names ...string) *catalog.Result {
	res := &catalog.Result{HasRows: true}
	for _, n := range names {
		name, typ, _ := strings.Cut(n, " ")
		res.Cols = append(res.Cols, catalog.ResultCol{Name: name, Type: typ})
	}
	return res
}

// showDelta lists the columns of a table and, above them, its version, files and size.
func showDelta(name string, s *delta.Snapshot, _ *vacuum) (*catalog.Result, error) {
	meta, bytes := s.Metadata(), int64(0)
	for _, f := range s.Files() {
		bytes += f.Size
	}
	fmt.Printf("%s: version %d, %d files, %d bytes\n", name, s.Version, len(s.Files()), bytes)
	if len(meta.PartitionColumns) > 0 {
		fmt.Printf("partitioned by %s\n", strings.Join(meta.PartitionColumns, ", "))
	}
	res := emptyResult("column text", "type text", "relgrad text", "null boolean")
	for i, c := range s.Columns() {
		f := s.Fields()[i]
		typ := c.Type
		if c.Refused != "" {
			typ = "not readable: " + c.Refused
		}
		res.Rows = append(res.Rows, []any{f.Name, f.Type, typ, !f.Required})
	}
	return res, nil
}

// deltaTensors lists the tensors in a table.
func deltaTensors(_ string, s *delta.Snapshot, _ *vacuum) (*catalog.Result, error) {
	list, err := layouts.List(s)
	if err != nil {
		return nil, err
	}
	res := emptyResult("tensor text", "layout text", "dtype text", "shape text")
	for _, e := range list {
		shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(e.Shape), "[]"), " ", ", ")
		res.Rows = append(res.Rows, []any{e.ID, e.Layout, e.DType, "(" + shape + ")"})
	}
	return res, nil
}

// deltaHistory lists the commits of a table, the newest first.
func deltaHistory(_ string, s *delta.Snapshot, _ *vacuum) (*catalog.Result, error) {
	list, err := delta.History(s.Place())
	if err != nil {
		return nil, err
	}
	res := emptyResult("version bigint", "time text", "operation text", "added bigint", "removed bigint", "schema text")
	for i := len(list) - 1; i >= 0; i-- {
		c, schema := list[i], ""
		if c.Metadata {
			schema = "changed"
		}
		res.Rows = append(res.Rows, []any{c.Version, c.Time.UTC().Format("2006-01-02 15:04:05"), c.Operation,
			int64(c.Added), int64(c.Removed), schema})
	}
	return res, nil
}

// vacuumDelta deletes files that no version within the retention has.
func vacuumDelta(_ string, s *delta.Snapshot, o *vacuum) (*catalog.Result, error) {
	keep := s.Retention()
	if o.retention != nil {
		keep = *o.retention
	}
	names, err := s.Vacuum(keep, o.dry)
	if err != nil {
		return nil, err
	}
	head := "deleted text"
	if o.dry {
		head = "unneeded text"
	}
	res := emptyResult(head)
	for _, n := range names {
		res.Rows = append(res.Rows, []any{n})
	}
	return res, nil
}
