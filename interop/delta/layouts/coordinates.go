package layouts

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// ReadCoordinates reads a sparse tensor of float32 from lines of text, as those of http://frostt.io: the indices of an
// element, of which the first possible one is first, and its value, with a separator between. Empty lines are left
// out, and those that begin with # or a letter.
func ReadCoordinates(r io.Reader, separator string, first int64, shape []int64) (*Tensor, error) {
	t := &Tensor{DType: "float32", Shape: shape, Coords: make([][]int64, len(shape))}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		rest := lines.Text()
		if rest == "" || rest[0] > '9' || rest[0] == '#' {
			continue
		}
		for d := range shape {
			word, after, _ := strings.Cut(rest, separator)
			i, err := strconv.ParseInt(word, 10, 64)
			if err != nil || i < first || i-first >= shape[d] {
				return nil, sqlerr.New(sqlerr.BadCopy, "line %d: \"%s\" is no index of dimension %d, which has %d", n, word, d,
					shape[d])
			}
			t.Coords[d], rest = append(t.Coords[d], i-first), after
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(rest), 32)
		if err != nil {
			return nil, sqlerr.New(sqlerr.BadCopy, "line %d: \"%s\" is no value", n, rest)
		}
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(float32(v)))
	}
	if err := lines.Err(); err != nil {
		return nil, sqlerr.New(sqlerr.IO, "a text of coordinates: %v", err).Wrap(err)
	}
	return t, nil
}
