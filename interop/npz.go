package interop

import (
	"archive/zip"
	"io"
	"strings"
)

// maxMembers bounds the arrays of a file.
const maxMembers = 1 << 16

// openNpz reads a zip file of npy files, as numpy.savez and savez_compressed write it.
func openNpz(s *source) (Reader, error) {
	z, err := zip.NewReader(s, s.size)
	if err != nil {
		return nil, s.malformed("not a zip file, as npz is: %v", err)
	}
	if len(z.File) > maxMembers {
		return nil, s.unsupported("%d arrays, more than %d", len(z.File), maxMembers)
	}
	var all []*member
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, s.unsupported("member \"%.100s\" is no array: its name does not end in .npy", f.Name)
		}
		// deflate compresses by at most 1032 to 1, so a larger claim is false
		if f.CompressedSize64 > uint64(s.size) || f.UncompressedSize64 > 1032*f.CompressedSize64+64 ||
			f.Method == zip.Store && f.UncompressedSize64 != f.CompressedSize64 {
			return nil, s.malformed("array \"%s\": %d bytes from %d compressed ones in a file of %d", name, f.UncompressedSize64,
				f.CompressedSize64, s.size)
		}
		r, err := f.Open()
		if err != nil {
			return nil, s.malformed("array \"%s\": %v", name, err)
		}
		a, err := s.npy(name, r, int64(f.UncompressedSize64))
		r.Close()
		if err != nil {
			return nil, err
		}
		skip := int64(f.UncompressedSize64) - a.size
		a.open = func() (io.Reader, error) {
			r, err := f.Open()
			if err != nil {
				return nil, err
			}
			_, err = io.CopyN(io.Discard, r, skip)
			return r, err
		}
		all = append(all, a)
	}
	return newArrays(s, all, nil)
}
