package board

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqltext"
)

// steps are the figures of a run, by step.
type steps struct {
	started string
	at      []int64     // steps, rising
	of      [][]float64 // by metric, then by step; NaN: there is none
	beside  []trace     // columns of the validation beside its first
}

// mostKept bounds the steps that are kept between requests: 16 bytes and more each.
const mostKept = 4 << 20

// mostCurves bounds the runs of one chart.
const mostCurves = 200

// figure is a number in JSON: nine digits, null where it is none.
type figure float64

// MarshalJSON implements json.Marshaler.
func (f figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(f), 'g', 9, 64), nil
}

// chart is the answer of /api/curves: lines over a common axis of steps.
type chart struct {
	Steps [2]int64 `json:"steps"` // the first and last step of all lines
	X     []figure `json:"x"`
	Lines []curve  `json:"lines"`
}

// curve is a run's metric, a figure for each place of the axis.
type curve struct {
	Run    int64    `json:"run"`
	Metric string   `json:"metric"`
	Y      []figure `json:"y"`
}

// curves reads lines for a chart: ?run=1,2&points=1200&from=…&to=…&smooth=0.9&metric=loss,validation.
func (b *Board) curves(r *http.Request) (any, error) {
	ids, err := numbers(r, "run", mostCurves)
	if err != nil {
		return nil, err
	}
	var given [4]float64
	for i, p := range []struct {
		name             string
		def, least, most float64
	}{{"points", 1200, 10, 20000}, {"from", math.Inf(-1), 0, 1 << 53}, {"to", math.Inf(1), 0, 1 << 53},
		{"smooth", 0, 0, 0.9999}} {
		if given[i], err = number(r, p.name, p.def, p.least, p.most); err != nil {
			return nil, err
		}
	}
	var names []string
	var read []*steps
	err = b.quick.use(r.Context(), func(s *Session) (err error) {
		names, read, err = b.read(r.Context(), s, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	lines, shown := []trace{}, strings.Split(r.URL.Query().Get("metric"), ",")
	for i, st := range read {
		for m, name := range names {
			if shown[0] != "" && !slices.Contains(shown, name) {
				continue
			}
			at, y := defined(st.at, st.of[m])
			if len(at) > 0 {
				lines = append(lines, trace{ids[i], name, at, smoothed(y, given[3])})
			}
		}
		for _, l := range st.beside {
			at, y := defined(l.at, l.y)
			if len(at) > 0 && (shown[0] == "" || slices.Contains(shown, l.metric)) {
				lines = append(lines, trace{ids[i], l.metric, at, smoothed(y, given[3])})
			}
		}
	}
	return drawLines(lines, given[1], given[2], int(given[0])), nil
}

// trace is a curve before it is thinned out.
type trace struct {
	run    int64
	metric string
	at     []int64
	y      []float64
}

// defined leaves out steps without a figure.
func defined(at []int64, y []float64) (steps []int64, figures []float64) {
	for i, v := range y {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			steps, figures = append(steps, at[i]), append(figures, v)
		}
	}
	return steps, figures
}

// smoothed is the exponential moving average with that weight of the past; the first figures are not drawn to zero.
func smoothed(y []float64, weight float64) []float64 {
	if weight == 0 {
		return y
	}
	out, sum, norm := make([]float64, len(y)), 0.0, 0.0
	for i, v := range y {
		sum, norm = weight*sum+(1-weight)*v, weight*norm+(1-weight)
		out[i] = sum / norm
	}
	return out
}

// drawLines puts lines over a common axis. Where the axis has more steps than points, two places stand for an interval
// of steps, and a line has its least and its greatest figure there, in the order in which they come.
func drawLines(lines []trace, from, to float64, points int) *chart {
	out := &chart{X: []figure{}, Lines: []curve{}}
	if len(lines) == 0 {
		return out
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, l := range lines {
		first, last = min(first, l.at[0]), max(last, l.at[len(l.at)-1])
	}
	out.Steps = [2]int64{first, last}
	lo, hi := first, last
	if from > float64(lo) {
		lo = min(int64(from), last)
	}
	if to < float64(hi) {
		hi = max(int64(math.Ceil(to)), lo)
	}
	width := int64(1) // steps of a place
	if n := hi - lo + 1; n > int64(points) {
		width = 2 * ((n + int64(points) - 1) / int64(points))
	}
	places := int((hi-lo)/width) + 1
	if width > 1 {
		places *= 2
	}
	for i := range places {
		x := float64(lo) + float64(i)
		if width > 1 {
			x = float64(lo) + float64(width)*(float64(i)+0.5)/2
		}
		out.X = append(out.X, figure(x))
	}
	for _, l := range lines {
		y := slices.Repeat([]figure{figure(math.NaN())}, places)
		begin, _ := slices.BinarySearch(l.at, lo)
		end, _ := slices.BinarySearch(l.at, hi+1)
		thinned(y, l.at[begin:end], l.y[begin:end], lo, width)
		out.Lines = append(out.Lines, curve{l.run, l.metric, y})
	}
	out.drop()
	return out
}

// thinned fills the places of a line.
func thinned(to []figure, at []int64, y []float64, lo, width int64) {
	if width == 1 {
		for i, step := range at {
			to[step-lo] = figure(y[i])
		}
		return
	}
	for i := 0; i < len(at); {
		place := (at[i] - lo) / width
		least, most, end := i, i, i
		for ; end < len(at) && (at[end]-lo)/width == place; end++ {
			if y[end] < y[least] {
				least = end
			}
			if y[end] > y[most] {
				most = end
			}
		}
		to[2*place] = figure(y[min(least, most)])
		if least != most {
			to[2*place+1] = figure(y[max(least, most)])
		}
		i = end
	}
}

// drop leaves out places at which no line has a figure.
func (c *chart) drop() {
	var kept []int
	for i := range c.X {
		if slices.ContainsFunc(c.Lines, func(l curve) bool { return !math.IsNaN(float64(l.Y[i])) }) {
			kept = append(kept, i)
		}
	}
	pick := func(v []figure) []figure { return lists.Map(kept, func(i int) figure { return v[i] }) }
	c.X = pick(c.X)
	for i := range c.Lines {
		c.Lines[i].Y = pick(c.Lines[i].Y)
	}
}

// read returns the steps of runs, of which it reads those that are not kept.
func (b *Board) read(ctx context.Context, s *Session, ids []int64) ([]string, []*steps, error) {
	names, err := metrics(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	b.runs.Lock()
	defer b.runs.Unlock()
	var out []*steps
	for _, id := range ids {
		st, err := b.readRun(ctx, s, id, names)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, st)
	}
	if b.runs.stored > mostKept {
		b.runs.steps, b.runs.stored = map[int64]*steps{}, 0
	}
	return names, out, nil
}

// readRun reads the steps of a run that have been stored since it was last read; all, if those that are kept are not
// what is stored.
func (b *Board) readRun(ctx context.Context, s *Session, id int64, names []string) (*steps, error) {
	res, err := s.RunSQL(ctx, fmt.Sprintf("SELECT started::text FROM relgrad.run WHERE run = %d", id))
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, noRun(id)
	}
	started, _ := res.Rows[0][0].(string)
	st := b.runs.steps[id]
	if st != nil && len(st.at) > 0 {
		res, err := s.RunSQL(ctx, fmt.Sprintf("SELECT count(*) FROM relgrad.loss WHERE run = %d AND step <= %d", id,
			st.at[len(st.at)-1]))
		if err != nil {
			return nil, err
		}
		if res.Rows[0][0] != int64(len(st.at)) {
			st = nil
		}
	}
	if st == nil || st.started != started || len(st.of) != len(names) {
		st = &steps{started: started, of: make([][]float64, len(names))}
	}
	after := int64(math.MinInt64)
	if len(st.at) > 0 {
		after = st.at[len(st.at)-1]
	}
	where := fmt.Sprintf("WHERE run = %d", id)
	if after > math.MinInt64 {
		where += fmt.Sprintf(" AND step > %d", after)
	}
	if res, err = s.RunSQL(ctx, fmt.Sprintf("SELECT step, %s FROM relgrad.loss %s ORDER BY step",
		strings.Join(lists.Map(names, sqltext.Ident), ", "), where)); err != nil {
		return nil, err
	}
	// What others read is not changed: a chart may still be made of it.
	next := &steps{started: started, at: slices.Clip(st.at), of: lists.Map(st.of, slices.Clip)}
	for _, row := range res.Rows {
		next.at = append(next.at, row[0].(int64))
		for m := range names {
			x, ok := row[1+m].(float64)
			if !ok {
				x = math.NaN()
			}
			next.of[m] = append(next.of[m], x)
		}
	}
	read, err := next.readBeside(ctx, s, st, id, where)
	if err != nil {
		return nil, err
	}
	b.runs.stored += len(res.Rows) + read
	b.runs.steps[id] = next
	return next, nil
}

// readBeside reads the columns of the validation beside its first, of steps behind those of before, and counts them.
func (st *steps) readBeside(ctx context.Context, s *Session, before *steps, id int64, where string) (int, error) {
	last := int64(math.MaxInt64) // what came since the losses were read is read the next time
	if len(st.at) > 0 {
		last = st.at[len(st.at)-1]
	}
	res, err := s.RunSQL(ctx, fmt.Sprintf("SELECT step, name, value FROM relgrad.validation %s AND step <= %d "+
		"AND position > 1 ORDER BY step, position", where, last))
	if err != nil {
		return 0, err
	}
	st.beside = lists.Map(before.beside, func(l trace) trace {
		return trace{l.run, l.metric, slices.Clip(l.at), slices.Clip(l.y)}
	})
	for _, row := range res.Rows {
		name, _ := row[1].(string)
		at := slices.IndexFunc(st.beside, func(l trace) bool { return l.metric == name })
		if at < 0 {
			at, st.beside = len(st.beside), append(st.beside, trace{run: id, metric: name})
		}
		if x, ok := row[2].(float64); ok {
			l := &st.beside[at]
			l.at, l.y = append(l.at, row[0].(int64)), append(l.y, x)
		}
	}
	return len(res.Rows), nil
}
