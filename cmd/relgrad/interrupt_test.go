package main

import (
	"context"
	"syscall"
	"testing"
	"time"
)

// TestSignalTwice: the same signal twice, as timeout sends it, ends the context and not the process.
func TestSignalTwice(t *testing.T) {
	ctx, stop := interruptible(context.Background())
	defer stop()
	for range 2 {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond) // who would stop listening has done so
	}
}
