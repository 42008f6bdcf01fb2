package physical

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/optimizer/cost"
	"github.com/relgrad/relgrad/ra"
)

// Cluster are the limits of the machines of sites, which are alike. A limit of 0 is none.
type Cluster struct {
	Network    float64 // bytes per second that a site sends, and that it receives at the same time
	Hub        float64 // bytes per second of the first site, through which others send each other theirs; 0: they do not
	Latency    float64 // seconds of an exchange, whatever it moves
	Operations float64 // of floating-point numbers per second, of a site
	Reads      float64 // bytes per second that a site reads from its memory, or writes
	Memory     int64   // bytes of a site
	Overlap    bool    // a site computes while exchanges run: in a simulation
	Shared     bool    // all sites are on one machine: what they do at the same time takes as long as one after the other
	Processors int     // that all sites share, in a simulation; 0: each has its own
	// Tables are sizes of tables that are not as large here as they are there.
	Tables map[string]cost.Size
}

// InProcess are the limits of sites of one process, for which plans are made that run here: somewhat less than each of
// four sites has that share two processors and their memory. They are no measurements (executor.MeasureSites makes
// some), so the same query has the same plan on each machine.
var InProcess = Cluster{Network: 8e9, Latency: 5e-6, Operations: 2e10, Reads: 4e9}

// clusterFile is a Cluster as a file describes it.
type clusterFile struct {
	Network    string `json:"network"`
	Hub        string `json:"hub"`
	Latency    string `json:"latency"`
	Operations string `json:"operations"`
	Reads      string `json:"reads"`
	Memory     string `json:"memory"`
	Overlap    bool   `json:"overlap"`
	Tables     map[string]struct {
		Rows     float64            `json:"rows"`
		Values   map[string]float64 `json:"values"`
		Heaviest map[string]float64 `json:"heaviest"`
	} `json:"tables"`
}

// ReadCluster reads the description of a cluster, in JSON:
//
//	{"network": "10Gbit", "hub": "10Gbit", "latency": "50us", "operations": "250Gflop", "reads": "20GB",
//	 "memory": "64GB", "tables": {"edge": {"rows": 2e9, "values": {"src": 1e8, "dst": 1e8}, "heaviest": {"dst": 1e6}}}}
//
// Rates are per second. What is not given is as in usual. Errors are 22023 and name the field.
func ReadCluster(r io.Reader, usual Cluster) (Cluster, error) {
	out, d := usual, json.NewDecoder(r)
	d.DisallowUnknownFields()
	var f clusterFile
	if err := d.Decode(&f); err != nil {
		return out, sqlerr.New(sqlerr.InvalidParameter, "limits of a cluster: %v", err).
			WithHint("Fields are network, hub, latency, operations, reads, memory, overlap and tables.")
	}
	if _, err := d.Token(); err != io.EOF {
		return out, sqlerr.New(sqlerr.InvalidParameter, "limits of a cluster: something follows the object")
	}
	memory := float64(out.Memory)
	out.Overlap = f.Overlap
	for _, x := range []struct {
		name, text string
		to         *float64
		units      []unit
	}{{"network", f.Network, &out.Network, rates}, {"hub", f.Hub, &out.Hub, rates},
		{"latency", f.Latency, &out.Latency, times},
		{"operations", f.Operations, &out.Operations, flops}, {"reads", f.Reads, &out.Reads, rates},
		{"memory", f.Memory, &memory, rates[:1]}} {
		if x.text == "" {
			continue
		}
		v, err := quantity(x.name, x.text, x.units)
		if err != nil {
			return out, err
		}
		*x.to = v
	}
	out.Memory = int64(math.Min(math.Ceil(memory), 1<<62))
	for name, t := range f.Tables {
		for _, of := range []map[string]float64{t.Values, t.Heaviest} {
			if err := checkSize(name, t.Rows, of); err != nil {
				return out, err
			}
		}
		if out.Tables == nil {
			out.Tables = map[string]cost.Size{}
		}
		out.Tables[name] = cost.Size{Rows: t.Rows, Values: t.Values, Heaviest: t.Heaviest}
	}
	return out, nil
}

// unread lists the tables whose sizes are given and that a plan does not read. A column that a table has not is an
// error.
func (c Cluster) unread(p *ra.Plan) (out []string, err error) {
	tables := map[string][]string{} // with their columns
	ra.Walk(func(n *ra.Node) {
		if n.Op == ra.Scan {
			tables[n.Table.Name] = lists.Map(n.Table.Cols, func(c ra.TableColumn) string { return c.Name })
		}
	}, p.Nodes()...)
	for _, name := range slices.Sorted(maps.Keys(c.Tables)) {
		cols, ok := tables[name]
		if !ok {
			out = append(out, name)
			continue
		}
		t := c.Tables[name]
		for _, col := range slices.Sorted(maps.Keys(t.Values)) {
			if !slices.Contains(cols, col) {
				return nil, noColumn(name, col, cols)
			}
		}
		for _, col := range slices.Sorted(maps.Keys(t.Heaviest)) {
			if !slices.Contains(cols, col) {
				return nil, noColumn(name, col, cols)
			}
		}
	}
	return out, nil
}

func noColumn(table, col string, cols []string) error {
	err := sqlerr.New(sqlerr.InvalidParameter, "limits of a cluster: table %s has no column %s", table, col)
	if n := sqlerr.Nearest(col, cols); n != "" {
		return err.WithHint("Perhaps you meant \"%s\".", n)
	}
	return err
}

// mostRows are the rows that a table may be said to have.
const mostRows = 1e15

func checkSize(table string, rows float64, values map[string]float64) error {
	if !(rows >= 1 && rows <= mostRows) {
		return sqlerr.New(sqlerr.InvalidParameter, "table %s has 1 to %g rows, not %g", table, mostRows, rows)
	}
	for col, v := range values {
		if !(v >= 1 && v <= rows) {
			return sqlerr.New(sqlerr.InvalidParameter, "column %s of table %s has 1 to %g values, and rows of the most "+
				"frequent one, not %g", col, table,
				rows, v)
		}
	}
	return nil
}

// Bandwidth reads how much a network moves, such as "10Gbit" or "1GB", in bytes per second.
func Bandwidth(text string) (float64, error) { return quantity("network", text, rates) }

// unit is a unit by its name without a prefix.
type unit struct {
	name string
	is   float64
}

var (
	rates = []unit{{"B", 1}, {"bit", 1.0 / 8}}
	flops = []unit{{"flop", 1}}
	times = []unit{{"s", 1}}
)

// prefixes are those of units, largest first. Those below 1 are of times.
var prefixes = []unit{{"P", 1e15}, {"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}, {"m", 1e-3}, {"u", 1e-6},
	{"n", 1e-9}}

// quantity reads a number above 0 with its unit.
func quantity(what, text string, units []unit) (float64, error) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/ ")
	rest := strings.TrimSuffix(strings.ReplaceAll(text[len(number):], " ", ""), "/s")
	x, err := strconv.ParseFloat(number, 64)
	for _, u := range units {
		for _, p := range prefixes {
			if rest == p.name+u.name && (p.is < 1) == (u.name == "s" && p.is != 1) && err == nil &&
				x*p.is*u.is >= 1e-12 && x*p.is*u.is <= 1e24 {
				return x * p.is * u.is, nil
			}
		}
	}
	of := units[len(units)-1]
	return 0, sqlerr.New(sqlerr.InvalidParameter, "%s cannot be %q", what, text).
		WithHint("A number above 0 with its unit is needed, such as %s.", map[string]string{"bit": "\"10Gbit\" or \"1GB\"",
			"flop": "\"250Gflop\"", "s": "\"50us\"", "B": "\"64GB\""}[of.name])
}

// String tells the limits.
func (c Cluster) String() string {
	out := []string{}
	for _, x := range []struct {
		name string
		is   float64
		unit string
	}{{"network", c.Network, "B/s"}, {"through the first one", c.Hub, "B/s"}, {"memory", c.Reads, "B/s"},
		{"", c.Operations, "flop/s"}, {"memory of", float64(c.Memory), "B"}} {
		if x.is > 0 {
			out = append(out, strings.TrimSpace(x.name+" "+scaled(x.is, x.unit)))
		}
	}
	if c.Latency > 0 {
		out = append(out, seconds(c.Latency)+" for each exchange")
	}
	return strings.Join(out, ", ")
}

// scaled prints a number with a prefix of its unit: "1.25 GB".
func scaled(x float64, u string) string {
	for _, p := range prefixes {
		if x >= p.is && p.is >= 1 {
			return fmt.Sprintf("%.3g %s%s", x/p.is, p.name, u)
		}
	}
	return fmt.Sprintf("%.3g %s", x, u)
}

// seconds prints a time: "1.5 ms".
func seconds(x float64) string {
	for _, p := range prefixes[5:] {
		if x >= p.is {
			return fmt.Sprintf("%.3g %ss", x/p.is, p.name)
		}
	}
	return fmt.Sprintf("%.3g ns", x*1e9)
}
