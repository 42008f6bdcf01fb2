package executor

import "github.com/relgrad/relgrad/executor/structure"

// shared is what the graphs of a program have in common: the run's, those of its steps, and those of its structure.
type shared struct {
	env        *structure.Env
	double     bool                // real is computed as double precision everywhere
	files      func(*val) *rowFile // where rows of a column are read from; nil: from memory
	layouts    map[string]*layout
	alongs     map[string]along
	rowTables  map[uint64][][]int32 // of layouts, by a hash
	foundPairs map[[4]int][]foundPairs
}

func newShared(env *structure.Env, double bool, files func(*val) *rowFile) *shared {
	s := &shared{env: env, double: double, files: files}
	s.forget()
	return s
}

// forget forgets what belongs to the structure of a run.
func (s *shared) forget() {
	s.layouts, s.alongs = map[string]*layout{}, map[string]along{}
	s.rowTables, s.foundPairs = map[uint64][][]int32{}, map[[4]int][]foundPairs{}
}

// rowFile is where the rows of a column are read from; nil: from memory.
func (s *shared) rowFile(v *val) *rowFile {
	if s == nil {
		return nil
	}
	return s.files(v)
}
