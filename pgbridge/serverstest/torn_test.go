package serverstest

import (
	"fmt"
	"strings"
	"testing"
)

// torn: where one server has committed parameters and another one then fails, resume finds it and computes what a run
// that nobody has disturbed does, by both engines.
func (s *servers) torn(t *testing.T) {
	c := s.called
	c.must("%s", ratings)
	c.must("DROP VIEW loss")
	for _, x := range models[1].spread {
		s.spread(x.name, x.columns, x.by, x.keyed)
	}
	c.must("%s", ratings[strings.Index(ratings, "CREATE VIEW"):])
	c.must("CREATE TABLE w_was AS TABLE w; CREATE TABLE h_was AS TABLE h")
	for _, o := range s.others {
		o.must("TRUNCATE relgrad.mark")
		o.must(`CREATE TABLE fails (behind int); CREATE TABLE seen (transaction bigint PRIMARY KEY)
; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
  IF EXISTS (SELECT FROM public.fails) THEN
    INSERT INTO public.seen VALUES (txid_current()) ON CONFLICT DO NOTHING;
    IF (SELECT count(*) FROM public.seen) > (SELECT behind FROM public.fails) THEN
      RAISE EXCEPTION 'the disk is full here';
    END IF;
  END IF; RETURN NULL; END $$
; CREATE CONSTRAINT TRIGGER refuses AFTER UPDATE ON part_w DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION refuse()`)
	}
	again := "UPDATE w SET v = o.v FROM w_was o WHERE o.u = w.u; UPDATE h SET v = o.v FROM h_was o WHERE o.i = h.i"
	tears, later := 0, 0
	for _, engine := range []string{"chunk", "sql"} {
		c.must("SET relgrad.engine = '%s'; "+again, engine)
		call := "CALL train('loss', ARRAY['w', 'h'], optimizer => 'adam', lr => 0.01, epochs => 7%s)"
		c.must(call, "")
		c.must("CREATE TABLE %s AS SELECT 'w' AS of, u AS k, v FROM w UNION ALL SELECT 'h', i, v FROM h", engine)
		const slow = ", before_step => 'SELECT pg_sleep(0.3)'" // it commits about once a second
		c.must(again+"; "+call, slow)
		c.must("CREATE TABLE %s_slow AS SELECT 'w' AS of, u AS k, v FROM w UNION ALL SELECT 'h', i, v FROM h", engine)
		for _, x := range []struct {
			server, behind int // so many commits
		}{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}} { // which server commits first depends on its foreign tables' OIDs
			more, want := "", engine
			if x.behind > 0 {
				more, want = slow, engine+"_slow"
			}
			c.must("%s", again)
			o := s.others[x.server]
			o.must("INSERT INTO fails VALUES (%d)", x.behind)
			if _, err := c.run(fmt.Sprintf(call, more)); err == nil || !strings.Contains(err.Error(), "the disk is full here") {
				t.Errorf("%s, server %d: %v", engine, x.server+1, err)
			}
			o.must("TRUNCATE fails, seen")
			run := strings.Split(c.must("SELECT run, step FROM relgrad.run ORDER BY run DESC LIMIT 1")[0], "|")
			for i, o := range s.others {
				if o.must("SELECT count(*) FROM relgrad.mark WHERE run = %s AND step <> %s", run[0], run[1])[0] != "0" {
					t.Logf("%s, server %d: server %d is not at step %s", engine, x.server+1, i+1, run[1])
					if tears++; run[1] != "0" {
						later++
					}
				}
			}
			c.must("CALL train(resume => %s)", run[0])
			if n := c.differ("SELECT 'w' AS of, u AS k, v FROM w UNION ALL SELECT 'h', i, v FROM h", "TABLE "+
				want); n != "0" {
				t.Errorf("%s, server %d fails behind step %s: %s rows are others than those of a run that was not disturbed",
					engine, x.server+1, run[1], n)
			}
		}
	}
	if tears < 4 || later < 2 {
		t.Errorf("%d commits are torn, %d of them behind others", tears, later)
	}
	for i, o := range s.others {
		if n := o.must("SELECT count(DISTINCT run), max(step) FROM relgrad.mark"); n[0] != "14|7" {
			t.Errorf("server %d has marks of runs and steps %s", i+1, n[0])
		}
	}
}
