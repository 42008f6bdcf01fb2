package gradtest

import (
	"context"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/optimizer"
)

// Run runs a loss with its gradients by the executor, and gives the loss and the columns of each parameter's gradient.
func Run(ctx context.Context, db *memdb.DB, loss string, params []string,
	opt executor.Options) (float64, [][]*column.Column, error) {
	res, err := Optimize(ctx, db, loss, params, optimizer.Options{})
	if err != nil {
		return 0, nil, err
	}
	p, err := executor.Compile(ctx, res.Plan, db, opt)
	if err != nil {
		return 0, nil, err
	}
	defer p.Close()
	if err := p.Run(ctx, opt.Env); err != nil {
		return 0, nil, err
	}
	x, _, err := p.Scalar(0)
	if err != nil {
		return 0, nil, err
	}
	grads := make([][]*column.Column, len(params))
	for i := range params {
		if grads[i], err = p.Result(1 + i); err != nil {
			return 0, nil, err
		}
	}
	return x, grads, nil
}
