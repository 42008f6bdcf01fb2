package bench

import "maps"

// Number is a number of a workload: of its data if a load script or generator reads it, else of its training. It is a
// variable of the scripts and an argument of the peers.
type Number struct {
	Name  string
	Full  float64 // for measurements
	Agree float64 // for comparing losses with the peers
	Small float64 // for tests that run the scripts alone
}

// Workload is a computation that relgrad and its peers do.
type Workload struct {
	Name, What string
	Load       string // workloads/LOAD.data.sql makes the store that workloads/SCRIPT.sql opens
	Script     string
	Query      string // the query that is timed where the script does not train; its result is one number
	Size       []Number
	Vars       []Number // numbers that do not change the data
	SameData   string   // the workload with the same data
	Data       func(d *dataset)
	RealData   bool // reads the folder in the environment variable RELGRAD_DATA
	Steps      int  // time so many steps, planning included; 0: time the median step
	Peers      []Peer
	Bars       []Bar
	Memory     float64 // bound of the memory of training, in GB; 0: none
	Most       float64 // bound of a step, in seconds on two processors; 0: none
}

// Peer is a program that does the same computation in another system.
type Peer struct {
	Name    string // name in reports
	Program string // file in the folder peers
	Form    string // its first argument
	Fixed   string // a further argument, NAME=NUMBER
	MPI     bool   // runs as one process for each core
	Threads bool   // calls BLAS from several threads
	Apart   bool   // optimized by hand: counts only for bars that name it
}

// Bar is a goal: the peer's time divided by relgrad's.
type Bar struct {
	Peer  string // "": the fastest peer
	Ratio float64
}

var (
	citations = []Number{{"nodes", 169343, 20000, 500}, {"edges", 1166243, 140000, 2000}, {"fanout", 10, 1e6, 10}}
	square    = []Number{{"n", 4096, 512, 64}, {"block", 512, 128, 16}}
	facts     = []Number{{"entities", 14541, 2000, 300}, {"relations", 237, 237, 7},
		{"triples", 272115, 200, 3000}, {"dim", 100, 100, 10},
		{"negatives", 200, 50, 20}, {"drawn", 0, 1, 0}}
	// A rate of 0.1 makes differences in the seventh digit grow to the fourth within 20 steps.
	adamRate  = Number{"lr", 0.1, 0.01, 0.01}
	batch1000 = []Number{{"batch", 1000, 200, 1000}}
)

// Workloads are all workloads, in the order of reports.
var Workloads = []*Workload{
	{Name: "gcn", What: "full-graph GCN, 169,343 nodes, 2.5M entries, 128→256→40, Adam, dropout", Load: "gcn",
		Script: "gcn", Data: gcnData,
		Size: citations, Vars: []Number{{"dropout", 0.5, 0, 0.5}, adamRate}, Memory: 0.6,
		Peers: []Peer{{Name: "PyTorch", Program: "gcn_torch.py", Form: "users"},
			{Name: "PyTorch, Â·X precomputed by hand", Program: "gcn_torch.py", Form: "byhand", Apart: true}},
		Bars: []Bar{{"PyTorch", 6}, {"PyTorch, Â·X precomputed by hand", 2}}},
	{Name: "gcn_batch", What: "the same on mini-batches of 1,024, two hops, 10 neighbours each", Load: "gcn_batch",
		Script: "gcn_batch", Data: gcnData, SameData: "gcn",
		Size: citations, Vars: []Number{{"dropout", 0.5, 0, 0.5}, {"batch", 1024, 1e6, 100}, adamRate}, Memory: 0.6,
		Peers: []Peer{{Name: "PyTorch", Program: "gcn_batch_torch.py", Form: "torch"}}, Bars: []Bar{{"", 3}}},
	nnmf("nnmf64", 64, nil, 0),
	nnmf("nnmf", 128, []Bar{{"", 1.3}, {"PyTorch", 3}}, 0.45),
	nnmf("nnmf256", 256, nil, 0),
	{Name: "ratings", What: "sparse NNMF, 10M ratings, 100,000 × 20,000, rank 64", Load: "ratings", Script: "ratings",
		Data: ratingsData, Memory: 1,
		Size: []Number{{"users", 100000, 10000, 200}, {"items", 20000, 5000, 50},
			{"ratings", 1e7, 1e6, 2000}, {"rank", 64, 64, 8}},
		Peers: []Peer{{Name: "PyTorch, gradient by hand", Program: "ratings_torch.py", Form: "sampled"}},
		Bars:  []Bar{{"", 4}}},
	{Name: "logreg", What: "logistic regression, 1M × 100", Load: "logreg", Script: "logreg",
		Data: logregData, Memory: 0.5,
		Size: []Number{{"n", 1e6, 1e5, 1000}, {"features", 100, 100, 10}},
		Peers: []Peer{{Name: "PyTorch", Program: "logreg_torch.py", Form: "autograd"},
			{Name: "PyTorch, gradient by hand", Program: "logreg_torch.py", Form: "manual"},
			{Name: "PyTorch, compiled", Program: "logreg_torch.py", Form: "compiled"},
			{Name: "numpy", Program: "logreg_numpy.py", Form: "numpy"}}, Bars: []Bar{{"", 2.3}}},
	{Name: "mlp", What: "MLP, batch 512, 1024→4096→1000", Load: "mlp", Script: "mlp", Data: mlpData,
		Size: []Number{{"n", 20480, 512, 1024}, {"in", 1024, 1024, 20}, {"hidden", 4096, 1024, 30},
			{"classes", 1000, 1000, 10}}, Vars: []Number{{"batch", 512, 512, 512}},
		Peers: []Peer{{Name: "PyTorch", Program: "mlp_torch.py", Form: "torch"},
			{Name: "PyTorch, compiled", Program: "mlp_torch.py", Form: "compiled"}}, Bars: []Bar{{"", 0.95}}},
	{Name: "transe", What: "TransE, batch 1,000 × 200 negatives, dim 100, FB15k-237's size", Load: "kge", Script: "transe",
		Data: kgeData, Size: facts, Vars: batch1000, Peers: kgePeers, Bars: []Bar{{"", 12}}, Memory: 0.3},
	{Name: "transr", What: "TransR, the same, relations in 50 dimensions", Load: "kge", Script: "transr", Data: kgeData,
		Size: append(facts[:6:6], Number{"space", 50, 50, 5}), Vars: batch1000,
		Peers: kgePeers, Bars: []Bar{{"", 3}}, Memory: 0.3},
	{Name: "attention", What: "multi-head attention forward and backward, length 1,024, 16 heads, width 1,024",
		Load: "attention", Script: "attention", Data: attentionData,
		Size: []Number{{"length", 1024, 256, 16}, {"heads", 16, 16, 4}, {"width", 1024, 256, 16}},
		Peers: []Peer{{Name: "PyTorch, fused", Program: "attention_torch.py", Form: "fused"},
			{Name: "PyTorch", Program: "attention_torch.py", Form: "plain"},
			{Name: "PyTorch, compiled", Program: "attention_torch.py", Form: "compiled"}}, Bars: []Bar{{"", 1.2}}},
	{Name: "product", What: "A·B, 4096³", Load: "product", Script: "product", Query: "SELECT sum(sqnorm(v)) FROM product",
		Data: squareData, SameData: "chain", Size: square, Peers: chainPeers(""), Bars: []Bar{{"", 0.9}}},
	{Name: "chain", What: "A·B + C·(D·E), all 4096²", Load: "chain", Script: "chain",
		Query: "SELECT sum(sqnorm(v)) FROM chain", Data: squareData, Size: square,
		Peers: chainPeers("chain=1"), Bars: []Bar{{"", 0.9}}},
	{Name: "chain_skewed", What: "the same, 4000×400, 400×4000, 4000×400, 400×40000, 40000×4000", Load: "chain",
		Script: "chain", Query: "SELECT sum(sqnorm(v)) FROM chain",
		Data: skewedData, Size: []Number{{"n", 4000, 400, 40}, {"block", 400, 40, 4}}, Peers: chainPeers("chain=1"),
		Bars: []Bar{{"", 0.9}}},
	{Name: "running", What: "running sum of 1M rows in random order", Load: "running", Script: "running",
		Data: runningData, Size: []Number{{"n", 1e6, 1e5, 1000}}, Most: 0.05, Memory: 0.3,
		Peers: []Peer{{Name: "PyTorch", Program: "running_torch.py", Form: "torch"},
			{Name: "PyTorch, compiled", Program: "running_torch.py", Form: "compiled"}}},
	{Name: "lstm", What: "LSTM of 128 units over 64 sequences of 200 steps", Load: "lstm", Script: "lstm", Data: lstmData,
		Size:  []Number{{"sequences", 64, 16, 5}, {"length", 200, 20, 7}, {"units", 128, 32, 8}},
		Peers: lstmPeers, Bars: []Bar{{"", 0.83}}},
	{Name: "recurrence", What: "recurrence of 1,000 steps", Load: "lstm", Script: "lstm", Data: lstmData,
		Size:  []Number{{"sequences", 4, 2, 2}, {"length", 1000, 50, 20}, {"units", 16, 8, 4}},
		Peers: lstmPeers},
	{Name: "cora", What: "GCN on Cora, 200 epochs, loading excluded", Load: "cora", Script: "cora", Data: coraData,
		RealData: true, Steps: 200, Memory: 0.2,
		Vars: []Number{{"dropout", 0.5, 0, 0.5}},
		Peers: []Peer{{Name: "PyTorch", Program: "cora_torch.py", Form: "dense"},
			{Name: "PyTorch, sparse features", Program: "cora_torch.py", Form: "sparse"}}, Bars: []Bar{{"", 5}}},
}

var lstmPeers = []Peer{{Name: "PyTorch", Program: "lstm_torch.py", Form: "torch"},
	{Name: "PyTorch, subnormal numbers flushed", Program: "lstm_torch.py", Form: "flushed"}}

var kgePeers = []Peer{{Name: "PyTorch", Program: "kge_torch.py", Form: "dense"},
	{Name: "PyTorch, compiled", Program: "kge_torch.py", Form: "compiled"},
	{Name: "PyTorch, sparse gradients", Program: "kge_torch.py", Form: "sparse"}}

func chainPeers(chain string) []Peer {
	return []Peer{{Name: "numpy", Program: "chain.py", Form: "numpy", Fixed: chain},
		{Name: "PyTorch", Program: "chain.py", Form: "torch", Fixed: chain},
		{Name: "Dask", Program: "chain.py", Form: "dask", Fixed: chain, Threads: true},
		{Name: "ScaLAPACK", Program: "scalapack.c", Fixed: chain, MPI: true}}
}

func nnmf(name string, rank float64, bars []Bar, memory float64) *Workload {
	return &Workload{Name: name, What: "dense NNMF 8000², rank " + number(rank), Load: "nnmf", Script: "nnmf",
		Data: nnmfData, SameData: "nnmf",
		Size: []Number{{"n", 8000, 2000, 80}, {"rank", rank, rank, 4}, {"block", 500, 500, 20}}, Bars: bars, Memory: memory,
		Peers: []Peer{{Name: "PyTorch", Program: "nnmf_torch.py", Form: "autograd"},
			{Name: "PyTorch, gradient by hand", Program: "nnmf_torch.py", Form: "manual"},
			{Name: "numpy", Program: "nnmf_numpy.py", Form: "numpy"}, {Name: "numpy, algebra by hand", Program: "nnmf_numpy.py",
				Form: "algebraic", Apart: true},
			{Name: "Dask", Program: "nnmf_dask.py", Form: "2000", Threads: true},
			{Name: "mpi4py", Program: "nnmf_mpi.py", Form: "mpi", MPI: true}}}
}

// Values are the numbers of a workload by name.
type Values map[string]float64

// values picks one column of a workload's numbers.
func (w *Workload) values(pick func(Number) float64) Values {
	v := Values{}
	for _, list := range [][]Number{w.Size, w.Vars} {
		for _, n := range list {
			v[n.Name] = pick(n)
		}
	}
	return v
}

// Full are the numbers of measurements.
func Full(n Number) float64 { return n.Full }

func agreeing(n Number) float64 { return n.Agree }

func small(n Number) float64 { return n.Small }

// with replaces those numbers that v has.
func (v Values) with(others Values) Values {
	out := maps.Clone(v)
	for name, x := range others {
		if _, ok := v[name]; ok {
			out[name] = x
		}
	}
	return out
}
