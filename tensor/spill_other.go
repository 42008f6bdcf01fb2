//go:build !linux

package tensor

import "errors"

func mapFile(string, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func releaseMemory([]byte) {}

func residentFiles() int64 { return 0 }
