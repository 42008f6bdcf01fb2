package apart

import (
	"reflect"

	"github.com/relgrad/relgrad/internal/encoded"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// names are the kernels, which every process has.
var names = encoded.Names{reflect.TypeFor[*kernels.Def](): {
	Of: func(pointer any) string { return pointer.(*kernels.Def).Name },
	Find: func(name string) any {
		if d := kernels.Known(name); d != nil {
			return d
		}
		return nil
	},
}}

// AppendPlan appends a plan to a message. table tells what a member's table is called. What only the first site
// computes, such as the statement of an Opaque, stays behind.
func AppendPlan(to []byte, p *physical.Plan, table func(t *ra.Table) *ra.Table) ([]byte, error) {
	tables := map[*ra.Table]*ra.Table{}
	return encoded.Append(to, p.WithTables(func(t *ra.Table) *ra.Table {
		if tables[t] == nil {
			tables[t] = table(t)
		}
		return tables[t]
	}), names)
}

// ReadPlan reads the plan that begins a message, and returns what follows it.
func ReadPlan(from []byte) (*physical.Plan, []byte, error) {
	var p *physical.Plan
	rest, err := encoded.Read(from, &p, names)
	if err == nil {
		err = physical.Validate(p)
	}
	return p, rest, err
}
