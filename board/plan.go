package board

import (
	"net/http"
	"strings"

	"github.com/relgrad/relgrad/engine"
)

// drawn is the answer of /api/plan.
type drawn struct {
	Loss   string   `json:"loss"`
	Params []string `json:"params"`
	*engine.Picture
}

// plan draws a stage of a run's loss and its gradients.
func (b *Board) plan(r *http.Request) (any, error) {
	id, err := numbers(r, "run", 1)
	if err != nil {
		return nil, err
	}
	out := &drawn{}
	err = b.plans.use(r.Context(), func(s *Session) error {
		of, err := s.open(r.Context(), id[0])
		if err != nil {
			return err
		}
		defer of.back()
		out.Loss, out.Params = of.loss, of.params
		out.Picture, err = s.Picture(r.Context(), of.loss, of.params, r.URL.Query().Get("stage"), of.config.Batch,
			of.config.BatchSize)
		return err
	})
	return out, err
}

// texts is the answer of /api/sql.
type texts struct {
	Loss   string `json:"loss"`
	View   string `json:"view"`   // the loss as it is written, if it is a view
	Engine string `json:"engine"` // what computes it and why
	Parts  []part `json:"parts"`
}

// part is a statement: the loss or a gradient.
type part struct {
	Name string `json:"name"`
	SQL  string `json:"sql"`
}

// sql shows the gradient's SQL beside the loss's.
func (b *Board) sql(r *http.Request) (any, error) {
	id, err := numbers(r, "run", 1)
	if err != nil {
		return nil, err
	}
	out := &texts{}
	err = b.plans.use(r.Context(), func(s *Session) error {
		of, err := s.open(r.Context(), id[0])
		if err != nil {
			return err
		}
		defer of.back()
		out.Loss = of.loss
		schema, name, ok := strings.Cut(of.loss, ".")
		if !ok {
			schema, name = "", of.loss
		}
		if v, ok := s.View(s.SearchPath(), schema, name); ok {
			out.View = v.SQL
		}
		text, err := s.Explain(r.Context(), of.loss, of.params, "sql")
		if err != nil {
			return err
		}
		out.Engine, out.Parts = parted(text)
		return nil
	})
	return out, err
}

// parted divides the text of stage sql into its statements, each of which begins with a comment that names it.
func parted(text string) (head string, out []part) {
	for line := range strings.Lines(text) {
		name, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- the ")
		switch {
		case is && (name == "loss" || strings.HasPrefix(name, "gradient with respect to ")):
			out = append(out, part{Name: name})
		case len(out) == 0:
			head += line
		default:
			out[len(out)-1].SQL += line
		}
	}
	return head, out
}
