-- relgrad run -v data=FOLDER [-v seed=N] cora_loop.sql: as cora.sql, with Adam and early stopping written in SQL.
\ir cora_model.sql
-- Adam's two moments have their parameter's shape
CREATE TABLE adam0 AS SELECT feature, 0 * v AS m, 0 * v AS s FROM w0;
CREATE TABLE adam1 AS SELECT id, 0 * v AS m, 0 * v AS s FROM w1;
ALTER TABLE adam0 ADD PRIMARY KEY (feature);
ALTER TABLE adam1 ADD PRIMARY KEY (id);
CREATE TABLE setting AS SELECT :seed AS seed; -- psql puts no variables into a $$ body

DO $$
DECLARE
  seed int := (SELECT s.seed FROM setting s);
  b1 real := 0.9;  b2 real := 0.999;  rate real;
  val double precision;  best double precision := 'infinity';  since int := 0;
BEGIN
  FOR step IN 1..200 LOOP
    PERFORM backward('loss', ARRAY['w0', 'w1'], step => step, seed => seed);
    UPDATE adam0 a SET m = b1 * a.m + (1 - b1) * g.v, s = b2 * a.s + (1 - b2) * g.v ^ 2 FROM w0_grad g WHERE g.feature = a.feature;
    UPDATE adam1 a SET m = b1 * a.m + (1 - b1) * g.v, s = b2 * a.s + (1 - b2) * g.v ^ 2 FROM w1_grad g WHERE g.id = a.id;
    rate := 0.01 * sqrt(1 - b2 ^ step) / (1 - b1 ^ step);
    UPDATE w0 SET v = w0.v - rate * a.m / (sqrt(a.s) + 1e-8) FROM adam0 a WHERE a.feature = w0.feature;
    UPDATE w1 SET v = w1.v - rate * a.m / (sqrt(a.s) + 1e-8) FROM adam1 a WHERE a.id = w1.id;
    SELECT loss INTO val FROM validation;
    IF val < best THEN best := val; since := 0; ELSE since := since + 1; END IF;
    IF step % 20 = 0 THEN
      RAISE NOTICE 'step %  validation %', step, round(val::numeric, 4);
    END IF;
    COMMIT;
    EXIT WHEN since >= 10;
  END LOOP;
END $$;
SELECT round(accuracy, 4) AS "test accuracy" FROM test_accuracy;
