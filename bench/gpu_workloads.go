package bench

import "fmt"

// OnCard is a workload that is measured on a graphics processor, beside programs that run there too.
type OnCard struct {
	*Workload
	Beside []Peer
	// Least is the work that a step cannot do without: operations, and bytes read or written. What does not fit beside
	// all else into a cache counts twice where all rows must be known before it is read again. nil: not counted.
	Least func(v Values) (flops, bytes float64)
}

// inGraph names a peer's form recorded as a CUDA graph.
const inGraph = "graph=1"

// torches are PyTorch's programs, each by itself and as a CUDA graph: NAME FORM, NAME FORM, …
func torches(program string, forms ...string) (all []Peer) {
	for i := 0; i < len(forms); i += 2 {
		name := "PyTorch"
		if forms[i] != "" {
			name += ", " + forms[i]
		}
		all = append(all, Peer{Name: name, Program: program, Form: forms[i+1]},
			Peer{Name: name + ", CUDA graph", Program: program, Form: forms[i+1], Fixed: inGraph})
	}
	return all
}

func inJAX(form string) Peer { return Peer{Name: "JAX", Program: "models_jax.py", Form: form} }

// OnCards are the workloads that are measured on a graphics processor, in the order of reports: the first ones are
// measured even where time runs out.
var OnCards = []*OnCard{
	{Workload: workload("gcn"), Beside: append(torches("gcn_torch.py", "", "users", "Â·X by hand", "byhand",
		"Â·X by hand, compiled", "compiled"), inJAX("gcn")), Least: gcnLeast},
	{Workload: workload("logreg"), Beside: append(torches("logreg_torch.py", "", "autograd", "gradient by hand", "manual",
		"compiled", "compiled"), inJAX("logreg")), Least: func(v Values) (flops, bytes float64) {
		return 4 * v["n"] * v["features"], 4 * v["n"] * (v["features"] + 1)
	}},
	{Workload: workload("ratings"), Beside: append(torches("ratings_torch.py", "compiled", "compiled", "gradient by hand",
		"sampled"), inJAX("ratings")), Least: func(v Values) (flops, bytes float64) {
		return 6 * v["ratings"] * v["rank"], 12*v["ratings"] + 8*(v["users"]+v["items"])*v["rank"]
	}},
	spmmOf(128), spmmOf(40), spmmOf(256),
	{Workload: workload("transe"), Beside: append(torches("kge_torch.py", "", "dense", "compiled", "compiled"),
		inJAX("transe")), Least: func(v Values) (flops, bytes float64) {
		return 8 * v["batch"] * v["negatives"] * v["dim"], 8 * v["entities"] * v["dim"]
	}},
	{Workload: workload("attention"), Beside: append(torches("attention_torch.py", "fused", "fused", "", "plain",
		"compiled", "compiled"), inJAX("attention")), Least: func(v Values) (flops, bytes float64) {
		n, w := v["length"], v["width"]
		return 18*n*w*w + 12*n*n*w, 8*n*w + 32*w*w
	}},
	{Workload: workload("mlp"), Beside: append(torches("mlp_torch.py", "", "torch", "compiled", "compiled"),
		inJAX("mlp")), Least: func(v Values) (flops, bytes float64) {
		one, two := v["in"]*v["hidden"], v["hidden"]*v["classes"]
		return v["batch"] * (4*one + 6*two), 8*(one+two) + 4*v["batch"]*v["in"]
	}},
	{Workload: workload("nnmf"), Beside: append(torches("nnmf_torch.py", "", "autograd", "gradient by hand", "manual"),
		inJAX("nnmf")), Least: func(v Values) (flops, bytes float64) {
		return 6 * v["n"] * v["n"] * v["rank"], 4 * v["n"] * v["n"]
	}},
	{Workload: workload("transr"), Beside: torches("kge_torch.py", "", "dense", "compiled", "compiled")},
	{Workload: workload("gcn_batch"), Beside: []Peer{{Name: "PyTorch", Program: "gcn_batch_torch.py", Form: "torch"}}},
}

// gcnLeast counts the product of the adjacency matrix and the features as made once, before training.
func gcnLeast(v Values) (flops, bytes float64) {
	const in, hidden, classes = 128, 256, 40
	n, entries := v["nodes"], 2*v["edges"]+v["nodes"]
	return 4*n*in*hidden + 6*n*hidden*classes + 4*entries*classes, 8*n*in + 16*entries + 16*n*classes
}

// spmmOf has products of a sparse matrix and a dense one of so many columns.
func spmmOf(width float64) *OnCard {
	w := &Workload{Name: "spmm" + number(width), What: fmt.Sprintf("gradient descent with two products of a sparse "+
		"matrix of 169,343 rows and 2.5M entries and a dense one of %g columns", width), Load: "spmm", Script: "spmm",
		Data: spmmData, Size: []Number{citations[0], citations[1], {"width", width, width, 8}}}
	return &OnCard{Workload: w, Beside: append(torches("spmm_torch.py", "gradient by hand", "manual"),
		Peer{Name: "cuSPARSE", Program: "spmm_cupy.py", Form: "cusparse"}, inJAX("spmm")),
		Least: func(v Values) (flops, bytes float64) {
			n, entries := v["nodes"], 2*v["edges"]+v["nodes"]
			return 4 * entries * v["width"], 16*entries + 24*n*v["width"]
		}}
}
