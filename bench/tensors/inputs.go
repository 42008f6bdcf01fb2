package tensors

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/relgrad/relgrad/interop/delta/layouts"
)

// Input is a tensor that is stored and read.
type Input struct {
	Name, What string
	Sparse     bool
	Real       string // the file of real data of which it is made, in RELGRAD_DATA
	From, To   int64  // the slice, of the first dimension
	make       func(in *Input, quick bool) (*layouts.Tensor, error)
}

// Inputs are all tensors that are measured, in the order of reports.
var Inputs = []*Input{
	{Name: "uint8", What: "smooth pictures, 1000×3×64×64 of uint8", From: 500, To: 520, make: pictures},
	{Name: "float32", What: "normal numbers, 1000×3×64×64 of float32", From: 500, To: 520, make: noise},
	{Name: "taxi", What: "New York's taxi trips, 30×30×61×24, 974,456 non-zeros", Sparse: true, From: 15, To: 16,
		Real: "nyc_taxi_tensor/tensor4d.csv.gz", make: listed(",", 0, 30, 30, 61, 24)},
	{Name: "med4", What: "SPLATT's med4, 60114×83826×23034×1132, 100,000 non-zeros", Sparse: true, From: 30000, To: 30001,
		Real: "splatt_tensors/med4.tns.gz", make: listed(" ", 1, 60114, 83826, 23034, 1132)},
	{Name: "pickups", What: "made in the shape of the paper's Uber pick-ups, 183×24×1140×1717, 3,309,490 non-zeros " +
		"around 400 centres", Sparse: true, From: 91, To: 92, make: pickups}}

// items is the size of the first dimension of a dense tensor.
func items(quick bool) int64 {
	if quick {
		return 100
	}
	return 1000
}

// dense makes a dense tensor; quick ones have a tenth.
func dense(in *Input, dtype string, quick bool, element func(r *rand.Rand, b []byte, i int) []byte) *layouts.Tensor {
	n := items(quick)
	if quick {
		in.From, in.To = 50, 52
	}
	r := rand.New(rand.NewPCG(5, 6))
	t := &layouts.Tensor{DType: dtype, Shape: []int64{n, 3, 64, 64}}
	for i := range int(n) * 3 * 64 * 64 {
		t.Data = element(r, t.Data, i)
	}
	return t
}

func pictures(in *Input, quick bool) (*layouts.Tensor, error) {
	return dense(in, "uint8", quick, func(r *rand.Rand, b []byte, i int) []byte {
		y, x := float64(i/64%64), float64(i%64)
		return append(b, byte(128+30*math.Sin(x/9+float64(i/12288))+25*math.Cos(y/7)+3*r.NormFloat64()))
	}), nil
}

func noise(in *Input, quick bool) (*layouts.Tensor, error) {
	return dense(in, "float32", quick, func(r *rand.Rand, b []byte, _ int) []byte {
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(r.NormFloat64())))
	}), nil
}

// listed reads a compressed text of numbers: the indices of an element, from first, and its value.
func listed(separator string, first int64, shape ...int64) func(in *Input, quick bool) (*layouts.Tensor, error) {
	return func(in *Input, _ bool) (*layouts.Tensor, error) {
		f, err := os.Open(filepath.Join(os.Getenv("RELGRAD_DATA"), filepath.FromSlash(in.Real)))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.Real, err)
		}
		x, err := layouts.ReadCoordinates(z, separator, first, shape)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.Real, err)
		}
		return x, nil
	}
}

// pickups draws points around centres, at any time; quick ones are a three hundredth.
func pickups(_ *Input, quick bool) (*layouts.Tensor, error) {
	n := 3309490
	if quick {
		n /= 300
	}
	r := rand.New(rand.NewPCG(1, 2))
	x := &layouts.Tensor{DType: "float32", Shape: []int64{183, 24, 1140, 1717}, Coords: make([][]int64, 4)}
	centres := make([][2]float64, 400)
	for i := range centres {
		centres[i] = [2]float64{r.Float64() * 1140, r.Float64() * 1717}
	}
	seen := map[[4]int64]bool{}
	for len(x.Coords[0]) < n {
		c := centres[r.IntN(400)]
		at := [4]int64{r.Int64N(183), r.Int64N(24), int64(c[0] + 15*r.NormFloat64()), int64(c[1] + 15*r.NormFloat64())}
		if at[2] < 0 || at[2] >= 1140 || at[3] < 0 || at[3] >= 1717 || seen[at] {
			continue
		}
		seen[at] = true
		for d, i := range at {
			x.Coords[d] = append(x.Coords[d], i)
		}
		x.Data = binary.LittleEndian.AppendUint32(x.Data, math.Float32bits(float32(1+r.IntN(3))))
	}
	return x, nil
}
