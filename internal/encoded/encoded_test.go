package encoded_test

import (
	"bytes"
	"math"
	"math/rand"
	"reflect"
	"testing"

	"github.com/relgrad/relgrad/internal/encoded"
)

type kernel struct{ name string }

var kernels = map[string]*kernel{"exp": {"exp"}, "log": {"log"}}

var names = encoded.Names{reflect.TypeFor[*kernel](): {
	Of: func(p any) string { return p.(*kernel).name },
	Find: func(name string) any {
		if k := kernels[name]; k != nil {
			return k
		}
		return nil
	},
}}

type kind uint8

type node struct {
	Inputs []*node
	Kernel *kernel
	Kind   kind
	X      float64
	Short  float32
	N      int64
	Rows   int32
	Name   string
	Flags  []bool
	Bytes  []byte
	Counts map[string]int
	Pair   [2]uint16
	Query  any
	Do     func()
	hidden int
}

func shared() *node {
	leaf := &node{Name: "leaf", X: math.Inf(-1), N: math.MinInt64, Rows: -3, Flags: []bool{}, Bytes: []byte{0, 255}}
	a := &node{Inputs: []*node{leaf, nil, leaf}, Kernel: kernels["exp"], Kind: 7, Short: 0.25,
		Counts: map[string]int{"b": 2, "a": -1}, Pair: [2]uint16{65535, 1}}
	return &node{Inputs: []*node{a, leaf, a}, Kernel: kernels["log"], Name: "root"}
}

// TestShared: a graph comes back as it was; two pointers to one value stay two to one value, and kernels are those of
// the registry. What cannot travel is left out.
func TestShared(t *testing.T) {
	in := shared()
	in.Query, in.Do, in.hidden = 1, func() {}, 5
	b, err := encoded.Append([]byte("x"), in, names)
	if err != nil {
		t.Fatal(err)
	}
	var out *node
	rest, err := encoded.Read(append(b[1:], "more"...), &out, names)
	if err != nil || string(rest) != "more" {
		t.Fatalf("%v, rest %q", err, rest)
	}
	if !reflect.DeepEqual(out, shared()) {
		t.Errorf("%+v came back", out)
	}
	if out.Inputs[0] != out.Inputs[2] || out.Inputs[0].Inputs[0] != out.Inputs[1] || out.Kernel != kernels["log"] {
		t.Error("what was one value is several")
	}
	for range 20 { // whatever the order of a map
		if again, err := encoded.Append([]byte("x"), shared(), names); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("equal values have other bytes: %v", err)
		}
	}
}

// TestBroken: bytes that are cut off or changed are an error, or another value; never a panic, nor much memory.
func TestBroken(t *testing.T) {
	b, err := encoded.Append(nil, shared(), names)
	if err != nil {
		t.Fatal(err)
	}
	var out *node
	for n := range b {
		if _, err := encoded.Read(b[:n], &out, names); err == nil {
			t.Errorf("%d of %d bytes are read as a value", n, len(b))
		}
	}
	draw := rand.New(rand.NewSource(1))
	for range 20_000 {
		changed := bytes.Clone(b)
		for range 1 + draw.Intn(3) {
			changed[draw.Intn(len(b))] = byte(draw.Intn(256))
		}
		encoded.Read(changed, &out, names)
	}
}

// TestRefused: what has no name and what cannot be written are errors.
func TestRefused(t *testing.T) {
	for _, v := range []any{&node{Kernel: &kernel{"exp"}}, &node{Kernel: &kernel{"sin"}}, make(chan int),
		map[*node]int{{}: 1}} {
		if _, err := encoded.Append(nil, v, names); err == nil {
			t.Errorf("%T is written", v)
		}
	}
	b, _ := encoded.Append(nil, &node{Kernel: kernels["exp"]}, names)
	var out *node
	if _, err := encoded.Read(b, &out, encoded.Names{reflect.TypeFor[*kernel](): {Of: names[reflect.TypeFor[*kernel]()].Of,
		Find: func(string) any { return nil }}}); err == nil {
		t.Error("a kernel that this process does not have is read")
	}
}
