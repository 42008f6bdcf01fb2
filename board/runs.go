package board

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/script/plpgsql"
	"github.com/relgrad/relgrad/train"
)

// hidden are columns of relgrad.run for resuming a run only, which may be long.
var hidden = []string{"keys", "context", "progress", "waited"}

// entry is a run as the list shows it.
type entry struct {
	Run     int64              `json:"run"`
	Fields  map[string]any     `json:"fields"`  // the columns of relgrad.run, as texts; absent: NULL
	Options map[string]any     `json:"options"` // those that were given and have an effect
	Last    map[string]float64 `json:"last"`    // the last figure of each metric, if it is finite
	beside  []string           // columns of the validation beside its first
	stamp   string
}

// runs keeps what does not change between requests.
type runs struct {
	sync.Mutex
	last   map[int64]*entry
	steps  map[int64]*steps
	stored int // steps that are kept
}

func newRuns() *runs { return &runs{last: map[int64]*entry{}, steps: map[int64]*steps{}} }

// list is the answer of /api/runs.
type list struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Metrics []string `json:"metrics"`
	Runs    []*entry `json:"runs"`
}

func (b *Board) listRuns(r *http.Request) (any, error) {
	out := &list{Name: b.name, Runs: []*entry{}}
	err := b.quick.use(r.Context(), func(s *Session) error { return b.readRuns(r.Context(), s, out) })
	return out, err
}

func (b *Board) readRuns(ctx context.Context, s *Session, out *list) (err error) {
	cols, err := columnsOf(ctx, s, "relgrad.run")
	if err != nil {
		return err
	}
	if out.Metrics, err = metrics(ctx, s); err != nil {
		return err
	}
	var shown []string
	for _, c := range cols {
		if !slices.Contains(hidden, c.Name) {
			shown = append(shown, sqltext.Ident(c.Name))
			out.Columns = append(out.Columns, c.Name)
		}
	}
	res, err := s.RunSQL(ctx, "SELECT run AS board_run, progress AS board_progress, "+strings.Join(shown, ", ")+
		" FROM relgrad.run ORDER BY run")
	if err != nil {
		return err
	}
	b.runs.Lock()
	defer b.runs.Unlock()
	kept := map[int64]*entry{}
	for _, row := range res.Rows {
		e := &entry{Run: row[0].(int64), Fields: map[string]any{}, Last: map[string]float64{}}
		for i, c := range res.Cols[2:] {
			if v := row[2+i]; v != nil {
				e.Fields[c.Name] = plpgsql.Format(v, c.Type)
			}
		}
		e.stamp = fmt.Sprint(e.Fields["started"], e.Fields["updated"], e.Fields["step"])
		if before := b.runs.last[e.Run]; before != nil && before.stamp == e.stamp {
			e.Last, e.beside = before.Last, before.beside
		} else if err := readLast(ctx, s, e, out.Metrics); err != nil {
			return err
		}
		if text, ok := e.Fields["options"].(string); ok {
			progress, _ := row[1].(string)
			if e.Options, err = options(text, progress); err != nil {
				e.Options = map[string]any{"options": text + " (not readable: " + err.Error() + ")"}
			}
		}
		delete(e.Fields, "options")
		kept[e.Run] = e
		out.Runs = append(out.Runs, e)
	}
	for _, e := range out.Runs {
		for _, name := range e.beside {
			if !slices.Contains(out.Metrics, name) {
				out.Metrics = append(out.Metrics, name)
			}
		}
	}
	b.runs.last = kept
	return nil
}

// options are those of a run that are not the usual ones, with those that every run chooses.
func options(stored, progress string) (map[string]any, error) {
	out, err := train.Given(stored, progress)
	if err != nil {
		return nil, err
	}
	def := train.Default()
	usual := def.Map()
	for name, text := range out {
		if as, err := json.Marshal(usual[name]); err == nil && strings.Trim(string(as), `"`) == text &&
			!slices.Contains([]string{"optimizer", "lr"}, name) {
			delete(out, name)
		}
	}
	delete(out, "seed") // a column of its own
	return out, nil
}

// readLast reads the last figure of each metric.
func readLast(ctx context.Context, s *Session, e *entry, metrics []string) error {
	for _, m := range metrics {
		name := sqltext.Ident(m)
		res, err := s.RunSQL(ctx, fmt.Sprintf("SELECT %s FROM relgrad.loss WHERE run = %d AND %s IS NOT NULL "+
			"ORDER BY step DESC LIMIT 1", name, e.Run, name))
		if err != nil {
			return err
		}
		if len(res.Rows) == 0 {
			continue
		}
		if x, ok := res.Rows[0][0].(float64); ok && !math.IsInf(x, 0) && !math.IsNaN(x) {
			e.Last[m] = x
		}
	}
	res, err := s.RunSQL(ctx, fmt.Sprintf("SELECT name, value FROM relgrad.validation WHERE run = %d AND position > 1 "+
		"AND step = (SELECT max(step) FROM relgrad.validation WHERE run = %[1]d) ORDER BY position", e.Run))
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		name := row[0].(string)
		e.beside = append(e.beside, name)
		if x, ok := row[1].(float64); ok && !math.IsInf(x, 0) {
			e.Last[name] = x
		}
	}
	return nil
}

func columnsOf(ctx context.Context, s *Session, table string) ([]catalog.ResultCol, error) {
	res, err := s.RunSQL(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	return res.Cols, nil
}

// metrics are the columns of relgrad.loss that hold figures of a step.
func metrics(ctx context.Context, s *Session) ([]string, error) {
	cols, err := columnsOf(ctx, s, "relgrad.loss")
	if err != nil {
		return nil, err
	}
	cols = slices.DeleteFunc(cols, func(c catalog.ResultCol) bool { return c.Type != "double precision" })
	return lists.Map(cols, func(c catalog.ResultCol) string { return c.Name }), nil
}

// ran is what a plan needs of a run.
type ran struct {
	loss   string
	params []string
	config train.Config
	back   func() // restores the session's settings
}

// open reads a run and gives the session the settings that it began with. The caller calls back.
func (s *Session) open(ctx context.Context, id int64) (*ran, error) {
	res, err := s.RunSQL(ctx, fmt.Sprintf("SELECT loss, parameters::text, options::text, context "+
		"FROM relgrad.run WHERE run = %d", id))
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, noRun(id)
	}
	if err := s.OwnRun(ctx, id); err != nil { // its loss is a text of the owner's, which must not run with other rights
		return nil, err
	}
	row := res.Rows[0]
	texts := lists.Map(row, func(v any) string { text, _ := v.(string); return text })
	out := &ran{loss: texts[0], back: func() {}}
	var rest struct {
		Settings map[string]string `json:"settings"`
	}
	out.params, err = sqltext.ParseArray(texts[1])
	if err == nil {
		out.config, err = train.FromJSON(texts[2])
	}
	if err == nil && texts[3] != "" {
		err = json.Unmarshal([]byte(texts[3]), &rest)
	}
	if err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "run %d is not readable: %v", id, err).Wrap(err)
	}
	if rest.Settings != nil {
		out.back = s.WithSettings(rest.Settings)
	}
	return out, nil
}

func noRun(id int64) error {
	return sqlerr.New(sqlerr.UndefinedObject, "run %d does not exist", id).WithHint("The first page lists the runs.")
}
