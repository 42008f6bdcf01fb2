package layouts

import (
	"io"
	"slices"
	"sync"

	"github.com/relgrad/relgrad/interop/delta"
)

// inParallel calls a function for the numbers below n at once.
func inParallel(n int, call func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { call(i) })
	}
	all.Wait()
}

// join adds elements of further rows.
func (e *elements) join(x *elements) {
	if len(x.bits) == 0 {
		return
	}
	if n := len(e.bits); n > 0 {
		last, first := at(e.coords, n-1), at(x.coords, 0)
		e.ordered = e.ordered && x.ordered && slices.Compare(last, first) < 0
	} else {
		e.ordered = x.ordered
	}
	inParallel(len(e.coords)+1, func(d int) {
		if d < len(e.coords) {
			e.coords[d] = append(e.coords[d], x.coords[d]...)
			return
		}
		e.bits = append(e.bits, x.bits...)
		if e.data = append(e.data, x.data...); !e.ordered {
			e.data = nil
		}
	})
}

// ahead gives rows of so many columns to a function while another goroutine reads the next ones.
func ahead(in *delta.Scan, columns int, row func(values []any) error) error {
	const mostRows, mostNumbers = 256, 1 << 16 // read before they are given
	batches, stop, failed := make(chan [][]any, 1), make(chan struct{}), error(nil)
	read := func() (batch [][]any) {
		defer guard(&failed)
		room := make([]any, mostRows*columns)
		for numbers := 0; len(batch) < mostRows && numbers < mostNumbers && failed == nil; {
			values := room[:columns:columns]
			room = room[columns:]
			if failed = in.Next(values); failed == nil {
				batch = append(batch, values)
			}
			for _, v := range values {
				numbers += length(v)
			}
		}
		return batch
	}
	go func() {
		defer close(batches)
		for failed == nil {
			select {
			case batches <- read():
			case <-stop:
				return
			}
		}
	}()
	defer func() {
		close(stop)
		for range batches { // the other one uses the scan until it ends
		}
	}()
	for batch := range batches {
		for _, values := range batch {
			if err := row(values); err != nil {
				return err
			}
		}
	}
	if failed != io.EOF {
		return failed
	}
	return nil
}

// length is about how many numbers a value takes the room of.
func length(v any) int {
	switch x := v.(type) {
	case []int64:
		return len(x)
	case []float32:
		return len(x)
	case []float64:
		return len(x)
	case []any:
		return 2 * len(x)
	case []byte:
		return 1 + len(x)/8
	case string:
		return 1 + len(x)/8
	}
	return 1
}
