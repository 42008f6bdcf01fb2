package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/optimizer/physical"
)

// cluster are the options that say for what machines a plan for several sites is made.
type cluster struct {
	network, limits, cost, plan string
	simulate                    bool
}

func (c *cluster) flags(fs *flag.FlagSet, t *target) {
	t.atSites(fs, "the loss at `N` sites; of stage sites also those of machines that are not here, up to "+
		fmt.Sprint(physical.MostSites), physical.MostSites)
	fs.StringVar(&c.network, "network", "",
		"plan stage sites for machines that send so many `BITS` per second, such as 10Gbit or 1GB")
	fs.StringVar(&c.limits, "limits", "",
		"plan stage sites for the machines, and tables of the sizes, that JSON `FILE` describes")
	fs.StringVar(&c.cost, "cost", "",
		"what stage sites makes least, as `COST`: seconds, model (the floats that TRA counts) or exact (the floats that "+
			"move; default seconds)")
	fs.StringVar(&c.plan, "plan", "",
		"plan stage sites as `NAME`: "+strings.Join(physical.Names, ", ")+"; all products, or all tables of parameters")
	fs.BoolVar(&c.simulate, "simulate", false,
		"replay a step of stage sites at sites that are simulated, and tell what binds")
}

// wrong says what does not go together; "" if all does.
func (c *cluster) wrong(stage string, sites int) string {
	planned := strings.HasPrefix(stage, "sites")
	switch {
	case !planned && *c != (cluster{}):
		return "--network, --limits, --cost, --plan and --simulate go with --stage sites"
	case !planned && sites > catalog.MostSites:
		return fmt.Sprintf("a loss runs at 1 to %d sites of a process; --stage sites plans for more", catalog.MostSites)
	case planned && strings.Contains(stage, ":") && sites > 0:
		return "--stage sites:N and --sites cannot both be given"
	}
	return ""
}

// read is what a plan is made for; nil: for sites of this process.
func (c *cluster) read() (*physical.Costs, error) {
	if *c == (cluster{}) {
		return nil, nil
	}
	out := &physical.Costs{Cluster: physical.InProcess, Simulate: c.simulate, Only: c.plan}
	if err := physical.Known(c.plan); err != nil {
		return nil, err
	}
	switch c.cost {
	case "", "seconds":
	case "model":
		out.Least = physical.ModelFloats
	case "exact":
		out.Least = physical.ExactFloats
	default:
		return nil, sqlerr.New(sqlerr.InvalidParameter, "cost %q does not exist", c.cost).
			WithHint("Costs are seconds, model and exact.")
	}
	if c.limits != "" {
		f, err := os.Open(c.limits)
		if err != nil {
			return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for reading", c.limits).Wrap(err)
		}
		defer f.Close()
		if out.Cluster, err = physical.ReadCluster(f, physical.InProcess); err != nil {
			return nil, err
		}
	}
	var err error
	if c.network != "" {
		out.Cluster.Network, err = physical.Bandwidth(c.network)
	}
	return out, err
}
