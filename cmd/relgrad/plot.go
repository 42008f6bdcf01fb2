package main

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/guptarohit/asciigraph"
	"golang.org/x/term"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
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
	var look look
	fs.BoolVar(&look.log, "log", false, "draw figures on a logarithmic axis")
	fs.BoolVar(&look.robust, "robust", false, "let the axis hold 98 % of the figures: a spike does not flatten the rest")
	fs.Float64Var(&look.smooth, "smooth", 0, "draw means over the steps before, of weights that fall by `W` a step")
	only := fs.String("metric", "", "draw these `FIGURES` only: loss, validation, or columns of validate, such as "+
		"loss,rmse")
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	if err := t.needed(c, fs); err != nil {
		return err
	}
	if !(look.smooth >= 0 && look.smooth < 1) {
		return sqlerr.New(sqlerr.InvalidParameter, "--smooth is %v, not from 0 up to below 1", look.smooth)
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
	var figures []*runFigures
	for i, run := range runs {
		if slices.Contains(runs[:i], run) {
			return sqlerr.New(sqlerr.InvalidParameter, "run %d is named twice", run)
		}
		f, err := loadFigures(ctx, db, run)
		if err != nil {
			return err
		}
		figures = append(figures, f)
	}
	lines, err := wanted(figures, *only, os.Stderr)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return sqlerr.New(sqlerr.UndefinedObject, "the runs have no finite figures to draw").
			WithHint("Without --metric all figures are drawn.")
	}
	if err := look.apply(lines); err != nil {
		return err
	}
	if *out != "" {
		return drawFile(*out, lines, look)
	}
	return drawTerminal(os.Stdout, lines, look, term.IsTerminal(int(os.Stdout.Fd())))
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

// runFigures are the figures of a run's steps.
type runFigures struct {
	run   int64
	title string
	all   []*series
	first []*series // the validation by the name of its column
}

// loadFigures reads the figures of a run's steps.
func loadFigures(ctx context.Context, db *engine, run int64) (*runFigures, error) {
	figures, err := figuresOf(ctx, db)
	if err != nil {
		return nil, err
	}
	res, err := db.RunSQL(ctx, fmt.Sprintf("SELECT run.name, loss.step, %s FROM relgrad.loss "+
		"JOIN relgrad.run USING (run) WHERE run = %d ORDER BY loss.step",
		strings.Join(lists.Map(figures, qualified), ", "), run))
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "run %d does not exist or has no steps", run).
			WithHint("relgrad runs lists the runs.")
	}
	out := &runFigures{run: run, title: fmt.Sprintf("run %d", run)}
	if name, ok := res.Rows[0][0].(string); ok {
		out.title += " (" + name + ")"
	}
	out.all = lists.Map(figures, func(f string) *series { return &series{name: f} })
	for i := range figures {
		for _, r := range res.Rows {
			out.all[i].add(r[1], r[2+i])
		}
	}
	first, others, err := loadValidation(ctx, db, run)
	if err != nil {
		return nil, err
	}
	out.all, out.first = append(out.all, others...), first
	return out, nil
}

// named finds a figure by its name; nil: the run has none. The validation has the name of its column, too.
func (r *runFigures) named(name string) *series {
	for _, l := range slices.Concat(r.all, r.first) {
		if l.name == name && len(l.x) > 0 {
			return l
		}
	}
	return nil
}

// wanted are the lines of the figures that are wanted, all if only is empty. A run that has none of them, where another
// one has, is said to have none.
func wanted(runs []*runFigures, only string, say io.Writer) (out []series, err error) {
	var known []string
	for _, r := range runs {
		for _, l := range slices.Concat(r.all, r.first) {
			if len(l.x) > 0 && !slices.Contains(known, l.name) {
				known = append(known, l.name)
			}
		}
	}
	names := strings.Split(only, ",")
	for _, w := range names {
		if only != "" && !slices.Contains(known, w) {
			return nil, sqlerr.New(sqlerr.InvalidParameter, "there is no figure %q", w).
				WithHint("The steps have %s.", strings.Join(known, ", "))
		}
	}
	for _, r := range runs {
		lines := r.all
		if only != "" {
			lines = lists.Map(names, r.named)
		}
		for i, l := range lines {
			switch {
			case l == nil:
				fmt.Fprintf(say, "NOTICE:  run %d has no figure %q\n", r.run, names[i])
			case len(l.x) > 0:
				out = append(out, series{name: r.title + ", " + l.name, x: l.x, y: l.y})
			}
		}
	}
	return out, nil
}

// add adds a figure of a step, if it is finite.
func (s *series) add(step, figure any) {
	if v, ok := figure.(float64); ok && !math.IsInf(v, 0) {
		s.x, s.y = append(s.x, float64(step.(int64))), append(s.y, v)
	}
}

// loadValidation reads the columns of a run's validation: the first, which is validation in relgrad.loss, and those
// beside it.
func loadValidation(ctx context.Context, db *engine, run int64) (first, others []*series, err error) {
	res, err := db.RunSQL(ctx, fmt.Sprintf("SELECT step, position, name, value FROM relgrad.validation WHERE run = %d "+
		"ORDER BY step, position", run))
	if err != nil {
		return nil, nil, err
	}
	for _, r := range res.Rows {
		to, name := &others, r[2].(string)
		if r[1] == int64(1) {
			to = &first
		}
		at := slices.IndexFunc(*to, func(s *series) bool { return s.name == name })
		if at < 0 {
			at, *to = len(*to), append(*to, &series{name: name})
		}
		(*to)[at].add(r[0], r[3])
	}
	return first, others, nil
}

func qualified(figure string) string { return "loss." + sqltext.Ident(figure) }

// figuresOf are the columns of relgrad.loss that are figures of steps.
func figuresOf(ctx context.Context, db *engine) (all []string, err error) {
	res, err := db.RunSQL(ctx, "SELECT * FROM relgrad.loss LIMIT 0")
	if err != nil {
		return nil, err
	}
	for _, c := range res.Cols {
		if c.Type == "double precision" {
			all = append(all, c.Name)
		}
	}
	return all, nil
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
func drawTerminal(w io.Writer, lines []series, look look, color bool) error {
	first, last := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		first, last = min(first, l.x[0]), max(last, l.x[len(l.x)-1])
	}
	first, last = roundAxis(first, last, axisTicks-1)
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
		legend = append(legend, fmt.Sprintf("%s %s: %.5g to %.5g", marks[i%len(marks)], lines[i].name, look.shown(y[0]),
			look.shown(y[len(y)-1])))
	}
	opt := []asciigraph.Option{asciigraph.Height(14), asciigraph.SeriesChars(sets...)}
	if last > first {
		opt = append(opt, asciigraph.XAxisRange(first, last), asciigraph.XAxisTickCount(axisTicks),
			asciigraph.XAxisValueFormatter(func(x float64) string { return strconv.Itoa(int(math.Round(x))) }))
	}
	if look.log {
		opt = append(opt, asciigraph.YAxisValueFormatter(func(y float64) string {
			return fmt.Sprintf("%.3g", look.shown(y))
		}))
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
func drawFile(path string, lines []series, look look) error {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "step", strings.Join(kinds(lines), ", ")
	p.Add(plotter.NewGrid())
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	if look.log {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	}
	for i, s := range lines {
		pts := make(plotter.XYs, len(s.x))
		for k := range s.x {
			pts[k].X, pts[k].Y = s.x[k], look.shown(s.y[k])
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
	if err := save(p, path); err != nil {
		return sqlerr.New(sqlerr.IO, "could not write %s", path).Wrap(err)
	}
	return nil
}

// save writes a picture with its legend above it, where it hides no line.
func save(p *plot.Plot, path string) error {
	const width, height, gap = 16 * vg.Centimeter, 10 * vg.Centimeter, vg.Length(4)
	legend := p.Legend
	legend.Top, legend.Left, legend.Padding, legend.XOffs, p.Legend = true, true, gap, gap, plot.NewLegend()
	room := gap + legend.Rectangle(draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: height}}}).Size().Y
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	c, err := draw.NewFormattedCanvas(width, height+room, format)
	if err != nil {
		return err
	}
	whole := draw.New(c)
	whole.SetColor(p.BackgroundColor)
	whole.Fill(whole.Rectangle.Path())
	p.Draw(draw.Crop(whole, 0, 0, 0, -room))
	legend.Draw(whole)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = c.WriteTo(f)
	return errors.Join(err, f.Close())
}

// look is how figures are drawn.
type look struct {
	log, robust bool
	smooth      float64
}

// axisTicks is the number of steps that are written below the picture in the terminal.
const axisTicks = 5

// apply makes the figures of lines what is drawn: means, logarithms, at most the bounds of a robust axis.
func (l look) apply(lines []series) error {
	for i := range lines {
		lines[i].y = smoothed(lines[i].y, l.smooth)
	}
	if l.log {
		for i := range lines {
			if err := logarithms(&lines[i]); err != nil {
				return err
			}
		}
	}
	if l.robust {
		lo, hi := mostOf(lines)
		for _, s := range lines {
			for k, y := range s.y {
				s.y[k] = min(max(y, lo), hi)
			}
		}
	}
	return nil
}

// shown is a drawn figure as it is written.
func (l look) shown(y float64) float64 {
	if l.log {
		return math.Pow(10, y)
	}
	return y
}

// smoothed are means over all figures before, of weights that fall by a factor w: the sums are divided by those of the
// weights, so that the first figures count in full.
func smoothed(y []float64, w float64) []float64 {
	out, sum, weight := make([]float64, len(y)), 0.0, 0.0
	for i, v := range y {
		sum, weight = w*sum+v, w*weight+1
		out[i] = sum / weight
	}
	return out
}

// logarithms takes the logarithms of a line's figures and leaves out those that have none.
func logarithms(s *series) error {
	out := series{name: s.name}
	for i, y := range s.y {
		if y > 0 {
			out.x, out.y = append(out.x, s.x[i]), append(out.y, math.Log10(y))
		}
	}
	if len(out.x) == 0 {
		return sqlerr.New(sqlerr.InvalidParameter, "%s has no positive figure, so it has no logarithmic axis", s.name)
	}
	*s = out
	return nil
}

// mostOf are bounds that hold all figures but a hundredth above and below.
func mostOf(lines []series) (lo, hi float64) {
	var all []float64
	for _, s := range lines {
		all = append(all, s.y...)
	}
	slices.Sort(all)
	skip := len(all) / 100
	return all[skip], all[len(all)-1-skip]
}

// roundAxis widens an axis of steps so that its marks, which divide it into so many parts, stand at round steps.
func roundAxis(first, last float64, parts int) (from, to float64) {
	if last <= first {
		return first, last
	}
	from = first
	if first <= (last-first)/10 {
		from = 0
	}
	width := (last - from) / float64(parts)
	unit := math.Pow(10, math.Floor(math.Log10(width)))
	for _, f := range []float64{1, 2, 2.5, 5, 10} {
		mark := math.Max(1, f*unit)
		from := math.Floor(from/mark) * mark
		if mark == math.Trunc(mark) && from+mark*float64(parts) >= last {
			return from, from + mark*float64(parts)
		}
	}
	return first, last
}

// kinds are the figures that lines show.
func kinds(lines []series) (out []string) {
	for _, l := range lines {
		if k := l.name[strings.LastIndex(l.name, ", ")+2:]; !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// roundTicks are about five round numbers of an axis.
func roundTicks(lo, hi float64) (out []plot.Tick) {
	if !(hi > lo) {
		return []plot.Tick{{Value: lo, Label: strconv.FormatFloat(lo, 'g', 4, 64)}}
	}
	unit := math.Pow(10, math.Floor(math.Log10((hi-lo)/3)))
	for _, f := range []float64{1, 2, 5} {
		if (hi-lo)/(f*unit) <= 7 {
			unit *= f
			break
		}
	}
	for k := math.Ceil(lo / unit); k*unit <= hi; k++ {
		out = append(out, plot.Tick{Value: k * unit, Label: strconv.FormatFloat(k*unit, 'g', 6, 64)})
	}
	return out
}

// logTicks are the powers of ten of a logarithmic axis; round numbers, where it has less than two of them.
func logTicks(lo, hi float64) (out []plot.Tick) {
	for e := math.Ceil(math.Log10(lo)); e <= math.Log10(hi); e++ {
		out = append(out, plot.Tick{Value: math.Pow(10, e), Label: fmt.Sprintf("%g", math.Pow(10, e))})
	}
	if len(out) < 2 {
		return roundTicks(lo, hi)
	}
	return out
}
