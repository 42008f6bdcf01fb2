package places

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// probeName is an object that stays in the log's folder. Readers ignore its name, and Vacuum may delete it.
const probeName = "_delta_log/.relgrad-conditional"

// probe asks, once, whether the store refuses to write an object that is there.
func (s *S3) probe() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keeps || s.cannot != nil {
		return s.cannot
	}
	for range 3 { // the object may be deleted meanwhile
		_, err := s.put(probeName, []byte("relgrad asks whether this store keeps to If-None-Match.\n"), aws.String("*"))
		switch {
		case err == nil:
			continue
		case answered(err, 412):
			s.keeps = true
			return nil
		case !answered(err, 501):
			return s.failed(err, "could not write", probeName)
		}
		break
	}
	s.cannot = sqlerr.New(sqlerr.FeatureNotSupported,
		"the object store of \"%s\" writes over objects that a request wants to be absent", s.url("")).
		WithDetail("It does not keep to If-None-Match: *, so two writers could both make the same version.").
		WithHint("Write to a folder or to a store that has conditional writes. Reading is possible.")
	return s.cannot
}
