package apart_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/executor/apart"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// swap has a site send each other site its number and that of the turn, and checks what comes.
func swap(ctx context.Context, at device.Turns, site, sites, number int) error {
	out := make([][]byte, sites)
	for to := range out {
		if (to+number)%3 != 0 { // not to all
			out[to] = fmt.Appendf(nil, "turn %d from %d to %d", number, site, to)
		}
	}
	if number%2 == 0 { // the same to several
		out = slices.Repeat([][]byte{fmt.Appendf(nil, "turn %d from %d", number, site)}, sites)
	}
	in, err := at.Turn(ctx, number, out)
	if err != nil {
		return err
	}
	for from, b := range in {
		want := fmt.Sprintf("turn %d from %d to %d", number, from, site)
		switch {
		case from == site || number%2 != 0 && (site+number)%3 == 0:
			want = ""
		case number%2 == 0:
			want = fmt.Sprintf("turn %d from %d", number, from)
		}
		if string(b) != want {
			return fmt.Errorf("site %d gets %q from %d, not %q", site, b, from, want)
		}
	}
	return nil
}

// room is a conductor with its members; do is what a site does of a command.
func room(t *testing.T, sites, own int, do func(ctx context.Context, at device.Turns, site int, text string) error) (
	c *apart.Conductor, run func(ctx context.Context, text string) ([][]byte, error), members []*apart.Member) {
	t.Helper()
	callers := make([]apart.Caller, sites)
	for s := range sites {
		if s == own {
			continue
		}
		var m *apart.Member
		m = apart.NewMember(sites, func(ctx context.Context, command []byte) ([]byte, error) {
			return fmt.Appendf(nil, "site %d", s), do(ctx, m, s, string(command))
		})
		m.Wait(20 * time.Millisecond)
		t.Cleanup(m.Close)
		callers[s], members = m, append(members, m)
	}
	c = apart.NewConductor(callers)
	return c, func(ctx context.Context, text string) ([][]byte, error) {
		return c.Do(ctx, []byte(text), func(ctx context.Context) error { return do(ctx, c, own, text) })
	}, members
}

// TestTurns: all sites get what others send them in each turn of each command, also where one is slow.
func TestTurns(t *testing.T) {
	for _, sites := range []int{1, 2, 5} {
		for own := range sites {
			c, run, _ := room(t, sites, own, func(ctx context.Context, at device.Turns, site int, text string) error {
				for number := range 6 {
					if text == "slow" && site == number%sites {
						time.Sleep(50 * time.Millisecond)
					}
					if err := swap(ctx, at, site, sites, number); err != nil {
						return err
					}
				}
				return nil
			})
			for _, text := range []string{"fast", "slow", "fast"} {
				replies, err := run(context.Background(), text)
				if err != nil {
					t.Fatalf("%d sites: %v", sites, err)
				}
				for s, r := range replies {
					if want := fmt.Sprintf("site %d", s); s != own && string(r) != want {
						t.Errorf("site %d replies %q", s, r)
					}
				}
			}
			if n := c.Counted(); sites > 1 && (n.Sent == 0 || n.Received == 0 || n.Calls < int64(3*7*(sites-1))) {
				t.Errorf("%d sites: %+v is counted", sites, n)
			}
		}
	}
}

// TestOneFails: where a site fails, before, at or behind a turn, the command ends with its error, and the next command
// runs.
func TestOneFails(t *testing.T) {
	const sites = 4
	for bad := range sites {
		for _, own := range []int{0, 2} {
			for at := range 3 {
				_, run, _ := room(t, sites, own, func(ctx context.Context, line device.Turns, site int, text string) error {
					for number := range 3 {
						if text == "fail" && site == bad && number == at {
							return sqlerr.New(sqlerr.DivisionByZero, "division by zero at %d", site).WithDetail("a detail").
								WithHint("a hint")
						}
						if err := swap(ctx, line, site, sites, number); err != nil {
							return err
						}
					}
					return nil
				})
				_, err := run(context.Background(), "fail")
				if sqlerr.Code(err) != sqlerr.DivisionByZero || !strings.Contains(err.Error(), fmt.Sprint("zero at ", bad)) {
					t.Fatalf("site %d fails at turn %d: %v", bad, at, err)
				}
				var e *sqlerr.Error
				if !errors.As(err, &e) || e.Detail != "a detail" || e.Hint != "a hint" {
					t.Errorf("the error of site %d has lost its texts: %+v", bad, e)
				}
				var f *apart.Failed
				if errors.As(err, &f) != (bad != own) || f != nil && f.Site != bad {
					t.Errorf("the error of site %d is that of %+v", bad, f)
				}
				if _, err := run(context.Background(), "again"); err != nil {
					t.Errorf("behind an error of site %d: %v", bad, err)
				}
			}
		}
	}
}

// TestCanceled: a command that is cancelled ends, wherever its sites are, and the next one runs.
func TestCanceled(t *testing.T) {
	const sites = 3
	for waits := range sites {
		_, run, _ := room(t, sites, 0, func(ctx context.Context, at device.Turns, site int, text string) error {
			if text == "wait" && site == waits {
				<-ctx.Done()
				return ctx.Err()
			}
			return swap(ctx, at, site, sites, 1)
		})
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Millisecond)
		if _, err := run(ctx, "wait"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("site %d waits: %v", waits, err)
		}
		cancel()
		if _, err := run(context.Background(), "again"); err != nil {
			t.Errorf("behind a command that was cancelled: %v", err)
		}
	}
}

// TestOtherTurns: sites that take different turns, or end while others wait, are an internal error, not a hang.
func TestOtherTurns(t *testing.T) {
	const sites = 3
	for _, text := range []string{"other", "fewer"} {
		_, run, _ := room(t, sites, 0, func(ctx context.Context, at device.Turns, site int, text string) error {
			switch {
			case text == "other" && site == 1:
				_, err := at.Turn(ctx, 7, make([][]byte, sites))
				return err
			case text == "fewer" && site == 1:
				return nil
			}
			_, err := at.Turn(ctx, 1, make([][]byte, sites))
			return err
		})
		if _, err := run(context.Background(), text); sqlerr.Code(err) != sqlerr.Internal {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestWithin: a site asks its database only while a call is being answered.
func TestWithin(t *testing.T) {
	var asked, calls int
	inside := false
	m := apart.NewMember(2, nil)
	m.Wait(time.Millisecond)
	m.Obey = func(ctx context.Context, _ []byte) ([]byte, error) {
		for range 20 {
			if err := m.Within(func() error {
				asked++
				if !inside {
					return errors.New("the database is asked between calls")
				}
				return nil
			}); err != nil {
				return nil, err
			}
			time.Sleep(300 * time.Microsecond)
		}
		return nil, nil
	}
	defer m.Close()
	for message := []byte("cdo"); ; message = []byte("w") {
		inside = true
		reply, err := m.Call(context.Background(), message)
		inside = false
		if calls++; err != nil || reply[0] == 'f' {
			t.Fatalf("%q, %v", reply, err)
		}
		if reply[0] == 'd' {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if asked != 20 || calls < 3 {
		t.Errorf("the database was asked %d times in %d calls", asked, calls)
	}
}

// TestBadMessages: whatever comes is an answer or an error.
func TestBadMessages(t *testing.T) {
	draw := rand.New(rand.NewSource(3))
	m := apart.NewMember(2, nil)
	m.Obey = func(ctx context.Context, command []byte) ([]byte, error) {
		_, err := m.Turn(ctx, 1, [][]byte{[]byte("x"), nil})
		return nil, err
	}
	m.Wait(time.Millisecond)
	defer m.Close()
	for range 3000 {
		b := make([]byte, draw.Intn(8))
		draw.Read(b)
		if len(b) > 0 && draw.Intn(4) > 0 {
			b[0] = "ctwx"[draw.Intn(4)]
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		if reply, err := m.Call(ctx, bytes.Clone(b)); err == nil && len(reply) == 0 {
			t.Errorf("%q is answered by nothing", b)
		}
		cancel()
	}
}
