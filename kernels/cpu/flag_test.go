package cpu

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestFlag: who waits goes on when the flag is raised, at once or late, and when the context ends.
func TestFlag(t *testing.T) {
	for _, stay := range []bool{false, true} {
		for _, late := range []time.Duration{0, 10 * time.Microsecond, 4 * awake} {
			f, x := NewFlag(), 0
			go func() {
				time.Sleep(late)
				x = 1
				f.Raise()
			}()
			for range 2 {
				if err := f.Await(context.Background(), stay); err != nil || x != 1 {
					t.Fatalf("stay %v, raised after %v: %v, what was written before is %d", stay, late, err, x)
				}
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		if err := NewFlag().Await(ctx, stay); !errors.Is(err, context.Canceled) {
			t.Errorf("stay %v: %v, expected that it is cancelled", stay, err)
		}
	}
}

// TestLead: a leader that stays awake does one work after the other, and ends with its crew.
func TestLead(t *testing.T) {
	c, sum := NewCrew(0, 1, nil, true), 0
	for i := range 1000 {
		f := NewFlag()
		c.Lead(func() {
			sum += i
			f.Raise()
		})
		if i%100 == 0 {
			time.Sleep(2 * awake) // it sleeps
		}
		f.Await(context.Background(), true)
	}
	if c.Close(); sum != 999*1000/2 {
		t.Errorf("the sum is %d", sum)
	}
}
