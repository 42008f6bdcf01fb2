//go:build !linux

package tensor

import "errors"

func mapFile(string, int) ([]byte, int, error) { return nil, -1, errors.ErrUnsupported }

func closeFile(int) {}

func readFile(int, []byte, int64) error { return errors.ErrUnsupported }

func releaseMemory([]byte) {}

func residentFiles() int64 { return 0 }
