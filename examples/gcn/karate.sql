-- relgrad run [-v seed=N] karate.sql: trains the model of karate_model.sql with Adam.
\ir karate_model.sql
CALL train('loss', ARRAY['w0', 'w1'], optimizer => 'adam', lr => 0.02, epochs => 100, seed => :seed);
SELECT round(accuracy, 3) AS accuracy FROM accuracy;
