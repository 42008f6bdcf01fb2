package cuda

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "driver.h"
*/
import "C"

import (
	"os"
	"strings"
	"sync"
	"unsafe"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// driver opens the driver once; the error says what was tried.
var driver = sync.OnceValue(func() error {
	return first("RELGRAD_CUDA_DRIVER", func(n *C.char) *C.char { return C.rg_open_driver(n) }, "libcuda.so.1")
})

// compiler opens NVRTC once.
var compiler = sync.OnceValue(func() error {
	return first("RELGRAD_NVRTC", func(n *C.char) *C.char { return C.rg_open_nvrtc(n) }, "libnvrtc.so.13",
		"libnvrtc.so.12")
})

// first opens the first library that can be used, of those that a variable lists and then of names.
func first(variable string, open func(*C.char) *C.char, names ...string) error {
	switch v := os.Getenv(variable); v {
	case "":
	case "off":
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is off", variable)
	default:
		names = append(strings.Split(v, ":"), names...)
	}
	var tried []string
	for _, n := range names {
		name := C.CString(n)
		why := open(name)
		C.free(unsafe.Pointer(name))
		if why == nil {
			return nil
		}
		text := C.GoString(why)
		C.free(unsafe.Pointer(why))
		if !strings.Contains(text, n) {
			text = n + ": " + text
		}
		tried = append(tried, text)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s", strings.Join(tried, "; "))
}

// failed is the error of a call of the driver; nil where there is none.
func failed(doing string, code C.int) error {
	switch code {
	case 0:
		return nil
	case outOfMemory:
		return sqlerr.New(sqlerr.OutOfMemory, "the device has not enough memory: %s", doing)
	}
	err := sqlerr.New(sqlerr.System, "the device failed: %s", doing).
		WithDetail("The driver says: %s (error %d).", C.GoString(C.rg_message(code)), int(code))
	if code >= 700 && code < 800 {
		err = err.WithHint("After an error of a kernel a device works again in a new process only.")
	}
	return err
}

// outOfMemory is CUDA_ERROR_OUT_OF_MEMORY.
const outOfMemory = 2

// Info describes a device.
type Info struct {
	Number          int
	Name            string
	Memory          int64 // bytes
	Major, Minor    int   // its compute capability
	Multiprocessors int
	Driver          [2]int // the version of CUDA that the driver knows
	NVRTC           [2]int // that of the compiler; 0: there is none
}

// Absent says why there is no device: no driver, or what it answers; nil where there is one.
func Absent() error {
	all, err := Devices()
	if err == nil && len(all) == 0 {
		err = sqlerr.New(sqlerr.FeatureNotSupported, "the driver has no device")
	}
	return err
}

// Devices lists the devices. The error says why there can be none: no driver, or what it answers.
func Devices() (out []Info, err error) {
	if err := driver(); err != nil {
		return nil, err
	}
	var version, n C.int
	if err := failed("it tells its version", C.rg_call_version(&version)); err != nil {
		return nil, err
	}
	if err := failed("devices are counted", C.rg_call_count(&n)); err != nil {
		return nil, err
	}
	for i := range int(n) {
		x := Info{Number: i, Driver: [2]int{int(version) / 1000, int(version) % 1000 / 10}}
		var name [256]C.char
		var bytes C.size_t
		var at [3]C.int
		if err := failed("a device is described", C.rg_describe(C.int(i), &name[0], &bytes, &at[0])); err != nil {
			return nil, err
		}
		x.Name, x.Memory = C.GoString(&name[0]), int64(bytes)
		x.Major, x.Minor, x.Multiprocessors = int(at[0]), int(at[1]), int(at[2])
		if compiler() == nil {
			var a, b C.int
			if C.rg_nvrtc_version(&a, &b) == 0 {
				x.NVRTC = [2]int{int(a), int(b)}
			}
		}
		out = append(out, x)
	}
	return out, nil
}
