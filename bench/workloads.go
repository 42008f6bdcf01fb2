package bench

// Size is a size of a workload's data and the script's variable of that name: in measurements, and in tests.
type Size struct {
	Name        string
	Full, Small int
}

// Workload is a script that is measured.
type Workload struct {
	Name, What string
	Load       string // workloads/LOAD.data.sql makes the store that workloads/SCRIPT.sql opens
	Script     string
	Sizes      []Size
	SameData   string // the workload that has the same data
	Data       func(d *dataset)
	Vars       map[string]string // further variables of the script
	Query      string            // what is timed where the script does not train
}

var gcnSizes = []Size{{"nodes", 169343, 500}, {"edges", 1166243, 2000}}

// Workloads are all of them, in the order of reports.
var Workloads = []*Workload{
	{Name: "gcn", What: "full-graph GCN", Load: "gcn", Script: "gcn", Sizes: gcnSizes, Data: gcnData, Vars: map[string]string{"dropout": "0.5"}},
	{Name: "gcn_batch", What: "mini-batch GCN", Load: "gcn_batch", Script: "gcn_batch", Sizes: gcnSizes, SameData: "gcn", Data: gcnData, Vars: map[string]string{"dropout": "0.5", "batch": "1024"}},
	{Name: "nnmf64", What: "dense NNMF, rank 64", Load: "nnmf", Script: "nnmf", Sizes: nnmfSizes(64), Data: nnmfData},
	{Name: "nnmf", What: "dense NNMF, rank 128", Load: "nnmf", Script: "nnmf", Sizes: nnmfSizes(128), Data: nnmfData},
	{Name: "nnmf256", What: "dense NNMF, rank 256", Load: "nnmf", Script: "nnmf", Sizes: nnmfSizes(256), Data: nnmfData},
	{Name: "ratings", What: "sparse NNMF", Load: "ratings", Script: "ratings", Data: ratingsData,
		Sizes: []Size{{"users", 100000, 200}, {"items", 20000, 50}, {"ratings", 10000000, 2000}, {"rank", 64, 8}}},
	{Name: "logreg", What: "logistic regression", Load: "logreg", Script: "logreg", Data: logregData, Sizes: []Size{{"n", 1000000, 1000}, {"features", 100, 10}}},
	{Name: "mlp", What: "MLP", Load: "mlp", Script: "mlp", Data: mlpData, Vars: map[string]string{"batch": "512"},
		Sizes: []Size{{"n", 20480, 1024}, {"in", 1024, 20}, {"hidden", 4096, 30}, {"classes", 1000, 10}}},
	{Name: "transe", What: "TransE", Load: "kge", Script: "transe", Data: kgeData, Vars: map[string]string{"batch": "1000", "negatives": "200"},
		Sizes: []Size{{"entities", 14541, 300}, {"relations", 237, 7}, {"triples", 272115, 3000}, {"dim", 100, 10}}},
	{Name: "transr", What: "TransR", Load: "kge", Script: "transr", Data: kgeData, Vars: map[string]string{"batch": "1000", "negatives": "200"},
		Sizes: []Size{{"entities", 14541, 300}, {"relations", 237, 7}, {"triples", 272115, 3000}, {"dim", 100, 10}, {"space", 50, 5}}},
	{Name: "attention", What: "multi-head attention", Load: "attention", Script: "attention", Data: attentionData,
		Sizes: []Size{{"length", 1024, 16}, {"heads", 16, 4}, {"width", 1024, 16}}},
	{Name: "product", What: "product of two 4096² matrices", Load: "chain", Script: "product", Data: squareData, Sizes: squareSizes, SameData: "chain", Query: "SELECT sum(sqnorm(v)) FROM product"},
	{Name: "chain", What: "chain of square products", Load: "chain", Script: "chain", Data: squareData, Sizes: squareSizes, Query: "SELECT sum(sqnorm(v)) FROM chain"},
	{Name: "chain_skewed", What: "chain of skewed products", Load: "chain", Script: "chain", Data: skewedData, Sizes: []Size{{"n", 4000, 40}, {"block", 400, 4}}, Query: "SELECT sum(sqnorm(v)) FROM chain"},
}

var squareSizes = []Size{{"n", 4096, 64}, {"block", 512, 16}}

func nnmfSizes(rank int) []Size {
	return []Size{{"n", 8000, 80}, {"rank", rank, 4}, {"block", 500, 20}}
}
