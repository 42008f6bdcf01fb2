package functions

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/store/numeric"
	"github.com/relgrad/relgrad/tensor"
)

type aggregateDef struct {
	n     int
	state func() lite.State
}

// noInverse is embedded by aggregates that cannot remove a row: over frames they are the state of framed.
type noInverse struct{}

// Inverse is never called.
func (noInverse) Inverse([]lite.Cell) error {
	return sqlerr.New(sqlerr.Internal, "internal error: an aggregate that keeps no rows is to remove one")
}

// framed is an aggregate over frames that cannot remove a row. It keeps the rows of the frame, which leave it in the
// order in which they came, and after one has left adds up the others anew.
type framed struct {
	state func() lite.State
	now   lite.State // of the rows, where it is not stale
	rows  [][]lite.Cell
	stale bool // a row has left since
}

// Step adds a row.
func (s *framed) Step(a []lite.Cell) error {
	s.rows = append(s.rows, lite.Copies(a))
	if s.stale {
		return nil
	}
	return s.now.Step(a)
}

// Inverse removes the first row.
func (s *framed) Inverse([]lite.Cell) error {
	s.rows, s.stale = s.rows[1:], true
	return nil
}

// Heavy implements lite.Heavy.
func (s *framed) Heavy() bool {
	h, ok := s.now.(lite.Heavy)
	return ok && h.Heavy()
}

// Value is that of the rows of the frame.
func (s *framed) Value(r lite.Result) error {
	if s.stale {
		s.now, s.stale = s.state(), false
		for _, a := range s.rows {
			if err := s.now.Step(a); err != nil {
				return err
			}
		}
	}
	return s.now.Value(r)
}

// aggregateStates are the aggregates written in Go; their SQL names begin with "rg_".
var aggregateStates = map[string]aggregateDef{
	"sum_int":        {1, func() lite.State { return &numSum{} }},
	"sum_numeric":    {1, func() lite.State { return &numSum{} }},
	"avg_int":        {1, func() lite.State { return &numSum{avg: true} }},
	"avg_numeric":    {1, func() lite.State { return &numSum{avg: true} }},
	"spread":         {2, func() lite.State { return &spread{} }},
	"spread_numeric": {2, func() lite.State { return &numSpread{} }},
	"corr":           {3, func() lite.State { return &corr{} }},
	"percentile":     {4, func() lite.State { return &percentile{} }},
	"product":        {1, func() lite.State { return &product{x: 1} }},
	"bit_and":        {1, func() lite.State { return &bits{and: true} }},
	"bit_or":         {1, func() lite.State { return &bits{} }},
	"vector_agg":     {4, func() lite.State { return &scatter{} }},
	"accuracy":       {2, func() lite.State { return &accuracy{} }},
	"rmse":           {2, func() lite.State { return &rootMean{} }},
	"log_loss":       {2, func() lite.State { return &logLoss{} }},
	"f1":             {2, func() lite.State { return &f1{} }},
	"auc":            {2, func() lite.State { return &auc{} }},
	"ndcg":           {3, func() lite.State { return &ndcg{} }},
	"chunk_sum":      {1, func() lite.State { return &fold{op: "sum"} }},
	"chunk_avg":      {1, func() lite.State { return &fold{op: "avg"} }},
	"chunk_max":      {1, func() lite.State { return &fold{op: "max_agg"} }},
	"chunk_min":      {1, func() lite.State { return &fold{op: "min_agg"} }},
}

// numSum is sum and avg with exact results. Integers are added in a machine word while they fit.
type numSum struct {
	avg     bool
	n, fast int64
	big     numeric.Num
	scales  map[int]int64 // values by their number of decimals; the sum has the largest
}

func (s *numSum) add(a []lite.Cell, sign int64) error {
	if a[0].IsNull() {
		return nil
	}
	s.n += sign
	if a[0].Kind() == lite.Integer {
		if x := sign * a[0].Int(); x < 1<<61 && x > -1<<61 {
			if s.fast += x; s.fast > 1<<61 || s.fast < -1<<61 {
				s.big, s.fast = s.big.Add(numeric.Int(s.fast)), 0
			}
			return nil
		}
	}
	x, err := columns.NumericOf(&a[0])
	if s.scales == nil {
		s.scales = map[int]int64{}
	}
	s.scales[x.Scale()] += sign
	if sign < 0 {
		x = x.Neg()
	}
	s.big = s.big.Add(x)
	return err
}

// Step adds a value.
func (s *numSum) Step(a []lite.Cell) error { return s.add(a, 1) }

// Inverse removes a value.
func (s *numSum) Inverse(a []lite.Cell) error { return s.add(a, -1) }

// Value is NULL for no rows.
func (s *numSum) Value(r lite.Result) error {
	if s.n == 0 {
		return nil
	}
	scale := 0
	for n, k := range s.scales {
		if k > 0 {
			scale = max(scale, n)
		}
	}
	x := s.big.Add(numeric.Int(s.fast)).Trunc(scale)
	if s.avg {
		var err error
		if x, err = x.Div(numeric.Int(s.n)); err != nil {
			return err
		}
	}
	r.Text(x.String())
	return nil
}

// spread is variance and standard deviation of floats by the method of Youngs and Cramer, as in Postgres.
type spread struct {
	noInverse
	n, sum, sq float64
	infinite   bool // some value was infinite or NaN
	kind       string
}

// Step adds a value.
func (s *spread) Step(a []lite.Cell) error {
	if s.kind == "" {
		s.kind = a[1].String()
	}
	if a[0].IsNull() {
		return nil
	}
	x := a[0].Float()
	s.n++
	s.sum += x
	s.infinite = s.infinite || !finite(x)
	if s.n > 1 {
		t := x*s.n - s.sum
		s.sq += t * t / (s.n * (s.n - 1))
	}
	return overflowed(s.infinite, s.sum, s.sq)
}

func finite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

// overflowed is the error of a sum that is infinite although no value is.
func overflowed(infinite bool, sums ...float64) error {
	for _, x := range sums {
		if !infinite && !finite(x) {
			return sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: overflow")
		}
	}
	return nil
}

// giveStatistic returns a statistic, NaN if some value was not finite.
func giveStatistic(r lite.Result, x float64, infinite bool) error {
	if infinite || math.IsNaN(x) {
		return sqlerr.New(sqlerr.NumericOutOfRange, "the result is NaN, which a scalar of the embedded store cannot be").
			WithHint("Leave infinities out: FILTER (WHERE abs(x) < 'infinity').")
	}
	r.Float(x)
	return nil
}

// Value returns the statistic.
func (s *spread) Value(r lite.Result) error {
	n := s.n
	switch s.kind {
	case "var_samp", "stddev_samp":
		n--
	}
	if n <= 0 {
		return nil
	}
	v := s.sq / n
	if s.kind == "stddev_pop" || s.kind == "stddev_samp" {
		v = math.Sqrt(v)
	}
	return giveStatistic(r, v, s.infinite)
}

// numSpread is variance and standard deviation of integers and numerics, exactly.
type numSpread struct {
	noInverse
	n         int64
	sum, sum2 numeric.Num
	kind      string
}

// Step adds a value.
func (s *numSpread) Step(a []lite.Cell) error {
	if s.kind == "" {
		s.kind = a[1].String()
	}
	if a[0].IsNull() {
		return nil
	}
	x, err := columns.NumericOf(&a[0])
	s.n, s.sum, s.sum2 = s.n+1, s.sum.Add(x), s.sum2.Add(x.Mul(x))
	return err
}

// Value returns the statistic.
func (s *numSpread) Value(r lite.Result) error {
	sample := s.kind == "var_samp" || s.kind == "stddev_samp"
	if v, ok := numeric.Spread(s.n, s.sum, s.sum2, sample, s.kind == "var_samp" || s.kind == "var_pop"); ok {
		r.Text(v.String())
	}
	return nil
}

// corr is correlation, covariance and simple regression (first argument y, second x).
type corr struct {
	noInverse
	n, sx, sy, sxx, syy, sxy float64
	infX, infY               bool // some value was infinite
	kind                     string
}

// Step adds a pair; a NULL in either skips it.
func (s *corr) Step(a []lite.Cell) error {
	if s.kind == "" {
		s.kind = a[2].String()
	}
	if a[0].IsNull() || a[1].IsNull() {
		return nil
	}
	y, x := a[0].Float(), a[1].Float()
	s.n++
	s.sx, s.sy = s.sx+x, s.sy+y
	s.infX, s.infY = s.infX || !finite(x), s.infY || !finite(y)
	if s.n > 1 {
		tx, ty, scale := x*s.n-s.sx, y*s.n-s.sy, 1/(s.n*(s.n-1))
		s.sxx, s.syy, s.sxy = s.sxx+tx*tx*scale, s.syy+ty*ty*scale, s.sxy+tx*ty*scale
	}
	return errors.Join(overflowed(s.infX, s.sx, s.sxx), overflowed(s.infY, s.sy, s.syy),
		overflowed(s.infX || s.infY, s.sxy))
}

// Value returns the statistic, NULL where it is undefined.
func (s *corr) Value(r lite.Result) error {
	none, x := s.n == 0, 0.0
	switch s.kind {
	case "covar_pop":
		x = s.sxy / s.n
	case "covar_samp":
		none = s.n < 2
		x = s.sxy / (s.n - 1)
	case "corr":
		none = none || s.sxx == 0 && !s.infX || s.syy == 0 && !s.infY
		x = s.sxy / math.Sqrt(s.sxx*s.syy)
	case "regr_slope":
		none = none || s.sxx == 0 && !s.infX
		x = s.sxy / s.sxx
	case "regr_intercept":
		none = none || s.sxx == 0 && !s.infX
		x = (s.sy - s.sx*s.sxy/s.sxx) / s.n
	default:
		return s.one(r)
	}
	if none {
		return nil
	}
	return giveStatistic(r, x, s.infX || s.infY)
}

// one returns a statistic of one side of the pairs, or of both, as Postgres has them.
func (s *corr) one(r lite.Result) error {
	if s.n == 0 {
		return nil
	}
	switch s.kind {
	case "regr_avgx":
		return giveStatistic(r, s.sx/s.n, s.infX)
	case "regr_avgy":
		return giveStatistic(r, s.sy/s.n, s.infY)
	case "regr_sxx":
		return giveStatistic(r, s.sxx, s.infX)
	case "regr_syy":
		return giveStatistic(r, s.syy, s.infY)
	case "regr_sxy":
		return giveStatistic(r, s.sxy, s.infX || s.infY)
	}
	if s.sxx == 0 && !s.infX { // regr_r2
		return nil
	}
	if s.syy == 0 && !s.infY {
		r.Float(1)
		return nil
	}
	return giveStatistic(r, s.sxy*s.sxy/(s.sxx*s.syy), s.infX || s.infY)
}

// product is the product of the numbers that are not NULL.
type product struct {
	noInverse
	x             float64
	any, infinite bool
}

// Step multiplies by a value. Postgres raises an error where the product of finite numbers is not finite or vanishes.
func (s *product) Step(a []lite.Cell) error {
	if a[0].IsNull() {
		return nil
	}
	x := a[0].Float()
	y := s.x * x
	s.any, s.infinite = true, s.infinite || !finite(x)
	if y == 0 && s.x != 0 && x != 0 && !s.infinite {
		return sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: underflow")
	}
	s.x = y
	return overflowed(s.infinite, y)
}

// Value is NULL for no rows.
func (s *product) Value(r lite.Result) error {
	if !s.any {
		return nil
	}
	return giveStatistic(r, s.x, math.IsNaN(s.x))
}

type bits struct {
	noInverse
	and, any bool
	x        int64
}

// Step adds a value.
func (s *bits) Step(a []lite.Cell) error {
	switch {
	case a[0].IsNull():
		return nil
	case !s.any:
		s.x = a[0].Int()
	case s.and:
		s.x &= a[0].Int()
	default:
		s.x |= a[0].Int()
	}
	s.any = true
	return nil
}

// Value is NULL for no rows.
func (s *bits) Value(r lite.Result) error {
	if s.any {
		r.Int(s.x)
	}
	return nil
}

// collect is array_agg: floats become a vector, chunks are stacked along a new first dimension.
type collect struct {
	noInverse
	typ   catalog.Type
	list  []any
	bytes int
}

// Step adds a value.
func (s *collect) Step(a []lite.Cell) error {
	x, err := columns.FromCell(&a[0], s.typ)
	if x == nil && catalog.NumberOrder[s.typ.Name] >= 5 && err == nil {
		return sqlerr.New(sqlerr.NullNotAllowed, "array_agg of %s cannot collect NULL", s.typ).
			WithHint("Add FILTER (WHERE x IS NOT NULL).")
	}
	if l, nested := x.([]any); s.typ.Array && err == nil && (x == nil || nested && len(l) == 0) {
		if x == nil {
			return sqlerr.New(sqlerr.NullNotAllowed, "cannot accumulate null arrays")
		}
		return sqlerr.New(sqlerr.ArraySubscript, "cannot accumulate empty arrays")
	}
	s.list = append(s.list, x)
	if s.bytes += columns.ElementBytes; a[0].Kind() == lite.Blob || a[0].Kind() == lite.Text {
		s.bytes += len(a[0].Bytes())
	}
	if s.bytes > columns.MaxState {
		return sqlerr.New(sqlerr.ProgramLimit, "array_agg: the array is larger than %d MiB after %d rows",
			columns.MaxState>>20, len(s.list))
	}
	return err
}

// Heavy implements lite.Heavy.
func (s *collect) Heavy() bool { return s.bytes > longBytes }

// Value is NULL for no rows.
func (s *collect) Value(r lite.Result) error {
	if s.list == nil {
		return nil
	}
	return giveArray(r, s.list, s.typ)
}

// scatter is vector_agg(index, value, size, real): a vector with value at index (from 0) and 0 elsewhere. Values at the
// same index are added.
type scatter struct {
	dtype tensor.DType
	rows  int
	x     []float64
}

const maxVector = 1 << 28 // elements

// Step adds a value; rows with a NULL index or value are skipped.
func (s *scatter) Step(a []lite.Cell) error { return s.add(a, 1) }

// Inverse removes a value.
func (s *scatter) Inverse(a []lite.Cell) error { return s.add(a, -1) }

func (s *scatter) add(a []lite.Cell, sign int) error {
	s.rows += sign
	if s.x == nil {
		if a[2].IsNull() || a[2].Int() < 1 || a[2].Int() > maxVector {
			return sqlerr.New(sqlerr.InvalidParameter, "vector_agg: size must be between 1 and %d", maxVector)
		}
		s.x = make([]float64, a[2].Int())
		if a[3].Int() != 0 {
			s.dtype = tensor.Float32
		}
	}
	if !a[2].IsNull() && int(a[2].Int()) != len(s.x) {
		return sqlerr.New(sqlerr.InvalidParameter, "vector_agg: sizes %d and %d in one group", len(s.x), a[2].Int())
	}
	if a[0].IsNull() || a[1].IsNull() {
		return nil
	}
	i := a[0].Int()
	if i < 0 || i >= int64(len(s.x)) {
		return sqlerr.New(sqlerr.ArraySubscript, "vector_agg: index %d is outside 0 … %d", i, len(s.x)-1).
			WithHint("Indices count from 0.")
	}
	s.x[i] += float64(sign) * a[1].Float()
	return nil
}

// Value is NULL for no rows.
func (s *scatter) Value(r lite.Result) error {
	if s.rows > 0 {
		giveChunk(r, s.dtype, tensor.Shape{len(s.x)}, s.x)
	}
	return nil
}

// fold is sum, avg, max_agg and min_agg of chunks, element by element in float64. NULL rows are skipped.
type fold struct {
	op    string
	head  []byte
	dtype tensor.DType
	shape tensor.Shape
	x     []float64
	n     float64
}

// Step adds a chunk.
func (s *fold) Step(a []lite.Cell) error { return s.add(a, 1) }

// Inverse removes a chunk from a sum.
func (s *fold) Inverse(a []lite.Cell) error {
	if s.op != "sum" && s.op != "avg" {
		return noInverse{}.Inverse(a)
	}
	return s.add(a, -1)
}

func (s *fold) add(a []lite.Cell, sign float64) error {
	if a[0].IsNull() {
		return nil
	}
	return s.addChunk(a[0].Bytes(), sign)
}

func (s *fold) addChunk(b []byte, sign float64) error {
	if s.head == nil {
		d, shape, _, err := tensor.Header(b)
		if err != nil {
			return sqlerr.New(sqlerr.DataCorrupted, "%v", err)
		}
		s.dtype, s.shape, s.x = d, shape, make([]float64, shape.Size())
		s.head = append([]byte(nil), b[:4+4*len(shape)]...)
	}
	if len(b) < len(s.head) || !bytes.Equal(b[:len(s.head)], s.head) {
		_, shape, _, err := tensor.Header(b)
		if err != nil {
			return sqlerr.New(sqlerr.DataCorrupted, "%v", err)
		}
		return sqlerr.New(sqlerr.ArraySubscript, "%s: chunks of shapes %v and %v cannot be combined", s.op, s.shape, shape)
	}
	s.n += sign
	switch p := b[len(s.head):]; {
	case s.op != "sum" && s.op != "avg":
		columns.EachFloat(p, s.dtype, s.combiner())
	case s.dtype == tensor.Float32:
		for i := range s.x {
			s.x[i] += sign * float64(math.Float32frombits(binary.LittleEndian.Uint32(p[4*i:])))
		}
	default:
		for i := range s.x {
			s.x[i] += sign * math.Float64frombits(binary.LittleEndian.Uint64(p[8*i:]))
		}
	}
	return nil
}

// combiner merges element i of a chunk into the maximum or minimum.
func (s *fold) combiner() func(i int, y float64) {
	x, first := s.x, s.n == 1
	switch {
	case first:
		return func(i int, y float64) { x[i] = y }
	case s.op == "max_agg":
		return func(i int, y float64) {
			if y > x[i] || y != y { // NaN is above all numbers
				x[i] = y
			}
		}
	}
	return func(i int, y float64) {
		if y < x[i] || x[i] != x[i] {
			x[i] = y
		}
	}
}

// Value is NULL for no rows.
func (s *fold) Value(r lite.Result) error {
	if s.n == 0 {
		return nil
	}
	x := s.x
	if s.op == "avg" {
		x = make([]float64, len(s.x))
		for i := range x {
			x[i] = s.x[i] / s.n
		}
	}
	giveChunk(r, s.dtype, s.shape, x)
	return nil
}
