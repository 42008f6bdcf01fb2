package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cuda"
	"github.com/relgrad/relgrad/script/psql"
	"github.com/relgrad/relgrad/train"
)

// CardOptions are those of measurements on a graphics processor.
type CardOptions struct {
	Rounds  int
	Seconds float64 // of a program's turn, at least
	Quick   bool    // tiny sizes
	Alone   bool    // without peers
	Double  bool    // the device is a double of the driver: peers run on the processors
}

// values are the numbers of a measurement.
func (o CardOptions) values(w *OnCard) Values {
	if o.Quick {
		return w.values(small)
	}
	return w.values(Full)
}

// agreeing are the numbers of a run whose losses are compared with the peers': it draws nothing.
func (o CardOptions) agreeing(w *OnCard) Values {
	if !o.Quick {
		return w.Workload.values(agreeing)
	}
	return w.Workload.values(func(n Number) float64 {
		switch n.Name {
		case "drawn", "dropout", "lr", "fanout":
			return n.Agree
		case "batch":
			return 1e6 // all rows
		}
		return n.Small
	})
}

// least is how many steps a turn has.
func (o CardOptions) least() int {
	if o.Quick {
		return 2
	}
	return 5
}

// CardResult is the measurement of a workload on a graphics processor.
type CardResult struct {
	*OnCard
	Values
	Refused string    // why the device does not run it
	Failed  string    // what went wrong
	Steps   []float64 // seconds of a step, the mean of each turn
	Setup   float64   // seconds until the first step has ended
	CPU     float64   // seconds of a step on the processors
	Off     float64   // the greatest relative difference of a loss from the processors'
	Calls   cuda.Calls
	Counted int // steps in which Calls were made
	Peers   []*LivePeer
	Profile *Profile
}

// compared are the steps whose losses are compared with the processors'.
const compared = 5

// cardRun is a run of a workload's script in this process.
type cardRun struct {
	*OnCard
	v      Values
	device string
	data   string // the folder
	store  string
	losses []float64
	steps  []float64 // seconds, without the first step
	setup  float64   // seconds until the first step has ended
	ended  func() (over bool)
}

// prepared is a run on a device with these numbers, not begun. ended is to be set: it is called after each step, and
// says whether it was the last.
func prepared(ctx context.Context, r *Runner, w *OnCard, v Values, device string) (*cardRun, error) {
	data, err := w.folder(r.Root, v)
	if err != nil {
		return nil, err
	}
	store, err := r.store(ctx, w.Workload, data, v)
	return &cardRun{OnCard: w, v: v, device: device, data: data, store: store}, err
}

// Prepare makes the data and stores that MeasureCard reads, unless they are there. It needs no graphics processor.
func Prepare(ctx context.Context, r *Runner, w *OnCard, o CardOptions) error {
	if err := r.unpack(); err != nil {
		return err
	}
	for _, v := range []Values{o.values(w), o.agreeing(w)} {
		if _, err := prepared(ctx, r, w, v, ""); err != nil {
			return err
		}
	}
	return nil
}

// firstSteps runs so many steps.
func firstSteps(ctx context.Context, r *Runner, w *OnCard, v Values, device string, steps int) (*cardRun, error) {
	t, err := prepared(ctx, r, w, v, device)
	if err != nil {
		return nil, err
	}
	t.ended = func() bool { return len(t.losses) >= steps }
	return t, t.run(ctx, r)
}

func (t *cardRun) run(ctx context.Context, r *Runner) error {
	vars := map[string]string{"data": t.data, "epochs": "1000000", "seconds": "100000"}
	for name, x := range t.v {
		vars[name] = number(x)
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	over, last := false, time.Time{}
	err := runOn(inner, t.store, vars, func(db *relgrad.DB) {
		db.OnCompiling = func() { last = time.Now() }
		db.OnStep = func(row train.LossRow, _ int64) {
			took := time.Since(last).Seconds()
			switch {
			case over:
				return
			case t.losses == nil:
				t.setup = took
			default:
				t.steps = append(t.steps, took)
			}
			t.losses = append(t.losses, row.Loss)
			if over = t.ended(); over {
				stop()
			}
			last = time.Now()
		}
	}, func(p *psql.Runner) error {
		if err := p.RunReader(inner, "", strings.NewReader("SET relgrad.device = '"+t.device+"';\n")); err != nil {
			return err
		}
		return p.RunFile(inner, r.file("workloads/"+t.Script+".sql"))
	})
	switch {
	case over:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return sqlerr.New(sqlerr.Internal, "%s has ended after %d steps", t.Name, len(t.losses))
	}
	return err
}

// MeasureCard measures a workload on the first graphics processor, beside its peers there. The first losses must be
// those of the processors. An error concerns the machine; what goes wrong with the workload is in the result.
func MeasureCard(ctx context.Context, r *Runner, w *OnCard, o CardOptions) (*CardResult, error) {
	if err := r.unpack(); err != nil {
		return nil, err
	}
	res := &CardResult{OnCard: w, Values: o.values(w)}
	err := onCard(ctx, r, res, o)
	for _, p := range res.Peers {
		p.end()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case sqlerr.Code(err) == sqlerr.FeatureNotSupported:
		res.Refused = reason(err)
		if e := (*sqlerr.Error)(nil); errors.As(err, &e) && e.Detail != "" {
			res.Refused += ": " + e.Detail
		}
	case err != nil:
		res.Failed = reason(err)
	}
	return res, nil
}

func onCard(ctx context.Context, r *Runner, res *CardResult, o CardOptions) error {
	t, err := prepared(ctx, r, res.OnCard, res.Values, "cuda")
	if err != nil {
		return err
	}
	fmt.Fprintf(r.Log, "%s: on the processors\n", res.Name)
	host, err := firstSteps(ctx, r, res.OnCard, res.Values, "cpu", compared)
	if err != nil {
		return err
	}
	res.CPU = Median(host.steps)
	if !o.Alone { // they start behind the run on the processors, which they would slow down
		if res.Peers, err = startPeers(ctx, r, res.OnCard, t.data, o); err != nil {
			return err
		}
	}
	if err := peersAgree(ctx, r, res, o); err != nil {
		return err
	}
	fmt.Fprintf(r.Log, "%s: on the device\n", res.Name)
	turns := &turns{CardResult: res, cardRun: t, o: o, log: r.Log}
	t.ended = func() bool { return turns.ended(ctx, host.losses) }
	if err := t.run(ctx, r); err != nil {
		return err
	}
	if res.Setup = t.setup; turns.err != nil {
		return turns.err
	}
	res.Profile, err = profileOn(ctx, r, t)
	return err
}

// apart is the greatest relative difference of two lists of numbers; infinite where one is not finite.
func apart(a, b []float64) (most float64) {
	for i := range b {
		d := math.Abs(a[i]-b[i]) / math.Abs(b[i])
		if a[i] == b[i] {
			d = 0
		}
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		most = max(most, d)
	}
	return most
}

// turns are the turns of relgrad and its peers.
type turns struct {
	*CardResult
	*cardRun
	o     CardOptions
	begin int // the first of the turn's steps
	calls cuda.Calls
	err   error
	log   io.Writer
}

// ended is called after each step of relgrad's. The first steps are compared with the processors'. The first step of a
// turn does not count: it may hold a commit.
func (t *turns) ended(ctx context.Context, right []float64) (over bool) {
	n := len(t.losses)
	switch {
	case n < compared:
		return false
	case n == compared:
		if t.Off = apart(t.losses, right); t.Off > agreement {
			t.err = sqlerr.New(sqlerr.Internal, "the losses of the first steps are %v on the device, %v on the processors",
				t.losses, right)
			return true
		}
		for _, p := range t.Peers {
			p.await(ctx)
		}
		t.begin = n
		return false
	case n == t.begin+1:
		t.calls = cuda.Count()
		return false
	}
	turn := t.cardRun.steps[t.begin:] // without the turn's first step
	sum := 0.0
	for _, s := range turn {
		sum += s
	}
	if len(turn) < t.o.least() || sum < t.o.Seconds {
		return false
	}
	calls := cuda.Count().Since(t.calls)
	t.Calls = t.Calls.Plus(calls)
	t.Counted += len(turn)
	t.CardResult.Steps = append(t.CardResult.Steps, sum/float64(len(turn)))
	t.others(ctx)
	t.begin = n
	return len(t.CardResult.Steps) >= t.o.Rounds || ctx.Err() != nil
}

// others has the peers take their turns: of a round behind relgrad's, and of the next one before it, in reverse order.
func (t *turns) others(ctx context.Context) {
	round := len(t.CardResult.Steps)
	if round%2 == 0 {
		return
	}
	for _, p := range t.Peers {
		p.turn(ctx, t.o)
	}
	if round < t.o.Rounds {
		for _, p := range slices.Backward(t.Peers) {
			p.turn(ctx, t.o)
		}
	}
}

// profileOn times the instructions of a step in the store that a run has left.
func profileOn(ctx context.Context, r *Runner, t *cardRun) (p *Profile, err error) {
	tables, batch, err := trained(t.Workload)
	if err != nil {
		return nil, err
	}
	db, err := relgrad.Open(t.store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	size := int64(0)
	if batch != "" {
		size = int64(t.v["batch"])
	}
	db.Engine.Device = t.device
	text, err := db.Analyze(ctx, "loss", tables, batch, size)
	if err != nil {
		return nil, err
	}
	return readProfile(text)
}
