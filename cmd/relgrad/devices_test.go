package main

import (
	"strings"
	"testing"
)

// TestDevices: the processors are listed, and of graphics processors either what they are or why there are none.
func TestDevices(t *testing.T) {
	t.Setenv("RELGRAD_CUDA_DRIVER", "off")
	out, status := captured(t, "devices")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != 0 || len(lines) < 2 || !strings.HasPrefix(lines[0], "cpu: ") || !strings.HasPrefix(lines[1], "cuda") {
		t.Fatalf("status %d:\n%s", status, out)
	}
	if lines[1] != "cuda: none: RELGRAD_CUDA_DRIVER is off" && !strings.Contains(lines[1], "cannot open shared object") {
		t.Errorf("with the driver off: %s", lines[1])
	}
}
