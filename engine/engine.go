package engine

import (
	"context"
	"fmt"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/optimizer/physical"
)

// Settings are a session's settings of its engine.
type Settings struct {
	// Workers is the number of threads; 0 means one per core. Results do not depend on it.
	Workers int
	// Sites is at how many sites a loss runs unless SET relgrad.sites says it; 0: at one. What a site holds and computes
	// is its own: others get it by exchanges.
	Sites int
	// Device is where losses run unless SET relgrad.device says it: "" or cpu, or a graphics processor, cuda or cuda:1;
	// auto: where it costs less.
	Device string
	// Cluster are the machines for which plans of several sites are made; nil: sites of this process, in seconds.
	Cluster *physical.Costs
	// Memory is the budget of a program in bytes unless SET relgrad.memory gives one. 0: three quarters of what this
	// process may have. What does not fit lies in files.
	Memory int64
	// Mode tells what computes gradients if the database can do it too: ModeAuto (also ""), ModeChunk or ModeSQL.
	Mode string
	// Notice receives messages of running statements, such as train()'s options. Nil drops them.
	Notice func(level, message string)
	// OnCompiling is called when the engine begins to plan a loss or a query.
	OnCompiling func()
	// OnCompiled is called when the executor has a program for a loss or a query.
	OnCompiled func(Compilation)
	// Disable lists optimizer rules that are switched off.
	Disable []string
}

// session is the database and the engine's state of a session.
type session struct {
	catalog.Database
	*Settings
	spill     spillBounds
	Catalogue *Catalogue
	cache     *planCache
	graphics  *graphics
	led       *uint64         // programs that lead others, so far
	said      map[string]bool // the surprises that have been said
	left      *[]*Queries     // those whose temporary tables are still in the session
}

// Engine is the engine of one session, without training. It has layers; each knows only those below it:
//
//	session   the database, the session's settings, the memory
//	compiler  makes a plan and a program of a loss, and keeps them
//	finder    finds where a value stops being finite
//	pusher    plans that the database computes
//	Engine    gradients, their check, their explanation
type Engine struct{ pusher }

// New makes the engine of a database.
func New(d catalog.Database, s *Settings) *Engine {
	base := session{Database: d, Settings: s, Catalogue: newCatalogue(d), cache: &planCache{}, led: new(uint64),
		said: map[string]bool{},
		left: new([]*Queries), graphics: &graphics{}}
	return &Engine{pusher{finder{compiler{base}}}}
}

// Close frees what is kept between calls.
func (db *Engine) Close() {
	db.cache.clear()
	db.graphics.close()
}

// Recovered drops what a panic may have left broken.
func (db *Engine) Recovered() { db.cache = &planCache{} }

func (db *session) Notify(level, message string) {
	if db.Notice != nil {
		db.Notice(level, message)
	}
}

// Runf runs a statement of the engine's own.
func (db *session) Runf(ctx context.Context, format string, args ...any) (*catalog.Result, error) {
	return db.RunSQL(ctx, fmt.Sprintf(format, args...))
}

// OnOneState runs f while the store's state does not change.
func (db *session) OnOneState(f func() error) error {
	if s, ok := db.Database.(catalog.Snapshotter); db.InTransaction() || ok && s.InOne() {
		return f()
	}
	if err := db.Begin(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return db.Undo(err)
	}
	_, err := db.Commit()
	return err
}

// Undo ends the open transaction after an error.
func (db *session) Undo(err error) error {
	if !db.InTransaction() { // a failed COMMIT has ended it
		return err
	}
	if back := db.Rollback(); back != nil {
		return fmt.Errorf("%w (and rolling back failed: %v)", err, back)
	}
	return err
}
