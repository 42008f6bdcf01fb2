package conn_test

import (
	"context"
	"testing"

	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/pgbridge/wire"
)

// TestNoJIT: connections have the server's compiler off, unless the address or the environment says otherwise.
func TestNoJIT(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	dsn := pgcluster.StartBare(t).DSN
	for _, c := range []struct{ dsn, options, jit string }{
		{dsn, "", "off"},
		{dsn, "-c work_mem=1MB", "off"},
		{dsn, "-c jit=on", "on"},
		{dsn + " options='-c jit=on'", "", "on"},
		{dsn + " jit=on", "", "on"},
	} {
		t.Setenv("PGOPTIONS", c.options)
		remote, err := conn.Dial(context.Background(), c.dsn, nil)
		if err != nil {
			t.Fatal(err)
		}
		var jit string
		_, _, err = remote.Query(context.Background(), "SELECT current_setting('jit')", true, func(b *wire.Block) error {
			jit = b.Cols[0].Data.Texts()[0]
			return nil
		})
		if err != nil || jit != c.jit {
			t.Errorf("%q with PGOPTIONS %q: jit is %q, not %q (%v)", c.dsn, c.options, jit, c.jit, err)
		}
		if err := remote.Close(); err != nil {
			t.Error(err)
		}
	}
}
