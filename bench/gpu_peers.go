package bench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// LivePeer is a peer's program in a process that first trains for comparing losses, and then waits for its turns.
type LivePeer struct {
	Peer
	Turns    []float64 // seconds of a step, the mean of each turn
	Loss     []float64 // of the steps for comparing losses
	Versions string
	Agreed   bool
	Reason   string // why there is no more
	Failed   bool   // Reason is more than that something is missing

	stop     context.CancelFunc
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Scanner
	errors   *strings.Builder
	compared chan struct{} // closed when there are losses, or a reason
	ready    chan struct{} // closed when it waits for turns, or has a reason
}

// A peer's start, which may compile, and a turn may take so long.
const (
	startLimit = 3 * time.Minute
	turnLimit  = time.Minute
)

// startPeers starts the peers of a workload, all at once.
func startPeers(ctx context.Context, r *Runner, w *OnCard, data string, o CardOptions) (all []*LivePeer, err error) {
	agree := o.agreeing(w)
	small, err := w.folder(r.Root, agree)
	if err != nil {
		return nil, err
	}
	for _, peer := range w.Beside {
		p := &LivePeer{Peer: peer, compared: make(chan struct{}), ready: make(chan struct{})}
		all = append(all, p)
		inner, stop := context.WithCancel(ctx)
		p.stop = stop
		first, err := pythonPeer(r, peer, small, agree, Limit{Steps: agreementSteps, Seconds: 3600})
		if err != nil {
			p.lost(err)
			close(p.compared)
			close(p.ready)
			continue
		}
		then, _ := pythonPeer(r, peer, data, o.values(w), Limit{}) // as the other
		go p.start(inner, r, o, first, append(then, "turns=1"))
	}
	return all, nil
}

// environment are the variables of programs on a graphics processor: in full single precision, without processes for
// compiling that outlive them.
func (o CardOptions) environment() []string {
	where := "PEER_DEVICE=cuda"
	if o.Double {
		where = "PEER_DEVICE=cpu"
	}
	return append(os.Environ(), where, "NVIDIA_TF32_OVERRIDE=0", "TORCHINDUCTOR_COMPILE_THREADS=1",
		fmt.Sprintf("OMP_NUM_THREADS=%d", runtime.NumCPU()))
}

func (p *LivePeer) start(ctx context.Context, r *Runner, o CardOptions, first, then []string) {
	defer close(p.ready)
	err := p.trains(ctx, r, o, first)
	if close(p.compared); err == nil {
		var answer struct{ Ready bool }
		if err = p.ask(startLimit, asJSON(then[1:]), &answer); err == nil && !answer.Ready {
			err = fmt.Errorf("%s is not ready for turns", p.Program)
		}
	}
	if err != nil && ctx.Err() == nil { // nobody has ended it
		p.lost(err)
	}
}

// trains starts the process and has it train for comparing losses.
func (p *LivePeer) trains(ctx context.Context, r *Runner, o CardOptions, args []string) (err error) {
	p.cmd = command(ctx, args[0], r.file("peers/serve.py"))
	p.cmd.Env, p.errors = o.environment(), &strings.Builder{}
	p.cmd.Stderr = p.errors
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return err
	}
	run := &Run{}
	if err := p.ask(startLimit, asJSON(args[1:]), run); err != nil {
		return err
	}
	p.Loss, p.Versions = run.Loss, run.Versions
	return nil
}

func asJSON(args []string) string {
	text, _ := json.Marshal(args) // strings can be written
	return string(text)
}

// ask writes a line and reads the answer, a line of JSON.
func (p *LivePeer) ask(limit time.Duration, line string, answer any) error {
	late := time.AfterFunc(limit, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	_, err := io.WriteString(p.in, line+"\n")
	for err == nil && p.out.Scan() {
		if strings.HasPrefix(p.out.Text(), "{") {
			return json.Unmarshal(p.out.Bytes(), answer)
		}
	}
	why := cmp.Or(errors.Join(err, p.cmd.Wait()), io.EOF)
	if !late.Stop() {
		return fmt.Errorf("%s has not answered within %v", p.Program, limit)
	}
	text := p.errors.String()
	return lacking(fmt.Errorf("%s, form %s, has ended: %s: %w\n%s", p.Program, p.Form, lastLine(text),
		why, text))
}

// lost notes that the peer runs no more.
func (p *LivePeer) lost(err error) {
	p.Reason, p.Failed = err.Error(), !errors.Is(err, ErrMissing)
}

// await waits until the peer waits for turns.
func (p *LivePeer) await(ctx context.Context) {
	select {
	case <-p.ready:
	case <-ctx.Done():
	}
}

// turn runs steps for so many seconds.
func (p *LivePeer) turn(ctx context.Context, o CardOptions) {
	if p.Reason != "" || ctx.Err() != nil {
		return
	}
	var answer struct{ Each float64 }
	err := p.ask(turnLimit, fmt.Sprintf("%d %g", o.least(), o.Seconds), &answer)
	if err == nil && !(answer.Each > 0) {
		err = fmt.Errorf("%s tells no time", p.Program)
	}
	if err != nil {
		p.lost(err)
		return
	}
	p.Turns = append(p.Turns, answer.Each)
}

// end ends the process.
func (p *LivePeer) end() {
	p.stop()
	if <-p.ready; p.cmd != nil && p.cmd.Process != nil {
		p.cmd.Wait()
	}
}

// peersAgree compares losses of the peers with relgrad's on the device, without draws. A peer with others runs no more.
func peersAgree(ctx context.Context, r *Runner, res *CardResult, o CardOptions) error {
	var ours *cardRun
	for _, p := range res.Peers {
		select {
		case <-p.compared:
		case <-ctx.Done():
			return ctx.Err()
		}
		if p.Loss == nil {
			continue
		}
		if ours == nil {
			var err error
			if ours, err = firstSteps(ctx, r, res.OnCard, o.agreeing(res.OnCard), "cuda", agreementSteps); err != nil {
				return err
			}
		}
		d := differ(ours.losses, p.Loss, agreementSteps)
		if p.Agreed = d == ""; !p.Agreed {
			p.end()
			p.Reason, p.Failed = d, true
		}
	}
	return nil
}
