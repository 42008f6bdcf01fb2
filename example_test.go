package relgrad_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/train"
)

func ExampleError() {
	db, err := relgrad.Open("") // a temporary store
	if err != nil {
		panic(err)
	}
	defer db.Close()
	ctx := context.Background()
	if _, err := db.Run(ctx, "CREATE TABLE weights (id int PRIMARY KEY, x double precision)"); err != nil {
		panic(err)
	}
	_, err = db.Run(ctx, "SELECT sum(x * x) FROM weigths")
	var e *relgrad.Error
	if errors.As(err, &e) {
		fmt.Println(e.SQLState(), e.Message)
		fmt.Println("at character", e.Position())
		fmt.Println(e.Hint)
	}
	_, err = db.Gradient(ctx, "SELECT sum(id) FROM weights", "weights", nil, 0)
	if errors.As(err, &e) {
		fmt.Println(e.SQLState(), e.Message)
		fmt.Println(e.Hint)
	}
	// Output:
	// 42P01 relation "weigths" does not exist
	// at character 24
	// Perhaps you meant "weights".
	// 42804 the loss is of type bigint, not a floating-point number
	// A loss yields one row with one scalar; integers, texts and conditions are piecewise constant.
}

// store is a temporary store with a small regression.
func store() *relgrad.DB {
	db, err := relgrad.Open("")
	if err != nil {
		panic(err)
	}
	_, err = db.Run(context.Background(), `
		CREATE TABLE point (id int PRIMARY KEY, x double precision, y double precision);
		INSERT INTO point VALUES (1, 0, 1), (2, 1, 3), (3, 2, 5);
		CREATE TABLE line (id int PRIMARY KEY, a double precision, b double precision);
		INSERT INTO line VALUES (1, 0, 0);
		CREATE VIEW loss AS SELECT avg((y - (a * x + b)) ^ 2) FROM point, line;`)
	if err != nil {
		panic(err)
	}
	return db
}

// A loss is a view; its gradient has the rows of the parameter's table.
func ExampleEngine_Gradient() {
	db := store()
	defer db.Close()
	grad, err := db.Gradient(context.Background(), "loss", "line", nil, 0)
	if err != nil {
		panic(err)
	}
	for i, name := range grad.Names {
		fmt.Printf("%s %.4s\n", name, grad.Cols[i].Value(0))
	}
	// Output:
	// id 1
	// a -8.6
	// b -6
}

// In SQL the gradient is a function in FROM.
func ExampleDB_Run() {
	db := store()
	defer db.Close()
	res, err := db.Run(context.Background(), "SELECT round(b::numeric, 2) FROM gradient('loss', NULL::line)")
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Rows[0][0])
	// Output:
	// -6.00
}

// Backward gives the loss and fills a temporary table of gradients for each parameter.
func ExampleEngine_Backward() {
	db := store()
	defer db.Close()
	ctx := context.Background()
	loss, err := db.Backward(ctx, "loss", []string{"line"}, nil, 0)
	if err != nil {
		panic(err)
	}
	res, err := db.Run(ctx, "SELECT b FROM line_grad")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f %v\n", loss, res.Rows[0][0])
	// Output:
	// 11.6667 -6
}

// A run is recorded in relgrad.run; its parameters are in their table.
func ExampleEngine_Train() {
	db := store()
	defer db.Close()
	ctx := context.Background()
	c := train.Default()
	c.Optimizer, c.LR, c.Epochs = "sgd", 0.2, 200
	run, err := db.Train(ctx, "loss", []string{"line"}, c)
	if err != nil {
		panic(err)
	}
	res, err := db.Run(ctx, "SELECT round(a::numeric, 3), round(b::numeric, 3) FROM line")
	if err != nil {
		panic(err)
	}
	fmt.Println("run", run, res.Rows[0])
	// Output:
	// run 1 [2.000 1.000]
}

// Check compares elements of the gradient with differences of the loss.
func ExampleEngine_Check() {
	db := store()
	defer db.Close()
	rows, err := db.Check(context.Background(), "loss", "line", relgrad.CheckOptions{Samples: 10})
	if err != nil {
		panic(err)
	}
	for _, r := range rows {
		fmt.Println(r.Key, r.Column, r.OK)
	}
	// Unordered output:
	// (id = 1) a true
	// (id = 1) b true
}

// Explain shows a plan at each of its stages.
func ExampleEngine_Explain() {
	db := store()
	defer db.Close()
	text, err := db.Explain(context.Background(), "loss", []string{"line"}, "sql")
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.SplitN(text, "\n", 2)[0])
	// Output:
	// -- engine chunk: the embedded store has no kernels but the executor's
}

// Values of Go stand for $1, $2, …; a chunk of a result becomes a matrix of gonum.
func ExampleDB_Query() {
	db := store()
	defer db.Close()
	ctx := context.Background()
	if _, err := db.Run(ctx, "CREATE TABLE word (id int PRIMARY KEY, v real[])"); err != nil {
		panic(err)
	}
	for id, v := range [][]float32{{1, 0}, {0.5, 2}} {
		if _, err := db.Query(ctx, "INSERT INTO word VALUES ($1, $2)", id, v); err != nil {
			panic(err)
		}
	}
	res, err := db.Query(ctx, "SELECT array_agg(v ORDER BY id) FROM word WHERE id < $1", 10)
	if err != nil {
		panic(err)
	}
	m, err := relgrad.Dense(res.Rows[0][0])
	if err != nil {
		panic(err)
	}
	fmt.Println(mat.Formatted(m))
	// Output:
	// ⎡  1    0⎤
	// ⎣0.5    2⎦
}

// OnStep is called after each step; cancelling the context stops the run, which Resume goes on with.
func ExampleEvents() {
	db := store()
	defer db.Close()
	db.OnStep = func(row train.LossRow, steps int64) {
		if row.Step%50 == 0 {
			fmt.Printf("step %d of %d: %.3f\n", row.Step, steps, row.Loss)
		}
	}
	c := train.Default()
	c.LR, c.Epochs = 0.1, 100
	if _, err := db.Train(context.Background(), "loss", []string{"line"}, c); err != nil {
		panic(err)
	}
	// Output:
	// step 50 of 100: 0.047
	// step 100 of 100: 0.001
}

// On a server that has relgrad, a session of this package computes in this process; statements run by any driver, as
// SELECT * FROM gradient('loss', NULL::line) does.
func ExampleDial() {
	ctx := context.Background()
	db, err := relgrad.Dial(ctx, "postgres://localhost/test", nil)
	if errors.Is(err, conn.ErrConnect) {
		return // no server
	}
	if err != nil {
		panic(err)
	}
	defer db.Close()
	loss, err := db.Backward(ctx, "loss", []string{"line"}, nil, 0)
	fmt.Println(loss, err)
}
