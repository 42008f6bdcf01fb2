package main

import (
	"context"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/guptarohit/asciigraph"
	"golang.org/x/term"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

var plotCommand = command{name: "plot", args: "--store FILE | --db DSN [-o FILE.svg|FILE.png] [RUN…]", run: plotRuns,
	summary: "Draw loss and validation of runs (default: the last) in one picture, in the terminal or " +
		"into an SVG or PNG file."}

// series is one line of the picture.
type series struct {
	name string
	x, y []float64 // steps, rising, and figures
}

func plotRuns(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var t target
	t.storeFlags(fs)
	out := fs.String("o", "", "draw into `FILE`, which ends in .svg or .png")
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	if err := t.needed(c, fs); err != nil {
		return err
	}
	if ext := strings.ToLower(filepath.Ext(*out)); *out != "" && ext != ".svg" && ext != ".png" {
		return sqlerr.New(sqlerr.InvalidParameter, "cannot draw into %s: the name must end in .svg or .png", *out)
	}
	db, err := t.openOld(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	runs, err := runNumbers(rest)
	if err == nil && len(runs) == 0 {
		runs, err = lastRun(ctx, db)
	}
	if err != nil {
		return err
	}
	var lines []series
	for i, run := range runs {
		more, err := loadSeries(ctx, db, run)
		if err != nil {
			return err
		}
		for _, r := range runs[:i] {
			if r == run {
				return sqlerr.New(sqlerr.InvalidParameter, "run %d is named twice", run)
			}
		}
		lines = append(lines, more...)
	}
	if *out != "" {
		return drawFile(*out, lines)
	}
	return drawTerminal(os.Stdout, lines, term.IsTerminal(int(os.Stdout.Fd())))
}

func runNumbers(args []string) ([]int64, error) {
	var out []int64
	for _, a := range args {
		id, err := strconv.ParseInt(a, 10, 64)
		if err != nil {
			return nil, sqlerr.New(sqlerr.InvalidText, "run %q is not a number", a)
		}
		out = append(out, id)
	}
	return out, nil
}

func lastRun(ctx context.Context, db *engine) ([]int64, error) {
	res, err := db.RunSQL(ctx, "SELECT max(run) FROM relgrad.loss")
	if err != nil {
		return nil, err
	}
	last, ok := res.Rows[0][0].(int64)
	if !ok {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "there is no run with steps").WithHint("CALL train(…) makes one.")
	}
	return []int64{last}, nil
}

// loadSeries reads a run's losses, and its validations where it has some.
func loadSeries(ctx context.Context, db *engine, run int64) ([]series, error) {
	res, err := db.RunSQL(ctx,
		fmt.Sprintf("SELECT step, loss, validation FROM relgrad.loss WHERE run = %d ORDER BY step", run))
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "run %d does not exist or has no steps", run).
			WithHint("relgrad runs lists the runs.")
	}
	loss, validation := series{name: fmt.Sprintf("run %d, loss", run)},
		series{name: fmt.Sprintf("run %d, validation", run)}
	for _, r := range res.Rows {
		step := float64(r[0].(int64))
		loss.x, loss.y = append(loss.x, step), append(loss.y, r[1].(float64))
		if v, ok := r[2].(float64); ok && !math.IsInf(v, 0) {
			validation.x, validation.y = append(validation.x, step), append(validation.y, v)
		}
	}
	if len(validation.x) == 0 {
		return []series{loss}, nil
	}
	return []series{loss, validation}, nil
}

// columns is the width of the picture in the terminal.
const columns = 72

// at is the line's value at a step, interpolated; NaN before the first step and after the last.
func (s *series) at(x float64) float64 {
	n := len(s.x)
	if x < s.x[0] || x > s.x[n-1] {
		return math.NaN()
	}
	for i := 1; i < n; i++ {
		if x <= s.x[i] {
			f := (x - s.x[i-1]) / (s.x[i] - s.x[i-1])
			return s.y[i-1] + f*(s.y[i]-s.y[i-1])
		}
	}
	return s.y[n-1]
}

// marks draw the lines of a picture; colors help on a terminal.
var (
	marks  = []string{"─", "*", "+", "o", "x", "#", "%", "@"}
	colors = []asciigraph.AnsiColor{asciigraph.Blue, asciigraph.Red, asciigraph.Green, asciigraph.Magenta,
		asciigraph.Goldenrod, asciigraph.Cyan}
)

// drawTerminal draws all lines over a common axis of steps.
func drawTerminal(w io.Writer, lines []series, color bool) error {
	first, last := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		first, last = min(first, l.x[0]), max(last, l.x[len(l.x)-1])
	}
	data := make([][]float64, len(lines))
	var sets []asciigraph.CharSet
	var inks []asciigraph.AnsiColor
	var legend []string
	for i := range lines {
		for c := range columns {
			data[i] = append(data[i], lines[i].at(first+(last-first)*float64(c)/(columns-1)))
		}
		if i == 0 {
			sets = append(sets, asciigraph.DefaultCharSet)
		} else {
			sets = append(sets, asciigraph.CreateCharSet(marks[i%len(marks)]))
		}
		inks = append(inks, colors[i%len(colors)])
		y := lines[i].y
		legend = append(legend, fmt.Sprintf("%s %s: %.5g to %.5g", marks[i%len(marks)], lines[i].name, y[0], y[len(y)-1]))
	}
	opt := []asciigraph.Option{asciigraph.Height(14), asciigraph.SeriesChars(sets...)}
	if last > first {
		opt = append(opt, asciigraph.XAxisRange(first, last), asciigraph.XAxisTickCount(5),
			asciigraph.XAxisValueFormatter(func(x float64) string { return strconv.Itoa(int(math.Round(x))) }))
	}
	if color {
		opt = append(opt, asciigraph.SeriesColors(inks...))
	}
	_, err := fmt.Fprintf(w, "%s\n\n  %s\n", asciigraph.PlotMany(data, opt...), strings.Join(legend, "\n  "))
	return err
}

// palette is that of Okabe and Ito, which can be read with any colour vision.
var palette = []color.Color{
	color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255},
	color.RGBA{204, 121, 167, 255},
	color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{0, 0, 0, 255},
}

// drawFile draws all lines into an SVG or PNG file.
func drawFile(path string, lines []series) error {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "step", "loss"
	for i, s := range lines {
		pts := make(plotter.XYs, len(s.x))
		for k := range s.x {
			pts[k].X, pts[k].Y = s.x[k], s.y[k]
		}
		l, points, err := plotter.NewLinePoints(pts)
		if err != nil {
			return sqlerr.New(sqlerr.NumericOutOfRange, "%s cannot be drawn: %v", s.name, err).Wrap(err)
		}
		l.Color = palette[i%len(palette)]
		p.Add(l)
		if len(pts) == 1 { // a line of one point is invisible
			points.Color = l.Color
			p.Add(points)
		}
		p.Legend.Add(s.name, l)
	}
	p.Legend.Top = true
	if err := p.Save(16*vg.Centimeter, 10*vg.Centimeter, path); err != nil {
		return sqlerr.New(sqlerr.IO, "could not write %s", path).Wrap(err)
	}
	return nil
}
