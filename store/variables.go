package store

import (
	"maps"
	"strings"
)

// meaning reports whether a configuration parameter decides what a query means: the search path does, and what users
// keep under names with a dot (SET my.fold = 3). The others say how statements run or print.
func meaning(name string) bool {
	return name == "search_path" || strings.Contains(name, ".") && name != memorySetting
}

// Variables returns the session's values of the configuration parameters that decide what queries mean, those that were set.
func (db *DB) Variables() map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{db.settings, db.local} {
		for name, v := range m {
			if meaning(name) {
				out[name] = v
			}
		}
	}
	return out
}

// Local reports whether parameters were set for the open transaction only.
func (db *DB) Local() bool { return len(db.local) > 0 }

// Under gives these parameters exactly the values of another session. The function it returns puts all
// parameters back.
func (db *DB) Under(vars map[string]string) (back func()) {
	settings, local := db.settings, db.local
	others := func(m map[string]string) map[string]string {
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(name, _ string) bool { return meaning(name) })
		return m
	}
	db.settings, db.local = others(settings), others(local)
	for name, v := range vars {
		db.Set(name, v, false)
	}
	return func() { db.settings, db.local = settings, local }
}
