package pgrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// trained trains on a table with a date, a text and a numeric beside its parameter, and gives the parameter's bits and
// the last loss.
func (s *viewServer) trained(mode string) (string, error) {
	s.t.Helper()
	s.exec("SET default_transaction_read_only = off")
	s.exec("UPDATE p SET x = k / 8.0, v = ARRAY[k, 1]; DELETE FROM relgrad.run; SET relgrad.engine = " + mode)
	call := "CALL relgrad.train('SELECT sum((p.x - q.y) ^ 2 * dot(p.v, p.v)) FROM p JOIN q USING (day) " +
		"WHERE p.x > -1.5 AND q.label <> ''a''', ARRAY['p'], optimizer => 'adam', lr => 0.125, epochs => 2)"
	if err := s.try(call); err != nil {
		return "", err
	}
	const bits = "SELECT string_agg(encode(float8send(x), 'hex') || encode(array_send(v), 'hex'), ' ' ORDER BY k) FROM p"
	r := s.conn.PgConn().ExecParams(context.Background(), bits, nil, nil, nil, nil).Read() // pgx would keep it prepared
	if r.Err != nil {
		return "", r.Err
	}
	return string(r.Rows[0][0]), nil
}

// trainData is what trained reads.
const trainData = `CREATE TABLE p (k int, day date, x float8, v float8[], PRIMARY KEY (k, day));
CREATE TABLE q (day date PRIMARY KEY, label text, y float8, n numeric);
INSERT INTO p SELECT k, '2020-02-01'::date + k % 3, k / 8.0, ARRAY[k, 1] FROM generate_series(1, 9) AS g(k);
INSERT INTO q SELECT '2020-02-01'::date + k, chr(97 + k), 0.5 * k, 0.1 FROM generate_series(0, 2) AS g(k);`

// TestSettingsTraining trains under what a session may set, also where a role's own settings set it, and between
// DISCARD.
func TestSettingsTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	s.exec(trainData)
	want := map[string]string{}
	for _, mode := range engineModes {
		bits, err := s.trained(mode)
		if err != nil {
			t.Fatal(mode, err)
		}
		want[mode] = bits
	}
	check := func(s *viewServer, what string) {
		for _, mode := range engineModes {
			if bits, err := s.trained(mode); err != nil || bits != want[mode] {
				t.Errorf("%s, %s: trained to %s, not %s: %v", what, mode, bits, want[mode], err)
			}
		}
	}
	for _, group := range settingGroups() {
		set := slices.DeleteFunc(slices.Clone(group), func(set string) bool {
			return strings.HasPrefix(set, "session_replication_role")
		})
		s.under(set...)
		check(s, fmt.Sprint(set))
	}
	for _, what := range []string{"ALL", "PLANS"} {
		s.under()
		s.exec("DISCARD " + what)
		s.exec("SET search_path = public, relgrad")
		check(s, "DISCARD "+what)
	}
	s.under("default_transaction_read_only = on")
	var e *pgconn.PgError
	if err := s.try("CALL relgrad.train('SELECT sum(x ^ 2) FROM p', ARRAY['p'], epochs => 1)"); !errors.As(err, &e) ||
		e.Code != "25006" {
		t.Errorf("training in a read-only transaction: %v", err)
	}
	s.under()
	s.exec(`ALTER ROLE relgrad SET DateStyle = 'SQL, DMY'; ALTER ROLE relgrad SET standard_conforming_strings = off;
ALTER ROLE relgrad SET extra_float_digits = -10;
ALTER DATABASE postgres SET TimeZone = 'Asia/Kolkata'; ALTER ROLE relgrad SET quote_all_identifiers = on`)
	conn, err := pgx.ConnectConfig(t.Context(), s.conn.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	of := &viewServer{&Engine{conn: conn}, t}
	of.exec("SET search_path = public, relgrad")
	check(of, "ALTER ROLE")
}
