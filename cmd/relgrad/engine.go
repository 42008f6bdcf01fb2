package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// A Postgres backend starts this program as `relgrad-engine engine`, with a socket as standard input and shared memory
// as descriptor 3. Users do not start it.

// serveBackend is the engine beside a backend.
func serveBackend() error {
	var line, shared syscall.Stat_t
	if syscall.Fstat(0, &line) != nil || line.Mode&syscall.S_IFMT != syscall.S_IFSOCK || syscall.Fstat(3, &shared) != nil {
		return sqlerr.New(sqlerr.WrongObjectType, "the engine is started by a Postgres backend").
			WithHint("In psql: CREATE EXTENSION relgrad; SELECT * FROM gradient('loss', NULL::w);")
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // they are meant for the backend, which ends this process itself
	return relgrad.ServeBackend(os.NewFile(0, "backend"), os.NewFile(3, "shared memory"))
}
