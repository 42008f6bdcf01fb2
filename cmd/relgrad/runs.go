package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/guptarohit/asciigraph"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
)

var runsCommand = command{name: "runs", args: "--store FILE", run: runs,
	summary: "List the training runs of a store."}

var plotCommand = command{name: "plot", args: "--store FILE [RUN…]", run: plotRuns,
	summary: "Draw the loss curves of runs (default: the last) in the terminal, or into an SVG or PNG file."}

func runs(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var t target
	fs.StringVar(&t.store, "store", "", "the store in `FILE`")
	format := fs.String("format", script.FormatAligned, "print as aligned, unaligned, csv or json")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if t.store == "" || len(rest) > 0 {
		fs.Usage()
		return errUsage
	}
	db, err := t.openOld()
	if err != nil {
		return err
	}
	defer db.Close()
	res, err := db.Run(ctx, `SELECT r.run, r.loss, r.params, r.status, r.step, first.loss AS "first loss", last.loss AS "last loss", r.best AS "best validation", r.seed, r.started
FROM relgrad.run r LEFT JOIN relgrad.loss first ON first.run = r.run AND first.step = 1 LEFT JOIN relgrad.loss last ON last.run = r.run AND last.step = r.step ORDER BY r.run`)
	if err != nil {
		return err
	}
	return script.NewRunner(script.Embedded(db), script.Options{Format: *format}).Print(res)
}

// openOld opens a store that must exist.
func (t target) openOld() (*relgrad.DB, error) {
	if _, err := os.Stat(t.store); err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open store %s", t.store).Wrap(err)
	}
	return t.open()
}

// curve is what a run logged.
type curve struct {
	run              int64
	steps, loss      []float64
	valSteps, valids []float64
}

func plotRuns(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var t target
	fs.StringVar(&t.store, "store", "", "the store in `FILE`")
	out := fs.String("o", "", "write an `FILE` ending in .svg or .png")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if t.store == "" {
		fs.Usage()
		return errUsage
	}
	db, err := t.openOld()
	if err != nil {
		return err
	}
	defer db.Close()
	curves, err := loadCurves(ctx, db, rest)
	if err != nil {
		return err
	}
	if *out != "" {
		return drawFile(*out, curves)
	}
	return drawTerminal(os.Stdout, curves)
}

func loadCurves(ctx context.Context, db *relgrad.DB, names []string) ([]curve, error) {
	if len(names) == 0 {
		res, err := db.Run(ctx, "SELECT max(run) FROM relgrad.loss")
		if err != nil {
			return nil, err
		}
		last, ok := res.Rows[0][0].(int64)
		if !ok {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "the store holds no run").WithHint("CALL train(…) makes one.")
		}
		names = []string{strconv.FormatInt(last, 10)}
	}
	var out []curve
	for _, n := range names {
		id, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			return nil, sqlerr.New(sqlerr.InvalidText, "run %q is not a number", n)
		}
		res, err := db.Run(ctx, fmt.Sprintf("SELECT step, loss, validation FROM relgrad.loss WHERE run = %d ORDER BY step", id))
		if err != nil {
			return nil, err
		}
		if len(res.Rows) == 0 {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "run %d does not exist or has no steps", id).WithHint("relgrad runs --store FILE lists the runs.")
		}
		cv := curve{run: id}
		for _, r := range res.Rows {
			step, loss := float64(r[0].(int64)), r[1].(float64)
			cv.steps, cv.loss = append(cv.steps, step), append(cv.loss, loss)
			if v, ok := r[2].(float64); ok {
				cv.valSteps, cv.valids = append(cv.valSteps, step), append(cv.valids, v)
			}
		}
		out = append(out, cv)
	}
	return out, nil
}

func drawTerminal(w io.Writer, curves []curve) error {
	for _, c := range curves {
		_, err := fmt.Fprintln(w, asciigraph.Plot(c.loss, asciigraph.Height(12), asciigraph.Width(72),
			asciigraph.Caption(fmt.Sprintf("run %d: loss over %d steps, %.5g to %.5g", c.run, len(c.loss), c.loss[0], c.loss[len(c.loss)-1]))))
		if err != nil {
			return err
		}
	}
	return nil
}

func drawFile(path string, curves []curve) error {
	if !strings.HasSuffix(path, ".svg") && !strings.HasSuffix(path, ".png") {
		return sqlerr.New(sqlerr.InvalidParameter, "cannot draw into %s: the name must end in .svg or .png", path)
	}
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "step", "loss"
	color := 0
	line := func(name string, x, y []float64) error {
		pts := make(plotter.XYs, len(x))
		for i := range x {
			pts[i].X, pts[i].Y = x[i], y[i]
		}
		l, err := plotter.NewLine(pts)
		if err != nil {
			return err
		}
		l.Color = palette[color%len(palette)]
		color++
		p.Add(l)
		p.Legend.Add(name, l)
		return nil
	}
	for _, c := range curves {
		if err := line(fmt.Sprintf("run %d", c.run), c.steps, c.loss); err != nil {
			return err
		}
		if len(c.valids) > 1 {
			if err := line(fmt.Sprintf("run %d, validation", c.run), c.valSteps, c.valids); err != nil {
				return err
			}
		}
	}
	p.Legend.Top = true
	return p.Save(16*vg.Centimeter, 10*vg.Centimeter, path)
}
