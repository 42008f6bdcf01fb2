package layouts

import (
	"compress/gzip"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop/delta"
)

// coordinates reads a compressed text.
func coordinates(t testing.TB, file, separator string, first int64, shape []int64) *Tensor {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	x, err := ReadCoordinates(z, separator, first, shape)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestReadCoordinates reads texts of coordinates, and refuses what is none by its line.
func TestReadCoordinates(t *testing.T) {
	shape := []int64{2, 3}
	x, err := ReadCoordinates(strings.NewReader("# a tensor\ni,j,v\n\n2,1,0.5\n1,3, -2\r\n"), ",", 1, shape)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "a text", x, &Tensor{DType: "float32", Shape: shape, Coords: [][]int64{{1, 0}, {0, 2}},
		Data: []byte{0, 0, 0, 63, 0, 0, 0, 192}})
	for text, want := range map[string]string{"1 1 1\n3 1 1": "line 2: \"3\"", "0 1 1": "\"0\"", "1 1": "no value",
		"1 x 1": "\"x\"", "1 1 1 1": "\"1 1\" is no value", "1": "\"\" is no index of dimension 1"} {
		_, err := ReadCoordinates(strings.NewReader(text), " ", 1, shape)
		refused(t, err, sqlerr.BadCopy, want)
	}
	_, err = ReadCoordinates(strings.NewReader("# "+strings.Repeat("x", 1<<17)), " ", 1, shape)
	refused(t, err, sqlerr.IO, "too long")
}

func taxi(t testing.TB) *Tensor {
	return coordinates(t, filepath.Join(need.Data(t), "nyc_taxi_tensor", "tensor4d.csv.gz"), ",", 0,
		[]int64{30, 30, 61, 24})
}

func med4(t testing.TB) *Tensor {
	return coordinates(t, filepath.Join(need.Data(t), "splatt_tensors", "med4.tns.gz"), " ", 1,
		[]int64{60114, 83826, 23034, 1132})
}

// TestDenseSize: chunks of noise take hardly more than their bytes, as which they are kept, those of pictures less.
func TestDenseSize(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	noise := &Tensor{DType: "float32", Shape: []int64{100, 3, 64, 64}}
	picture := &Tensor{DType: "uint8", Shape: []int64{100, 3, 64, 64}}
	for i := range 100 * 3 * 64 * 64 {
		noise.Data = binary.LittleEndian.AppendUint32(noise.Data, math.Float32bits(float32(r.NormFloat64())))
		y, x := float64(i/64%64), float64(i%64)
		picture.Data = append(picture.Data, byte(128+30*math.Sin(x/9+float64(i/12288))+25*math.Cos(y/7)+3*r.NormFloat64()))
	}
	for x, size := range map[*Tensor][2]float64{noise: {1, 1.01}, picture: {0.5, 0.9}} {
		files := delta.Memory{}
		w := store(t, files, "x", x, Options{Layout: "ftsf"})
		if p := float64(w.Bytes) / float64(len(x.Data)); p < size[0] || p > size[1] {
			t.Errorf("%s: %.4f of the raw bytes, not between %.2f and %.2f", x.DType, p, size[0], size[1])
		} else {
			t.Logf("%s: %.4f of the raw bytes", x.DType, p)
		}
		same(t, "x", readAll(t, files, "x", ""), x)
	}
}

// percent is the size of a stored tensor beside int64 coordinates and float32.
func percent(t testing.TB, x *Tensor, o Options) float64 {
	t.Helper()
	files := delta.Memory{}
	began := time.Now()
	r := store(t, files, "x", x, o)
	wrote := time.Since(began)
	began = time.Now()
	y := readAll(t, files, "x", "")
	p := 100 * float64(r.Bytes) / float64(x.count()*(8*len(x.Shape)+4))
	t.Logf("%s: %.2f %%, written in %v, read in %v. %s", r.Layout, p, wrote, time.Since(began), r.Why)
	if y.count() != x.count() {
		t.Errorf("%d elements of %d", y.count(), x.count())
	}
	return p
}

func TestTaxiSize(t *testing.T) {
	x := taxi(t)
	for layout, most := range map[string]float64{"csf": 2.8, "bsgs": 2.1, "": 2.1} {
		if p := percent(t, x, Options{Layout: layout}); p > most {
			t.Errorf("%s: %.2f %%, at most %.2f", layout, p, most)
		}
	}
}

func TestMedSize(t *testing.T) {
	x := med4(t)
	for layout, most := range map[string]float64{"coo": 45, "": 45} {
		if p := percent(t, x, Options{Layout: layout}); p > most {
			t.Errorf("%s: %.2f %%, at most %.2f", layout, p, most)
		}
	}
}
