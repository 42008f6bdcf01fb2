-- relgrad run [-v seed=N] karate_loop.sql: the model of karate_model.sql, trained by a loop of one's own.
-- backward fills w0_grad and w1_grad in one pass; momentum is two more tables.
\ir karate_model.sql
CREATE TABLE m0 AS SELECT node, 0 * v AS v FROM w0;
CREATE TABLE m1 AS SELECT id, 0 * v AS v FROM w1;
ALTER TABLE m0 ADD PRIMARY KEY (node);
ALTER TABLE m1 ADD PRIMARY KEY (id);

DO $$
DECLARE
  lr   real := 0.3;
  l    double precision;
  best double precision := 'infinity';
  bad  int := 0;
BEGIN
  FOR step IN 1..200 LOOP
    l := backward('loss', ARRAY['w0', 'w1'], step => step);
    UPDATE m0 SET v = 0.9 * m0.v + g.v FROM w0_grad g WHERE g.node = m0.node;
    UPDATE m1 SET v = 0.9 * m1.v + g.v FROM w1_grad g WHERE g.id = m1.id;
    UPDATE w0 SET v = w0.v - lr * m0.v FROM m0 WHERE m0.node = w0.node;
    UPDATE w1 SET v = w1.v - lr * m1.v FROM m1 WHERE m1.id = w1.id;
    IF step % 20 = 0 THEN
      RAISE NOTICE 'step %  loss %', step, round(l::numeric, 5);
    END IF;
    IF l < best - 1e-4 THEN best := l; bad := 0; ELSE bad := bad + 1; END IF;
    COMMIT;
    EXIT WHEN bad >= 10;
  END LOOP;
END $$;

-- two steps of plain gradient descent, one table at a time, straight from gradient()
UPDATE w0 SET v = w0.v - 0.1 * g.v FROM gradient('loss', NULL::w0) AS g WHERE g.node = w0.node;
UPDATE w1 SET v = w1.v - 0.1 * g.v FROM gradient('loss', NULL::w1) AS g WHERE g.id = w1.id;
SELECT round(loss::numeric, 5) AS loss FROM loss;
SELECT round(accuracy, 3) AS accuracy FROM accuracy;
