package functions

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/store/numeric"
	"github.com/relgrad/relgrad/tensor"
)

// arrayFuncs take arrays in stored form: chunks as BLOB, others as JSON text. Where the element type matters, the first
// argument is the name of the array's type.
var arrayFuncs = map[string]function{
	"array":           {-1, true, arrayCall},
	"slice":           {-1, true, strict(sliceCall)},
	"item":            {-1, true, strict(itemCall)},
	"array_cat":       {4, true, arrayCat},
	"array_set":       {-1, true, arraySet},
	"flat":            {1, true, strict(flatCall)},
	"chunk_eq":        {2, true, strict(chunkEq)},
	"chunk_key":       {1, true, strict(chunkKey)},
	"chunk_member":    {1, true, strict(chunkMember)},
	"string_to_array": {-1, true, stringToArray},
	"array_to_string": {-1, true, arrayToString},
	"array_length": {2, true, strict(func(a []lite.Cell, r lite.Result) error {
		d, err := dims(&a[0])
		if n := a[1].Int(); err == nil && n >= 1 && int(n) <= len(d) {
			r.Int(int64(d[n-1]))
		}
		return err
	})},
	"array_lower": {2, true, strict(func(a []lite.Cell, r lite.Result) error {
		d, err := dims(&a[0])
		if n := a[1].Int(); err == nil && n >= 1 && int(n) <= len(d) {
			r.Int(1)
		}
		return err
	})},
	"array_ndims": {1, true, strict(func(a []lite.Cell, r lite.Result) error {
		d, err := dims(&a[0])
		if len(d) > 0 {
			r.Int(int64(len(d)))
		}
		return err
	})},
	"array_dims": {1, true, strict(func(a []lite.Cell, r lite.Result) error {
		d, err := dims(&a[0])
		if err != nil || len(d) == 0 {
			return err
		}
		var s strings.Builder
		for _, n := range d {
			fmt.Fprintf(&s, "[1:%d]", n)
		}
		r.Text(s.String())
		return nil
	})},
	"cardinality": {1, true, strict(func(a []lite.Cell, r lite.Result) error {
		d, err := dims(&a[0])
		n := int64(1)
		for _, k := range d {
			n *= int64(k)
		}
		if len(d) == 0 {
			n = 0
		}
		r.Int(n)
		return err
	})},
	"array_position": {3, true, arrayPosition},
	"array_remove":   {3, true, arrayRemove},
	"array_fill":     {3, true, arrayFill},
}

// dims returns the lengths of a stored array; none for an empty one.
func dims(c *lite.Cell) ([]int, error) {
	if c.Kind() == lite.Blob {
		_, s, _, err := tensor.Header(c.Bytes())
		if s.Size() == 0 {
			return nil, err
		}
		return s, err
	}
	list, err := columns.ReadArray(c.Bytes(), catalog.ArrayOf(catalog.Text))
	if err != nil {
		return nil, err
	}
	var out []int
	for x := list; ; {
		l, ok := x.([]any)
		if !ok || len(l) == 0 {
			return out, nil
		}
		out = append(out, len(l))
		x = l[0]
	}
}

func giveArray(r lite.Result, list []any, t catalog.Type) error {
	x, err := columns.MakeArray(list, t.Elem())
	if err != nil {
		return err
	}
	return giveValue(r, x, catalog.ArrayOf(t.Elem()))
}

// arrayCall is rg_array(type, elements…). The type of an array of arrays has one more pair of brackets.
func arrayCall(a []lite.Cell, r lite.Result) error {
	name := a[0].String()
	t := catalog.TypeOf(name)
	et := t.Elem()
	if strings.HasSuffix(name, "[][]") {
		et = t
	}
	list := make([]any, len(a)-1)
	for i := range list {
		x, err := columns.FromCell(&a[i+1], et)
		if err != nil {
			return err
		}
		list[i] = x
	}
	return giveArray(r, list, t)
}

// eachEqual calls each for every element of array a[1], telling whether it equals a[2], until each returns true.
func eachEqual(a []lite.Cell, doing string, each func(i int, y any, equal bool) (end bool)) error {
	list, x, err := listAndItem(a)
	if err != nil {
		return err
	}
	same := sameElement(catalog.TypeOf(a[0].String()).Elem())
	for i, y := range list {
		if _, nested := y.([]any); nested {
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s multidimensional arrays is not supported", doing)
		}
		if each(i, y, same(x, y)) {
			break
		}
	}
	return nil
}

func arrayPosition(a []lite.Cell, r lite.Result) error {
	if a[1].IsNull() {
		return nil
	}
	return eachEqual(a, "searching for elements in", func(i int, _ any, equal bool) bool {
		if equal {
			r.Int(int64(i + 1))
		}
		return equal
	})
}

func arrayRemove(a []lite.Cell, r lite.Result) error {
	if a[1].IsNull() {
		return nil
	}
	out := []any{}
	err := eachEqual(a, "removing elements from", func(_ int, y any, equal bool) bool {
		if !equal {
			out = append(out, y)
		}
		return false
	})
	if err != nil {
		return err
	}
	return giveArray(r, out, catalog.TypeOf(a[0].String()))
}

// sameElement compares two elements of an array, or NULLs, as values of their type.
func sameElement(t catalog.Type) func(x, y any) bool {
	equal := func(x, y any) bool { return x == y }
	switch {
	case t.Is(catalog.Numeric):
		equal = func(x, y any) bool { return numeric.Compare([]byte(x.(string)), []byte(y.(string))) == 0 }
	case t.Is(catalog.JSONB):
		equal = func(x, y any) bool { return columns.CompareJSONB([]byte(x.(string)), []byte(y.(string))) == 0 }
	case t.IsFloat():
		equal = func(x, y any) bool { return x == y || x != x && y != y }
	}
	return func(x, y any) bool {
		if x == nil || y == nil {
			return x == nil && y == nil
		}
		return equal(x, y)
	}
}

func listAndItem(a []lite.Cell) ([]any, any, error) {
	t := catalog.TypeOf(a[0].String())
	list, err := listOf(&a[1], t)
	if err != nil {
		return nil, nil, err
	}
	x, err := columns.FromCell(&a[2], t.Elem())
	return list, x, err
}

// listOf reads a stored array as nested lists.
func listOf(c *lite.Cell, t catalog.Type) ([]any, error) {
	x, err := columns.FromCell(c, t)
	if err != nil {
		return nil, err
	}
	switch v := x.(type) {
	case *tensor.Tensor:
		return columns.Nest(v, 0, new(int)), nil
	case []any:
		return v, nil
	}
	return nil, nil
}

// sliceCall is rg_slice(type, array, lo, hi, …). Bounds are limited to the array; an empty slice is '{}'.
func sliceCall(a []lite.Cell, r lite.Result) error {
	t := catalog.TypeOf(a[0].String())
	list, err := listOf(&a[1], t)
	if err != nil {
		return err
	}
	d, err := dims(&a[1])
	if err != nil {
		return err
	}
	n := (len(a) - 2) / 2
	if n > len(d) {
		return giveValue(r, columns.EmptyArray(t.Elem()), t)
	}
	lo, hi := make([]int, len(d)), make([]int, len(d))
	for i := range d {
		lo[i], hi[i] = 0, d[i]
		if i < n {
			lo[i] = int(max(a[2+2*i].Int(), 1)) - 1
			hi[i] = int(min(a[3+2*i].Int(), int64(d[i])))
		}
		if lo[i] >= hi[i] {
			return giveValue(r, columns.EmptyArray(t.Elem()), t)
		}
	}
	return giveArray(r, cutList(list, lo, hi), t)
}

func cutList(list []any, lo, hi []int) []any {
	out := append([]any(nil), list[lo[0]:hi[0]]...)
	if len(lo) > 1 {
		for i, x := range out {
			out[i] = cutList(x.([]any), lo[1:], hi[1:])
		}
	}
	return out
}

// itemCall is rg_item(array, i, …) for arrays stored as JSON.
func itemCall(a []lite.Cell, r lite.Result) error {
	x, err := columns.ReadArray(a[0].Bytes(), catalog.ArrayOf(catalog.Text))
	if err != nil {
		return err
	}
	for i := range a[1:] {
		list, ok := x.([]any)
		n := a[i+1].Int()
		if !ok || n < 1 || n > int64(len(list)) {
			return nil
		}
		x = list[n-1]
	}
	switch v := x.(type) {
	case string:
		if raw := bytes.TrimSpace(a[0].Bytes()); isNumberList(raw) {
			return giveValue(r, v, catalog.Int8)
		}
		r.Text(v)
	case bool:
		r.Bool(v)
	}
	return nil
}

// isNumberList distinguishes a list of integers, whose items parseJSON returns as digits, from a list of texts.
func isNumberList(b []byte) bool { return bytes.IndexByte(b, '"') < 0 }

// arrayCat is rg_array_cat(type, kinds, x, y): kinds says whether x and y are arrays ('a') or elements ('e'). NULL
// arrays count as empty.
func arrayCat(a []lite.Cell, r lite.Result) error {
	t, kinds := catalog.TypeOf(a[0].String()), a[1].Bytes()
	if n := len(a[2].Bytes()) + len(a[3].Bytes()); n > columns.MaxState {
		return sqlerr.New(sqlerr.ProgramLimit,
			"an array of %d MiB and one of %d MiB are too large to be put together: %d MiB are possible",
			len(a[2].Bytes())>>20, len(a[3].Bytes())>>20, columns.MaxState>>20)
	}
	var part [2][]any
	for i := range part {
		c := &a[2+i]
		if kinds[i] == 'e' {
			x, err := columns.FromCell(c, t.Elem())
			if err != nil {
				return err
			}
			part[i] = []any{x}
			continue
		}
		l, err := listOf(c, t)
		if err != nil {
			return err
		}
		part[i] = l
	}
	x, y := part[0], part[1]
	if kinds[0] == 'a' && a[2].IsNull() && kinds[1] == 'a' && a[3].IsNull() {
		return nil
	}
	if dx, dy := depth(x), depth(y); dy > 0 && dx == dy+1 {
		y = []any{any(y)}
	} else if dx > 0 && dy == dx+1 {
		x = []any{any(x)}
	}
	return giveArray(r, append(append([]any{}, x...), y...), t)
}

// arraySet is rg_array_set(type, array, value, i, …): the array with one element replaced; position n+1 of a
// vector appends.
func arraySet(a []lite.Cell, r lite.Result) error {
	t := catalog.TypeOf(a[0].String())
	list, err := listOf(&a[1], t)
	if err != nil {
		return err
	}
	x, err := columns.FromCell(&a[2], t.Elem())
	if err != nil {
		return err
	}
	at := list
	for k := 3; k < len(a); k++ {
		i := a[k].Int()
		if k == len(a)-1 && k == 3 && i == int64(len(list))+1 {
			list = append(list, x)
			break
		}
		if a[k].IsNull() || i < 1 || i > int64(len(at)) {
			return sqlerr.New(sqlerr.ArraySubscript, "array subscript %d out of range", i)
		}
		if k == len(a)-1 {
			at[i-1] = x
			break
		}
		next, ok := at[i-1].([]any)
		if !ok {
			return sqlerr.New(sqlerr.ArraySubscript, "wrong number of array subscripts")
		}
		at = next
	}
	return giveArray(r, list, t)
}

func depth(list []any) int {
	if len(list) == 0 {
		return 0
	}
	if l, ok := list[0].([]any); ok {
		return 1 + depth(l)
	}
	return 1
}

// flatCall flattens an array to one dimension, for unnest.
func flatCall(a []lite.Cell, r lite.Result) error {
	b := a[0].Bytes()
	if bytes.IndexByte(b[min(1, len(b)):], '[') < 0 {
		copy(r.Room(lite.Text, len(b)), b)
		return nil
	}
	x, err := columns.ReadArray(b, catalog.ArrayOf(catalog.Int8))
	if err != nil {
		if x, err = columns.ReadArray(b, catalog.ArrayOf(catalog.Text)); err != nil {
			return err
		}
	}
	return giveValue(r, flatten(x.([]any), nil), catalog.ArrayOf(catalog.Text))
}

func flatten(list, out []any) []any {
	for _, x := range list {
		if l, ok := x.([]any); ok {
			out = flatten(l, out)
		} else {
			out = append(out, x)
		}
	}
	if out == nil {
		out = []any{}
	}
	return out
}

func chunkEq(a []lite.Cell, r lite.Result) error {
	x, err := tensor.Decode(a[0].Bytes())
	if err != nil {
		return err
	}
	y, err := tensor.Decode(a[1].Bytes())
	if err != nil {
		return err
	}
	same := x.Shape.Equal(y.Shape)
	for i := range x.Data {
		same = same && (x.Data[i] == y.Data[i] || x.Data[i] != x.Data[i] && y.Data[i] != y.Data[i])
	}
	r.Bool(same)
	return nil
}

// chunkKey returns the same form for all equal chunks: 0 for -0, and one NaN.
func chunkKey(a []lite.Cell, r lite.Result) error {
	key, err := oneForm(&a[0])
	if err == nil {
		r.Blob(key)
	}
	return err
}

// chunkMember returns a chunk if it is in that form already; other equal chunks are refused.
func chunkMember(a []lite.Cell, r lite.Result) error {
	key, err := oneForm(&a[0])
	if err == nil && !bytes.Equal(key, a[0].Bytes()) {
		err = sqlerr.New(sqlerr.FeatureNotSupported,
			"a chunk that holds -0 is not supported by the embedded store in DISTINCT or a set operation").
			WithHint("Add 0 to it: x + 0.")
	}
	if err == nil {
		r.Blob(key)
	}
	return err
}

func oneForm(c *lite.Cell) ([]byte, error) {
	x, err := tensor.Decode(c.Bytes())
	if err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "%v", err)
	}
	for i, y := range x.Data {
		switch {
		case y == 0:
			x.Data[i] = 0
		case y != y:
			x.Data[i] = math.NaN()
		}
	}
	return x.Encode(), nil
}

func stringToArray(a []lite.Cell, r lite.Result) error {
	if a[0].IsNull() {
		return nil
	}
	s := a[0].String()
	var p []string
	switch {
	case s == "":
	case a[1].IsNull():
		p = strings.Split(s, "")
	case len(a[1].Bytes()) == 0:
		p = []string{s}
	default:
		p = strings.Split(s, a[1].String())
	}
	list := anys(p)
	if len(a) > 2 && !a[2].IsNull() {
		for i, x := range p {
			if x == a[2].String() {
				list[i] = nil
			}
		}
	}
	return giveValue(r, list, catalog.ArrayOf(catalog.Text))
}

func arrayToString(a []lite.Cell, r lite.Result) error {
	if a[1].IsNull() || a[2].IsNull() {
		return nil
	}
	t := catalog.TypeOf(a[0].String())
	list, err := listOf(&a[1], t)
	if err != nil {
		return err
	}
	var p []string
	for _, x := range flatten(list, nil) {
		switch {
		case x != nil:
			p = append(p, columns.Format(x, t.Elem().String()))
		case len(a) > 3 && !a[3].IsNull():
			p = append(p, a[3].String())
		}
	}
	r.Text(strings.Join(p, a[2].String()))
	return nil
}

// arrayFill is rg_array_fill(type, x, lengths). It checks the size before it takes memory.
func arrayFill(a []lite.Cell, r lite.Result) error {
	t := catalog.TypeOf(a[0].String())
	if a[2].IsNull() {
		return sqlerr.New(sqlerr.NullNotAllowed, "dimension array or low bound array cannot be null")
	}
	x, err := columns.FromCell(&a[1], t.Elem())
	if err != nil {
		return err
	}
	d, err := columns.ReadArray(a[2].Bytes(), catalog.ArrayOf(catalog.Int8))
	if err != nil {
		return err
	}
	lengths, size, most := make(tensor.Shape, len(d.([]any))), int64(1), int64(columns.MaxState/columns.ElementBytes)
	if t.IsChunk() {
		most = maxVector
	}
	for i, l := range d.([]any) {
		n, ok := l.(int64)
		if !ok || n < 0 {
			return sqlerr.New(sqlerr.InvalidParameter, "array size out of range")
		}
		if n > most/max(size, 1) {
			return sqlerr.New(sqlerr.ProgramLimit, "array_fill would make an array of more than %d elements", most)
		}
		lengths[i], size = int(n), size*n
	}
	if f, ok := x.(float64); ok && t.IsChunk() && size > 0 && len(lengths) > 0 && len(lengths) <= tensor.MaxRank {
		data, dtype := make([]float64, size), tensor.Float64
		for i := range data {
			data[i] = f
		}
		if t.Name == "real" {
			dtype = tensor.Float32
		}
		giveChunk(r, dtype, lengths, data)
		return nil
	}
	for i := len(lengths) - 1; i >= 0; i-- {
		list := make([]any, lengths[i])
		for k := range list {
			list[k] = x
		}
		x = list
	}
	list, _ := x.([]any)
	return giveArray(r, list, t)
}
