package delta_test

import (
	"path/filepath"
	"testing"

	"github.com/relgrad/relgrad/internal/deltatest"
	"github.com/relgrad/relgrad/interop/delta"
)

// TestLocal tests tables in folders.
func TestLocal(t *testing.T) {
	deltatest.Run(t, func(t *testing.T) delta.Files {
		return delta.NewLocal(filepath.Join(t.TempDir(), "not", "there"))
	})
}
