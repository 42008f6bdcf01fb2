package train

import (
	"math"

	"github.com/relgrad/relgrad/kernels"
)

// hyper are the numbers of one parameter's update at one step.
type hyper struct {
	lr, decay float64
	step      int64 // from 1
	*Config
}

// optimizer updates a row of a parameter, each of its numbers for itself, as expressions (update.go). The processors
// have loops by the optimizers' names, which compute the same (executor/device/cpu/loops_update.go).
type optimizer struct {
	state []string // names of the state buffers, each of the parameter's size
	uses  []string // options that belong to it
	// update is nil where steps are searched for, as LBFGS does.
	update func(t *terms) (s []*kernels.Expr, p *kernels.Expr)
}

// optimizers as PyTorch 2 documents them (https://docs.pytorch.org/docs/stable/optim.html): torch.optim.SGD with
// dampening 0, Adagrad with lr_decay 0, RMSprop without momentum and not centered, Adam, AdamW. Their papers: Polyak
// 1964 (momentum); Sutskever et al., ICML 2013 (nesterov); Duchi et al., JMLR 2011 (adagrad); Tieleman and Hinton,
// Coursera 2012, lecture 6.5 (rmsprop); Kingma and Ba, ICLR 2015 (adam); Loshchilov and Hutter, ICLR 2019 (adamw).
// Weight decay is L2, d = g + λp, but adamw's, which is decoupled.
var optimizers = map[string]*optimizer{
	"sgd":      {nil, nil, sgdUpdate},
	"momentum": {[]string{"v"}, []string{"momentum"}, momentumUpdate},
	"nesterov": {[]string{"v"}, []string{"momentum"}, nesterovUpdate},
	"adagrad":  {[]string{"s"}, []string{"epsilon"}, adagradUpdate},
	"rmsprop":  {[]string{"s"}, []string{"alpha", "epsilon"}, rmspropUpdate},
	"adam":     {[]string{"m", "s"}, []string{"beta1", "beta2", "epsilon"}, adamUpdate},
	"adamw":    {[]string{"m", "s"}, []string{"beta1", "beta2", "epsilon"}, adamwUpdate},
	"lbfgs":    {nil, []string{"history"}, nil},
}

// corrected returns η/(1−β₁ᵗ) and 1/(1−β₂ᵗ).
func (h *hyper) corrected() (rate, correct float64) {
	return h.lr / (1 - math.Pow(h.Beta1, float64(h.step))), 1 / (1 - math.Pow(h.Beta2, float64(h.step)))
}
