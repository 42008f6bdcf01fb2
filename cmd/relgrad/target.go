package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store"
)

// target is where a command runs: the flags of the commands that open a store or connect to a server.
type target struct {
	store  string
	db     *string // the server's DSN; nil: no server
	memory int64   // memory budget of a plan; 0: not given
	sites  int     // at how many sites a loss runs; 0: not given
	device string  // where a loss runs; "": not given
}

// memoryFlag adds --memory.
func (t *target) memoryFlag(fs *flag.FlagSet) {
	fs.Func("memory", "bound the memory of a plan to `SIZE`, such as 280MB or 4GiB: what does not fit lies in files "+
		"beside the store (default three quarters of the machine's)", func(s string) (err error) {
		if t.memory, err = store.ParseSize(s); err == nil && t.memory == 0 {
			err = errors.New("more than nothing is needed")
		}
		var e *sqlerr.Error
		if errors.As(err, &e) && e.Hint != "" {
			err = fmt.Errorf("%s (%s)", e.Message, strings.TrimSuffix(e.Hint, "."))
		}
		return err
	})
}

// sitesFlag adds --sites.
func (t *target) sitesFlag(fs *flag.FlagSet) {
	t.atSites(fs, "run a loss at `N` sites of this process, each with its own part of the rows (default 1)",
		catalog.MostSites)
}

// atSites adds --sites of a command that takes up to most.
func (t *target) atSites(fs *flag.FlagSet, usage string, most int) {
	fs.Func("sites", usage, func(s string) (err error) {
		if t.sites, err = strconv.Atoi(s); err != nil || t.sites < 1 || t.sites > most {
			return fmt.Errorf("a number from 1 to %d is needed", most)
		}
		return nil
	})
}

// deviceFlag adds --device.
func (t *target) deviceFlag(fs *flag.FlagSet) {
	fs.Func("device", "run losses on `DEVICE`: cpu, cuda, cuda:1, or auto, which chooses (default cpu)",
		func(s string) error {
			if _, graphics := catalog.GraphicsDevice(s); s != "cpu" && s != catalog.AutoDevice && !graphics {
				return errors.New("cpu, cuda, a number of a device such as cuda:1, or auto is needed")
			}
			t.device = s
			return nil
		})
}

// dsnFlag adds --db.
func (t *target) dsnFlag(fs *flag.FlagSet, usage string) {
	fs.Func("db", usage+": `DSN` is a database's name, postgres://… or key=value …; PGHOST and its like count",
		func(dsn string) error {
			t.db = &dsn
			return nil
		})
}

// open opens the store. "" is a temporary one, which is deleted at the end.
func (t target) open() (*relgrad.DB, error) {
	db, err := relgrad.Open(t.store)
	if err == nil {
		db.Engine.Memory, db.Engine.Sites, db.Engine.Device = t.memory, t.sites, t.device
		err = db.LimitCache(t.memory)
	}
	return db, err
}

// check refuses a store and a server at once.
func (t *target) check(c *command, fs *flag.FlagSet) error {
	if t.db != nil && t.store != "" {
		return c.wrong(fs, "--store is a file of relgrad's, --db a server: only one of them can be given")
	}
	if t.db != nil && t.memory > 0 {
		return c.wrong(fs, "--memory bounds plans on a store; on a server SET relgrad.memory does")
	}
	if t.db != nil && t.device != "" {
		return c.wrong(fs, "--device is for a store: a server's losses run on the server's machine")
	}
	if t.db != nil && t.sites > 0 {
		return c.wrong(fs, "--sites is for a store; on a server SET relgrad.sites says at how many sites a loss runs")
	}
	return nil
}

// needed refuses a command line with neither a store nor a server, or with both.
func (t *target) needed(c *command, fs *flag.FlagSet) error {
	if t.db == nil && t.store == "" {
		return c.wrong(fs, "--store FILE or --db DSN is needed: the store or server whose runs are meant")
	}
	return t.check(c, fs)
}

// engine is a store or a server for commands that run no statements of the user.
type engine struct {
	*relgrad.Engine
	Close  func() error
	server *relgrad.Server // nil for a store
}

// markInterrupted marks runs on a server whose process is gone; a store does so when it is opened.
func (e *engine) markInterrupted(ctx context.Context) error {
	if e.server == nil {
		return nil
	}
	return e.server.MarkInterrupted(ctx)
}

// storeFlags adds --store and --db for a command that reads an existing database.
func (t *target) storeFlags(fs *flag.FlagSet) {
	fs.StringVar(&t.store, "store", "", "the store in `FILE`")
	t.dsnFlag(fs, "the PostgreSQL server")
}

// openOld opens a store that must exist, or connects to the server.
func (t *target) openOld(ctx context.Context) (*engine, error) {
	if t.db != nil {
		s, err := relgrad.Dial(ctx, *t.db, nil)
		if err != nil {
			return nil, err
		}
		s.Engine.Memory, s.Engine.Sites, s.Engine.Device = t.memory, t.sites, t.device
		return &engine{Engine: s.Engine, Close: s.Close, server: s}, nil
	}
	db, err := t.openOldStore()
	if err != nil {
		return nil, err
	}
	return &engine{Engine: db.Engine, Close: db.Close}, nil
}

// openOldStore opens a store that must exist.
func (t *target) openOldStore() (*relgrad.DB, error) {
	if _, err := os.Stat(t.store); errors.Is(err, fs.ErrNotExist) {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "the store %s does not exist", t.store).Wrap(err)
	} else if err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open store %s", t.store).Wrap(err)
	}
	return t.open()
}
