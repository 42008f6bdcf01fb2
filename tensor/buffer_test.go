package tensor

import "testing"

func TestBuffer(t *testing.T) {
	count, bytes := LiveBuffers()
	b, err := NewBuffer(3 << 20)
	if err != nil {
		t.Fatal(err)
	}
	f := View[float64](b, 64, 1000)
	for i, x := range f {
		if x != 0 {
			t.Fatalf("element %d of a fresh buffer is %v", i, x)
		}
		f[i] = float64(i)
	}
	if View[float64](b, 64+8*999, 1)[0] != 999 {
		t.Fatal("views do not share memory")
	}
	if c, n := LiveBuffers(); c != count+1 || n < bytes+3<<20 {
		t.Fatalf("%d buffers, %d bytes live", c, n)
	}
	b.Free()
	b.Free()
	if c, n := LiveBuffers(); c != count || n != bytes {
		t.Fatalf("%d buffers, %d bytes left", c-count, n-bytes)
	}
}
