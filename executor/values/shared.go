package values

import "github.com/relgrad/relgrad/executor/structure"

// Shared is what the graphs of a program share: the run's graph, those of its steps, and those of its structure.
type Shared struct {
	env        *structure.Env
	double     bool                // real is computed as double precision everywhere
	files      func(*Val) *RowFile // the files of columns' rows; nil: they are in memory
	layouts    map[string]*Layout
	alongs     map[string]along
	rowTables  map[uint64][][]int32 // of layouts, by a hash
	foundPairs []foundPairs
}

func NewShared(env *structure.Env, double bool, files func(*Val) *RowFile) *Shared {
	s := &Shared{env: env, double: double, files: files}
	s.Forget()
	return s
}

// Forget drops what depends on the structure of a run.
func (s *Shared) Forget() {
	s.layouts, s.alongs = map[string]*Layout{}, map[string]along{}
	s.rowTables, s.foundPairs = map[uint64][][]int32{}, nil
}

// RowFile is the file from which the rows of a column are read; nil: they are in memory.
func (s *Shared) RowFile(v *Val) *RowFile {
	if s == nil {
		return nil
	}
	return s.files(v)
}
