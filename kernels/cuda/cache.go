package cuda

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// mostCached is how many modules the cache keeps. The oldest are deleted first.
const mostCached = 1024

// cacheFolder is the folder of compiled modules: RELGRAD_CUDA_CACHE, or one of the user's; "" where there is none, or
// where RELGRAD_CUDA_CACHE is off.
func cacheFolder() string {
	switch dir := os.Getenv("RELGRAD_CUDA_CACHE"); dir {
	case "":
	case "off":
		return ""
	default:
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "relgrad", "cuda")
}

// cached is where the compiled module of a text is kept for this device; "": nowhere.
func (d *Device) cached(text string) string {
	dir := cacheFolder()
	if dir == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%d.%d\x00%v\x00", d.Name, d.Major, d.Minor, d.NVRTC)
	io.WriteString(h, text)
	return filepath.Join(dir, hex.EncodeToString(h.Sum(nil)))
}

// code is the machine code of a text for the device: what has been compiled before, or what is compiled now and kept.
// Where it cannot be kept it is compiled each time.
func (d *Device) code(text string) ([]byte, error) {
	file := d.cached(text)
	if sum, code, ok := opened(file); ok && sum == sha256.Sum256(code) {
		return code, nil
	}
	code, err := Compile(text, d.Major, d.Minor)
	if err == nil && file != "" {
		keep(file, code)
	}
	return code, err
}

// opened reads a kept module, before which its checksum stands.
func opened(file string) (sum [sha256.Size]byte, code []byte, ok bool) {
	all, err := os.ReadFile(file)
	if file == "" || err != nil || len(all) < len(sum) {
		return sum, nil, false
	}
	return sum, all[copy(sum[:], all):], true
}

// keep writes a module beside the others. A file that is written in part is never seen.
func keep(file string, code []byte) {
	dir := filepath.Dir(file)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	sum := sha256.Sum256(code)
	_, err = f.Write(append(sum[:], code...))
	if e := f.Close(); err != nil || e != nil || os.Rename(f.Name(), file) != nil {
		return
	}
	all, err := os.ReadDir(dir)
	if err != nil || len(all) <= mostCached {
		return
	}
	age := func(e os.DirEntry) int64 {
		if i, err := e.Info(); err == nil {
			return i.ModTime().UnixNano()
		}
		return 0
	}
	slices.SortFunc(all, func(a, b os.DirEntry) int { return int(min(max(age(a)-age(b), -1), 1)) })
	for _, e := range all[:len(all)-mostCached] {
		os.Remove(filepath.Join(dir, e.Name()))
	}
}
