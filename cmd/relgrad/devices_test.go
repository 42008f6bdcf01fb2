package main

import (
	"strings"
	"testing"
)

// TestDevices: the processors are listed, and why there are no graphics processors.
func TestDevices(t *testing.T) {
	t.Setenv("RELGRAD_CUDA_DRIVER", "off")
	out, status := captured(t, "devices")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != 0 || len(lines) != 2 || !strings.HasPrefix(lines[0], "cpu: ") ||
		lines[1] != "cuda: none: RELGRAD_CUDA_DRIVER is off" {
		t.Errorf("status %d:\n%s", status, out)
	}
}
