package main

import (
	"os"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/cudamock"
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

// TestDevicesOnTheDouble: of a graphics processor it is told whether kernels run, and who makes large products.
func TestDevicesOnTheDouble(t *testing.T) {
	for _, c := range [][2]string{
		{"run, large products by cuBLASLt 13.0.1", "RELGRAD_MOCK_DEVICES=1"},
		{"run; no large products by cuBLASLt: NVIDIA_TF32_OVERRIDE is 1", "NVIDIA_TF32_OVERRIDE=1"},
		{"by cuBLASLt: cuBLASLt has no algorithm", "RELGRAD_MOCK_FAIL=cublasLtMatmulAlgoGetHeuristic 1 15"},
	} {
		cudamock.Rerun(t, "^TestDevicesListed$", []string{c[1], "RELGRAD_WANTED=" + c[0]})
	}
}

func TestDevicesListed(t *testing.T) {
	if !cudamock.Inside() {
		t.Skip("runs in TestDevicesOnTheDouble")
	}
	out, status := captured(t, "devices")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != 0 || len(lines) < 2 || !strings.HasPrefix(lines[1], "cuda:0: mock 0, ") ||
		!strings.Contains(lines[1], os.Getenv("RELGRAD_WANTED")) {
		t.Errorf("status %d:\n%s", status, out)
	}
}
