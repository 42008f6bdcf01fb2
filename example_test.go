package relgrad_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/relgrad/relgrad"
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
