package session

import (
	"context"
	"errors"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// snapshot is a session at a server that computes for this one, in one transaction.
type snapshot struct {
	*servers
	name string
	line *line
}

// settingsQuery makes a statement that gives a session at a server the settings under which this one prints and reads
// values.
const settingsQuery = `SELECT pg_catalog.concat('SELECT ', pg_catalog.string_agg(pg_catalog.format(
 'pg_catalog.set_config(%L, %L, true)', s.name, s.setting), ', '))
FROM pg_catalog.pg_settings s WHERE s.name OPERATOR(pg_catalog.=) ANY (ARRAY['DateStyle', 'IntervalStyle', 'TimeZone',
 'extra_float_digits', 'bytea_output', 'timezone_abbreviations'])`

// OpenLine implements catalog.Parted.
func (s *servers) OpenLine(ctx context.Context, name string) (catalog.Line, error) {
	how, err := s.how(name)
	if err != nil {
		return nil, err
	}
	if _, err := s.line(ctx, name); err != nil { // it tells whether the server lives while the session computes
		return nil, err
	}
	as, err := s.texts(settingsQuery)
	if err != nil {
		return nil, bare(err)
	}
	l, err := s.connect(ctx, name, how)
	if err != nil {
		return nil, err
	}
	inner, cancel := s.within(ctx)
	defer cancel()
	for _, sql := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE", as[0][0],
		"SELECT pg_catalog.set_config('idle_in_transaction_session_timeout', '0', true), " +
			"pg_catalog.set_config('statement_timeout', '0', true), pg_catalog.set_config('jit', 'off', true)"} {
		if err := l.Script(inner, sql); err != nil {
			return nil, errors.Join(s.at(name, inner, err), l.Close())
		}
	}
	return &snapshot{s, name, l}, nil
}

// Send implements catalog.Line. A statement there may take longer than a server may be silent: then the other session
// at it is asked whether it still answers.
func (o *snapshot) Send(ctx context.Context, message []byte) (reply []byte, err error) {
	if o.line.Closed() {
		return nil, sqlerr.New("08003", "server \"%s\": the connection is lost", o.name)
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		reply, err = o.sent(inner, o.name, o.line, message)
	}()
	var late <-chan time.Time // never
	if o.timeout > 0 {
		ticker := time.NewTicker(o.timeout)
		defer ticker.Stop()
		late = ticker.C
	}
	for {
		select {
		case <-done:
			return reply, err
		case <-late:
			if !o.lives(ctx) {
				cancel(errLate)
				<-done
				return reply, err
			}
		}
	}
}

// lives reports whether the server answers by the connection that is kept. One that does not is given up.
func (o *snapshot) lives(ctx context.Context) bool {
	l := o.lines[o.name]
	if l == nil || l.ended() {
		return false
	}
	inner, cancel := o.within(ctx)
	answered := make(chan bool, 1)
	go func() {
		_, err := textsOf(inner, l, "SELECT 1")
		answered <- err == nil
		if err != nil {
			cancel()
			l.lost.Store(true)
			l.Close()
		}
	}()
	select {
	case yes := <-answered:
		cancel()
		return yes
	case <-inner.Done(): // until the connection knows that takes longer
		l.lost.Store(true)
		return false
	}
}

// Close implements catalog.Line: the transaction ends, and with it its tables. Only then is the session left: a server
// that finds it gone by itself would hold its locks a little longer.
func (o *snapshot) Close() error {
	if o.line.Closed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaving)
	defer cancel()
	return errors.Join(o.line.Script(ctx, "ROLLBACK"), o.line.Close())
}

// leaving is how long a server may take to end a transaction that only reads.
const leaving = 5 * time.Second
