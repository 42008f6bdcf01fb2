package session

import (
	"context"

	"github.com/relgrad/relgrad/kernels"
)

// transactions begins and ends the session's transactions.
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
	s.settings.env = kernels.Env{} // the values that Draw has set have ended
	s.settings.noJIT()
	for name, v := range s.settings.under {
		s.settings.set(name, v, true)
	}
	return s.failed()
}

// BeginWrite opens a transaction that writes. A statement fails with 40001 if it would change what another session has
// changed since the transaction began.
func (s *transactions) BeginWrite() error { return s.Begin() }

// Commit ends the transaction.
func (s *transactions) Commit() (bool, error) {
	s.settings.env = kernels.Env{}
	return true, s.conn.Commit(context.Background())
}

// Rollback undoes the transaction.
func (s *transactions) Rollback() error {
	s.settings.env, s.err = kernels.Env{}, nil // the error belongs to what is undone
	s.forget()
	return s.conn.Rollback(context.Background())
}
