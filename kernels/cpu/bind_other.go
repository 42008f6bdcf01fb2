//go:build !linux

package cpu

// allowed are the processors that the process may use: here nobody tells.
func allowed() Set { return nil }

// bound runs live: here no thread can be bound to processors.
func bound(_ Set, live func(), _ chan struct{}) { live() }
