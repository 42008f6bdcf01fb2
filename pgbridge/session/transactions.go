package session

import (
	"context"

	"github.com/relgrad/relgrad/kernels"
)

// transactions are the session's.
type transactions struct {
	*server
	settings *settings
}

// InTransaction implements catalog.Database.
func (s *transactions) InTransaction() bool { return s.conn.InTransaction() }

// Begin opens a transaction that sees one state of the database.
func (s *transactions) Begin() error {
	s.begun++
	s.forget()
	if err := s.conn.Begin(context.Background()); err != nil {
		return err
	}
	s.settings.env = kernels.Env{} // what Draw has set has ended
	s.settings.noJIT()
	for name, v := range s.settings.under {
		s.settings.set(name, v, true)
	}
	return s.failed()
}

// BeginWrite opens a transaction that writes. What other sessions have changed since it began is an error (40001) of
// the statement that would change it too.
func (s *transactions) BeginWrite() error { return s.Begin() }

// Commit ends the transaction.
func (s *transactions) Commit() (bool, error) {
	s.settings.env = kernels.Env{}
	return true, s.conn.Commit(context.Background())
}

// Rollback undoes the transaction.
func (s *transactions) Rollback() error {
	s.settings.env, s.err = kernels.Env{}, nil // what failed is undone
	s.forget()
	return s.conn.Rollback(context.Background())
}
