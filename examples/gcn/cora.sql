-- relgrad run -v data=FOLDER [-v seed=N] [-v early_stop=off] cora.sql
-- At most 200 steps of Adam; training ends when the validation loss has had no new minimum for 10 steps.
\if :{?early_stop}
\else
\set early_stop on
\endif
\ir cora_model.sql
\if :early_stop
CALL train('loss', ARRAY['w0', 'w1'], optimizer => 'adam', lr => 0.01, epochs => 200, seed => :seed,
           validate => 'validation', every => 1, patience => 10);
\else
CALL train('loss', ARRAY['w0', 'w1'], optimizer => 'adam', lr => 0.01, epochs => 200, seed => :seed);
\endif
SELECT round(accuracy, 4) AS "test accuracy" FROM test_accuracy;
