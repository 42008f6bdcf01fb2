-- Aggregates. Their state is a double precision[]: the number of rows, the rank, the lengths, then the elements (rank 0 for
-- numbers); {} before the first row. It is the same as the extension's.
SET search_path = pg_catalog;

-- The lengths in a state, '{}' for a number, NULL for no rows.
CREATE FUNCTION relgrad.impl_state(state double precision[]) RETURNS int[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  n int := cardinality(state);
  rank int;
  size bigint := 1;
BEGIN
  IF n = 0 THEN
    RETURN NULL;
  END IF;
  <<well>>
  BEGIN
    EXIT well WHEN n IS NULL OR array_ndims(state) <> 1 OR array_lower(state, 1) <> 1 OR array_position(state, NULL) IS NOT NULL OR n < 3 OR state[2] NOT BETWEEN 0 AND 6;
    rank := state[2];
    EXIT well WHEN n < 3 + rank;
    FOR i IN 3..2 + rank LOOP
      EXIT well WHEN state[i] NOT BETWEEN 1 AND n OR state[i] * size > n;
      size := size * state[i];
    END LOOP;
    IF size = n - 2 - rank THEN
      RETURN state[3:2 + rank]::int[];
    END IF;
  END;
  RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'malformed state of an aggregate',
    HINT = 'Functions named agg_… are parts of aggregates and not called by themselves.';
END $$;

-- Takes rows whose sum (or maximum, or minimum) has the elements flat and the lengths dims into a state. how is the aggregate.
CREATE FUNCTION relgrad.impl_fold(state double precision[], flat double precision[], dims int[], how text, n double precision) RETURNS double precision[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE d int[] := relgrad.impl_state(state);
BEGIN
  IF d IS NULL THEN
    RETURN ARRAY[n, cardinality(dims)] || dims::double precision[] || flat;
  ELSIF d <> dims THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('%s: chunks of shapes %s and %s cannot be combined', how,
      relgrad.impl_dims_text(d), relgrad.impl_dims_text(dims));
  END IF;
  IF d = '{}' AND how = 'sum' THEN
    RETURN ARRAY[state[1] + n, 0, relgrad.impl_add(state[3], flat[1])];
  END IF;
  RETURN ARRAY[state[1] + n, cardinality(d)] || d::double precision[]
    || CASE how
       WHEN 'max_agg' THEN ARRAY(SELECT greatest(s, e) FROM unnest(state[3 + cardinality(d):], flat) WITH ORDINALITY AS t(s, e, o) ORDER BY o)
       WHEN 'min_agg' THEN ARRAY(SELECT least(s, e) FROM unnest(state[3 + cardinality(d):], flat) WITH ORDINALITY AS t(s, e, o) ORDER BY o)
       ELSE ARRAY(SELECT relgrad.impl_add(s, e) FROM unnest(state[3 + cardinality(d):], flat) WITH ORDINALITY AS t(s, e, o) ORDER BY o) END;
END $$;

-- Joins two states.
CREATE FUNCTION relgrad.impl_combine(a double precision[], b double precision[], how text) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE d int[] := relgrad.impl_state(b);
BEGIN
  IF d IS NULL THEN
    RETURN a;
  END IF;
  RETURN relgrad.impl_fold(a, b[3 + cardinality(d):], d, how, b[1]);
END $$;

-- The elements of a state, divided by its rows for a mean; NULL for no rows. chunk says what the aggregate's result is.
CREATE FUNCTION relgrad.impl_finish(state double precision[], mean boolean, chunk boolean) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  d int[] := relgrad.impl_state(state);
  flat double precision[];
BEGIN
  IF d IS NULL THEN
    RETURN NULL;
  ELSIF chunk <> (cardinality(d) > 0) THEN
    PERFORM relgrad.impl_state('{0}');
  END IF;
  flat := state[3 + cardinality(d):];
  IF mean THEN
    flat := ARRAY(SELECT relgrad.impl_div(e, state[1]) FROM unnest(flat) WITH ORDINALITY AS t(e, o) ORDER BY o);
  END IF;
  RETURN CASE WHEN chunk THEN relgrad.impl_build(flat, d) ELSE flat END;
END $$;

-- A row of vector_agg. A row whose index or value is NULL adds nothing, but its size makes the vector.
CREATE FUNCTION relgrad.impl_scatter(state double precision[], index bigint, value double precision, size bigint) RETURNS double precision[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  d int[] := relgrad.impl_state(state);
  most constant bigint := 134217687;
BEGIN
  IF d IS NULL AND size IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'vector_agg: the size is NULL';
  ELSIF d IS NULL AND size NOT BETWEEN 1 AND most THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('vector_agg: size %s is not in 1 to %s', size, most);
  ELSIF d IS NULL THEN
    d := ARRAY[size::int];
    state := ARRAY[0, 1, size] || array_fill(0::double precision, d);
  ELSIF size <> d[1] THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('vector_agg: sizes %s and %s in one group', d[1], size);
  END IF;
  IF index IS NOT NULL AND value IS NOT NULL THEN
    IF index < 0 OR index >= d[1] THEN
      RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('vector_agg: index %s is outside 0 … %s', index, d[1] - 1), HINT = 'Indices count from 0.';
    END IF;
    state[4 + index] := relgrad.impl_add(state[4 + index], value);
  END IF;
  state[1] := state[1] + 1;
  RETURN state;
END $$;

-- A label of a metric.
CREATE FUNCTION relgrad.impl_label(y double precision, metric text) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF y NOT IN (0, 1) THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('%s: the label %s is neither 0 nor 1', metric, y);
  END IF;
  RETURN y;
END $$;

-- The loss of a probability of at least 2 ^ -52.
CREATE FUNCTION relgrad.impl_log_loss(p double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF p NOT BETWEEN 0 AND 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('log_loss: the probability %s is not in 0 to 1', p);
  END IF;
  p := least(greatest(p, 2.220446049250313e-16), 1 - 2.220446049250313e-16);
  RETURN CASE WHEN y = 1 THEN -ln(p) ELSE -relgrad.impl_log1p(-p) END;
END $$;

-- The state of auc and ndcg keeps all pairs: its elements are k and the pairs, of which there are as many as rows. The extension's
-- has room for more behind them.
CREATE FUNCTION relgrad.impl_same_k(a double precision, b double precision) RETURNS void LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF a <> b THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('ndcg: k is %s and %s in one group', a, b);
  END IF;
END $$;

-- Whether a state that keeps rows has any.
CREATE FUNCTION relgrad.impl_pairs(state double precision[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE d int[] := relgrad.impl_state(state);
BEGIN
  IF cardinality(d) <> 1 OR d[1] < 1 + 2 * state[1] THEN
    PERFORM relgrad.impl_state('{0}');
  END IF;
  RETURN d IS NOT NULL;
END $$;

CREATE FUNCTION relgrad.impl_pair(state double precision[], k double precision, score double precision, y double precision, metric text) RETURNS double precision[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE n int := state[1];
BEGIN
  IF score = 'NaN' THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = metric || ': the score is NaN';
  ELSIF n IS NULL THEN
    RETURN ARRAY[1, 1, 3, k, score, y];
  ELSIF cardinality(state) = 4 + 2 * n THEN -- the usual case
    PERFORM relgrad.impl_same_k(state[4], k);
    RETURN ARRAY[n + 1, 1, 3 + 2 * n] || state[4:] || ARRAY[score, y];
  END IF;
  PERFORM relgrad.impl_pairs(state), relgrad.impl_same_k(state[4], k);
  RETURN ARRAY[n + 1, 1, 3 + 2 * n] || state[4:4 + 2 * n] || ARRAY[score, y];
END $$;

-- Joins two states that keep rows.
CREATE FUNCTION relgrad.impl_pairs_combine(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF NOT relgrad.impl_pairs(b) THEN
    RETURN a;
  ELSIF NOT relgrad.impl_pairs(a) THEN
    RETURN b;
  END IF;
  PERFORM relgrad.impl_same_k(a[4], b[4]);
  RETURN ARRAY[a[1] + b[1], 1, 1 + 2 * (a[1] + b[1])] || a[4:4 + 2 * a[1]::int] || b[5:4 + 2 * b[1]::int];
END $$;

-- Wins count halves.
CREATE FUNCTION relgrad.impl_auc(state double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF NOT relgrad.impl_pairs(state) THEN
    RETURN NULL;
  END IF;
  RETURN (SELECT CASE WHEN ones > 0 AND zeros > 0 THEN wins::double precision / (2 * ones::double precision * zeros::double precision) END FROM (
    SELECT sum(one * (2 * below + zero)) AS wins, sum(one) AS ones, sum(zero) AS zeros FROM (
      SELECT one, zero, sum(zero) OVER (ORDER BY score) - zero AS below FROM (
        SELECT score, count(*) FILTER (WHERE y = 1) AS one, count(*) FILTER (WHERE y = 0) AS zero
        FROM (SELECT state[3 + 2 * i] AS score, state[4 + 2 * i] AS y FROM generate_series(1, state[1]::int) AS i) AS q GROUP BY score) AS q) AS q) AS q);
END $$;

-- Rows of one score have their mean relevance.
CREATE FUNCTION relgrad.impl_ndcg(state double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF NOT relgrad.impl_pairs(state) THEN
    RETURN NULL;
  END IF;
  RETURN (WITH pairs AS (
      SELECT state[3 + 2 * i] AS score, state[4 + 2 * i] AS y FROM generate_series(1, state[1]::int) AS i),
    placed AS (
      SELECT score, y, row_number() OVER (ORDER BY score DESC) AS place, row_number() OVER (ORDER BY y DESC) AS best FROM pairs),
    discounted AS (
      SELECT score, y, CASE WHEN state[4] = 0 OR place <= state[4] THEN ln(2::double precision) / ln(1 + place::double precision) ELSE 0 END AS d,
        CASE WHEN state[4] = 0 OR best <= state[4] THEN y * ln(2::double precision) / ln(1 + best::double precision) ELSE 0 END AS best FROM placed)
    SELECT CASE WHEN (SELECT sum(best) FROM discounted) > 0 THEN sum(gain) / (SELECT sum(best) FROM discounted) ELSE 0 END
    FROM (SELECT avg(y) * sum(d) AS gain FROM discounted GROUP BY score) AS q);
END $$;
