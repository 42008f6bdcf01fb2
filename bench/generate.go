package bench

import "math"

// The generators of the workloads' data. Sizes come from Workload.Sizes.

func gcnData(d *dataset) {
	n, classes, in, hidden := d.size["nodes"], d.or("classes", 40), d.or("in", 128), d.or("hidden", 256)
	if !d.need(d.size["edges"] <= n*(n-1)/4, "edges of at most a quarter of all pairs of nodes") {
		return
	}
	r := stream("gcn")
	label := ints("label", n, func(int) int { return r.IntN(classes) })
	centre := floats("", []int{classes, in}, r.NormFloat64).Data.([]float32)
	i := -1
	x := floats("x", []int{n, in}, func() float64 {
		i++
		return r.NormFloat64() + 0.5*float64(centre[int(label.Data.([]int32)[i/in])*in+i%in])
	})
	train := Column{"train", []int{n}, make([]bool, n)}
	for i := range n {
		train.Data.([]bool)[i] = r.Float64() < 90941.0/169343
	}
	d.table("node", ints("node", n, func(i int) int { return i }), x, label, train)
	g := powerLaw(stream("graph"), n, d.size["edges"])
	entries := []int{len(g.dst)}
	d.table("adj", Column{"dst", entries, g.dst}, Column{"src", entries, g.src}, Column{"weight", entries, g.weight})
	w := stream("gcn weights")
	d.table("layer1", glorot(w, "w", in, hidden), zeros("b", hidden))
	d.table("layer2", glorot(w, "w", hidden, classes), zeros("b", classes))
}

// spmmData makes a graph, a signal on its nodes, and what its sums over neighbours shall be.
func spmmData(d *dataset) {
	n, width := d.size["nodes"], d.size["width"]
	if !d.need(d.size["edges"] <= n*(n-1)/4, "edges of at most a quarter of all pairs of nodes") {
		return
	}
	g := powerLaw(stream("graph"), n, d.size["edges"])
	entries := []int{len(g.dst)}
	d.table("adj", Column{"dst", entries, g.dst}, Column{"src", entries, g.src}, Column{"weight", entries, g.weight})
	r, node := stream("spmm"), ints("node", n, func(i int) int { return i })
	d.table("goal", node, floats("y", []int{n, width}, r.NormFloat64))
	d.table("signal", node, floats("v", []int{n, width}, r.NormFloat64))
}

// blocks are the columns of a table of n × m blocks: i, j and v.
func blocks(n, m, rows, columns int, f func() float64) []Column {
	return []Column{ints("i", n*m, func(k int) int { return k / m }), ints("j", n*m, func(k int) int { return k % m }),
		floats("v", []int{n * m, rows, columns}, f)}
}

func nnmfData(d *dataset) {
	n, k, block := d.size["n"], d.size["rank"], d.size["block"]
	if !d.need(n%block == 0, "n that block divides") {
		return
	}
	r := stream("nnmf")
	d.table("a", blocks(n/block, n/block, block, block, r.Float64)...)
	factor := func() float64 { return r.Float64() / math.Sqrt(float64(k)) }
	index := func(i int) int { return i }
	d.table("w", ints("i", n/block, index), floats("v", []int{n / block, block, k}, factor))
	d.table("h", ints("j", n/block, index), floats("v", []int{n / block, k, block}, factor))
}

func ratingsData(d *dataset) {
	users, items, n, k := d.size["users"], d.size["items"], d.size["ratings"], d.size["rank"]
	if !d.need(n >= users && n/users < items, "at least a rating for each user, and fewer than items") {
		return
	}
	r := stream("ratings")
	// Each user rates about the same number of items, one at a random place in each of as many ranges of items. So they
	// are distinct, and no table of all pairs is needed.
	usr, item, rating := make([]int32, 0, n), make([]int32, 0, n), make([]float32, 0, n)
	for u := range users {
		of := (u+1)*n/users - u*n/users
		at, gap := 0, items/of
		for j := range of {
			item = append(item, int32(at+j*gap+r.IntN(gap)))
			usr, rating = append(usr, int32(u)), append(rating, float32(1+r.IntN(9))/2)
		}
	}
	d.table("rating", Column{"usr", []int{n}, usr}, Column{"item", []int{n}, item}, Column{"rating", []int{n}, rating})
	factor := func() float64 { return r.Float64() * math.Sqrt(2.5*4/float64(k)) }
	d.table("taste", ints("usr", users, func(i int) int { return i }), floats("v", []int{users, k}, factor))
	d.table("trait", ints("item", items, func(i int) int { return i }), floats("v", []int{items, k}, factor))
}

func logregData(d *dataset) {
	n, k := d.size["n"], d.size["features"]
	r := stream("logreg")
	truth := make([]float64, k)
	for i := range truth {
		truth[i] = r.NormFloat64()
	}
	x := floats("x", []int{n, k}, r.NormFloat64)
	label := ints("label", n, func(i int) int {
		z := 0.0
		for j, w := range truth {
			z += w * float64(x.Data.([]float32)[i*k+j])
		}
		if 1/(1+math.Exp(-z)) > r.Float64() {
			return 1
		}
		return 0
	})
	d.table("point", ints("id", n, func(i int) int { return i }), x, label)
	d.table("model", zeros("w", k))
}

func mlpData(d *dataset) {
	n, in, hidden, classes := d.size["n"], d.size["in"], d.size["hidden"], d.size["classes"]
	r := stream("mlp")
	d.table("image", ints("id", n, func(i int) int { return i }), floats("x", []int{n, in}, r.NormFloat64),
		ints("label", n, func(int) int { return r.IntN(classes) }))
	d.table("layer1", glorot(r, "w", in, hidden), zeros("b", hidden))
	d.table("layer2", glorot(r, "w", hidden, classes), zeros("b", classes))
}

func kgeData(d *dataset) {
	entities, relations, n, dim := d.size["entities"], d.size["relations"], d.size["triples"], d.size["dim"]
	r := stream("kge")
	d.table("triple", ints("id", n, func(i int) int { return i }), ints("h", n, func(int) int { return r.IntN(entities) }),
		ints("r", n, func(int) int { return r.IntN(relations) }), ints("t", n, func(int) int { return r.IntN(entities) }))
	if d.size["drawn"] != 0 { // the same negative tails at each step, instead of a view that draws them
		k := d.size["negatives"]
		d.table("wrong", ints("id", n*k, func(i int) int { return i / k }),
			ints("k", n*k, func(i int) int { return i%k + 1 }), ints("other", n*k, func(int) int { return r.IntN(entities) }))
	}
	limit := 6 / math.Sqrt(float64(dim)) / 10
	even := func() float64 { return limit * (2*r.Float64() - 1) }
	index := func(i int) int { return i }
	d.table("entity", ints("id", entities, index), floats("v", []int{entities, dim}, even))
	if space, ok := d.size["space"]; ok {
		d.table("relation", ints("id", relations, index), floats("v", []int{relations, space}, even),
			glorot(r, "m", relations, dim, space))
	} else {
		d.table("relation", ints("id", relations, index), floats("v", []int{relations, dim}, even))
	}
}

func attentionData(d *dataset) {
	n, heads, width := d.size["length"], d.size["heads"], d.size["width"]
	if !d.need(width%heads == 0, "width that heads divides") {
		return
	}
	r := stream("attention")
	d.table("sequence", floats("x", []int{n, width}, r.NormFloat64), floats("y", []int{n, width}, r.NormFloat64))
	k := width / heads
	d.table("head", ints("head", heads, func(i int) int { return i }), glorot(r, "wq", heads, width, k),
		glorot(r, "wk", heads, width, k), glorot(r, "wv", heads, width, k), glorot(r, "wo", heads, k, width))
}

// squareData makes five square matrices.
func squareData(d *dataset) {
	if !d.need(d.size["n"]%d.size["block"] == 0, "n that block divides") {
		return
	}
	r := stream("chain")
	n, block := d.size["n"]/d.size["block"], d.size["block"]
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		d.table(name, blocks(n, n, block, block, r.Float64)...)
	}
}

// skewedData makes matrices of the second shape in EinDecomp, section 9: n × n/10, n/10 × n, n × n/10, n/10 × 10n, 10n
// × n.
func skewedData(d *dataset) {
	if !d.need(d.size["n"]%(10*d.size["block"]) == 0, "n that 10 times block divides") {
		return
	}
	r := stream("skewed chain")
	block := d.size["block"]
	n, short, long := d.size["n"]/block, d.size["n"]/10/block, d.size["n"]*10/block
	for _, m := range []struct {
		name       string
		rows, cols int
	}{{"a", n, short}, {"b", short, n}, {"c", n, short}, {"d", short, long}, {"e", long, n}} {
		d.table(m.name, blocks(m.rows, m.cols, block, block, r.Float64)...)
	}
}

// coraData makes the initial parameters; all other data are real.
func coraData(d *dataset) {
	r := stream("cora")
	w0 := glorot(r, "v", 1433, 16)
	d.table("w0", ints("feature", 1433, func(i int) int { return i }), w0)
	d.table("w1", glorot(r, "v", 16, 7))
}

// runningData makes a random walk, and steps of length 0 to begin with. Rows lie in random order.
func runningData(d *dataset) {
	n := d.size["n"]
	r := stream("running")
	y := make([]float32, n)
	at := 0.0
	for i := range y {
		at += r.NormFloat64()
		y[i] = float32(at)
	}
	for _, name := range []string{"walk", "step"} {
		at := r.Perm(n)
		key := ints("k", n, func(i int) int { return at[i] })
		if name == "step" {
			d.table(name, key, zeros("x", n))
			continue
		}
		i := -1
		d.table(name, key, floats("y", []int{n}, func() float64 {
			i++
			return float64(y[at[i]])
		}))
	}
}

// lstmData makes sequences of vectors, goals, and the weights of the four gates of an LSTM.
func lstmData(d *dataset) {
	sequences, length, units := d.size["sequences"], d.size["length"], d.size["units"]
	r := stream("lstm")
	rows := sequences * length
	d.table("token", ints("seq", rows, func(i int) int { return i / length }),
		ints("t", rows, func(i int) int { return i%length + 1 }), floats("x", []int{rows, units}, r.NormFloat64))
	d.table("goal", ints("seq", sequences, func(i int) int { return i }),
		floats("y", []int{sequences, units}, func() float64 { return r.NormFloat64() / 4 }))
	w := stream("lstm weights")
	var cell []Column
	for _, kind := range []string{"w", "u"} {
		for _, gate := range []string{"i", "f", "g", "o"} {
			cell = append(cell, floats(kind+gate, []int{units, units}, func() float64 {
				return w.NormFloat64() / math.Sqrt(float64(units))
			}))
		}
	}
	for _, gate := range []string{"i", "f", "g", "o"} {
		cell = append(cell, zeros("b"+gate, units))
	}
	d.table("cell", cell...)
}
