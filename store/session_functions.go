package store

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
)

// sessionFunctions are the functions in printed statements that depend on the session.
type sessionFunctions struct{ *DB }

// registerSession installs them.
func registerSession(db *DB) error {
	own := &sessionFunctions{db}
	var errs []error
	for name, f := range map[string]struct {
		n int // number of arguments, -1 for any
		f lite.Scalar
	}{
		"now": {0, func(a []lite.Cell, r lite.Result) error {
			r.Text(columns.TimeOut(db.now(), catalog.TimestampTZ))
			return nil
		}},
		"clock_timestamp": {0, clockTimestamp},
		"run_status":      {2, own.runStatus},
		"current_setting": {-1, func(a []lite.Cell, r lite.Result) error {
			if a[0].IsNull() {
				return nil
			}
			v, ok := db.Setting(a[0].String())
			switch {
			case ok:
				r.Text(v)
			case len(a) < 2 || a[1].IsNull() || a[1].Int() == 0:
				return sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", a[0].String())
			}
			return nil
		}},
		"set_config": {3, func(a []lite.Cell, r lite.Result) error {
			if a[0].IsNull() {
				return sqlerr.New(sqlerr.NullNotAllowed, "SET requires parameter name")
			}
			v := ""
			if !a[1].IsNull() {
				v = a[1].String()
			}
			if err := checkSetting(a[0].String(), v); err != nil {
				return err
			}
			db.Set(a[0].String(), v, !a[2].IsNull() && a[2].Int() != 0)
			r.Text(v)
			return nil
		}},
		"current_schema": {0, func(a []lite.Cell, r lite.Result) error {
			if p := db.searchPath(); len(p) > 0 {
				r.Text(p[0])
			}
			return nil
		}},
		"chunk":    {2, own.storeChunk},
		"nextval":  {1, own.nextIdentity},
		"proposed": {-1, own.proposed},
	} {
		errs = append(errs, db.c.Func("rg_"+name, f.n, false, f.f))
	}
	return errors.Join(errs...)
}

// runStatus is the status of a run as relgrad.run shows it.
func (f *sessionFunctions) runStatus(a []lite.Cell, r lite.Result) error {
	if a[1].IsNull() {
		return nil
	}
	status := a[1].String()
	if status == "running" && !a[0].IsNull() {
		on, err := f.trained(a[0].Int())
		if err != nil {
			return err
		}
		if !on {
			status = "interrupted"
		}
	}
	r.Text(status)
	return nil
}

// proposed returns its second argument, the first of a key's values. It is an error where an earlier row of the
// statement had the same key. The first argument tells which values are numeric.
func (f *sessionFunctions) proposed(a []lite.Cell, r lite.Result) error {
	kinds, a := a[0].String(), a[1:]
	var key strings.Builder
	null := false
	for i := range a {
		text := a[i].String()
		switch {
		case a[i].IsNull(): // NULL conflicts with nothing
			null = true
			continue
		case kinds[i] == 'n':
			text = strings.TrimRight(strings.TrimRight(text+b2point(text), "0"), ".")
		case a[i].Kind() == lite.Integer:
			text = strconv.FormatInt(a[i].Int(), 10)
		case a[i].Kind() == lite.Float:
			text = strconv.FormatFloat(a[i].Float()+0, 'g', -1, 64)
		}
		key.WriteString(strconv.Itoa(len(text)) + " " + text)
	}
	if !null && f.run.proposed[key.String()] {
		return sqlerr.New("21000", "ON CONFLICT DO UPDATE command cannot affect row a second time").
			WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
	}
	if f.run.proposed == nil {
		f.run.proposed = map[string]bool{}
	}
	f.run.proposed[key.String()] = true
	switch a[0].Kind() {
	case lite.Integer:
		r.Int(a[0].Int())
	case lite.Float:
		r.Float(a[0].Float())
	case lite.Text:
		r.Text(a[0].String())
	case lite.Blob:
		r.Blob(a[0].Bytes())
	}
	return nil
}

// nextIdentity is rg_nextval(i).
func (f *sessionFunctions) nextIdentity(a []lite.Cell, r lite.Result) error {
	id := f.run.IDs[a[0].Int()]
	r.Int(id.Next)
	id.Next += id.Inc
	return nil
}

// storeChunk is rg_chunk(x, slot): it returns x and records its shape for the check at the end of the statement (law
// 1).
func (f *sessionFunctions) storeChunk(a []lite.Cell, r lite.Result) error {
	if a[0].IsNull() {
		return nil
	}
	s, b := f.run.Slots[a[1].Int()], a[0].Bytes()
	if err := s.Note(b); err != nil {
		return err
	}
	copy(r.Room(lite.Blob, len(b)), b)
	return nil
}

func clockTimestamp(a []lite.Cell, r lite.Result) error {
	r.Text(columns.TimeOut(time.Now(), catalog.TimestampTZ))
	return nil
}
