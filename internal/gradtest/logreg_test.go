package gradtest

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels"
)

// cancerDB holds the breast cancer data, z-scored, with the check's weights w_k = 0.01·k, and a direction u.
func cancerDB(t *testing.T) *memdb.DB {
	rows := need.CSV(t, filepath.Join(need.Data(t), "breast_cancer", "wdbc.csv.gz"))
	db, n := memdb.New(), len(rows)
	x := column.New(kernels.Type{Kind: kernels.Float64, Shape: []int{30}}, n)
	for k := range 30 {
		c := readColumn(t, rows, 3+k, kernels.Float64).F64()
		mean, sq := 0.0, 0.0
		for _, v := range c {
			mean += v / float64(n)
		}
		for _, v := range c {
			sq += (v - mean) * (v - mean) / float64(n)
		}
		for i, v := range c {
			x.F64()[i*30+k] = (v - mean) / math.Sqrt(sq)
		}
	}
	db.Create("patient", 1, memdb.Column{Name: "row", Data: readColumn(t, rows, 0, kernels.Int)},
		memdb.Column{Name: "malignant", Data: readColumn(t, rows, 2, kernels.Int)}, memdb.Column{Name: "x", Data: x})
	for _, name := range []string{"model", "u"} {
		w, b := column.New(kernels.Type{Kind: kernels.Float64, Shape: []int{30}}, 1),
			column.New(kernels.Type{Kind: kernels.Float64}, 1)
		for k := range 30 {
			w.F64()[k] = 0.01 * float64(k+1)
			if name == "u" {
				w.F64()[k], b.F64()[0] = math.Sin(float64(k)), 0.7
			}
		}
		db.Create(name, 1, memdb.Column{Name: "id", Data: ints(1)}, memdb.Column{Name: "w", Data: w},
			memdb.Column{Name: "b", Data: b})
	}
	if err := db.AddView("loss", "SELECT avg(softplus(z) - malignant * z) FROM (SELECT malignant, dot(p.x, m.w) + m.b "+
		"AS z FROM patient p, model m) s"); err != nil {
		t.Fatal(err)
	}
	return db
}

// modelGradient runs a loss and returns its value and gradient with respect to model, w then b.
func modelGradient(t *testing.T, db *memdb.DB, loss string) (float64, []float64) {
	t.Helper()
	x, grads, err := Run(context.Background(), db, loss, []string{"model"}, executor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return x, append(append([]float64{}, grads[0][1].F64()...), grads[0][2].F64()...)
}

// TestLogisticCheckNumber compares the logistic loss with the published figure.
func TestLogisticCheckNumber(t *testing.T) {
	x, _ := modelGradient(t, cancerDB(t), "loss")
	relative(t, "logistic loss", x, 0.3375737131040747)
}

// TestHessianVector compares a Hessian-vector product through nested gradient() with differences of gradients.
func TestHessianVector(t *testing.T) {
	db := cancerDB(t)
	_, hvp := modelGradient(t, db,
		"SELECT sum(dot(g.w, u.w) + g.b * u.b) FROM gradient('loss', NULL::model) g JOIN u USING (id)")
	const h = 1e-4
	var side [2][]float64
	for i, s := range []float64{h, -h} {
		c := db.Clone()
		for k := range 30 {
			c.Data["model"][1].F64()[k] += s * c.Data["u"][1].F64()[k]
		}
		c.Data["model"][2].F64()[0] += s * c.Data["u"][2].F64()[0]
		_, side[i] = modelGradient(t, c, "loss")
	}
	largest := 0.0
	for _, x := range hvp {
		largest = math.Max(largest, math.Abs(x))
	}
	for k := range hvp {
		if d := (side[0][k] - side[1][k]) / (2 * h); math.Abs(d-hvp[k]) > 1e-6*largest {
			t.Errorf("element %d: nested gradient %.12g, difference of gradients %.12g", k, hvp[k], d)
		}
	}
}
