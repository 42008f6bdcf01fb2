package gradtest

import (
	"context"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// set is a catalogue of a session with settings, on whose path there is an operator that may take calls of another's.
type set struct {
	*memdb.DB
	settings map[string]string
	captured string
}

func (s *set) Setting(name string) (string, bool) {
	v, ok := s.settings[name]
	return v, ok
}

func (s *set) Function(_ context.Context, _ []string, _, name string) (*ast.CreateFunction, error) {
	if name == s.captured {
		return nil, sqlerr.New(sqlerr.AmbiguousFunction, "%s may mean another", name)
	}
	return nil, nil
}

// TestSettingsOfTexts: what a text means in a session, where it is not what it means here, is an error with its place.
func TestSettingsOfTexts(t *testing.T) {
	for _, c := range []struct{ loss, setting, value, captured, wrong, at string }{
		{loss: `SELECT sum(weight) FROM adj WHERE 'a\b' = 'a'`, setting: "standard_conforming_strings", value: "off",
			wrong: "a backslash in a quoted text", at: `'a\b'`},
		{loss: `SELECT sum(weight) FROM adj WHERE 'a\b' = 'a'`, setting: "standard_conforming_strings", value: "on"},
		{loss: `SELECT sum(weight) FROM adj WHERE E'a\\b' = 'a' AND src < 3`,
			setting: "standard_conforming_strings", value: "off"},
		{loss: "SELECT sum(weight) FROM adj WHERE src = NULL OR dst = 1", setting: "transform_null_equals", value: "on",
			wrong: "= NULL is not supported", at: "= NULL"},
		{loss: "SELECT sum(weight) FROM adj WHERE NULL = src OR dst = 1", setting: "transform_null_equals", value: "on",
			wrong: "= NULL is not supported", at: "= src"},
		{loss: "SELECT sum(weight) FROM adj WHERE src = NULL OR dst = 1", setting: "transform_null_equals", value: "off"},
		{loss: "SELECT sum(weight * length(weight::text)) FROM adj", setting: "extra_float_digits", value: "0",
			wrong: "extra_float_digits is below 1", at: "::text"},
		{loss: "SELECT sum(weight * length(src::text)) FROM adj", setting: "extra_float_digits", value: "-3"},
		{loss: "SELECT sum(weight * 2) FROM adj", captured: "*", wrong: "may mean another", at: "* 2"},
		{loss: "SELECT sum(weight) FROM adj WHERE src IN (1, 2)", captured: "=", wrong: "may mean another", at: "IN (1"},
		{loss: "SELECT sum(weight) FROM adj WHERE src BETWEEN 1 AND 2", captured: "<=",
			wrong: "may mean another", at: "BETWEEN"},
		{loss: "SELECT sum(CASE src WHEN 1 THEN weight END) FROM adj", captured: "=", wrong: "may mean another", at: "CASE"},
		{loss: "SELECT sum(adj.weight) FROM adj JOIN adj b USING (src)", captured: "=",
			wrong: "may mean another", at: "adj JOIN"},
		{loss: "SELECT sum(-weight) FROM adj", captured: "-", wrong: "may mean another", at: "-weight"},
		{loss: "SELECT sum(nullif(weight, 1)) FROM adj", captured: "=", wrong: "may mean another", at: "nullif"},
		{loss: "SELECT sum(exp(weight)) FROM adj", captured: "exp", wrong: "may mean another", at: "exp("},
		{loss: "SELECT avg(weight) FROM adj", captured: "avg", wrong: "may mean another", at: "avg("},
		{loss: "SELECT sum(weight OPERATOR(pg_catalog.*) 2) FROM adj", captured: "+"},
	} {
		cat := &set{DB: Graph(), settings: map[string]string{c.setting: c.value}, captured: c.captured}
		_, err := bind.BindLoss(t.Context(), cat, ra.NewBuilder(), c.loss, bind.BindOptions{})
		if c.wrong == "" {
			if err != nil {
				t.Errorf("%s: %v", c.loss, err)
			}
			continue
		}
		e, ok := err.(*sqlerr.Error)
		if !ok || !strings.Contains(e.Message, c.wrong) || e.Pos < 0 {
			t.Errorf("%s: %v", c.loss, err)
		} else if c.at != "" && !strings.HasPrefix(c.loss[e.Pos:], c.at) {
			t.Errorf("%s: %v stands at %q", c.loss, err, c.loss[e.Pos:])
		}
	}
}
