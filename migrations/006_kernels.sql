-- Generated from the registry of kernels by go test ./pgbridge/extension/portable -update. DO NOT EDIT.
-- The extension's functions, operators and aggregates: those in double precision, then those in real, which call them and round.
SET search_path = pg_catalog;

CREATE FUNCTION relgrad.abs(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN abs(x);
END $$;

CREATE FUNCTION relgrad.abs(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'abs');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT abs(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.acos(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN abs(x) <= 1 THEN acos(x) ELSE 'NaN' END;
END $$;

CREATE FUNCTION relgrad.acos(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'acos');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN abs(e1) <= 1 THEN acos(e1) ELSE 'NaN' END FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.argmax(x double precision[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 600 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'argmax');
BEGIN
  IF array_ndims(x) <> 1 THEN
    PERFORM relgrad.impl_wrong_type('argmax', 'The argument must be a vector.', relgrad.impl_type(x));
  END IF;
  RETURN relgrad.impl_position(ARRAY(SELECT unnest(x)), 1);
END $$;

CREATE FUNCTION relgrad.argmin(x double precision[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 600 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'argmin');
BEGIN
  IF array_ndims(x) <> 1 THEN
    PERFORM relgrad.impl_wrong_type('argmin', 'The argument must be a vector.', relgrad.impl_type(x));
  END IF;
  RETURN relgrad.impl_position(ARRAY(SELECT unnest(x)), -1);
END $$;

CREATE FUNCTION relgrad.asin(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN abs(x) <= 1 THEN asin(x) ELSE 'NaN' END;
END $$;

CREATE FUNCTION relgrad.asin(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'asin');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN abs(e1) <= 1 THEN asin(e1) ELSE 'NaN' END FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.atan(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN atan(x);
END $$;

CREATE FUNCTION relgrad.atan(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'atan');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT atan(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.bce_with_logits(z double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_add(relgrad.impl_add(relgrad.impl_larger(z, 0), -relgrad.impl_mul(z, y)), relgrad.impl_log1p(relgrad.impl_exp(-abs(z))));
END $$;

CREATE FUNCTION relgrad.bce_with_logits(z double precision[], y double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 21100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(z, 'bce_with_logits');
  d2 int[] := relgrad.impl_chunk(y, 'bce_with_logits');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'bce_with_logits', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_add(relgrad.impl_add(relgrad.impl_larger(e1, 0), -relgrad.impl_mul(e1, e2)), relgrad.impl_log1p(relgrad.impl_exp(-abs(e1)))) FROM unnest(relgrad.impl_spread(z, d1, dims), relgrad.impl_spread(y, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.bce_with_logits(z double precision, y double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 21100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(y, 'bce_with_logits');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'bce_with_logits', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_add(relgrad.impl_add(relgrad.impl_larger(e1, 0), -relgrad.impl_mul(e1, e2)), relgrad.impl_log1p(relgrad.impl_exp(-abs(e1)))) FROM unnest(relgrad.impl_spread(ARRAY[z], d1, dims), relgrad.impl_spread(y, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.bce_with_logits(z double precision[], y double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 21100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(z, 'bce_with_logits');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'bce_with_logits', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_add(relgrad.impl_add(relgrad.impl_larger(e1, 0), -relgrad.impl_mul(e1, e2)), relgrad.impl_log1p(relgrad.impl_exp(-abs(e1)))) FROM unnest(relgrad.impl_spread(z, d1, dims), relgrad.impl_spread(ARRAY[y], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.clip(x double precision, lo double precision, hi double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_smaller(relgrad.impl_larger(x, lo), hi);
END $$;

CREATE FUNCTION relgrad.clip(x double precision[], lo double precision[], hi double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'clip');
  d2 int[] := relgrad.impl_chunk(lo, 'clip');
  d3 int[] := relgrad.impl_chunk(hi, 'clip');
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'clip', ''), d3, 'clip', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_smaller(relgrad.impl_larger(e1, e2), e3) FROM unnest(relgrad.impl_spread(x, d1, dims), relgrad.impl_spread(lo, d2, dims), relgrad.impl_spread(hi, d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.clip(x double precision, lo double precision[], hi double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(lo, 'clip');
  d3 int[] := relgrad.impl_chunk(hi, 'clip');
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'clip', ''), d3, 'clip', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_smaller(relgrad.impl_larger(e1, e2), e3) FROM unnest(relgrad.impl_spread(ARRAY[x], d1, dims), relgrad.impl_spread(lo, d2, dims), relgrad.impl_spread(hi, d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.clip(x double precision[], lo double precision, hi double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'clip');
  d2 int[] := '{}';
  d3 int[] := relgrad.impl_chunk(hi, 'clip');
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'clip', ''), d3, 'clip', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_smaller(relgrad.impl_larger(e1, e2), e3) FROM unnest(relgrad.impl_spread(x, d1, dims), relgrad.impl_spread(ARRAY[lo], d2, dims), relgrad.impl_spread(hi, d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.clip(x double precision, lo double precision, hi double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := '{}';
  d3 int[] := relgrad.impl_chunk(hi, 'clip');
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'clip', ''), d3, 'clip', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_smaller(relgrad.impl_larger(e1, e2), e3) FROM unnest(relgrad.impl_spread(ARRAY[x], d1, dims), relgrad.impl_spread(ARRAY[lo], d2, dims), relgrad.impl_spread(hi, d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.clip(x double precision[], lo double precision[], hi double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'clip');
  d2 int[] := relgrad.impl_chunk(lo, 'clip');
  d3 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'clip', ''), d3, 'clip', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_smaller(relgrad.impl_larger(e1, e2), e3) FROM unnest(relgrad.impl_spread(x, d1, dims), relgrad.impl_spread(lo, d2, dims), relgrad.impl_spread(ARRAY[hi], d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.clip(x double precision, lo double precision[], hi double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(lo, 'clip');
  d3 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'clip', ''), d3, 'clip', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_smaller(relgrad.impl_larger(e1, e2), e3) FROM unnest(relgrad.impl_spread(ARRAY[x], d1, dims), relgrad.impl_spread(lo, d2, dims), relgrad.impl_spread(ARRAY[hi], d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.clip(x double precision[], lo double precision, hi double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'clip');
  d2 int[] := '{}';
  d3 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'clip', ''), d3, 'clip', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_smaller(relgrad.impl_larger(e1, e2), e3) FROM unnest(relgrad.impl_spread(x, d1, dims), relgrad.impl_spread(ARRAY[lo], d2, dims), relgrad.impl_spread(ARRAY[hi], d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.concat_axis(a double precision[], b double precision[], axis bigint) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'concat_axis');
  d2 int[] := relgrad.impl_chunk(b, 'concat_axis');
  at int := relgrad.impl_axis(axis, 'concat_axis', d1);
  flat1 double precision[] := ARRAY(SELECT unnest(a));
  flat2 double precision[] := ARRAY(SELECT unnest(b));
  outside bigint := relgrad.impl_size(d1[:at - 1]);
  n1 bigint := cardinality(a) / outside;
  n2 bigint := cardinality(b) / outside;
BEGIN
  IF d1[:at - 1] <> d2[:at - 1] OR d1[at + 1:] <> d2[at + 1:] THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('different shapes %s and %s in concat_axis along axis %s', relgrad.impl_dims_text(d1), relgrad.impl_dims_text(d2), at);
  END IF;
  RETURN relgrad.impl_build(ARRAY(SELECT e FROM generate_series(0, outside - 1) AS r, unnest(flat1[r * n1 + 1:(r + 1) * n1] || flat2[r * n2 + 1:(r + 1) * n2]) WITH ORDINALITY AS t(e, o)
    ORDER BY r, o), d1[:at - 1] || d1[at] + d2[at] || d1[at + 1:]);
END $$;

CREATE FUNCTION relgrad.cos(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE cos(x) END;
END $$;

CREATE FUNCTION relgrad.cos(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'cos');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN abs(e1) = 'Infinity' THEN 'NaN' ELSE cos(e1) END FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.cosh(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN cosh(x);
END $$;

CREATE FUNCTION relgrad.cosh(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'cosh');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT cosh(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.cross_entropy(logits double precision[], label bigint) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(logits, 'cross_entropy');
  flat double precision[] := ARRAY(SELECT unnest(logits));
BEGIN
  IF array_ndims(logits) <> 1 THEN
    PERFORM relgrad.impl_wrong_type('cross_entropy', 'The arguments must be a vector of logits and a bigint label.', relgrad.impl_type(logits));
  END IF;
  IF label < 0 OR label >= cardinality(flat) THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('label %s of cross_entropy is not in 0 to %s', label, cardinality(flat) - 1);
  END IF;
  RETURN relgrad.impl_add(relgrad.impl_logsumexp(flat), -flat[label + 1]);
END $$;

CREATE FUNCTION relgrad.current_seed() RETURNS bigint LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN coalesce(nullif(current_setting('relgrad.seed', TRUE), '')::bigint, 0);
END $$;

CREATE FUNCTION relgrad.current_step() RETURNS bigint LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN coalesce(nullif(current_setting('relgrad.step', TRUE), '')::bigint, 0);
END $$;

CREATE FUNCTION relgrad.diag(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 600 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'diag');
BEGIN
  IF array_ndims(x) > 2 OR array_ndims(x) = 2 AND array_length(x, 1) <> array_length(x, 2) THEN
    PERFORM relgrad.impl_wrong_type('diag', 'The argument must be a vector or a square matrix.', relgrad.impl_type(x));
  END IF;
  RETURN relgrad.impl_einsum(CASE WHEN cardinality(dims) = 2 THEN 'ii->i' ELSE 'i->ii' END, 1, ARRAY(SELECT unnest(x)), dims);
END $$;

CREATE FUNCTION relgrad.dot(a double precision[], b double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM relgrad.impl_pair(a, b, 'dot');
  RETURN relgrad.impl_dot(ARRAY(SELECT unnest(a)), ARRAY(SELECT unnest(b)));
END $$;

CREATE FUNCTION relgrad.dropout(x double precision, p double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  PERFORM relgrad.impl_probability(p);
  RETURN x;
END $$;

CREATE FUNCTION relgrad.dropout(x double precision[], p double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog AS $$
BEGIN
  PERFORM relgrad.impl_probability(p);
  PERFORM relgrad.impl_chunk(x, 'dropout');
  RETURN x;
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 1, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 2, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 2, ARRAY[a], '{}', ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 2, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY[b], '{}');
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision[], c double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2500 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 3, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision[], c double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2500 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 3, ARRAY[a], '{}', ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision, c double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2500 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 3, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY[b], '{}', ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision, c double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2500 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 3, ARRAY[a], '{}', ARRAY[b], '{}', ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision[], c double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2500 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 3, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY[c], '{}');
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision[], c double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2500 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 3, ARRAY[a], '{}', ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY[c], '{}');
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision, c double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2500 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 3, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY[b], '{}', ARRAY[c], '{}');
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision[], c double precision[], d double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'), ARRAY(SELECT unnest(d)), relgrad.impl_chunk(d, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision[], c double precision[], d double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY[a], '{}', ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'), ARRAY(SELECT unnest(d)), relgrad.impl_chunk(d, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision, c double precision[], d double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY[b], '{}', ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'), ARRAY(SELECT unnest(d)), relgrad.impl_chunk(d, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision, c double precision[], d double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY[a], '{}', ARRAY[b], '{}', ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'), ARRAY(SELECT unnest(d)), relgrad.impl_chunk(d, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision[], c double precision, d double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY[c], '{}', ARRAY(SELECT unnest(d)), relgrad.impl_chunk(d, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision[], c double precision, d double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY[a], '{}', ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY[c], '{}', ARRAY(SELECT unnest(d)), relgrad.impl_chunk(d, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision, c double precision, d double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY[b], '{}', ARRAY[c], '{}', ARRAY(SELECT unnest(d)), relgrad.impl_chunk(d, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision, c double precision, d double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY[a], '{}', ARRAY[b], '{}', ARRAY[c], '{}', ARRAY(SELECT unnest(d)), relgrad.impl_chunk(d, 'einsum'));
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision[], c double precision[], d double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'), ARRAY[d], '{}');
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision[], c double precision[], d double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY[a], '{}', ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'), ARRAY[d], '{}');
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision, c double precision[], d double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY[b], '{}', ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'), ARRAY[d], '{}');
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision, c double precision[], d double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY[a], '{}', ARRAY[b], '{}', ARRAY(SELECT unnest(c)), relgrad.impl_chunk(c, 'einsum'), ARRAY[d], '{}');
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision[], c double precision, d double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY[c], '{}', ARRAY[d], '{}');
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision[], c double precision, d double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY[a], '{}', ARRAY(SELECT unnest(b)), relgrad.impl_chunk(b, 'einsum'), ARRAY[c], '{}', ARRAY[d], '{}');
END $$;

CREATE FUNCTION relgrad.einsum(spec text, a double precision[], b double precision, c double precision, d double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_einsum(spec, 4, ARRAY(SELECT unnest(a)), relgrad.impl_chunk(a, 'einsum'), ARRAY[b], '{}', ARRAY[c], '{}', ARRAY[d], '{}');
END $$;

CREATE FUNCTION relgrad.elu(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN x > 0 THEN x ELSE relgrad.impl_expm1(x) END;
END $$;

CREATE FUNCTION relgrad.elu(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 12100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'elu');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 > 0 THEN e1 ELSE relgrad.impl_expm1(e1) END FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.erf(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_erf(x);
END $$;

CREATE FUNCTION relgrad.erf(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'erf');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_erf(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.exp(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_exp(x);
END $$;

CREATE FUNCTION relgrad.exp(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'exp');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_exp(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.full(shape bigint[], x double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN array_fill(x, relgrad.impl_shape(shape, 'full'));
END $$;

CREATE FUNCTION relgrad.gelu(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_mul(relgrad.impl_mul(0.5, x), relgrad.impl_erfc(-relgrad.impl_mul(x, sqrt(0.5::double precision))));
END $$;

CREATE FUNCTION relgrad.gelu(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 16600 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'gelu');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_mul(relgrad.impl_mul(0.5, e1), relgrad.impl_erfc(-relgrad.impl_mul(e1, sqrt(0.5::double precision)))) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.glorot_uniform(shape bigint[], seed bigint, key bigint[], fan_in double precision, fan_out double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 26200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_shape(shape, 'glorot_uniform');
  h bigint := relgrad.impl_hash(relgrad.impl_list(key, 'glorot_uniform', 'key'));
BEGIN
  IF relgrad.impl_add(fan_in, fan_out) <= 0 OR relgrad.impl_add(fan_in, fan_out) = 'NaN' THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('glorot_uniform with fan_in %s and fan_out %s', fan_in, fan_out), HINT = 'Their sum must be positive: they count inputs and outputs.';
  END IF;
  RETURN relgrad.impl_build(ARRAY(SELECT sqrt(relgrad.impl_div(6, relgrad.impl_add(fan_in, fan_out))) * (2 * relgrad.impl_uniform(seed, h, i) - 1) FROM generate_series(0, relgrad.impl_size(dims) - 1) AS i ORDER BY i), dims);
END $$;

CREATE FUNCTION relgrad.greater(a double precision, b double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN a > b AND a <> 'NaN' THEN 1 ELSE 0::double precision END;
END $$;

CREATE FUNCTION relgrad.greater(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'greater');
  d2 int[] := relgrad.impl_chunk(b, 'greater');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'greater', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 > e2 AND e1 <> 'NaN' THEN 1 ELSE 0::double precision END FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.greater(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(b, 'greater');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'greater', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 > e2 AND e1 <> 'NaN' THEN 1 ELSE 0::double precision END FROM unnest(relgrad.impl_spread(ARRAY[a], d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.greater(a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'greater');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'greater', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 > e2 AND e1 <> 'NaN' THEN 1 ELSE 0::double precision END FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(ARRAY[b], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.huber(x double precision, delta double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_huber(x, delta);
END $$;

CREATE FUNCTION relgrad.huber(x double precision[], delta double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'huber');
  d2 int[] := relgrad.impl_chunk(delta, 'huber');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'huber', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_huber(e1, e2) FROM unnest(relgrad.impl_spread(x, d1, dims), relgrad.impl_spread(delta, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.huber(x double precision, delta double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(delta, 'huber');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'huber', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_huber(e1, e2) FROM unnest(relgrad.impl_spread(ARRAY[x], d1, dims), relgrad.impl_spread(delta, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.huber(x double precision[], delta double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'huber');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'huber', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_huber(e1, e2) FROM unnest(relgrad.impl_spread(x, d1, dims), relgrad.impl_spread(ARRAY[delta], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.l2_normalize(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3800 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'l2_normalize');
  n int := dims[cardinality(dims)];
  flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT e FROM generate_series(0, cardinality(flat) / n - 1) AS r, unnest(relgrad.impl_l2_normalize(flat[r * n + 1:(r + 1) * n])) WITH ORDINALITY AS t(e, o)
    ORDER BY r, o), dims);
END $$;

CREATE FUNCTION relgrad.layer_norm(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 5700 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'layer_norm');
  n int := dims[cardinality(dims)];
  flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT e FROM generate_series(0, cardinality(flat) / n - 1) AS r, unnest(relgrad.impl_layer_norm(flat[r * n + 1:(r + 1) * n])) WITH ORDINALITY AS t(e, o)
    ORDER BY r, o), dims);
END $$;

CREATE FUNCTION relgrad.leaky_relu(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN x > 0 THEN x ELSE relgrad.impl_mul(0.01, x) END;
END $$;

CREATE FUNCTION relgrad.leaky_relu(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'leaky_relu');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 > 0 THEN e1 ELSE relgrad.impl_mul(0.01, e1) END FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.leaky_relu(x double precision, slope double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN x > 0 THEN x ELSE relgrad.impl_mul(slope, x) END;
END $$;

CREATE FUNCTION relgrad.leaky_relu(x double precision[], slope double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'leaky_relu');
  d2 int[] := relgrad.impl_chunk(slope, 'leaky_relu');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'leaky_relu', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 > 0 THEN e1 ELSE relgrad.impl_mul(e2, e1) END FROM unnest(relgrad.impl_spread(x, d1, dims), relgrad.impl_spread(slope, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.leaky_relu(x double precision, slope double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(slope, 'leaky_relu');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'leaky_relu', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 > 0 THEN e1 ELSE relgrad.impl_mul(e2, e1) END FROM unnest(relgrad.impl_spread(ARRAY[x], d1, dims), relgrad.impl_spread(slope, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.leaky_relu(x double precision[], slope double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'leaky_relu');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'leaky_relu', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 > 0 THEN e1 ELSE relgrad.impl_mul(e2, e1) END FROM unnest(relgrad.impl_spread(x, d1, dims), relgrad.impl_spread(ARRAY[slope], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.ln(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_ln(x);
END $$;

CREATE FUNCTION relgrad.ln(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'ln');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_ln(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.log(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_log10(x);
END $$;

CREATE FUNCTION relgrad.log(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'log');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_log10(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.log_softmax(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'log_softmax');
  n int := dims[cardinality(dims)];
  flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT e FROM generate_series(0, cardinality(flat) / n - 1) AS r, unnest(relgrad.impl_log_softmax(flat[r * n + 1:(r + 1) * n])) WITH ORDINALITY AS t(e, o)
    ORDER BY r, o), dims);
END $$;

CREATE FUNCTION relgrad.logsumexp(x double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 12100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM relgrad.impl_chunk(x, 'logsumexp');
  RETURN relgrad.impl_logsumexp(ARRAY(SELECT unnest(x)));
END $$;

CREATE FUNCTION relgrad.logsumexp(x double precision[], axis bigint) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 12100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'logsumexp');
  at int := relgrad.impl_axis(axis, 'logsumexp', dims);
  n int := dims[at];
  below bigint := relgrad.impl_size(dims[at + 1:]);
  flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_logsumexp(ARRAY(SELECT flat[o / below * below * n + o % below + i * below + 1] FROM generate_series(0, n - 1) AS i ORDER BY i))
    FROM generate_series(0, cardinality(flat) / n - 1) AS o ORDER BY o), dims[:at - 1] || 1 || dims[at + 1:]);
END $$;

CREATE FUNCTION relgrad.matmul(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 21100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'matmul');
  d2 int[] := relgrad.impl_chunk(b, 'matmul');
BEGIN
  RETURN relgrad.impl_einsum(relgrad.impl_matmul_spec(d1, d2), 2, ARRAY(SELECT unnest(a)), d1, ARRAY(SELECT unnest(b)), d2);
END $$;

CREATE FUNCTION relgrad.max_elements(x double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM relgrad.impl_chunk(x, 'max_elements');
  RETURN relgrad.impl_largest(ARRAY(SELECT unnest(x)));
END $$;

CREATE FUNCTION relgrad.max_elements(x double precision[], axis bigint) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'max_elements');
  at int := relgrad.impl_axis(axis, 'max_elements', dims);
  n int := dims[at];
  below bigint := relgrad.impl_size(dims[at + 1:]);
  flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_largest(ARRAY(SELECT flat[o / below * below * n + o % below + i * below + 1] FROM generate_series(0, n - 1) AS i ORDER BY i))
    FROM generate_series(0, cardinality(flat) / n - 1) AS o ORDER BY o), dims[:at - 1] || 1 || dims[at + 1:]);
END $$;

CREATE FUNCTION relgrad.maximum(a double precision, b double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_larger(a, b);
END $$;

CREATE FUNCTION relgrad.maximum(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'maximum');
  d2 int[] := relgrad.impl_chunk(b, 'maximum');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'maximum', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_larger(e1, e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.maximum(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(b, 'maximum');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'maximum', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_larger(e1, e2) FROM unnest(relgrad.impl_spread(ARRAY[a], d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.maximum(a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'maximum');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'maximum', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_larger(e1, e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(ARRAY[b], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.mean_elements(x double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1300 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM relgrad.impl_chunk(x, 'mean_elements');
  RETURN relgrad.impl_mean(ARRAY(SELECT unnest(x)));
END $$;

CREATE FUNCTION relgrad.mean_elements(x double precision[], axis bigint) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'mean_elements');
  at int := relgrad.impl_axis(axis, 'mean_elements', dims);
  n int := dims[at];
  below bigint := relgrad.impl_size(dims[at + 1:]);
  flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_mean(ARRAY(SELECT flat[o / below * below * n + o % below + i * below + 1] FROM generate_series(0, n - 1) AS i ORDER BY i))
    FROM generate_series(0, cardinality(flat) / n - 1) AS o ORDER BY o), dims[:at - 1] || 1 || dims[at + 1:]);
END $$;

CREATE FUNCTION relgrad.minimum(a double precision, b double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_smaller(a, b);
END $$;

CREATE FUNCTION relgrad.minimum(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'minimum');
  d2 int[] := relgrad.impl_chunk(b, 'minimum');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'minimum', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_smaller(e1, e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.minimum(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(b, 'minimum');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'minimum', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_smaller(e1, e2) FROM unnest(relgrad.impl_spread(ARRAY[a], d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.minimum(a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'minimum');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'minimum', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_smaller(e1, e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(ARRAY[b], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.mse(a double precision[], b double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2500 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d double precision[];
BEGIN
  PERFORM relgrad.impl_pair(a, b, 'mse');
  d := ARRAY(SELECT relgrad.impl_add(x, -y) FROM unnest(ARRAY(SELECT unnest(a)), ARRAY(SELECT unnest(b))) WITH ORDINALITY AS t(x, y, o) ORDER BY o);
  RETURN relgrad.impl_div(relgrad.impl_dot(d, d), cardinality(d));
END $$;

CREATE FUNCTION relgrad.norm(x double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'norm');
  flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  RETURN sqrt(relgrad.impl_dot(flat, flat));
END $$;

CREATE FUNCTION relgrad.one_hot(label bigint, n bigint) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 600 SET search_path = pg_catalog AS $$
BEGIN
  IF n < 1 OR n > 134217695 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('the size of one_hot is %s, not in 1 to 134217695', n);
  END IF;
  IF label < 0 OR label >= n THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('label %s of one_hot is not in 0 to %s', label, n - 1);
  END IF;
  RETURN relgrad.impl_place('{1}', ARRAY[label], ARRAY[n::int]);
END $$;

CREATE FUNCTION relgrad.outer(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'outer');
  d2 int[] := relgrad.impl_chunk(b, 'outer');
BEGIN
  IF array_ndims(a) <> 1 OR array_ndims(b) <> 1 THEN
    PERFORM relgrad.impl_wrong_type('outer', 'Both arguments must be vectors.', relgrad.impl_type(a), relgrad.impl_type(b));
  END IF;
  PERFORM relgrad.impl_result(d1 || d2, 'outer');
  RETURN relgrad.impl_einsum('i,j->ij', 2, ARRAY(SELECT unnest(a)), d1, ARRAY(SELECT unnest(b)), d2);
END $$;

CREATE FUNCTION relgrad.power(x double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_pow(x, y);
END $$;

CREATE FUNCTION relgrad.power(x double precision[], y double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'power');
  d2 int[] := relgrad.impl_chunk(y, 'power');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'power', '^');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_pow(e1, e2) FROM unnest(relgrad.impl_spread(x, d1, dims), relgrad.impl_spread(y, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.power(x double precision, y double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(y, 'power');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'power', '^');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_pow(e1, e2) FROM unnest(relgrad.impl_spread(ARRAY[x], d1, dims), relgrad.impl_spread(y, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.power(x double precision[], y double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'power');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'power', '^');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_pow(e1, e2) FROM unnest(relgrad.impl_spread(x, d1, dims), relgrad.impl_spread(ARRAY[y], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.random_int(n bigint, seed bigint, key bigint[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 800 SET search_path = pg_catalog AS $$
DECLARE
  h bigint := relgrad.impl_hash(relgrad.impl_list(key, 'random_int', 'key'));
  u double precision;
BEGIN
  IF n < 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('random_int of %s numbers', n);
  END IF;
  u := floor(n::double precision * relgrad.impl_uniform(seed, h, 0));
  RETURN CASE WHEN u >= n::double precision THEN n - 1 ELSE least(u::bigint, n - 1) END;
END $$;

CREATE FUNCTION relgrad.random_normal(shape bigint[], seed bigint) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 26200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_shape(shape, 'random_normal');
  h bigint := relgrad.impl_hash('{}');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_normal(seed, h, i) FROM generate_series(0, relgrad.impl_size(dims) - 1) AS i ORDER BY i), dims);
END $$;

CREATE FUNCTION relgrad.random_normal(shape bigint[], seed bigint, key bigint[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 26200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_shape(shape, 'random_normal');
  h bigint := relgrad.impl_hash(relgrad.impl_list(key, 'random_normal', 'key'));
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_normal(seed, h, i) FROM generate_series(0, relgrad.impl_size(dims) - 1) AS i ORDER BY i), dims);
END $$;

CREATE FUNCTION relgrad.random_uniform(shape bigint[], seed bigint) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 26200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_shape(shape, 'random_uniform');
  h bigint := relgrad.impl_hash('{}');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_uniform(seed, h, i) FROM generate_series(0, relgrad.impl_size(dims) - 1) AS i ORDER BY i), dims);
END $$;

CREATE FUNCTION relgrad.random_uniform(shape bigint[], seed bigint, key bigint[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 26200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_shape(shape, 'random_uniform');
  h bigint := relgrad.impl_hash(relgrad.impl_list(key, 'random_uniform', 'key'));
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_uniform(seed, h, i) FROM generate_series(0, relgrad.impl_size(dims) - 1) AS i ORDER BY i), dims);
END $$;

CREATE FUNCTION relgrad.relu(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN x <= 0 THEN 0 ELSE x END;
END $$;

CREATE FUNCTION relgrad.relu(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'relu');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 <= 0 THEN 0 ELSE e1 END FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.reshape(x double precision[], shape bigint[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d int[] := relgrad.impl_chunk(x, 'reshape');
  dims int[] := relgrad.impl_shape(shape, 'reshape');
BEGIN
  IF relgrad.impl_size(dims) <> cardinality(x) THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('shape %s has %s elements, shape %s has %s', relgrad.impl_dims_text(d), cardinality(x), relgrad.impl_dims_text(dims), relgrad.impl_size(dims));
  END IF;
  RETURN relgrad.impl_build(ARRAY(SELECT unnest(x)), dims);
END $$;

CREATE FUNCTION relgrad.sigmoid(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_sigmoid(x);
END $$;

CREATE FUNCTION relgrad.sigmoid(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 12100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'sigmoid');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_sigmoid(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.sign(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN x = 'NaN' THEN x ELSE sign(x) END;
END $$;

CREATE FUNCTION relgrad.sign(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'sign');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 = 'NaN' THEN e1 ELSE sign(e1) END FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.silu(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_mul(x, relgrad.impl_sigmoid(x));
END $$;

CREATE FUNCTION relgrad.silu(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'silu');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_mul(e1, relgrad.impl_sigmoid(e1)) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.sin(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE sin(x) END;
END $$;

CREATE FUNCTION relgrad.sin(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'sin');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN abs(e1) = 'Infinity' THEN 'NaN' ELSE sin(e1) END FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.sinh(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN sinh(x);
END $$;

CREATE FUNCTION relgrad.sinh(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'sinh');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT sinh(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.softmax(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'softmax');
  n int := dims[cardinality(dims)];
  flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT e FROM generate_series(0, cardinality(flat) / n - 1) AS r, unnest(relgrad.impl_softmax(flat[r * n + 1:(r + 1) * n])) WITH ORDINALITY AS t(e, o)
    ORDER BY r, o), dims);
END $$;

CREATE FUNCTION relgrad.softplus(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_larger(x, 0) + relgrad.impl_log1p(relgrad.impl_exp(-abs(x)));
END $$;

CREATE FUNCTION relgrad.softplus(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 19800 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'softplus');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_larger(e1, 0) + relgrad.impl_log1p(relgrad.impl_exp(-abs(e1))) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.softsign(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN abs(x) = 'Infinity' THEN sign(x) ELSE x / (1 + abs(x)) END;
END $$;

CREATE FUNCTION relgrad.softsign(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 4400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'softsign');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN abs(e1) = 'Infinity' THEN sign(e1) ELSE e1 / (1 + abs(e1)) END FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.sqnorm(x double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1900 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'sqnorm');
  flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  RETURN relgrad.impl_dot(flat, flat);
END $$;

CREATE FUNCTION relgrad.sqrt(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_sqrt(x);
END $$;

CREATE FUNCTION relgrad.sqrt(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 5700 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'sqrt');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_sqrt(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.square(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_mul(x, x);
END $$;

CREATE FUNCTION relgrad.square(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'square');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_mul(e1, e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.stop_gradient(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN x;
END $$;

CREATE FUNCTION relgrad.stop_gradient(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog AS $$
BEGIN
  PERFORM relgrad.impl_chunk(x, 'stop_gradient');
  RETURN x;
END $$;

CREATE FUNCTION relgrad.sum_elements(x double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM relgrad.impl_chunk(x, 'sum_elements');
  RETURN relgrad.impl_total(ARRAY(SELECT unnest(x)));
END $$;

CREATE FUNCTION relgrad.sum_elements(x double precision[], axis bigint) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'sum_elements');
  at int := relgrad.impl_axis(axis, 'sum_elements', dims);
  n int := dims[at];
  below bigint := relgrad.impl_size(dims[at + 1:]);
  flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_total(ARRAY(SELECT flat[o / below * below * n + o % below + i * below + 1] FROM generate_series(0, n - 1) AS i ORDER BY i))
    FROM generate_series(0, cardinality(flat) / n - 1) AS o ORDER BY o), dims[:at - 1] || 1 || dims[at + 1:]);
END $$;

CREATE FUNCTION relgrad.tan(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN abs(x) = 'Infinity' THEN 'NaN' ELSE tan(x) END;
END $$;

CREATE FUNCTION relgrad.tan(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 16600 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'tan');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN abs(e1) = 'Infinity' THEN 'NaN' ELSE tan(e1) END FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.tanh(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN tanh(x);
END $$;

CREATE FUNCTION relgrad.tanh(x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 13400 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(x, 'tanh');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT tanh(e1) FROM unnest(relgrad.impl_spread(x, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.transpose(m double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(m, 'transpose');
  flat double precision[] := ARRAY(SELECT unnest(m));
  n int := cardinality(dims);
  s bigint[] := relgrad.impl_strides(dims, dims);
BEGIN
  IF array_ndims(m) < 2 THEN
    PERFORM relgrad.impl_wrong_type('transpose', 'The argument must have at least two dimensions.', relgrad.impl_type(m));
  END IF;
  s := s[:n - 2] || s[n] || s[n - 1];
  dims := dims[:n - 2] || dims[n] || dims[n - 1];
  RETURN relgrad.impl_build(ARRAY(SELECT flat[p + 1] FROM unnest(relgrad.impl_places(dims, s)) WITH ORDINALITY AS t(p, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.zeros(shape bigint[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN array_fill(0::double precision, relgrad.impl_shape(shape, 'zeros'));
END $$;

CREATE FUNCTION relgrad.chunk_add(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'operator +');
  d2 int[] := relgrad.impl_chunk(b, 'operator +');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator +', '+');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_add(e1, e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_add(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(b, 'operator +');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator +', '+');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_add(e1, e2) FROM unnest(relgrad.impl_spread(ARRAY[a], d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_add(a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'operator +');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator +', '+');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_add(e1, e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(ARRAY[b], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_sub(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'operator -');
  d2 int[] := relgrad.impl_chunk(b, 'operator -');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator -', '-');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_add(e1, -e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_sub(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(b, 'operator -');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator -', '-');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_add(e1, -e2) FROM unnest(relgrad.impl_spread(ARRAY[a], d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_sub(a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'operator -');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator -', '-');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_add(e1, -e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(ARRAY[b], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_mul(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'operator *');
  d2 int[] := relgrad.impl_chunk(b, 'operator *');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator *', '*');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_mul(e1, e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_mul(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(b, 'operator *');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator *', '*');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_mul(e1, e2) FROM unnest(relgrad.impl_spread(ARRAY[a], d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_mul(a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'operator *');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator *', '*');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_mul(e1, e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(ARRAY[b], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_div(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'operator /');
  d2 int[] := relgrad.impl_chunk(b, 'operator /');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator /', '/');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_div(e1, e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_div(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(b, 'operator /');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator /', '/');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_div(e1, e2) FROM unnest(relgrad.impl_spread(ARRAY[a], d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_div(a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 3200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'operator /');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'operator /', '/');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_div(e1, e2) FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(ARRAY[b], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.chunk_neg(a double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'operator -');
  dims int[] := d1;
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT -e1 FROM unnest(relgrad.impl_spread(a, d1, dims)) WITH ORDINALITY AS t(e1, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_add(a double precision, b double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_add(a, b);
END $$;

CREATE FUNCTION relgrad.gen_sub(a double precision, b double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_add(a, -b);
END $$;

CREATE FUNCTION relgrad.gen_mul(a double precision, b double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_mul(a, b);
END $$;

CREATE FUNCTION relgrad.gen_div(a double precision, b double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_div(a, b);
END $$;

CREATE FUNCTION relgrad.gen_sum_to(x double precision[], shape bigint[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d int[] := relgrad.impl_chunk(x, 'sum_to');
  dims int[] := relgrad.impl_shape(shape, 'sum_to');
  s bigint[] := relgrad.impl_strides(d, dims);
BEGIN
  IF s IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('shape %s is not a sum of shape %s', relgrad.impl_dims_text(dims), relgrad.impl_dims_text(d));
  END IF;
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_sum(e ORDER BY o) FROM unnest(ARRAY(SELECT unnest(x)), relgrad.impl_places(d, s)) WITH ORDINALITY AS t(e, p, o) GROUP BY p ORDER BY p), dims);
END $$;

CREATE FUNCTION relgrad.gen_expand_to(x double precision[], shape bigint[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
DECLARE
  d int[] := relgrad.impl_chunk(x, 'expand_to');
  dims int[] := relgrad.impl_shape(shape, 'expand_to');
BEGIN
  IF relgrad.impl_strides(dims, d) IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('shape %s does not expand to shape %s', relgrad.impl_dims_text(d), relgrad.impl_dims_text(dims));
  END IF;
  RETURN relgrad.impl_build(relgrad.impl_spread(x, d, dims), dims);
END $$;

CREATE FUNCTION relgrad.gen_expand_to(x double precision, shape bigint[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN array_fill(x, relgrad.impl_shape(shape, 'expand_to'));
END $$;

CREATE FUNCTION relgrad.gen_pad(x double precision[], shape bigint[], start bigint[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d int[] := relgrad.impl_chunk(x, 'pad');
  dims int[] := relgrad.impl_shape(shape, 'pad');
  place bigint[] := relgrad.impl_list(start, 'pad', 'start');
  s bigint[] := relgrad.impl_strides(dims, dims);
  inside boolean := cardinality(d) = cardinality(dims) AND cardinality(place) = cardinality(dims);
  off bigint := 0;
BEGIN
  IF inside THEN
    FOR i IN 1..cardinality(dims) LOOP
      inside := inside AND place[i] >= 1 AND place[i] - 1 + d[i] <= dims[i];
      off := off + (place[i] - 1) * s[i];
    END LOOP;
  END IF;
  IF NOT inside THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('a box of shape %s is not inside shape %s', relgrad.impl_dims_text(d), relgrad.impl_dims_text(dims));
  END IF;
  RETURN relgrad.impl_place(ARRAY(SELECT unnest(x)), ARRAY(SELECT p + off FROM unnest(relgrad.impl_places(d, s)) WITH ORDINALITY AS t(p, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_put(g double precision, shape bigint[], index bigint[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
DECLARE
  dims int[] := relgrad.impl_shape(shape, 'put');
  place bigint[] := relgrad.impl_list(index, 'put', 'index');
  s bigint[] := relgrad.impl_strides(dims, dims);
  off bigint := 0;
BEGIN
  IF cardinality(place) <> cardinality(dims) THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('%s subscripts of shape %s', cardinality(place), relgrad.impl_dims_text(dims));
  END IF;
  FOR i IN 1..cardinality(dims) LOOP
    IF place[i] NOT BETWEEN 1 AND dims[i] THEN
      RETURN array_fill(0::double precision, dims);
    END IF;
    off := off + (place[i] - 1) * s[i];
  END LOOP;
  RETURN relgrad.impl_place(ARRAY[g], ARRAY[off], dims);
END $$;

CREATE FUNCTION relgrad.gen_to_real(x double precision) RETURNS real LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_to_real(x);
END $$;

CREATE FUNCTION relgrad.gen_to_real(x double precision[]) RETURNS real[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  dims int[] := relgrad.impl_chunk(x, 'to_real');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_to_real(e) FROM unnest(x) WITH ORDINALITY AS t(e, o) ORDER BY o)::double precision[], dims)::real[];
END $$;

CREATE FUNCTION relgrad.gen_decimal(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE WHEN x = 0 OR abs(x) >= 'Infinity' THEN x ELSE x::numeric::double precision END;
END $$;

CREATE FUNCTION relgrad.gen_stack_row(place bigint, rows bigint, missing boolean, expected bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  IF missing THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'array_agg cannot collect NULL', HINT = 'Give it a value, such as coalesce(x, 0).';
  END IF;
  IF rows <> expected THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('array_agg: a group has %s rows, others have %s', rows, expected), HINT = 'Chunks of a column have one shape: choose groups of one size.';
  END IF;
  RETURN place;
END $$;

CREATE FUNCTION relgrad.gen_row_id(place tid) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN ((place::text::point)[0]::bigint << 16) | (place::text::point)[1]::bigint;
END $$;

CREATE FUNCTION relgrad.gen_drop_mask(key bigint, p double precision, site bigint, seed bigint, step bigint) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 SET search_path = pg_catalog AS $$
DECLARE
  h bigint := relgrad.impl_hash(ARRAY[site, step, key]);
BEGIN
  PERFORM relgrad.impl_probability(p);
  RETURN CASE WHEN relgrad.impl_uniform(seed, h, 0) >= p THEN 1 / (1 - p) ELSE 0 END;
END $$;

CREATE FUNCTION relgrad.gen_drop_mask(key bigint, p double precision, site bigint, seed bigint, step bigint, shape bigint[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  h bigint := relgrad.impl_hash(ARRAY[site, step, key]);
  dims int[] := relgrad.impl_shape(shape, 'drop_mask');
BEGIN
  PERFORM relgrad.impl_probability(p);
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN relgrad.impl_uniform(seed, h, i) >= p THEN 1 / (1 - p) ELSE 0 END FROM generate_series(0, relgrad.impl_size(dims) - 1) AS i ORDER BY i), dims);
END $$;

CREATE FUNCTION relgrad.gen_row_key(parts bigint[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_hash(relgrad.impl_list(parts, 'row_key', 'key'));
END $$;

CREATE FUNCTION relgrad.gen_text_key(x text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_hash_text(x);
END $$;

CREATE FUNCTION relgrad.gen_float_key(x double precision) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN ('x' || encode(float8send(x), 'hex'))::bit(64)::bigint;
END $$;

CREATE FUNCTION relgrad.gen_eq_mask(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'eq_mask');
  d2 int[] := relgrad.impl_chunk(b, 'eq_mask');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'eq_mask', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 = e2 AND e1 <> 'NaN' THEN 1 ELSE 0::double precision END FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_eq_mask(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(b, 'eq_mask');
  dims int[] := relgrad.impl_broadcast(d1, d2, 'eq_mask', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 = e2 AND e1 <> 'NaN' THEN 1 ELSE 0::double precision END FROM unnest(relgrad.impl_spread(ARRAY[a], d1, dims), relgrad.impl_spread(b, d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_eq_mask(a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, 'eq_mask');
  d2 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(d1, d2, 'eq_mask', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 = e2 AND e1 <> 'NaN' THEN 1 ELSE 0::double precision END FROM unnest(relgrad.impl_spread(a, d1, dims), relgrad.impl_spread(ARRAY[b], d2, dims)) WITH ORDINALITY AS t(e1, e2, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_select(mask double precision[], a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(mask, 'select');
  d2 int[] := relgrad.impl_chunk(a, 'select');
  d3 int[] := relgrad.impl_chunk(b, 'select');
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'select', ''), d3, 'select', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 <> 0 THEN e2 ELSE e3 END FROM unnest(relgrad.impl_spread(mask, d1, dims), relgrad.impl_spread(a, d2, dims), relgrad.impl_spread(b, d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_select(mask double precision, a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(a, 'select');
  d3 int[] := relgrad.impl_chunk(b, 'select');
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'select', ''), d3, 'select', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 <> 0 THEN e2 ELSE e3 END FROM unnest(relgrad.impl_spread(ARRAY[mask], d1, dims), relgrad.impl_spread(a, d2, dims), relgrad.impl_spread(b, d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_select(mask double precision[], a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(mask, 'select');
  d2 int[] := '{}';
  d3 int[] := relgrad.impl_chunk(b, 'select');
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'select', ''), d3, 'select', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 <> 0 THEN e2 ELSE e3 END FROM unnest(relgrad.impl_spread(mask, d1, dims), relgrad.impl_spread(ARRAY[a], d2, dims), relgrad.impl_spread(b, d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_select(mask double precision, a double precision, b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := '{}';
  d3 int[] := relgrad.impl_chunk(b, 'select');
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'select', ''), d3, 'select', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 <> 0 THEN e2 ELSE e3 END FROM unnest(relgrad.impl_spread(ARRAY[mask], d1, dims), relgrad.impl_spread(ARRAY[a], d2, dims), relgrad.impl_spread(b, d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_select(mask double precision[], a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(mask, 'select');
  d2 int[] := relgrad.impl_chunk(a, 'select');
  d3 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'select', ''), d3, 'select', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 <> 0 THEN e2 ELSE e3 END FROM unnest(relgrad.impl_spread(mask, d1, dims), relgrad.impl_spread(a, d2, dims), relgrad.impl_spread(ARRAY[b], d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_select(mask double precision, a double precision[], b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := '{}';
  d2 int[] := relgrad.impl_chunk(a, 'select');
  d3 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'select', ''), d3, 'select', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 <> 0 THEN e2 ELSE e3 END FROM unnest(relgrad.impl_spread(ARRAY[mask], d1, dims), relgrad.impl_spread(a, d2, dims), relgrad.impl_spread(ARRAY[b], d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.gen_select(mask double precision[], a double precision, b double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(mask, 'select');
  d2 int[] := '{}';
  d3 int[] := '{}';
  dims int[] := relgrad.impl_broadcast(relgrad.impl_broadcast(d1, d2, 'select', ''), d3, 'select', '');
BEGIN
  RETURN relgrad.impl_build(ARRAY(SELECT CASE WHEN e1 <> 0 THEN e2 ELSE e3 END FROM unnest(relgrad.impl_spread(mask, d1, dims), relgrad.impl_spread(ARRAY[a], d2, dims), relgrad.impl_spread(ARRAY[b], d3, dims)) WITH ORDINALITY AS t(e1, e2, e3, o) ORDER BY o), dims);
END $$;

CREATE FUNCTION relgrad.agg_add_combine(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_combine(a, b, 'sum');
END $$;

CREATE FUNCTION relgrad.agg_add(state double precision[], x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_fold(state, ARRAY(SELECT unnest(x)), relgrad.impl_chunk(x, 'sum'), 'sum', 1);
END $$;

CREATE FUNCTION relgrad.agg_value(state double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_finish(state, false, TRUE);
END $$;

CREATE FUNCTION relgrad.agg_add(state double precision[], x double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  IF cardinality(state) = 3 AND state[2] = 0 THEN
    RETURN ARRAY[state[1] + 1, 0, relgrad.impl_add(state[3], x)];
  END IF;
  RETURN relgrad.impl_fold(state, ARRAY[x], '{}', 'sum', 1);
END $$;

CREATE FUNCTION relgrad.agg_value_number(state double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN (relgrad.impl_finish(state, false, FALSE))[1];
END $$;

CREATE FUNCTION relgrad.agg_mean(state double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_finish(state, true, TRUE);
END $$;

CREATE FUNCTION relgrad.agg_mean_number(state double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN (relgrad.impl_finish(state, true, FALSE))[1];
END $$;

CREATE FUNCTION relgrad.agg_min_combine(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_combine(a, b, 'min_agg');
END $$;

CREATE FUNCTION relgrad.agg_min(state double precision[], x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_fold(state, ARRAY(SELECT unnest(x)), relgrad.impl_chunk(x, 'min_agg'), 'min_agg', 1);
END $$;

CREATE FUNCTION relgrad.agg_max_combine(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_combine(a, b, 'max_agg');
END $$;

CREATE FUNCTION relgrad.agg_max(state double precision[], x double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN relgrad.impl_fold(state, ARRAY(SELECT unnest(x)), relgrad.impl_chunk(x, 'max_agg'), 'max_agg', 1);
END $$;

CREATE FUNCTION relgrad.agg_scatter_combine(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_combine(a, b, 'vector_agg');
END $$;

CREATE FUNCTION relgrad.agg_scatter(state double precision[], index bigint, value double precision, size bigint) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1100 SET search_path = pg_catalog AS $$
BEGIN
  RETURN relgrad.impl_scatter(state, index, value, size);
END $$;

CREATE FUNCTION relgrad.abs(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.abs(x::double precision));

CREATE FUNCTION relgrad.abs(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.abs(x::double precision[]));

CREATE FUNCTION relgrad.acos(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.acos(x::double precision[]));

CREATE FUNCTION relgrad.argmax(x real[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 600 SET search_path = pg_catalog AS $$
BEGIN
  IF array_ndims(x) <> 1 THEN
    PERFORM relgrad.impl_wrong_type('argmax', 'The argument must be a vector.', relgrad.impl_type(x));
  END IF;
  RETURN relgrad.argmax(x::double precision[]);
END $$;

CREATE FUNCTION relgrad.argmin(x real[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 600 SET search_path = pg_catalog AS $$
BEGIN
  IF array_ndims(x) <> 1 THEN
    PERFORM relgrad.impl_wrong_type('argmin', 'The argument must be a vector.', relgrad.impl_type(x));
  END IF;
  RETURN relgrad.argmin(x::double precision[]);
END $$;

CREATE FUNCTION relgrad.asin(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.asin(x::double precision[]));

CREATE FUNCTION relgrad.atan(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.atan(x::double precision[]));

CREATE FUNCTION relgrad.bce_with_logits(z real, y real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 200
RETURN relgrad.gen_to_real(relgrad.bce_with_logits(z::double precision, y::double precision));

CREATE FUNCTION relgrad.bce_with_logits(z double precision, y real) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 200
RETURN relgrad.bce_with_logits(z, y::double precision);

CREATE FUNCTION relgrad.bce_with_logits(z real, y double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 200
RETURN relgrad.bce_with_logits(z::double precision, y);

CREATE FUNCTION relgrad.bce_with_logits(z real[], y real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 21100
RETURN relgrad.gen_to_real(relgrad.bce_with_logits(z::double precision[], y::double precision[]));

CREATE FUNCTION relgrad.bce_with_logits(z double precision, y real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 21100
RETURN relgrad.gen_to_real(relgrad.bce_with_logits(z, y::double precision[]));

CREATE FUNCTION relgrad.bce_with_logits(z real[], y double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 21100
RETURN relgrad.gen_to_real(relgrad.bce_with_logits(z::double precision[], y));

CREATE FUNCTION relgrad.clip(x real, lo real, hi real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.clip(x::double precision, lo::double precision, hi::double precision));

CREATE FUNCTION relgrad.clip(x double precision, lo real, hi real) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.clip(x, lo::double precision, hi::double precision);

CREATE FUNCTION relgrad.clip(x real, lo double precision, hi real) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.clip(x::double precision, lo, hi::double precision);

CREATE FUNCTION relgrad.clip(x double precision, lo double precision, hi real) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.clip(x, lo, hi::double precision);

CREATE FUNCTION relgrad.clip(x real, lo real, hi double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.clip(x::double precision, lo::double precision, hi);

CREATE FUNCTION relgrad.clip(x double precision, lo real, hi double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.clip(x, lo::double precision, hi);

CREATE FUNCTION relgrad.clip(x real, lo double precision, hi double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.clip(x::double precision, lo, hi);

CREATE FUNCTION relgrad.clip(x real[], lo real[], hi real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.clip(x::double precision[], lo::double precision[], hi::double precision[]));

CREATE FUNCTION relgrad.clip(x double precision, lo real[], hi real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.clip(x, lo::double precision[], hi::double precision[]));

CREATE FUNCTION relgrad.clip(x real[], lo double precision, hi real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.clip(x::double precision[], lo, hi::double precision[]));

CREATE FUNCTION relgrad.clip(x double precision, lo double precision, hi real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.clip(x, lo, hi::double precision[]));

CREATE FUNCTION relgrad.clip(x real[], lo real[], hi double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.clip(x::double precision[], lo::double precision[], hi));

CREATE FUNCTION relgrad.clip(x double precision, lo real[], hi double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.clip(x, lo::double precision[], hi));

CREATE FUNCTION relgrad.clip(x real[], lo double precision, hi double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.clip(x::double precision[], lo, hi));

CREATE FUNCTION relgrad.concat_axis(a real[], b real[], axis bigint) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.concat_axis(a::double precision[], b::double precision[], axis));

CREATE FUNCTION relgrad.cos(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.cos(x::double precision[]));

CREATE FUNCTION relgrad.cosh(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.cosh(x::double precision[]));

CREATE FUNCTION relgrad.cross_entropy(logits real[], label bigint) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1400 SET search_path = pg_catalog AS $$
BEGIN
  IF array_ndims(logits) <> 1 THEN
    PERFORM relgrad.impl_wrong_type('cross_entropy', 'The arguments must be a vector of logits and a bigint label.', relgrad.impl_type(logits));
  END IF;
  RETURN relgrad.cross_entropy(logits::double precision[], label);
END $$;

CREATE FUNCTION relgrad.diag(x real[]) RETURNS real[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 600 SET search_path = pg_catalog AS $$
BEGIN
  IF array_ndims(x) > 2 OR array_ndims(x) = 2 AND array_length(x, 1) <> array_length(x, 2) THEN
    PERFORM relgrad.impl_wrong_type('diag', 'The argument must be a vector or a square matrix.', relgrad.impl_type(x));
  END IF;
  RETURN relgrad.gen_to_real(relgrad.diag(x::double precision[]));
END $$;

CREATE FUNCTION relgrad.dot(a real[], b real[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.dot(a::double precision[], b::double precision[]);

CREATE FUNCTION relgrad.dropout(x real, p double precision) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.dropout(x::double precision, p));

CREATE FUNCTION relgrad.dropout(x real[], p double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.dropout(x::double precision[], p));

CREATE FUNCTION relgrad.einsum(spec text, a real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b real[], c real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2500
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b::double precision[], c::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b real[], c real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2500
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b::double precision[], c::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b double precision, c real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2500
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b, c::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision, c real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2500
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b, c::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b real[], c double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2500
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b::double precision[], c));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b real[], c double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2500
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b::double precision[], c));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b double precision, c double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2500
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b, c));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b real[], c real[], d real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b::double precision[], c::double precision[], d::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b real[], c real[], d real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b::double precision[], c::double precision[], d::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b double precision, c real[], d real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b, c::double precision[], d::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision, c real[], d real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b, c::double precision[], d::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b real[], c double precision, d real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b::double precision[], c, d::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b real[], c double precision, d real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b::double precision[], c, d::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b double precision, c double precision, d real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b, c, d::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision, c double precision, d real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b, c, d::double precision[]));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b real[], c real[], d double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b::double precision[], c::double precision[], d));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b real[], c real[], d double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b::double precision[], c::double precision[], d));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b double precision, c real[], d double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b, c::double precision[], d));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b double precision, c real[], d double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b, c::double precision[], d));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b real[], c double precision, d double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b::double precision[], c, d));

CREATE FUNCTION relgrad.einsum(spec text, a double precision, b real[], c double precision, d double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a, b::double precision[], c, d));

CREATE FUNCTION relgrad.einsum(spec text, a real[], b double precision, c double precision, d double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.einsum(spec, a::double precision[], b, c, d));

CREATE FUNCTION relgrad.elu(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.elu(x::double precision));

CREATE FUNCTION relgrad.elu(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12100
RETURN relgrad.gen_to_real(relgrad.elu(x::double precision[]));

CREATE FUNCTION relgrad.erf(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.erf(x::double precision[]));

CREATE FUNCTION relgrad.exp(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10200
RETURN relgrad.gen_to_real(relgrad.exp(x::double precision[]));

CREATE FUNCTION relgrad.gelu(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 200
RETURN relgrad.gen_to_real(relgrad.gelu(x::double precision));

CREATE FUNCTION relgrad.gelu(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 16600
RETURN relgrad.gen_to_real(relgrad.gelu(x::double precision[]));

CREATE FUNCTION relgrad.greater(a real, b real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.greater(a::double precision, b::double precision));

CREATE FUNCTION relgrad.greater(a double precision, b real) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.greater(a, b::double precision);

CREATE FUNCTION relgrad.greater(a real, b double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.greater(a::double precision, b);

CREATE FUNCTION relgrad.greater(a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.greater(a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.greater(a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.greater(a, b::double precision[]));

CREATE FUNCTION relgrad.greater(a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.greater(a::double precision[], b));

CREATE FUNCTION relgrad.huber(x real, delta real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.huber(x::double precision, delta::double precision));

CREATE FUNCTION relgrad.huber(x double precision, delta real) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.huber(x, delta::double precision);

CREATE FUNCTION relgrad.huber(x real, delta double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.huber(x::double precision, delta);

CREATE FUNCTION relgrad.huber(x real[], delta real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.huber(x::double precision[], delta::double precision[]));

CREATE FUNCTION relgrad.huber(x double precision, delta real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.huber(x, delta::double precision[]));

CREATE FUNCTION relgrad.huber(x real[], delta double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.huber(x::double precision[], delta));

CREATE FUNCTION relgrad.l2_normalize(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3800
RETURN relgrad.gen_to_real(relgrad.l2_normalize(x::double precision[]));

CREATE FUNCTION relgrad.layer_norm(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 5700
RETURN relgrad.gen_to_real(relgrad.layer_norm(x::double precision[]));

CREATE FUNCTION relgrad.leaky_relu(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.leaky_relu(x::double precision));

CREATE FUNCTION relgrad.leaky_relu(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.leaky_relu(x::double precision[]));

CREATE FUNCTION relgrad.leaky_relu(x real, slope real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.leaky_relu(x::double precision, slope::double precision));

CREATE FUNCTION relgrad.leaky_relu(x double precision, slope real) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.leaky_relu(x, slope::double precision);

CREATE FUNCTION relgrad.leaky_relu(x real, slope double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.leaky_relu(x::double precision, slope);

CREATE FUNCTION relgrad.leaky_relu(x real[], slope real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.leaky_relu(x::double precision[], slope::double precision[]));

CREATE FUNCTION relgrad.leaky_relu(x double precision, slope real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.leaky_relu(x, slope::double precision[]));

CREATE FUNCTION relgrad.leaky_relu(x real[], slope double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.gen_to_real(relgrad.leaky_relu(x::double precision[], slope));

CREATE FUNCTION relgrad.ln(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10200
RETURN relgrad.gen_to_real(relgrad.ln(x::double precision[]));

CREATE FUNCTION relgrad.log(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10200
RETURN relgrad.gen_to_real(relgrad.log(x::double precision[]));

CREATE FUNCTION relgrad.log_softmax(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.log_softmax(x::double precision[]));

CREATE FUNCTION relgrad.logsumexp(x real[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12100
RETURN relgrad.logsumexp(x::double precision[]);

CREATE FUNCTION relgrad.logsumexp(x real[], axis bigint) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12100
RETURN relgrad.gen_to_real(relgrad.logsumexp(x::double precision[], axis));

CREATE FUNCTION relgrad.matmul(a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 21100
RETURN relgrad.gen_to_real(relgrad.matmul(a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.max_elements(x real[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.max_elements(x::double precision[]);

CREATE FUNCTION relgrad.max_elements(x real[], axis bigint) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.max_elements(x::double precision[], axis));

CREATE FUNCTION relgrad.maximum(a real, b real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.maximum(a::double precision, b::double precision));

CREATE FUNCTION relgrad.maximum(a double precision, b real) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.maximum(a, b::double precision);

CREATE FUNCTION relgrad.maximum(a real, b double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.maximum(a::double precision, b);

CREATE FUNCTION relgrad.maximum(a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.maximum(a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.maximum(a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.maximum(a, b::double precision[]));

CREATE FUNCTION relgrad.maximum(a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.maximum(a::double precision[], b));

CREATE FUNCTION relgrad.mean_elements(x real[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1300
RETURN relgrad.mean_elements(x::double precision[]);

CREATE FUNCTION relgrad.mean_elements(x real[], axis bigint) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1400
RETURN relgrad.gen_to_real(relgrad.mean_elements(x::double precision[], axis));

CREATE FUNCTION relgrad.minimum(a real, b real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.minimum(a::double precision, b::double precision));

CREATE FUNCTION relgrad.minimum(a double precision, b real) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.minimum(a, b::double precision);

CREATE FUNCTION relgrad.minimum(a real, b double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.minimum(a::double precision, b);

CREATE FUNCTION relgrad.minimum(a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.minimum(a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.minimum(a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.minimum(a, b::double precision[]));

CREATE FUNCTION relgrad.minimum(a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.minimum(a::double precision[], b));

CREATE FUNCTION relgrad.mse(a real[], b real[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 2500
RETURN relgrad.mse(a::double precision[], b::double precision[]);

CREATE FUNCTION relgrad.norm(x real[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.norm(x::double precision[]);

CREATE FUNCTION relgrad.outer(a real[], b real[]) RETURNS real[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog AS $$
BEGIN
  IF array_ndims(a) <> 1 OR array_ndims(b) <> 1 THEN
    PERFORM relgrad.impl_wrong_type('outer', 'Both arguments must be vectors.', relgrad.impl_type(a), relgrad.impl_type(b));
  END IF;
  RETURN relgrad.gen_to_real(relgrad.outer(a::double precision[], b::double precision[]));
END $$;

CREATE FUNCTION relgrad.power(x real[], y real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.power(x::double precision[], y::double precision[]));

CREATE FUNCTION relgrad.power(x double precision, y real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.power(x, y::double precision[]));

CREATE FUNCTION relgrad.power(x real[], y double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.power(x::double precision[], y));

CREATE FUNCTION relgrad.relu(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.relu(x::double precision));

CREATE FUNCTION relgrad.relu(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.relu(x::double precision[]));

CREATE FUNCTION relgrad.reshape(x real[], shape bigint[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.reshape(x::double precision[], shape));

CREATE FUNCTION relgrad.sigmoid(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.sigmoid(x::double precision));

CREATE FUNCTION relgrad.sigmoid(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12100
RETURN relgrad.gen_to_real(relgrad.sigmoid(x::double precision[]));

CREATE FUNCTION relgrad.sign(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.sign(x::double precision[]));

CREATE FUNCTION relgrad.silu(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 200
RETURN relgrad.gen_to_real(relgrad.silu(x::double precision));

CREATE FUNCTION relgrad.silu(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.silu(x::double precision[]));

CREATE FUNCTION relgrad.sin(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.sin(x::double precision[]));

CREATE FUNCTION relgrad.sinh(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.sinh(x::double precision[]));

CREATE FUNCTION relgrad.softmax(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.softmax(x::double precision[]));

CREATE FUNCTION relgrad.softplus(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 200
RETURN relgrad.gen_to_real(relgrad.softplus(x::double precision));

CREATE FUNCTION relgrad.softplus(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19800
RETURN relgrad.gen_to_real(relgrad.softplus(x::double precision[]));

CREATE FUNCTION relgrad.softsign(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.softsign(x::double precision));

CREATE FUNCTION relgrad.softsign(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 4400
RETURN relgrad.gen_to_real(relgrad.softsign(x::double precision[]));

CREATE FUNCTION relgrad.sqnorm(x real[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1900
RETURN relgrad.sqnorm(x::double precision[]);

CREATE FUNCTION relgrad.sqrt(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 5700
RETURN relgrad.gen_to_real(relgrad.sqrt(x::double precision[]));

CREATE FUNCTION relgrad.square(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.square(x::double precision));

CREATE FUNCTION relgrad.square(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.square(x::double precision[]));

CREATE FUNCTION relgrad.stop_gradient(x real) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100
RETURN relgrad.gen_to_real(relgrad.stop_gradient(x::double precision));

CREATE FUNCTION relgrad.stop_gradient(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.stop_gradient(x::double precision[]));

CREATE FUNCTION relgrad.sum_elements(x real[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.sum_elements(x::double precision[]);

CREATE FUNCTION relgrad.sum_elements(x real[], axis bigint) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.sum_elements(x::double precision[], axis));

CREATE FUNCTION relgrad.tan(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 16600
RETURN relgrad.gen_to_real(relgrad.tan(x::double precision[]));

CREATE FUNCTION relgrad.tanh(x real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13400
RETURN relgrad.gen_to_real(relgrad.tanh(x::double precision[]));

CREATE FUNCTION relgrad.transpose(m real[]) RETURNS real[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1200 SET search_path = pg_catalog AS $$
BEGIN
  IF array_ndims(m) < 2 THEN
    PERFORM relgrad.impl_wrong_type('transpose', 'The argument must have at least two dimensions.', relgrad.impl_type(m));
  END IF;
  RETURN relgrad.gen_to_real(relgrad.transpose(m::double precision[]));
END $$;

CREATE FUNCTION relgrad.chunk_add(a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.chunk_add(a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.chunk_add(a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.chunk_add(a, b::double precision[]));

CREATE FUNCTION relgrad.chunk_add(a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.chunk_add(a::double precision[], b));

CREATE FUNCTION relgrad.chunk_sub(a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.chunk_sub(a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.chunk_sub(a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.chunk_sub(a, b::double precision[]));

CREATE FUNCTION relgrad.chunk_sub(a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.chunk_sub(a::double precision[], b));

CREATE FUNCTION relgrad.chunk_mul(a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.chunk_mul(a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.chunk_mul(a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.chunk_mul(a, b::double precision[]));

CREATE FUNCTION relgrad.chunk_mul(a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.chunk_mul(a::double precision[], b));

CREATE FUNCTION relgrad.chunk_div(a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.chunk_div(a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.chunk_div(a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.chunk_div(a, b::double precision[]));

CREATE FUNCTION relgrad.chunk_div(a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 3200
RETURN relgrad.gen_to_real(relgrad.chunk_div(a::double precision[], b));

CREATE FUNCTION relgrad.chunk_neg(a real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.chunk_neg(a::double precision[]));

CREATE FUNCTION relgrad.gen_sum_to(x real[], shape bigint[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1100
RETURN relgrad.gen_to_real(relgrad.gen_sum_to(x::double precision[], shape));

CREATE FUNCTION relgrad.gen_expand_to(x real[], shape bigint[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1100
RETURN relgrad.gen_to_real(relgrad.gen_expand_to(x::double precision[], shape));

CREATE FUNCTION relgrad.gen_pad(x real[], shape bigint[], start bigint[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1100
RETURN relgrad.gen_to_real(relgrad.gen_pad(x::double precision[], shape, start));

CREATE FUNCTION relgrad.gen_eq_mask(a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.gen_eq_mask(a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.gen_eq_mask(a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.gen_eq_mask(a, b::double precision[]));

CREATE FUNCTION relgrad.gen_eq_mask(a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.gen_eq_mask(a::double precision[], b));

CREATE FUNCTION relgrad.gen_select(mask real[], a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.gen_select(mask::double precision[], a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.gen_select(mask double precision, a real[], b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.gen_select(mask, a::double precision[], b::double precision[]));

CREATE FUNCTION relgrad.gen_select(mask real[], a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.gen_select(mask::double precision[], a, b::double precision[]));

CREATE FUNCTION relgrad.gen_select(mask double precision, a double precision, b real[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.gen_select(mask, a, b::double precision[]));

CREATE FUNCTION relgrad.gen_select(mask real[], a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.gen_select(mask::double precision[], a::double precision[], b));

CREATE FUNCTION relgrad.gen_select(mask double precision, a real[], b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.gen_select(mask, a::double precision[], b));

CREATE FUNCTION relgrad.gen_select(mask real[], a double precision, b double precision) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
RETURN relgrad.gen_to_real(relgrad.gen_select(mask::double precision[], a, b));

CREATE FUNCTION relgrad.agg_add(state double precision[], x real[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1100
RETURN relgrad.agg_add(state, x::double precision[]);

CREATE FUNCTION relgrad.agg_value_real(state double precision[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1100
RETURN relgrad.gen_to_real(relgrad.agg_value(state));

CREATE FUNCTION relgrad.agg_add(state double precision[], x real) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1100
RETURN relgrad.agg_add(state, x::double precision);

CREATE FUNCTION relgrad.agg_value_number_real(state double precision[]) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1100
RETURN relgrad.gen_to_real(relgrad.agg_value_number(state));

CREATE FUNCTION relgrad.agg_mean_real(state double precision[]) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1100
RETURN relgrad.gen_to_real(relgrad.agg_mean(state));

CREATE FUNCTION relgrad.agg_min(state double precision[], x real[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1100
RETURN relgrad.agg_min(state, x::double precision[]);

CREATE FUNCTION relgrad.agg_max(state double precision[], x real[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1100
RETURN relgrad.agg_max(state, x::double precision[]);

CREATE FUNCTION relgrad.agg_scatter(state double precision[], index bigint, value real, size bigint) RETURNS double precision[] LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1100
RETURN relgrad.agg_scatter(state, index, value::double precision, size);

CREATE OPERATOR relgrad.+ (LEFTARG = real[], RIGHTARG = real[], FUNCTION = relgrad.chunk_add, COMMUTATOR = OPERATOR(relgrad.+));
CREATE OPERATOR relgrad.+ (LEFTARG = double precision, RIGHTARG = real[], FUNCTION = relgrad.chunk_add, COMMUTATOR = OPERATOR(relgrad.+));
CREATE OPERATOR relgrad.+ (LEFTARG = real[], RIGHTARG = double precision, FUNCTION = relgrad.chunk_add, COMMUTATOR = OPERATOR(relgrad.+));
CREATE OPERATOR relgrad.+ (LEFTARG = double precision[], RIGHTARG = double precision[], FUNCTION = relgrad.chunk_add, COMMUTATOR = OPERATOR(relgrad.+));
CREATE OPERATOR relgrad.+ (LEFTARG = double precision, RIGHTARG = double precision[], FUNCTION = relgrad.chunk_add, COMMUTATOR = OPERATOR(relgrad.+));
CREATE OPERATOR relgrad.+ (LEFTARG = double precision[], RIGHTARG = double precision, FUNCTION = relgrad.chunk_add, COMMUTATOR = OPERATOR(relgrad.+));
CREATE OPERATOR relgrad.- (LEFTARG = real[], RIGHTARG = real[], FUNCTION = relgrad.chunk_sub);
CREATE OPERATOR relgrad.- (LEFTARG = double precision, RIGHTARG = real[], FUNCTION = relgrad.chunk_sub);
CREATE OPERATOR relgrad.- (LEFTARG = real[], RIGHTARG = double precision, FUNCTION = relgrad.chunk_sub);
CREATE OPERATOR relgrad.- (LEFTARG = double precision[], RIGHTARG = double precision[], FUNCTION = relgrad.chunk_sub);
CREATE OPERATOR relgrad.- (LEFTARG = double precision, RIGHTARG = double precision[], FUNCTION = relgrad.chunk_sub);
CREATE OPERATOR relgrad.- (LEFTARG = double precision[], RIGHTARG = double precision, FUNCTION = relgrad.chunk_sub);
CREATE OPERATOR relgrad.* (LEFTARG = real[], RIGHTARG = real[], FUNCTION = relgrad.chunk_mul, COMMUTATOR = OPERATOR(relgrad.*));
CREATE OPERATOR relgrad.* (LEFTARG = double precision, RIGHTARG = real[], FUNCTION = relgrad.chunk_mul, COMMUTATOR = OPERATOR(relgrad.*));
CREATE OPERATOR relgrad.* (LEFTARG = real[], RIGHTARG = double precision, FUNCTION = relgrad.chunk_mul, COMMUTATOR = OPERATOR(relgrad.*));
CREATE OPERATOR relgrad.* (LEFTARG = double precision[], RIGHTARG = double precision[], FUNCTION = relgrad.chunk_mul, COMMUTATOR = OPERATOR(relgrad.*));
CREATE OPERATOR relgrad.* (LEFTARG = double precision, RIGHTARG = double precision[], FUNCTION = relgrad.chunk_mul, COMMUTATOR = OPERATOR(relgrad.*));
CREATE OPERATOR relgrad.* (LEFTARG = double precision[], RIGHTARG = double precision, FUNCTION = relgrad.chunk_mul, COMMUTATOR = OPERATOR(relgrad.*));
CREATE OPERATOR relgrad./ (LEFTARG = real[], RIGHTARG = real[], FUNCTION = relgrad.chunk_div);
CREATE OPERATOR relgrad./ (LEFTARG = double precision, RIGHTARG = real[], FUNCTION = relgrad.chunk_div);
CREATE OPERATOR relgrad./ (LEFTARG = real[], RIGHTARG = double precision, FUNCTION = relgrad.chunk_div);
CREATE OPERATOR relgrad./ (LEFTARG = double precision[], RIGHTARG = double precision[], FUNCTION = relgrad.chunk_div);
CREATE OPERATOR relgrad./ (LEFTARG = double precision, RIGHTARG = double precision[], FUNCTION = relgrad.chunk_div);
CREATE OPERATOR relgrad./ (LEFTARG = double precision[], RIGHTARG = double precision, FUNCTION = relgrad.chunk_div);
CREATE OPERATOR relgrad.^ (LEFTARG = real[], RIGHTARG = real[], FUNCTION = relgrad.power);
CREATE OPERATOR relgrad.^ (LEFTARG = double precision, RIGHTARG = real[], FUNCTION = relgrad.power);
CREATE OPERATOR relgrad.^ (LEFTARG = real[], RIGHTARG = double precision, FUNCTION = relgrad.power);
CREATE OPERATOR relgrad.^ (LEFTARG = double precision[], RIGHTARG = double precision[], FUNCTION = relgrad.power);
CREATE OPERATOR relgrad.^ (LEFTARG = double precision, RIGHTARG = double precision[], FUNCTION = relgrad.power);
CREATE OPERATOR relgrad.^ (LEFTARG = double precision[], RIGHTARG = double precision, FUNCTION = relgrad.power);
CREATE OPERATOR relgrad.- (RIGHTARG = real[], FUNCTION = relgrad.chunk_neg);
CREATE OPERATOR relgrad.- (RIGHTARG = double precision[], FUNCTION = relgrad.chunk_neg);
CREATE AGGREGATE relgrad.sum(x real[]) (SFUNC = relgrad.agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_add_combine, FINALFUNC = relgrad.agg_value_real, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.sum(x double precision[]) (SFUNC = relgrad.agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_add_combine, FINALFUNC = relgrad.agg_value, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.sum(x real) (SFUNC = relgrad.agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_add_combine, FINALFUNC = relgrad.agg_value_number_real, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.sum(x double precision) (SFUNC = relgrad.agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_add_combine, FINALFUNC = relgrad.agg_value_number, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.avg(x real[]) (SFUNC = relgrad.agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_add_combine, FINALFUNC = relgrad.agg_mean_real, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.avg(x double precision[]) (SFUNC = relgrad.agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_add_combine, FINALFUNC = relgrad.agg_mean, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.avg(x real) (SFUNC = relgrad.agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_add_combine, FINALFUNC = relgrad.agg_mean_number, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.avg(x double precision) (SFUNC = relgrad.agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_add_combine, FINALFUNC = relgrad.agg_mean_number, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.min_agg(x real[]) (SFUNC = relgrad.agg_min, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_min_combine, FINALFUNC = relgrad.agg_value_real, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.min_agg(x double precision[]) (SFUNC = relgrad.agg_min, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_min_combine, FINALFUNC = relgrad.agg_value, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.max_agg(x real[]) (SFUNC = relgrad.agg_max, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_max_combine, FINALFUNC = relgrad.agg_value_real, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.max_agg(x double precision[]) (SFUNC = relgrad.agg_max, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_max_combine, FINALFUNC = relgrad.agg_value, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.vector_agg(index bigint, value real, size bigint) (SFUNC = relgrad.agg_scatter, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_scatter_combine, FINALFUNC = relgrad.agg_value_real, PARALLEL = SAFE);
CREATE AGGREGATE relgrad.vector_agg(index bigint, value double precision, size bigint) (SFUNC = relgrad.agg_scatter, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = relgrad.agg_scatter_combine, FINALFUNC = relgrad.agg_value, PARALLEL = SAFE);
