package functions

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

// registerKernels makes every kernel of the registry a SQL function rg_k_<name>(signature, args…). For signatures see
// tryKernel of package bind.
func registerKernels(c *lite.Conn) error {
	for _, d := range kernels.All() {
		call := func() lite.Scalar {
			k := newKernelCall(d)
			if d.Elem == nil || d.Eval != nil || d.Bind != nil || d.Lazy != nil || d.NonStrict {
				return k.run
			}
			return func(a []lite.Cell, r lite.Result) error {
				if elementwise(d, a, r) {
					return nil
				}
				return k.run(a, r)
			}
		}
		if err := c.Long("rg_k_"+d.Name, -1, !d.PerStep && !d.PerCall, longKernel(d.Name), call); err != nil {
			return err
		}
	}
	return nil
}

// longKernel says which calls of a kernel may take long.
func longKernel(name string) lite.Long {
	long := lite.LongFrom(kernelBytes)
	switch {
	case shaped[name]:
		return func(a []lite.Cell) bool { return long(a) || drawn(a) >= kernelBytes }
	case growing[name]:
		return func([]lite.Cell) bool { return true }
	}
	return long
}

// drawn is how many bytes a draw has whose first argument is its shape; of a scalar or of no shape it is 0.
func drawn(a []lite.Cell) int {
	sig := a[0].Bytes()
	if len(a) < 2 || sig[0] != 'I' {
		return 0
	}
	v, err := kernelValue(&a[1], 'I')
	if err != nil {
		return 0 // the call fails
	}
	bytes := int64(8)
	for _, n := range v.Ints {
		if n > kernelBytes {
			return kernelBytes
		}
		bytes = min(bytes*max(n, 0), kernelBytes)
	}
	return int(bytes)
}

// kernelCall is one kernel's function on one connection. It keeps the call bound to the last shapes: the rows of a
// column have one shape, so binding happens once.
type kernelCall struct {
	d    *kernels.Def
	key  []byte // signature, headers of chunks and, for kernels with static arguments, all other values
	next []byte
	expr *kernels.Expr
	args []kernels.Value
	bufs [][]float64
	read func(kernels.Col) kernels.Value
}

func newKernelCall(d *kernels.Def) *kernelCall {
	k := &kernelCall{d: d}
	k.read = func(c kernels.Col) kernels.Value { return k.args[c.ID] }
	return k
}

// run evaluates rg_k_<name>(signature, args…).
func (k *kernelCall) run(a []lite.Cell, r lite.Result) error {
	code := a[0].Bytes()
	want, sig := code[len(code)-1], code[:len(code)-2]
	null, err := k.load(a[1:], sig)
	if err != nil || null && !k.d.NonStrict {
		return err
	}
	var out kernels.Value
	if null || k.d.NonStrict {
		out, err = k.d.EvalValues(&kernels.Env{}, k.args)
	} else if err = k.bind(sig); err == nil {
		out, err = k.expr.Eval(&kernels.Env{}, k.read)
	}
	if err != nil || out.Null {
		return err
	}
	if (want == 'F' || want == 'D') && out.Type.Shape == nil {
		return sqlerr.New(sqlerr.DatatypeMismatch, "%s of arguments of this rank is a scalar, not an array", k.d.Name).
			WithHint("Use dot(a, b) for two vectors.")
	}
	return giveKernel(out, r)
}

// load reads the arguments and writes the key of this call.
func (k *kernelCall) load(a []lite.Cell, sig []byte) (null bool, err error) {
	k.args, k.next = k.args[:0], append(k.next[:0], sig...)
	for len(k.bufs) < len(sig) {
		k.bufs = append(k.bufs, nil)
	}
	for i := range sig {
		c := &a[i]
		null = null || c.IsNull()
		var v kernels.Value
		if (sig[i] == 'F' || sig[i] == 'D') && !c.IsNull() {
			b := c.Bytes()
			if v, err = chunkValue(b, k.bufs[i]); err != nil {
				return null, err
			}
			k.bufs[i] = v.F
			k.next = append(k.next, b[1:4+4*len(v.Type.Shape)]...)
		} else {
			if v, err = kernelValue(c, sig[i]); err != nil {
				return null, err
			}
			if k.d.Bind != nil {
				k.next = appendCell(k.next, c)
			} else if v.Ints != nil {
				k.next = append(k.next, byte(len(v.Ints)))
			}
		}
		k.args = append(k.args, v)
	}
	return null, nil
}

// appendCell encodes a value so that different values have different encodings.
func appendCell(b []byte, c *lite.Cell) []byte {
	switch c.Kind() {
	case lite.Integer:
		return binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(c.Int()))
	case lite.Float:
		return binary.LittleEndian.AppendUint64(append(b, 'f'), math.Float64bits(c.Float()))
	}
	b = binary.LittleEndian.AppendUint32(append(b, 't'), uint32(len(c.Bytes())))
	return append(b, c.Bytes()...)
}

// bind binds the call to the arguments. Chunks are columns; other arguments are constants where the kernel may need
// constants (shapes, axes).
func (k *kernelCall) bind(sig []byte) error {
	if k.expr != nil && bytes.Equal(k.key, k.next) {
		return nil
	}
	list := make([]*kernels.Expr, len(k.args))
	for i, v := range k.args {
		if k.d.Bind != nil && sig[i] != 'F' && sig[i] != 'D' {
			list[i] = kernels.Const(v)
		} else {
			list[i] = kernels.Column(kernels.Col{ID: kernels.ColumnID(i)}, v.Type)
		}
	}
	e, err := k.d.Apply(list...)
	if err != nil {
		return err
	}
	k.expr, k.key = e, append(k.key[:0], k.next...)
	return nil
}

// operand is an argument of an element-wise kernel: a chunk's elements in stored form, or a scalar.
type operand struct {
	p     []byte // nil for a scalar
	dtype tensor.DType
	x     float64
}

func (o *operand) at(i int) float64 {
	switch {
	case o.p == nil:
		return o.x
	case o.dtype == tensor.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(o.p[4*i:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(o.p[8*i:]))
}

// elementwise applies a kernel's scalar code to scalars and chunks of one shape, from SQLite's bytes to the result's
// bytes. In other cases it does nothing and returns false.
func elementwise(d *kernels.Def, a []lite.Cell, r lite.Result) bool {
	sig := a[0].Bytes()
	want, n := sig[len(sig)-1], len(sig)-2
	if n > 3 || want != 'F' && want != 'D' {
		return false
	}
	var ops [3]operand
	var head []byte
	for i := range n {
		c := &a[i+1]
		switch {
		case c.IsNull():
			return true // a NULL argument: the result is NULL
		case sig[i] == 'i' || sig[i] == 'f' || sig[i] == 'd':
			ops[i].x = c.Float()
		case c.Kind() != lite.Blob:
			return false
		default:
			b := c.Bytes()
			if len(b) < 4 || len(b) < 4+4*int(b[2]) {
				return false
			}
			h := b[:4+4*int(b[2])]
			if head != nil && string(head[2:]) != string(h[2:]) {
				return false
			}
			head = h
			ops[i].p, ops[i].dtype = b[len(h):], tensor.DType(b[1])
		}
	}
	if head == nil {
		return false
	}
	eachElement(d.Elem, ops[:n], head, want, r)
	return true
}

// eachElement fills the result; head is the header of a chunk argument.
func eachElement(f func([]float64) float64, ops []operand, head []byte, want byte, r lite.Result) {
	size := 0
	for i := range ops {
		if ops[i].p != nil {
			size = len(ops[i].p) / ops[i].dtype.Size()
		}
	}
	d := tensor.Float64
	if want == 'F' {
		d = tensor.Float32
	}
	out := r.Room(lite.Blob, len(head)+size*d.Size())
	copy(out, head)
	out[1] = byte(d)
	out = out[len(head):]
	var x [3]float64
	for i := range size {
		for k := range ops {
			x[k] = ops[k].at(i)
		}
		y := f(x[:len(ops)])
		if d == tensor.Float32 {
			binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(float32(y)))
		} else {
			binary.LittleEndian.PutUint64(out[8*i:], math.Float64bits(y))
		}
	}
}

// kernelValue reads an argument as the signature's code says.
func kernelValue(c *lite.Cell, code byte) (kernels.Value, error) {
	var v kernels.Value
	switch code {
	case 'i':
		v.Type.Kind, v.I = kernels.Int, c.Int()
	case 'b':
		v.Type.Kind, v.I = kernels.Bool, c.Int()
	case 'f':
		v.Type.Kind, v.X = kernels.Float32, c.Float()
	case 'd':
		v.Type.Kind, v.X = kernels.Float64, c.Float()
	case 't':
		v.Type.Kind = kernels.Text
		if !c.IsNull() {
			v.T = c.String()
		}
	case 'I':
		v.Type = kernels.Type{Kind: kernels.Int, Shape: tensor.Shape{0}}
		if !c.IsNull() {
			list, err := ints(c.Bytes())
			if err != nil {
				return v, err
			}
			v.Ints, v.Type.Shape = list, tensor.Shape{len(list)}
		}
	default:
		v.Type.Kind = kernels.Float64
		if code == 'F' {
			v.Type.Kind = kernels.Float32
		}
		if c.IsNull() {
			v.Type.Shape = tensor.Shape{1}
			break
		}
		return chunkValue(c.Bytes(), nil)
	}
	v.Null = c.IsNull()
	v.Type.Nullable = v.Null
	return v, nil
}

// chunkValue decodes a stored chunk, into buf if it is large enough.
func chunkValue(b []byte, buf []float64) (kernels.Value, error) {
	d, shape, p, err := tensor.Header(b)
	if err != nil {
		return kernels.Value{}, sqlerr.New(sqlerr.DataCorrupted, "%v", err)
	}
	f := buf
	if n := shape.Size(); cap(f) >= n {
		f = f[:n]
	} else {
		f = make([]float64, n)
	}
	if d == tensor.Float64 {
		tensor.GetFloats(f, p)
		return kernels.ChunkValue(kernels.KindOf(d), shape, f), nil
	}
	var some [256]float32
	for at := 0; at < len(f); at += len(some) {
		part := some[:min(len(some), len(f)-at)]
		tensor.GetFloats(part, p[4*at:])
		for i, x := range part {
			f[at+i] = float64(x)
		}
	}
	return kernels.ChunkValue(kernels.KindOf(d), shape, f), nil
}

// ints reads a JSON list of integers.
func ints(b []byte) ([]int64, error) {
	list, n, neg, seen := []int64{}, int64(0), false, false
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n, seen = n*10+int64(c-'0'), true
		case c == '-':
			neg = true
		case c == ',' || c == ']':
			if seen {
				if neg {
					n = -n
				}
				list = append(list, n)
			}
			n, neg, seen = 0, false, false
		case c == 'n':
			return nil, sqlerr.New(sqlerr.NullNotAllowed, "an array of integers here cannot have NULL elements")
		}
	}
	return list, nil
}

// giveKernel returns a kernel's value to SQLite.
func giveKernel(v kernels.Value, r lite.Result) error {
	switch {
	case v.Type.Kind == kernels.Text:
		r.Text(v.T)
	case v.Type.IsChunk():
		giveChunk(r, v.Type.Kind.DType(), v.Type.Shape, v.F)
	case v.Ints != nil:
		list := lists.Map(v.Ints, func(x int64) any { return x })
		return giveValue(r, list, catalog.ArrayOf(catalog.Int8))
	case v.Type.IsFloat():
		if math.IsNaN(v.X) {
			return columns.ErrNaN()
		}
		r.Float(v.X)
	default:
		r.Int(v.I)
	}
	return nil
}

// giveChunk encodes a chunk in place; see tensor.Encode.
func giveChunk(r lite.Result, d tensor.DType, shape tensor.Shape, f []float64) {
	columns.EncodeChunk(r.Room(lite.Blob, 4+4*len(shape)+len(f)*d.Size()), d, shape, f)
}
