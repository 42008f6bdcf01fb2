package session

// watch reports which tables are looked at to a function that the engine sets.
type watch struct {
	look func(schema, name string) error
}

func (s *watch) see(schema, name string) error {
	if s.look == nil {
		return nil
	}
	return s.look(schema, name)
}

// Watch has f called whenever a table is looked at.
func (s *watch) Watch(f func(schema, name string) error) func(schema, name string) error {
	before := s.look
	s.look = f
	return before
}
