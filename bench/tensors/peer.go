package tensors

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/relgrad/relgrad/bench"
)

// peer is the process of the other programs, which starts with the first request.
type peer struct {
	python, program string
	cmd             *exec.Cmd
	in              io.WriteCloser
	out             *bufio.Reader
	errors          strings.Builder
}

// request is a line for the process.
type request struct {
	Op      string    `json:"op"`
	Program string    `json:"program"`
	Form    string    `json:"form"`
	Data    string    `json:"data"`
	Place   string    `json:"place"`
	Rows    string    `json:"rows"` // a table of relgrad's, which is cut alike
	DType   string    `json:"dtype"`
	Shape   []int64   `json:"shape"`
	Sparse  bool      `json:"sparse"`
	Part    *[2]int64 `json:"part"`
	Times   int       `json:"times"`
}

// answer is the line that comes back.
type answer struct {
	Seconds float64
	Bytes   int64
	Version string
	Count   int64
	Sum     float64
	Missing string
	Error   string
}

func (p *peer) start(ctx context.Context) (err error) {
	if _, err := os.Stat(p.python); err != nil {
		return fmt.Errorf("%w: no %s; scripts/bench-setup makes it", bench.ErrMissing, p.python)
	}
	p.cmd = exec.CommandContext(ctx, p.python, p.program)
	p.cmd.Stderr = &p.errors
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	return p.cmd.Start()
}

// ask sends a request and waits for its answer.
func (p *peer) ask(ctx context.Context, q request) (a answer, err error) {
	if p.cmd == nil {
		if err := p.start(ctx); err != nil {
			return a, err
		}
	}
	line, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	if _, err = p.in.Write(append(line, '\n')); err == nil {
		line, err = p.out.ReadBytes('\n')
	}
	if err != nil {
		return a, fmt.Errorf("%s has ended: %w\n%s", p.program, err, p.errors.String())
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("%s answers %s: %w", p.program, line, err)
	}
	if a.Missing != "" {
		return a, fmt.Errorf("%w: %s", bench.ErrMissing, a.Missing)
	}
	if a.Error != "" {
		return a, fmt.Errorf("%s", a.Error)
	}
	return a, nil
}

func (p *peer) end() {
	if p.cmd != nil && p.cmd.Process != nil {
		p.in.Close()
		_ = p.cmd.Wait()
	}
}

// theirs does one thing by another program.
func (m *measuring) theirs(ctx context.Context, c *Cell, op Op) (float64, error) {
	q := request{Op: op.String(), Program: c.Program, Form: c.Form, Data: m.root, Place: m.place(c), DType: m.x.DType,
		Shape: m.x.Shape, Sparse: m.Sparse, Times: op.repeats(), Rows: m.place(&Cell{Program: "relgrad", Form: c.Form})}
	if op == Slice {
		q.Part = &[2]int64{m.From, m.To}
	}
	a, err := m.peer.ask(ctx, q)
	if err != nil {
		return 0, err
	}
	if op == Write {
		c.Bytes, c.Version = a.Bytes, a.Version
	} else {
		err = found{a.Count, a.Sum}.same(m.want[op])
	}
	return a.Seconds, err
}
