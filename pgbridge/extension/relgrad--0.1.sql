-- Generated from the registry of kernels by go test ./pgbridge/extension -update. DO NOT EDIT.
\echo Use "CREATE EXTENSION relgrad" to load this file. \quit

-- A schema that the script makes belongs to the extension: nobody else made it, and DROP EXTENSION takes it along.
CREATE SCHEMA relgrad;
SET LOCAL search_path = relgrad, pg_temp;
GRANT USAGE ON SCHEMA relgrad TO PUBLIC;

-- abs(x)
CREATE FUNCTION abs(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_abs';
CREATE FUNCTION abs(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_abs';
CREATE FUNCTION abs(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_abs';
CREATE FUNCTION abs(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_abs';
CREATE FUNCTION abs(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.abs(x::double precision[]);
CREATE FUNCTION abs(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.abs(x::double precision[]);
CREATE FUNCTION abs(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.abs(x::double precision[]);
CREATE FUNCTION abs(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.abs(x::double precision[]);

-- acos(x)
CREATE FUNCTION acos(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_acos';
CREATE FUNCTION acos(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_acos';
CREATE FUNCTION acos(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_acos';
CREATE FUNCTION acos(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.acos(x::double precision[]);
CREATE FUNCTION acos(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.acos(x::double precision[]);
CREATE FUNCTION acos(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.acos(x::double precision[]);
CREATE FUNCTION acos(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.acos(x::double precision[]);

-- acosh(x)
CREATE FUNCTION acosh(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_acosh';
CREATE FUNCTION acosh(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_acosh';
CREATE FUNCTION acosh(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_acosh';
CREATE FUNCTION acosh(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.acosh(x::double precision[]);
CREATE FUNCTION acosh(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.acosh(x::double precision[]);
CREATE FUNCTION acosh(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.acosh(x::double precision[]);
CREATE FUNCTION acosh(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.acosh(x::double precision[]);

-- argmax(x)
CREATE FUNCTION argmax(x real[]) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 6 AS 'MODULE_PATHNAME', 'relgrad_argmax';
CREATE FUNCTION argmax(x double precision[]) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 6 AS 'MODULE_PATHNAME', 'relgrad_argmax';
CREATE FUNCTION argmax(x smallint[]) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.argmax(x::double precision[]);
CREATE FUNCTION argmax(x integer[]) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.argmax(x::double precision[]);
CREATE FUNCTION argmax(x bigint[]) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.argmax(x::double precision[]);
CREATE FUNCTION argmax(x numeric[]) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.argmax(x::double precision[]);

-- argmin(x)
CREATE FUNCTION argmin(x real[]) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 6 AS 'MODULE_PATHNAME', 'relgrad_argmin';
CREATE FUNCTION argmin(x double precision[]) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 6 AS 'MODULE_PATHNAME', 'relgrad_argmin';
CREATE FUNCTION argmin(x smallint[]) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.argmin(x::double precision[]);
CREATE FUNCTION argmin(x integer[]) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.argmin(x::double precision[]);
CREATE FUNCTION argmin(x bigint[]) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.argmin(x::double precision[]);
CREATE FUNCTION argmin(x numeric[]) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.argmin(x::double precision[]);

-- asin(x)
CREATE FUNCTION asin(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_asin';
CREATE FUNCTION asin(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_asin';
CREATE FUNCTION asin(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_asin';
CREATE FUNCTION asin(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.asin(x::double precision[]);
CREATE FUNCTION asin(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.asin(x::double precision[]);
CREATE FUNCTION asin(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.asin(x::double precision[]);
CREATE FUNCTION asin(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.asin(x::double precision[]);

-- asinh(x)
CREATE FUNCTION asinh(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_asinh';
CREATE FUNCTION asinh(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_asinh';
CREATE FUNCTION asinh(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_asinh';
CREATE FUNCTION asinh(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.asinh(x::double precision[]);
CREATE FUNCTION asinh(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.asinh(x::double precision[]);
CREATE FUNCTION asinh(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.asinh(x::double precision[]);
CREATE FUNCTION asinh(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.asinh(x::double precision[]);

-- atan(x)
CREATE FUNCTION atan(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_atan';
CREATE FUNCTION atan(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_atan';
CREATE FUNCTION atan(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_atan';
CREATE FUNCTION atan(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.atan(x::double precision[]);
CREATE FUNCTION atan(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.atan(x::double precision[]);
CREATE FUNCTION atan(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.atan(x::double precision[]);
CREATE FUNCTION atan(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.atan(x::double precision[]);

-- atan2(y, x)
CREATE FUNCTION atan2(y double precision, x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_atan2';
CREATE FUNCTION atan2(y real[], x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_atan2';
CREATE FUNCTION atan2(y double precision, x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_atan2';
CREATE FUNCTION atan2(y real[], x double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_atan2';
CREATE FUNCTION atan2(y double precision[], x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_atan2';
CREATE FUNCTION atan2(y double precision, x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_atan2';
CREATE FUNCTION atan2(y double precision[], x double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_atan2';
CREATE FUNCTION atan2(y smallint[], x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y::double precision[], x::double precision[]);
CREATE FUNCTION atan2(y integer[], x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y::double precision[], x::double precision[]);
CREATE FUNCTION atan2(y bigint[], x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y::double precision[], x::double precision[]);
CREATE FUNCTION atan2(y numeric[], x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y::double precision[], x::double precision[]);
CREATE FUNCTION atan2(y integer[], x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y::double precision[], x::double precision[]);
CREATE FUNCTION atan2(y numeric[], x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y::double precision[], x::double precision[]);
CREATE FUNCTION atan2(y double precision, x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y, x::double precision[]);
CREATE FUNCTION atan2(y double precision, x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y, x::double precision[]);
CREATE FUNCTION atan2(y double precision, x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y, x::double precision[]);
CREATE FUNCTION atan2(y double precision, x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y, x::double precision[]);
CREATE FUNCTION atan2(y smallint[], x double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y::double precision[], x);
CREATE FUNCTION atan2(y integer[], x double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y::double precision[], x);
CREATE FUNCTION atan2(y bigint[], x double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y::double precision[], x);
CREATE FUNCTION atan2(y numeric[], x double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atan2(y::double precision[], x);

-- atanh(x)
CREATE FUNCTION atanh(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_atanh';
CREATE FUNCTION atanh(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_atanh';
CREATE FUNCTION atanh(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_atanh';
CREATE FUNCTION atanh(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atanh(x::double precision[]);
CREATE FUNCTION atanh(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atanh(x::double precision[]);
CREATE FUNCTION atanh(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atanh(x::double precision[]);
CREATE FUNCTION atanh(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.atanh(x::double precision[]);

-- bce_with_logits(z, y)
CREATE FUNCTION bce_with_logits(z real, y real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_bce_with_logits';
CREATE FUNCTION bce_with_logits(z double precision, y real) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_bce_with_logits';
CREATE FUNCTION bce_with_logits(z real, y double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_bce_with_logits';
CREATE FUNCTION bce_with_logits(z double precision, y double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_bce_with_logits';
CREATE FUNCTION bce_with_logits(z real[], y real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 211 AS 'MODULE_PATHNAME', 'relgrad_bce_with_logits';
CREATE FUNCTION bce_with_logits(z double precision, y real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 211 AS 'MODULE_PATHNAME', 'relgrad_bce_with_logits';
CREATE FUNCTION bce_with_logits(z real[], y double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 211 AS 'MODULE_PATHNAME', 'relgrad_bce_with_logits';
CREATE FUNCTION bce_with_logits(z double precision[], y double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 211 AS 'MODULE_PATHNAME', 'relgrad_bce_with_logits';
CREATE FUNCTION bce_with_logits(z double precision, y double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 211 AS 'MODULE_PATHNAME', 'relgrad_bce_with_logits';
CREATE FUNCTION bce_with_logits(z double precision[], y double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 211 AS 'MODULE_PATHNAME', 'relgrad_bce_with_logits';
CREATE FUNCTION bce_with_logits(z smallint[], y smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z::double precision[], y::double precision[]);
CREATE FUNCTION bce_with_logits(z integer[], y integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z::double precision[], y::double precision[]);
CREATE FUNCTION bce_with_logits(z bigint[], y bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z::double precision[], y::double precision[]);
CREATE FUNCTION bce_with_logits(z numeric[], y numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z::double precision[], y::double precision[]);
CREATE FUNCTION bce_with_logits(z integer[], y numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z::double precision[], y::double precision[]);
CREATE FUNCTION bce_with_logits(z numeric[], y integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z::double precision[], y::double precision[]);
CREATE FUNCTION bce_with_logits(z double precision, y smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z, y::double precision[]);
CREATE FUNCTION bce_with_logits(z double precision, y integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z, y::double precision[]);
CREATE FUNCTION bce_with_logits(z double precision, y bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z, y::double precision[]);
CREATE FUNCTION bce_with_logits(z double precision, y numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z, y::double precision[]);
CREATE FUNCTION bce_with_logits(z smallint[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z::double precision[], y);
CREATE FUNCTION bce_with_logits(z integer[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z::double precision[], y);
CREATE FUNCTION bce_with_logits(z bigint[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z::double precision[], y);
CREATE FUNCTION bce_with_logits(z numeric[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.bce_with_logits(z::double precision[], y);

-- cbrt(x)
CREATE FUNCTION cbrt(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_cbrt';
CREATE FUNCTION cbrt(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_cbrt';
CREATE FUNCTION cbrt(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_cbrt';
CREATE FUNCTION cbrt(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cbrt(x::double precision[]);
CREATE FUNCTION cbrt(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cbrt(x::double precision[]);
CREATE FUNCTION cbrt(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cbrt(x::double precision[]);
CREATE FUNCTION cbrt(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cbrt(x::double precision[]);

-- clip(x, lo, hi)
CREATE FUNCTION clip(x real, lo real, hi real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision, lo real, hi real) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x real, lo double precision, hi real) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision, lo double precision, hi real) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x real, lo real, hi double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision, lo real, hi double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x real, lo double precision, hi double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision, lo double precision, hi double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x real[], lo real[], hi real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision, lo real[], hi real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x real[], lo double precision, hi real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision, lo double precision, hi real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x real[], lo real[], hi double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision, lo real[], hi double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x real[], lo double precision, hi double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision[], lo double precision[], hi double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision, lo double precision[], hi double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision[], lo double precision, hi double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision, lo double precision, hi double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision[], lo double precision[], hi double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision, lo double precision[], hi double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x double precision[], lo double precision, hi double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_clip';
CREATE FUNCTION clip(x smallint[], lo smallint[], hi smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo::double precision[], hi::double precision[]);
CREATE FUNCTION clip(x integer[], lo integer[], hi integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo::double precision[], hi::double precision[]);
CREATE FUNCTION clip(x bigint[], lo bigint[], hi bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo::double precision[], hi::double precision[]);
CREATE FUNCTION clip(x numeric[], lo numeric[], hi numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo::double precision[], hi::double precision[]);
CREATE FUNCTION clip(x double precision, lo smallint[], hi smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x, lo::double precision[], hi::double precision[]);
CREATE FUNCTION clip(x double precision, lo integer[], hi integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x, lo::double precision[], hi::double precision[]);
CREATE FUNCTION clip(x double precision, lo bigint[], hi bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x, lo::double precision[], hi::double precision[]);
CREATE FUNCTION clip(x double precision, lo numeric[], hi numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x, lo::double precision[], hi::double precision[]);
CREATE FUNCTION clip(x double precision, lo integer[], hi numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x, lo::double precision[], hi::double precision[]);
CREATE FUNCTION clip(x double precision, lo numeric[], hi integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x, lo::double precision[], hi::double precision[]);
CREATE FUNCTION clip(x smallint[], lo double precision, hi smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo, hi::double precision[]);
CREATE FUNCTION clip(x integer[], lo double precision, hi integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo, hi::double precision[]);
CREATE FUNCTION clip(x bigint[], lo double precision, hi bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo, hi::double precision[]);
CREATE FUNCTION clip(x numeric[], lo double precision, hi numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo, hi::double precision[]);
CREATE FUNCTION clip(x integer[], lo double precision, hi numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo, hi::double precision[]);
CREATE FUNCTION clip(x numeric[], lo double precision, hi integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo, hi::double precision[]);
CREATE FUNCTION clip(x double precision, lo double precision, hi smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.clip(x, lo, hi::double precision[]);
CREATE FUNCTION clip(x double precision, lo double precision, hi integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.clip(x, lo, hi::double precision[]);
CREATE FUNCTION clip(x double precision, lo double precision, hi bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.clip(x, lo, hi::double precision[]);
CREATE FUNCTION clip(x double precision, lo double precision, hi numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.clip(x, lo, hi::double precision[]);
CREATE FUNCTION clip(x smallint[], lo smallint[], hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo::double precision[], hi);
CREATE FUNCTION clip(x integer[], lo integer[], hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo::double precision[], hi);
CREATE FUNCTION clip(x bigint[], lo bigint[], hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo::double precision[], hi);
CREATE FUNCTION clip(x numeric[], lo numeric[], hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo::double precision[], hi);
CREATE FUNCTION clip(x integer[], lo numeric[], hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo::double precision[], hi);
CREATE FUNCTION clip(x numeric[], lo integer[], hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo::double precision[], hi);
CREATE FUNCTION clip(x double precision, lo smallint[], hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x, lo::double precision[], hi);
CREATE FUNCTION clip(x double precision, lo integer[], hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x, lo::double precision[], hi);
CREATE FUNCTION clip(x double precision, lo bigint[], hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x, lo::double precision[], hi);
CREATE FUNCTION clip(x double precision, lo numeric[], hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x, lo::double precision[], hi);
CREATE FUNCTION clip(x smallint[], lo double precision, hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo, hi);
CREATE FUNCTION clip(x integer[], lo double precision, hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo, hi);
CREATE FUNCTION clip(x bigint[], lo double precision, hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo, hi);
CREATE FUNCTION clip(x numeric[], lo double precision, hi double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.clip(x::double precision[], lo, hi);

-- concat_axis(a, b, axis)
CREATE FUNCTION concat_axis(a real[], b real[], axis bigint) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_concat_axis';
CREATE FUNCTION concat_axis(a double precision[], b double precision[], axis bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_concat_axis';

-- cos(x)
CREATE FUNCTION cos(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_cos';
CREATE FUNCTION cos(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_cos';
CREATE FUNCTION cos(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_cos';
CREATE FUNCTION cos(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cos(x::double precision[]);
CREATE FUNCTION cos(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cos(x::double precision[]);
CREATE FUNCTION cos(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cos(x::double precision[]);
CREATE FUNCTION cos(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cos(x::double precision[]);

-- cosd(x)
CREATE FUNCTION cosd(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_cosd';
CREATE FUNCTION cosd(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_cosd';
CREATE FUNCTION cosd(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_cosd';
CREATE FUNCTION cosd(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.cosd(x::double precision[]);
CREATE FUNCTION cosd(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.cosd(x::double precision[]);
CREATE FUNCTION cosd(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.cosd(x::double precision[]);
CREATE FUNCTION cosd(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.cosd(x::double precision[]);

-- cosh(x)
CREATE FUNCTION cosh(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_cosh';
CREATE FUNCTION cosh(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_cosh';
CREATE FUNCTION cosh(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_cosh';
CREATE FUNCTION cosh(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cosh(x::double precision[]);
CREATE FUNCTION cosh(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cosh(x::double precision[]);
CREATE FUNCTION cosh(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cosh(x::double precision[]);
CREATE FUNCTION cosh(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.cosh(x::double precision[]);

-- cot(x)
CREATE FUNCTION cot(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_cot';
CREATE FUNCTION cot(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_cot';
CREATE FUNCTION cot(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_cot';
CREATE FUNCTION cot(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.cot(x::double precision[]);
CREATE FUNCTION cot(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.cot(x::double precision[]);
CREATE FUNCTION cot(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.cot(x::double precision[]);
CREATE FUNCTION cot(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.cot(x::double precision[]);

-- cotd(x)
CREATE FUNCTION cotd(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_cotd';
CREATE FUNCTION cotd(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 198 AS 'MODULE_PATHNAME', 'relgrad_cotd';
CREATE FUNCTION cotd(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 198 AS 'MODULE_PATHNAME', 'relgrad_cotd';
CREATE FUNCTION cotd(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.cotd(x::double precision[]);
CREATE FUNCTION cotd(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.cotd(x::double precision[]);
CREATE FUNCTION cotd(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.cotd(x::double precision[]);
CREATE FUNCTION cotd(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.cotd(x::double precision[]);

-- cross_entropy(logits, label)
CREATE FUNCTION cross_entropy(logits real[], label bigint) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 14 AS 'MODULE_PATHNAME', 'relgrad_cross_entropy';
CREATE FUNCTION cross_entropy(logits double precision[], label bigint) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 14 AS 'MODULE_PATHNAME', 'relgrad_cross_entropy';

-- current_epoch()
CREATE FUNCTION current_epoch() RETURNS bigint LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1 AS 'MODULE_PATHNAME', 'relgrad_current_epoch';

-- current_seed()
CREATE FUNCTION current_seed() RETURNS bigint LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1 AS 'MODULE_PATHNAME', 'relgrad_current_seed';

-- current_step()
CREATE FUNCTION current_step() RETURNS bigint LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1 AS 'MODULE_PATHNAME', 'relgrad_current_step';

-- degrees(x)
CREATE FUNCTION degrees(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_degrees';
CREATE FUNCTION degrees(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_degrees';
CREATE FUNCTION degrees(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_degrees';
CREATE FUNCTION degrees(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.degrees(x::double precision[]);
CREATE FUNCTION degrees(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.degrees(x::double precision[]);
CREATE FUNCTION degrees(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.degrees(x::double precision[]);
CREATE FUNCTION degrees(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.degrees(x::double precision[]);

-- diag(x)
CREATE FUNCTION diag(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 6 AS 'MODULE_PATHNAME', 'relgrad_diag';
CREATE FUNCTION diag(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 6 AS 'MODULE_PATHNAME', 'relgrad_diag';
CREATE FUNCTION diag(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.diag(x::double precision[]);
CREATE FUNCTION diag(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.diag(x::double precision[]);
CREATE FUNCTION diag(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.diag(x::double precision[]);
CREATE FUNCTION diag(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 6 RETURN relgrad.diag(x::double precision[]);

-- digamma(x)
CREATE FUNCTION digamma(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 3 AS 'MODULE_PATHNAME', 'relgrad_digamma';
CREATE FUNCTION digamma(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 390 AS 'MODULE_PATHNAME', 'relgrad_digamma';
CREATE FUNCTION digamma(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 390 AS 'MODULE_PATHNAME', 'relgrad_digamma';
CREATE FUNCTION digamma(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 390 RETURN relgrad.digamma(x::double precision[]);
CREATE FUNCTION digamma(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 390 RETURN relgrad.digamma(x::double precision[]);
CREATE FUNCTION digamma(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 390 RETURN relgrad.digamma(x::double precision[]);
CREATE FUNCTION digamma(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 390 RETURN relgrad.digamma(x::double precision[]);

-- dot(a, b)
CREATE FUNCTION dot(a real[], b real[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_dot';
CREATE FUNCTION dot(a double precision[], b double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_dot';
CREATE FUNCTION dot(a smallint[], b smallint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.dot(a::double precision[], b::double precision[]);
CREATE FUNCTION dot(a integer[], b integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.dot(a::double precision[], b::double precision[]);
CREATE FUNCTION dot(a bigint[], b bigint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.dot(a::double precision[], b::double precision[]);
CREATE FUNCTION dot(a numeric[], b numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.dot(a::double precision[], b::double precision[]);
CREATE FUNCTION dot(a integer[], b numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.dot(a::double precision[], b::double precision[]);
CREATE FUNCTION dot(a numeric[], b integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.dot(a::double precision[], b::double precision[]);

-- dropout(x, p)
CREATE FUNCTION dropout(x real, p double precision) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_dropout';
CREATE FUNCTION dropout(x double precision, p double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_dropout';
CREATE FUNCTION dropout(x real[], p double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_dropout';
CREATE FUNCTION dropout(x double precision[], p double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_dropout';

-- einsum(spec, a[, b[, c[, d]]])
CREATE FUNCTION einsum(spec text, a double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision, c double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b real[], c real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b real[], c real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b double precision, c real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision, c real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b real[], c double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b real[], c double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b double precision, c double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision[], c double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision[], c double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision, c double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision, c double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision[], c double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision[], c double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision, c double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision, c double precision, d double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b real[], c real[], d real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b real[], c real[], d real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b double precision, c real[], d real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision, c real[], d real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b real[], c double precision, d real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b real[], c double precision, d real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b double precision, c double precision, d real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision, c double precision, d real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b real[], c real[], d double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b real[], c real[], d double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b double precision, c real[], d double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision, c real[], d double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b real[], c double precision, d double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b real[], c double precision, d double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a real[], b double precision, c double precision, d double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision[], c double precision[], d double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision[], c double precision[], d double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision, c double precision[], d double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision, c double precision[], d double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision[], c double precision, d double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision[], c double precision, d double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision, c double precision, d double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision, c double precision, d double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision[], c double precision[], d double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision[], c double precision[], d double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision, c double precision[], d double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision, c double precision[], d double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision[], c double precision, d double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision, b double precision[], c double precision, d double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';
CREATE FUNCTION einsum(spec text, a double precision[], b double precision, c double precision, d double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_einsum';

-- elu(x)
CREATE FUNCTION elu(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_elu';
CREATE FUNCTION elu(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_elu';
CREATE FUNCTION elu(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_elu';
CREATE FUNCTION elu(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_elu';
CREATE FUNCTION elu(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.elu(x::double precision[]);
CREATE FUNCTION elu(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.elu(x::double precision[]);
CREATE FUNCTION elu(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.elu(x::double precision[]);
CREATE FUNCTION elu(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.elu(x::double precision[]);

-- erf(x)
CREATE FUNCTION erf(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_erf';
CREATE FUNCTION erf(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_erf';
CREATE FUNCTION erf(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_erf';
CREATE FUNCTION erf(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.erf(x::double precision[]);
CREATE FUNCTION erf(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.erf(x::double precision[]);
CREATE FUNCTION erf(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.erf(x::double precision[]);
CREATE FUNCTION erf(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.erf(x::double precision[]);

-- erfc(x)
CREATE FUNCTION erfc(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_erfc';
CREATE FUNCTION erfc(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_erfc';
CREATE FUNCTION erfc(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_erfc';
CREATE FUNCTION erfc(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.erfc(x::double precision[]);
CREATE FUNCTION erfc(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.erfc(x::double precision[]);
CREATE FUNCTION erfc(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.erfc(x::double precision[]);
CREATE FUNCTION erfc(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.erfc(x::double precision[]);

-- exp(x)
CREATE FUNCTION exp(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_exp';
CREATE FUNCTION exp(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_exp';
CREATE FUNCTION exp(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_exp';
CREATE FUNCTION exp(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.exp(x::double precision[]);
CREATE FUNCTION exp(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.exp(x::double precision[]);
CREATE FUNCTION exp(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.exp(x::double precision[]);
CREATE FUNCTION exp(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.exp(x::double precision[]);

-- expm1(x)
CREATE FUNCTION expm1(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_expm1';
CREATE FUNCTION expm1(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_expm1';
CREATE FUNCTION expm1(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_expm1';
CREATE FUNCTION expm1(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.expm1(x::double precision[]);
CREATE FUNCTION expm1(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.expm1(x::double precision[]);
CREATE FUNCTION expm1(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.expm1(x::double precision[]);
CREATE FUNCTION expm1(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.expm1(x::double precision[]);

-- full(shape, x)
CREATE FUNCTION full(shape bigint[], x double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_full';

-- gelu(x)
CREATE FUNCTION gelu(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_gelu';
CREATE FUNCTION gelu(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_gelu';
CREATE FUNCTION gelu(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_gelu';
CREATE FUNCTION gelu(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_gelu';
CREATE FUNCTION gelu(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.gelu(x::double precision[]);
CREATE FUNCTION gelu(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.gelu(x::double precision[]);
CREATE FUNCTION gelu(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.gelu(x::double precision[]);
CREATE FUNCTION gelu(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.gelu(x::double precision[]);

-- glorot_uniform(shape, seed, key, fan_in, fan_out)
CREATE FUNCTION glorot_uniform(shape bigint[], seed bigint, key bigint[], fan_in double precision, fan_out double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 262 AS 'MODULE_PATHNAME', 'relgrad_glorot_uniform';

-- greater(a, b)
CREATE FUNCTION greater(a real, b real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_greater';
CREATE FUNCTION greater(a double precision, b real) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_greater';
CREATE FUNCTION greater(a real, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_greater';
CREATE FUNCTION greater(a double precision, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_greater';
CREATE FUNCTION greater(a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_greater';
CREATE FUNCTION greater(a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_greater';
CREATE FUNCTION greater(a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_greater';
CREATE FUNCTION greater(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_greater';
CREATE FUNCTION greater(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_greater';
CREATE FUNCTION greater(a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_greater';
CREATE FUNCTION greater(a smallint[], b smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a::double precision[], b::double precision[]);
CREATE FUNCTION greater(a integer[], b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a::double precision[], b::double precision[]);
CREATE FUNCTION greater(a bigint[], b bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a::double precision[], b::double precision[]);
CREATE FUNCTION greater(a numeric[], b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a::double precision[], b::double precision[]);
CREATE FUNCTION greater(a integer[], b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a::double precision[], b::double precision[]);
CREATE FUNCTION greater(a numeric[], b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a::double precision[], b::double precision[]);
CREATE FUNCTION greater(a double precision, b smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a, b::double precision[]);
CREATE FUNCTION greater(a double precision, b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a, b::double precision[]);
CREATE FUNCTION greater(a double precision, b bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a, b::double precision[]);
CREATE FUNCTION greater(a double precision, b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a, b::double precision[]);
CREATE FUNCTION greater(a smallint[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a::double precision[], b);
CREATE FUNCTION greater(a integer[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a::double precision[], b);
CREATE FUNCTION greater(a bigint[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a::double precision[], b);
CREATE FUNCTION greater(a numeric[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.greater(a::double precision[], b);

-- huber(x, delta)
CREATE FUNCTION huber(x real, delta real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_huber';
CREATE FUNCTION huber(x double precision, delta real) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_huber';
CREATE FUNCTION huber(x real, delta double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_huber';
CREATE FUNCTION huber(x double precision, delta double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_huber';
CREATE FUNCTION huber(x real[], delta real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_huber';
CREATE FUNCTION huber(x double precision, delta real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_huber';
CREATE FUNCTION huber(x real[], delta double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_huber';
CREATE FUNCTION huber(x double precision[], delta double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_huber';
CREATE FUNCTION huber(x double precision, delta double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_huber';
CREATE FUNCTION huber(x double precision[], delta double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_huber';
CREATE FUNCTION huber(x smallint[], delta smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x::double precision[], delta::double precision[]);
CREATE FUNCTION huber(x integer[], delta integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x::double precision[], delta::double precision[]);
CREATE FUNCTION huber(x bigint[], delta bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x::double precision[], delta::double precision[]);
CREATE FUNCTION huber(x numeric[], delta numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x::double precision[], delta::double precision[]);
CREATE FUNCTION huber(x integer[], delta numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x::double precision[], delta::double precision[]);
CREATE FUNCTION huber(x numeric[], delta integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x::double precision[], delta::double precision[]);
CREATE FUNCTION huber(x double precision, delta smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x, delta::double precision[]);
CREATE FUNCTION huber(x double precision, delta integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x, delta::double precision[]);
CREATE FUNCTION huber(x double precision, delta bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x, delta::double precision[]);
CREATE FUNCTION huber(x double precision, delta numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x, delta::double precision[]);
CREATE FUNCTION huber(x smallint[], delta double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x::double precision[], delta);
CREATE FUNCTION huber(x integer[], delta double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x::double precision[], delta);
CREATE FUNCTION huber(x bigint[], delta double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x::double precision[], delta);
CREATE FUNCTION huber(x numeric[], delta double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 32 RETURN relgrad.huber(x::double precision[], delta);

-- hypot(x, y)
CREATE FUNCTION hypot(x real, y real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_hypot';
CREATE FUNCTION hypot(x double precision, y real) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_hypot';
CREATE FUNCTION hypot(x real, y double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_hypot';
CREATE FUNCTION hypot(x double precision, y double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_hypot';
CREATE FUNCTION hypot(x real[], y real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_hypot';
CREATE FUNCTION hypot(x double precision, y real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_hypot';
CREATE FUNCTION hypot(x real[], y double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_hypot';
CREATE FUNCTION hypot(x double precision[], y double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_hypot';
CREATE FUNCTION hypot(x double precision, y double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_hypot';
CREATE FUNCTION hypot(x double precision[], y double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_hypot';
CREATE FUNCTION hypot(x smallint[], y smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x::double precision[], y::double precision[]);
CREATE FUNCTION hypot(x integer[], y integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x::double precision[], y::double precision[]);
CREATE FUNCTION hypot(x bigint[], y bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x::double precision[], y::double precision[]);
CREATE FUNCTION hypot(x numeric[], y numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x::double precision[], y::double precision[]);
CREATE FUNCTION hypot(x integer[], y numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x::double precision[], y::double precision[]);
CREATE FUNCTION hypot(x numeric[], y integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x::double precision[], y::double precision[]);
CREATE FUNCTION hypot(x double precision, y smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x, y::double precision[]);
CREATE FUNCTION hypot(x double precision, y integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x, y::double precision[]);
CREATE FUNCTION hypot(x double precision, y bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x, y::double precision[]);
CREATE FUNCTION hypot(x double precision, y numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x, y::double precision[]);
CREATE FUNCTION hypot(x smallint[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x::double precision[], y);
CREATE FUNCTION hypot(x integer[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x::double precision[], y);
CREATE FUNCTION hypot(x bigint[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x::double precision[], y);
CREATE FUNCTION hypot(x numeric[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.hypot(x::double precision[], y);

-- l2_normalize(x)
CREATE FUNCTION l2_normalize(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 38 AS 'MODULE_PATHNAME', 'relgrad_l2_normalize';
CREATE FUNCTION l2_normalize(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 38 AS 'MODULE_PATHNAME', 'relgrad_l2_normalize';
CREATE FUNCTION l2_normalize(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 38 RETURN relgrad.l2_normalize(x::double precision[]);
CREATE FUNCTION l2_normalize(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 38 RETURN relgrad.l2_normalize(x::double precision[]);
CREATE FUNCTION l2_normalize(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 38 RETURN relgrad.l2_normalize(x::double precision[]);
CREATE FUNCTION l2_normalize(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 38 RETURN relgrad.l2_normalize(x::double precision[]);

-- layer_norm(x)
CREATE FUNCTION layer_norm(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 57 AS 'MODULE_PATHNAME', 'relgrad_layer_norm';
CREATE FUNCTION layer_norm(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 57 AS 'MODULE_PATHNAME', 'relgrad_layer_norm';
CREATE FUNCTION layer_norm(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 57 RETURN relgrad.layer_norm(x::double precision[]);
CREATE FUNCTION layer_norm(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 57 RETURN relgrad.layer_norm(x::double precision[]);
CREATE FUNCTION layer_norm(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 57 RETURN relgrad.layer_norm(x::double precision[]);
CREATE FUNCTION layer_norm(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 57 RETURN relgrad.layer_norm(x::double precision[]);

-- leaky_relu(x, slope DEFAULT 0.01)
CREATE FUNCTION leaky_relu(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x real, slope real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x double precision, slope real) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x real, slope double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x double precision, slope double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x real[], slope real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x double precision, slope real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x real[], slope double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x double precision[], slope double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x double precision, slope double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x double precision[], slope double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_leaky_relu';
CREATE FUNCTION leaky_relu(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[]);
CREATE FUNCTION leaky_relu(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[]);
CREATE FUNCTION leaky_relu(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[]);
CREATE FUNCTION leaky_relu(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[]);
CREATE FUNCTION leaky_relu(x smallint[], slope smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[], slope::double precision[]);
CREATE FUNCTION leaky_relu(x integer[], slope integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[], slope::double precision[]);
CREATE FUNCTION leaky_relu(x bigint[], slope bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[], slope::double precision[]);
CREATE FUNCTION leaky_relu(x numeric[], slope numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[], slope::double precision[]);
CREATE FUNCTION leaky_relu(x integer[], slope numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[], slope::double precision[]);
CREATE FUNCTION leaky_relu(x numeric[], slope integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[], slope::double precision[]);
CREATE FUNCTION leaky_relu(x double precision, slope smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x, slope::double precision[]);
CREATE FUNCTION leaky_relu(x double precision, slope integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x, slope::double precision[]);
CREATE FUNCTION leaky_relu(x double precision, slope bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x, slope::double precision[]);
CREATE FUNCTION leaky_relu(x double precision, slope numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x, slope::double precision[]);
CREATE FUNCTION leaky_relu(x smallint[], slope double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[], slope);
CREATE FUNCTION leaky_relu(x integer[], slope double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[], slope);
CREATE FUNCTION leaky_relu(x bigint[], slope double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[], slope);
CREATE FUNCTION leaky_relu(x numeric[], slope double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.leaky_relu(x::double precision[], slope);

-- lgamma(x)
CREATE FUNCTION lgamma(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 3 AS 'MODULE_PATHNAME', 'relgrad_lgamma';
CREATE FUNCTION lgamma(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 390 AS 'MODULE_PATHNAME', 'relgrad_lgamma';
CREATE FUNCTION lgamma(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 390 AS 'MODULE_PATHNAME', 'relgrad_lgamma';
CREATE FUNCTION lgamma(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 390 RETURN relgrad.lgamma(x::double precision[]);
CREATE FUNCTION lgamma(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 390 RETURN relgrad.lgamma(x::double precision[]);
CREATE FUNCTION lgamma(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 390 RETURN relgrad.lgamma(x::double precision[]);
CREATE FUNCTION lgamma(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 390 RETURN relgrad.lgamma(x::double precision[]);

-- ln(x)
CREATE FUNCTION ln(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_ln';
CREATE FUNCTION ln(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_ln';
CREATE FUNCTION ln(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_ln';
CREATE FUNCTION ln(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.ln(x::double precision[]);
CREATE FUNCTION ln(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.ln(x::double precision[]);
CREATE FUNCTION ln(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.ln(x::double precision[]);
CREATE FUNCTION ln(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.ln(x::double precision[]);

-- log(x)
CREATE FUNCTION log(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_log';
CREATE FUNCTION log(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_log';
CREATE FUNCTION log(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_log';
CREATE FUNCTION log(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log(x::double precision[]);
CREATE FUNCTION log(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log(x::double precision[]);
CREATE FUNCTION log(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log(x::double precision[]);
CREATE FUNCTION log(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log(x::double precision[]);

-- log10(x)
CREATE FUNCTION log10(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_log10';
CREATE FUNCTION log10(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_log10';
CREATE FUNCTION log10(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_log10';
CREATE FUNCTION log10(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log10(x::double precision[]);
CREATE FUNCTION log10(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log10(x::double precision[]);
CREATE FUNCTION log10(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log10(x::double precision[]);
CREATE FUNCTION log10(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log10(x::double precision[]);

-- log1p(x)
CREATE FUNCTION log1p(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_log1p';
CREATE FUNCTION log1p(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_log1p';
CREATE FUNCTION log1p(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_log1p';
CREATE FUNCTION log1p(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.log1p(x::double precision[]);
CREATE FUNCTION log1p(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.log1p(x::double precision[]);
CREATE FUNCTION log1p(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.log1p(x::double precision[]);
CREATE FUNCTION log1p(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.log1p(x::double precision[]);

-- log2(x)
CREATE FUNCTION log2(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_log2';
CREATE FUNCTION log2(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_log2';
CREATE FUNCTION log2(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_log2';
CREATE FUNCTION log2(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log2(x::double precision[]);
CREATE FUNCTION log2(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log2(x::double precision[]);
CREATE FUNCTION log2(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log2(x::double precision[]);
CREATE FUNCTION log2(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 102 RETURN relgrad.log2(x::double precision[]);

-- log_softmax(x)
CREATE FUNCTION log_softmax(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_log_softmax';
CREATE FUNCTION log_softmax(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_log_softmax';
CREATE FUNCTION log_softmax(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.log_softmax(x::double precision[]);
CREATE FUNCTION log_softmax(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.log_softmax(x::double precision[]);
CREATE FUNCTION log_softmax(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.log_softmax(x::double precision[]);
CREATE FUNCTION log_softmax(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.log_softmax(x::double precision[]);

-- logsigmoid(x)
CREATE FUNCTION logsigmoid(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_logsigmoid';
CREATE FUNCTION logsigmoid(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_logsigmoid';
CREATE FUNCTION logsigmoid(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 211 AS 'MODULE_PATHNAME', 'relgrad_logsigmoid';
CREATE FUNCTION logsigmoid(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 211 AS 'MODULE_PATHNAME', 'relgrad_logsigmoid';
CREATE FUNCTION logsigmoid(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.logsigmoid(x::double precision[]);
CREATE FUNCTION logsigmoid(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.logsigmoid(x::double precision[]);
CREATE FUNCTION logsigmoid(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.logsigmoid(x::double precision[]);
CREATE FUNCTION logsigmoid(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.logsigmoid(x::double precision[]);

-- logsumexp(x[, axis])
CREATE FUNCTION logsumexp(x real[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_logsumexp';
CREATE FUNCTION logsumexp(x double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_logsumexp';
CREATE FUNCTION logsumexp(x real[], axis bigint) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_logsumexp';
CREATE FUNCTION logsumexp(x double precision[], axis bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_logsumexp';
CREATE FUNCTION logsumexp(x smallint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.logsumexp(x::double precision[]);
CREATE FUNCTION logsumexp(x integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.logsumexp(x::double precision[]);
CREATE FUNCTION logsumexp(x bigint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.logsumexp(x::double precision[]);
CREATE FUNCTION logsumexp(x numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.logsumexp(x::double precision[]);

-- matmul(a, b)
CREATE FUNCTION matmul(a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 211 AS 'MODULE_PATHNAME', 'relgrad_matmul';
CREATE FUNCTION matmul(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 211 AS 'MODULE_PATHNAME', 'relgrad_matmul';
CREATE FUNCTION matmul(a smallint[], b smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.matmul(a::double precision[], b::double precision[]);
CREATE FUNCTION matmul(a integer[], b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.matmul(a::double precision[], b::double precision[]);
CREATE FUNCTION matmul(a bigint[], b bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.matmul(a::double precision[], b::double precision[]);
CREATE FUNCTION matmul(a numeric[], b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.matmul(a::double precision[], b::double precision[]);
CREATE FUNCTION matmul(a integer[], b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.matmul(a::double precision[], b::double precision[]);
CREATE FUNCTION matmul(a numeric[], b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 211 RETURN relgrad.matmul(a::double precision[], b::double precision[]);

-- max_elements(x[, axis])
CREATE FUNCTION max_elements(x real[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_max_elements';
CREATE FUNCTION max_elements(x double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_max_elements';
CREATE FUNCTION max_elements(x real[], axis bigint) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_max_elements';
CREATE FUNCTION max_elements(x double precision[], axis bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_max_elements';
CREATE FUNCTION max_elements(x smallint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.max_elements(x::double precision[]);
CREATE FUNCTION max_elements(x integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.max_elements(x::double precision[]);
CREATE FUNCTION max_elements(x bigint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.max_elements(x::double precision[]);
CREATE FUNCTION max_elements(x numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.max_elements(x::double precision[]);

-- maximum(a, b)
CREATE FUNCTION maximum(a real, b real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_maximum';
CREATE FUNCTION maximum(a double precision, b real) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_maximum';
CREATE FUNCTION maximum(a real, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_maximum';
CREATE FUNCTION maximum(a double precision, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_maximum';
CREATE FUNCTION maximum(a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_maximum';
CREATE FUNCTION maximum(a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_maximum';
CREATE FUNCTION maximum(a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_maximum';
CREATE FUNCTION maximum(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_maximum';
CREATE FUNCTION maximum(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_maximum';
CREATE FUNCTION maximum(a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_maximum';
CREATE FUNCTION maximum(a smallint[], b smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a::double precision[], b::double precision[]);
CREATE FUNCTION maximum(a integer[], b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a::double precision[], b::double precision[]);
CREATE FUNCTION maximum(a bigint[], b bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a::double precision[], b::double precision[]);
CREATE FUNCTION maximum(a numeric[], b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a::double precision[], b::double precision[]);
CREATE FUNCTION maximum(a integer[], b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a::double precision[], b::double precision[]);
CREATE FUNCTION maximum(a numeric[], b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a::double precision[], b::double precision[]);
CREATE FUNCTION maximum(a double precision, b smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a, b::double precision[]);
CREATE FUNCTION maximum(a double precision, b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a, b::double precision[]);
CREATE FUNCTION maximum(a double precision, b bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a, b::double precision[]);
CREATE FUNCTION maximum(a double precision, b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a, b::double precision[]);
CREATE FUNCTION maximum(a smallint[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a::double precision[], b);
CREATE FUNCTION maximum(a integer[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a::double precision[], b);
CREATE FUNCTION maximum(a bigint[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a::double precision[], b);
CREATE FUNCTION maximum(a numeric[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.maximum(a::double precision[], b);

-- mean_elements(x[, axis])
CREATE FUNCTION mean_elements(x real[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 13 AS 'MODULE_PATHNAME', 'relgrad_mean_elements';
CREATE FUNCTION mean_elements(x double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 13 AS 'MODULE_PATHNAME', 'relgrad_mean_elements';
CREATE FUNCTION mean_elements(x real[], axis bigint) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 14 AS 'MODULE_PATHNAME', 'relgrad_mean_elements';
CREATE FUNCTION mean_elements(x double precision[], axis bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 14 AS 'MODULE_PATHNAME', 'relgrad_mean_elements';
CREATE FUNCTION mean_elements(x smallint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13 RETURN relgrad.mean_elements(x::double precision[]);
CREATE FUNCTION mean_elements(x integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13 RETURN relgrad.mean_elements(x::double precision[]);
CREATE FUNCTION mean_elements(x bigint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13 RETURN relgrad.mean_elements(x::double precision[]);
CREATE FUNCTION mean_elements(x numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 13 RETURN relgrad.mean_elements(x::double precision[]);

-- min_elements(x[, axis])
CREATE FUNCTION min_elements(x real[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_min_elements';
CREATE FUNCTION min_elements(x double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_min_elements';
CREATE FUNCTION min_elements(x real[], axis bigint) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_min_elements';
CREATE FUNCTION min_elements(x double precision[], axis bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_min_elements';
CREATE FUNCTION min_elements(x smallint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.min_elements(x::double precision[]);
CREATE FUNCTION min_elements(x integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.min_elements(x::double precision[]);
CREATE FUNCTION min_elements(x bigint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.min_elements(x::double precision[]);
CREATE FUNCTION min_elements(x numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.min_elements(x::double precision[]);

-- minimum(a, b)
CREATE FUNCTION minimum(a real, b real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_minimum';
CREATE FUNCTION minimum(a double precision, b real) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_minimum';
CREATE FUNCTION minimum(a real, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_minimum';
CREATE FUNCTION minimum(a double precision, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_minimum';
CREATE FUNCTION minimum(a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_minimum';
CREATE FUNCTION minimum(a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_minimum';
CREATE FUNCTION minimum(a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_minimum';
CREATE FUNCTION minimum(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_minimum';
CREATE FUNCTION minimum(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_minimum';
CREATE FUNCTION minimum(a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_minimum';
CREATE FUNCTION minimum(a smallint[], b smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a::double precision[], b::double precision[]);
CREATE FUNCTION minimum(a integer[], b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a::double precision[], b::double precision[]);
CREATE FUNCTION minimum(a bigint[], b bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a::double precision[], b::double precision[]);
CREATE FUNCTION minimum(a numeric[], b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a::double precision[], b::double precision[]);
CREATE FUNCTION minimum(a integer[], b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a::double precision[], b::double precision[]);
CREATE FUNCTION minimum(a numeric[], b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a::double precision[], b::double precision[]);
CREATE FUNCTION minimum(a double precision, b smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a, b::double precision[]);
CREATE FUNCTION minimum(a double precision, b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a, b::double precision[]);
CREATE FUNCTION minimum(a double precision, b bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a, b::double precision[]);
CREATE FUNCTION minimum(a double precision, b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a, b::double precision[]);
CREATE FUNCTION minimum(a smallint[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a::double precision[], b);
CREATE FUNCTION minimum(a integer[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a::double precision[], b);
CREATE FUNCTION minimum(a bigint[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a::double precision[], b);
CREATE FUNCTION minimum(a numeric[], b double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.minimum(a::double precision[], b);

-- mse(a, b)
CREATE FUNCTION mse(a real[], b real[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_mse';
CREATE FUNCTION mse(a double precision[], b double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 25 AS 'MODULE_PATHNAME', 'relgrad_mse';
CREATE FUNCTION mse(a smallint[], b smallint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 25 RETURN relgrad.mse(a::double precision[], b::double precision[]);
CREATE FUNCTION mse(a integer[], b integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 25 RETURN relgrad.mse(a::double precision[], b::double precision[]);
CREATE FUNCTION mse(a bigint[], b bigint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 25 RETURN relgrad.mse(a::double precision[], b::double precision[]);
CREATE FUNCTION mse(a numeric[], b numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 25 RETURN relgrad.mse(a::double precision[], b::double precision[]);
CREATE FUNCTION mse(a integer[], b numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 25 RETURN relgrad.mse(a::double precision[], b::double precision[]);
CREATE FUNCTION mse(a numeric[], b integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 25 RETURN relgrad.mse(a::double precision[], b::double precision[]);

-- norm(x)
CREATE FUNCTION norm(x real[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_norm';
CREATE FUNCTION norm(x double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_norm';
CREATE FUNCTION norm(x smallint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.norm(x::double precision[]);
CREATE FUNCTION norm(x integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.norm(x::double precision[]);
CREATE FUNCTION norm(x bigint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.norm(x::double precision[]);
CREATE FUNCTION norm(x numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.norm(x::double precision[]);

-- one_hot(label, n)
CREATE FUNCTION one_hot(label bigint, n bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 6 AS 'MODULE_PATHNAME', 'relgrad_one_hot';

-- outer(a, b)
CREATE FUNCTION outer(a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_outer';
CREATE FUNCTION outer(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_outer';
CREATE FUNCTION outer(a smallint[], b smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.outer(a::double precision[], b::double precision[]);
CREATE FUNCTION outer(a integer[], b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.outer(a::double precision[], b::double precision[]);
CREATE FUNCTION outer(a bigint[], b bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.outer(a::double precision[], b::double precision[]);
CREATE FUNCTION outer(a numeric[], b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.outer(a::double precision[], b::double precision[]);
CREATE FUNCTION outer(a integer[], b numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.outer(a::double precision[], b::double precision[]);
CREATE FUNCTION outer(a numeric[], b integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.outer(a::double precision[], b::double precision[]);

-- power(x, y)
CREATE FUNCTION power(x double precision, y double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_power';
CREATE FUNCTION power(x real[], y real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_power';
CREATE FUNCTION power(x double precision, y real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_power';
CREATE FUNCTION power(x real[], y double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_power';
CREATE FUNCTION power(x double precision[], y double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_power';
CREATE FUNCTION power(x double precision, y double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_power';
CREATE FUNCTION power(x double precision[], y double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_power';
CREATE FUNCTION power(x smallint[], y smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x::double precision[], y::double precision[]);
CREATE FUNCTION power(x integer[], y integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x::double precision[], y::double precision[]);
CREATE FUNCTION power(x bigint[], y bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x::double precision[], y::double precision[]);
CREATE FUNCTION power(x numeric[], y numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x::double precision[], y::double precision[]);
CREATE FUNCTION power(x integer[], y numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x::double precision[], y::double precision[]);
CREATE FUNCTION power(x numeric[], y integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x::double precision[], y::double precision[]);
CREATE FUNCTION power(x double precision, y smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x, y::double precision[]);
CREATE FUNCTION power(x double precision, y integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x, y::double precision[]);
CREATE FUNCTION power(x double precision, y bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x, y::double precision[]);
CREATE FUNCTION power(x double precision, y numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x, y::double precision[]);
CREATE FUNCTION power(x smallint[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x::double precision[], y);
CREATE FUNCTION power(x integer[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x::double precision[], y);
CREATE FUNCTION power(x bigint[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x::double precision[], y);
CREATE FUNCTION power(x numeric[], y double precision) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.power(x::double precision[], y);

-- radians(x)
CREATE FUNCTION radians(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_radians';
CREATE FUNCTION radians(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_radians';
CREATE FUNCTION radians(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_radians';
CREATE FUNCTION radians(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.radians(x::double precision[]);
CREATE FUNCTION radians(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.radians(x::double precision[]);
CREATE FUNCTION radians(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.radians(x::double precision[]);
CREATE FUNCTION radians(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.radians(x::double precision[]);

-- random_int(n, seed, key)
CREATE FUNCTION random_int(n bigint, seed bigint, key bigint[]) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 8 AS 'MODULE_PATHNAME', 'relgrad_random_int';

-- random_normal(shape, seed, key DEFAULT '{}')
CREATE FUNCTION random_normal(shape bigint[], seed bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 262 AS 'MODULE_PATHNAME', 'relgrad_random_normal';
CREATE FUNCTION random_normal(shape bigint[], seed bigint, key bigint[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 262 AS 'MODULE_PATHNAME', 'relgrad_random_normal';

-- random_uniform(shape, seed, key DEFAULT '{}')
CREATE FUNCTION random_uniform(shape bigint[], seed bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 262 AS 'MODULE_PATHNAME', 'relgrad_random_uniform';
CREATE FUNCTION random_uniform(shape bigint[], seed bigint, key bigint[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 262 AS 'MODULE_PATHNAME', 'relgrad_random_uniform';

-- relu(x)
CREATE FUNCTION relu(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_relu';
CREATE FUNCTION relu(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_relu';
CREATE FUNCTION relu(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_relu';
CREATE FUNCTION relu(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_relu';
CREATE FUNCTION relu(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.relu(x::double precision[]);
CREATE FUNCTION relu(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.relu(x::double precision[]);
CREATE FUNCTION relu(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.relu(x::double precision[]);
CREATE FUNCTION relu(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.relu(x::double precision[]);

-- reshape(x, shape)
CREATE FUNCTION reshape(x real[], shape bigint[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_reshape';
CREATE FUNCTION reshape(x double precision[], shape bigint[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_reshape';

-- sigmoid(x)
CREATE FUNCTION sigmoid(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_sigmoid';
CREATE FUNCTION sigmoid(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_sigmoid';
CREATE FUNCTION sigmoid(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_sigmoid';
CREATE FUNCTION sigmoid(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_sigmoid';
CREATE FUNCTION sigmoid(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.sigmoid(x::double precision[]);
CREATE FUNCTION sigmoid(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.sigmoid(x::double precision[]);
CREATE FUNCTION sigmoid(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.sigmoid(x::double precision[]);
CREATE FUNCTION sigmoid(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 121 RETURN relgrad.sigmoid(x::double precision[]);

-- sign(x)
CREATE FUNCTION sign(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_sign';
CREATE FUNCTION sign(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_sign';
CREATE FUNCTION sign(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_sign';
CREATE FUNCTION sign(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.sign(x::double precision[]);
CREATE FUNCTION sign(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.sign(x::double precision[]);
CREATE FUNCTION sign(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.sign(x::double precision[]);
CREATE FUNCTION sign(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.sign(x::double precision[]);

-- silu(x)
CREATE FUNCTION silu(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_silu';
CREATE FUNCTION silu(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_silu';
CREATE FUNCTION silu(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_silu';
CREATE FUNCTION silu(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_silu';
CREATE FUNCTION silu(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.silu(x::double precision[]);
CREATE FUNCTION silu(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.silu(x::double precision[]);
CREATE FUNCTION silu(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.silu(x::double precision[]);
CREATE FUNCTION silu(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.silu(x::double precision[]);

-- sin(x)
CREATE FUNCTION sin(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_sin';
CREATE FUNCTION sin(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_sin';
CREATE FUNCTION sin(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_sin';
CREATE FUNCTION sin(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.sin(x::double precision[]);
CREATE FUNCTION sin(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.sin(x::double precision[]);
CREATE FUNCTION sin(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.sin(x::double precision[]);
CREATE FUNCTION sin(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.sin(x::double precision[]);

-- sind(x)
CREATE FUNCTION sind(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_sind';
CREATE FUNCTION sind(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_sind';
CREATE FUNCTION sind(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_sind';
CREATE FUNCTION sind(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.sind(x::double precision[]);
CREATE FUNCTION sind(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.sind(x::double precision[]);
CREATE FUNCTION sind(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.sind(x::double precision[]);
CREATE FUNCTION sind(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.sind(x::double precision[]);

-- sinh(x)
CREATE FUNCTION sinh(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_sinh';
CREATE FUNCTION sinh(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_sinh';
CREATE FUNCTION sinh(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_sinh';
CREATE FUNCTION sinh(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.sinh(x::double precision[]);
CREATE FUNCTION sinh(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.sinh(x::double precision[]);
CREATE FUNCTION sinh(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.sinh(x::double precision[]);
CREATE FUNCTION sinh(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.sinh(x::double precision[]);

-- softmax(x)
CREATE FUNCTION softmax(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_softmax';
CREATE FUNCTION softmax(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_softmax';
CREATE FUNCTION softmax(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.softmax(x::double precision[]);
CREATE FUNCTION softmax(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.softmax(x::double precision[]);
CREATE FUNCTION softmax(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.softmax(x::double precision[]);
CREATE FUNCTION softmax(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.softmax(x::double precision[]);

-- softplus(x)
CREATE FUNCTION softplus(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_softplus';
CREATE FUNCTION softplus(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_softplus';
CREATE FUNCTION softplus(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 198 AS 'MODULE_PATHNAME', 'relgrad_softplus';
CREATE FUNCTION softplus(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 198 AS 'MODULE_PATHNAME', 'relgrad_softplus';
CREATE FUNCTION softplus(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.softplus(x::double precision[]);
CREATE FUNCTION softplus(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.softplus(x::double precision[]);
CREATE FUNCTION softplus(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.softplus(x::double precision[]);
CREATE FUNCTION softplus(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.softplus(x::double precision[]);

-- softsign(x)
CREATE FUNCTION softsign(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_softsign';
CREATE FUNCTION softsign(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_softsign';
CREATE FUNCTION softsign(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 44 AS 'MODULE_PATHNAME', 'relgrad_softsign';
CREATE FUNCTION softsign(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 44 AS 'MODULE_PATHNAME', 'relgrad_softsign';
CREATE FUNCTION softsign(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 44 RETURN relgrad.softsign(x::double precision[]);
CREATE FUNCTION softsign(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 44 RETURN relgrad.softsign(x::double precision[]);
CREATE FUNCTION softsign(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 44 RETURN relgrad.softsign(x::double precision[]);
CREATE FUNCTION softsign(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 44 RETURN relgrad.softsign(x::double precision[]);

-- sqnorm(x)
CREATE FUNCTION sqnorm(x real[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_sqnorm';
CREATE FUNCTION sqnorm(x double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 19 AS 'MODULE_PATHNAME', 'relgrad_sqnorm';
CREATE FUNCTION sqnorm(x smallint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.sqnorm(x::double precision[]);
CREATE FUNCTION sqnorm(x integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.sqnorm(x::double precision[]);
CREATE FUNCTION sqnorm(x bigint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.sqnorm(x::double precision[]);
CREATE FUNCTION sqnorm(x numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 19 RETURN relgrad.sqnorm(x::double precision[]);

-- sqrt(x)
CREATE FUNCTION sqrt(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_sqrt';
CREATE FUNCTION sqrt(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 57 AS 'MODULE_PATHNAME', 'relgrad_sqrt';
CREATE FUNCTION sqrt(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 57 AS 'MODULE_PATHNAME', 'relgrad_sqrt';
CREATE FUNCTION sqrt(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 57 RETURN relgrad.sqrt(x::double precision[]);
CREATE FUNCTION sqrt(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 57 RETURN relgrad.sqrt(x::double precision[]);
CREATE FUNCTION sqrt(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 57 RETURN relgrad.sqrt(x::double precision[]);
CREATE FUNCTION sqrt(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 57 RETURN relgrad.sqrt(x::double precision[]);

-- square(x)
CREATE FUNCTION square(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_square';
CREATE FUNCTION square(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_square';
CREATE FUNCTION square(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_square';
CREATE FUNCTION square(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_square';
CREATE FUNCTION square(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.square(x::double precision[]);
CREATE FUNCTION square(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.square(x::double precision[]);
CREATE FUNCTION square(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.square(x::double precision[]);
CREATE FUNCTION square(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.square(x::double precision[]);

-- stop_gradient(x)
CREATE FUNCTION stop_gradient(x real) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_stop_gradient';
CREATE FUNCTION stop_gradient(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_stop_gradient';
CREATE FUNCTION stop_gradient(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_stop_gradient';
CREATE FUNCTION stop_gradient(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_stop_gradient';
CREATE FUNCTION stop_gradient(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.stop_gradient(x::double precision[]);
CREATE FUNCTION stop_gradient(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.stop_gradient(x::double precision[]);
CREATE FUNCTION stop_gradient(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.stop_gradient(x::double precision[]);
CREATE FUNCTION stop_gradient(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.stop_gradient(x::double precision[]);

-- sum_elements(x[, axis])
CREATE FUNCTION sum_elements(x real[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_sum_elements';
CREATE FUNCTION sum_elements(x double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_sum_elements';
CREATE FUNCTION sum_elements(x real[], axis bigint) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_sum_elements';
CREATE FUNCTION sum_elements(x double precision[], axis bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_sum_elements';
CREATE FUNCTION sum_elements(x smallint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.sum_elements(x::double precision[]);
CREATE FUNCTION sum_elements(x integer[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.sum_elements(x::double precision[]);
CREATE FUNCTION sum_elements(x bigint[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.sum_elements(x::double precision[]);
CREATE FUNCTION sum_elements(x numeric[]) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.sum_elements(x::double precision[]);

-- tan(x)
CREATE FUNCTION tan(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_tan';
CREATE FUNCTION tan(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_tan';
CREATE FUNCTION tan(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 166 AS 'MODULE_PATHNAME', 'relgrad_tan';
CREATE FUNCTION tan(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.tan(x::double precision[]);
CREATE FUNCTION tan(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.tan(x::double precision[]);
CREATE FUNCTION tan(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.tan(x::double precision[]);
CREATE FUNCTION tan(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 166 RETURN relgrad.tan(x::double precision[]);

-- tand(x)
CREATE FUNCTION tand(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_tand';
CREATE FUNCTION tand(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 198 AS 'MODULE_PATHNAME', 'relgrad_tand';
CREATE FUNCTION tand(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 198 AS 'MODULE_PATHNAME', 'relgrad_tand';
CREATE FUNCTION tand(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.tand(x::double precision[]);
CREATE FUNCTION tand(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.tand(x::double precision[]);
CREATE FUNCTION tand(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.tand(x::double precision[]);
CREATE FUNCTION tand(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 198 RETURN relgrad.tand(x::double precision[]);

-- tanh(x)
CREATE FUNCTION tanh(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_tanh';
CREATE FUNCTION tanh(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_tanh';
CREATE FUNCTION tanh(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_tanh';
CREATE FUNCTION tanh(x smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.tanh(x::double precision[]);
CREATE FUNCTION tanh(x integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.tanh(x::double precision[]);
CREATE FUNCTION tanh(x bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.tanh(x::double precision[]);
CREATE FUNCTION tanh(x numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 134 RETURN relgrad.tanh(x::double precision[]);

-- transpose(m)
CREATE FUNCTION transpose(m real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_transpose';
CREATE FUNCTION transpose(m double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_transpose';
CREATE FUNCTION transpose(m smallint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.transpose(m::double precision[]);
CREATE FUNCTION transpose(m integer[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.transpose(m::double precision[]);
CREATE FUNCTION transpose(m bigint[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.transpose(m::double precision[]);
CREATE FUNCTION transpose(m numeric[]) RETURNS double precision[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 12 RETURN relgrad.transpose(m::double precision[]);

-- zeros(shape)
CREATE FUNCTION zeros(shape bigint[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_zeros';

-- Operators on chunks; a number is double precision, and the chunk keeps its type.
CREATE FUNCTION chunk_add(a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_add';
CREATE OPERATOR + (LEFTARG = real[], RIGHTARG = real[], FUNCTION = chunk_add, COMMUTATOR = +);
CREATE FUNCTION chunk_add(a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_add';
CREATE OPERATOR + (LEFTARG = double precision, RIGHTARG = real[], FUNCTION = chunk_add, COMMUTATOR = +);
CREATE FUNCTION chunk_add(a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_add';
CREATE OPERATOR + (LEFTARG = real[], RIGHTARG = double precision, FUNCTION = chunk_add, COMMUTATOR = +);
CREATE FUNCTION chunk_add(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_add';
CREATE OPERATOR + (LEFTARG = double precision[], RIGHTARG = double precision[], FUNCTION = chunk_add, COMMUTATOR = +);
CREATE FUNCTION chunk_add(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_add';
CREATE OPERATOR + (LEFTARG = double precision, RIGHTARG = double precision[], FUNCTION = chunk_add, COMMUTATOR = +);
CREATE FUNCTION chunk_add(a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_add';
CREATE OPERATOR + (LEFTARG = double precision[], RIGHTARG = double precision, FUNCTION = chunk_add, COMMUTATOR = +);
CREATE FUNCTION chunk_sub(a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_sub';
CREATE OPERATOR - (LEFTARG = real[], RIGHTARG = real[], FUNCTION = chunk_sub);
CREATE FUNCTION chunk_sub(a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_sub';
CREATE OPERATOR - (LEFTARG = double precision, RIGHTARG = real[], FUNCTION = chunk_sub);
CREATE FUNCTION chunk_sub(a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_sub';
CREATE OPERATOR - (LEFTARG = real[], RIGHTARG = double precision, FUNCTION = chunk_sub);
CREATE FUNCTION chunk_sub(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_sub';
CREATE OPERATOR - (LEFTARG = double precision[], RIGHTARG = double precision[], FUNCTION = chunk_sub);
CREATE FUNCTION chunk_sub(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_sub';
CREATE OPERATOR - (LEFTARG = double precision, RIGHTARG = double precision[], FUNCTION = chunk_sub);
CREATE FUNCTION chunk_sub(a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_sub';
CREATE OPERATOR - (LEFTARG = double precision[], RIGHTARG = double precision, FUNCTION = chunk_sub);
CREATE FUNCTION chunk_mul(a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_mul';
CREATE OPERATOR * (LEFTARG = real[], RIGHTARG = real[], FUNCTION = chunk_mul, COMMUTATOR = *);
CREATE FUNCTION chunk_mul(a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_mul';
CREATE OPERATOR * (LEFTARG = double precision, RIGHTARG = real[], FUNCTION = chunk_mul, COMMUTATOR = *);
CREATE FUNCTION chunk_mul(a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_mul';
CREATE OPERATOR * (LEFTARG = real[], RIGHTARG = double precision, FUNCTION = chunk_mul, COMMUTATOR = *);
CREATE FUNCTION chunk_mul(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_mul';
CREATE OPERATOR * (LEFTARG = double precision[], RIGHTARG = double precision[], FUNCTION = chunk_mul, COMMUTATOR = *);
CREATE FUNCTION chunk_mul(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_mul';
CREATE OPERATOR * (LEFTARG = double precision, RIGHTARG = double precision[], FUNCTION = chunk_mul, COMMUTATOR = *);
CREATE FUNCTION chunk_mul(a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_mul';
CREATE OPERATOR * (LEFTARG = double precision[], RIGHTARG = double precision, FUNCTION = chunk_mul, COMMUTATOR = *);
CREATE FUNCTION chunk_div(a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_chunk_div';
CREATE OPERATOR / (LEFTARG = real[], RIGHTARG = real[], FUNCTION = chunk_div);
CREATE FUNCTION chunk_div(a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_chunk_div';
CREATE OPERATOR / (LEFTARG = double precision, RIGHTARG = real[], FUNCTION = chunk_div);
CREATE FUNCTION chunk_div(a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_chunk_div';
CREATE OPERATOR / (LEFTARG = real[], RIGHTARG = double precision, FUNCTION = chunk_div);
CREATE FUNCTION chunk_div(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_chunk_div';
CREATE OPERATOR / (LEFTARG = double precision[], RIGHTARG = double precision[], FUNCTION = chunk_div);
CREATE FUNCTION chunk_div(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_chunk_div';
CREATE OPERATOR / (LEFTARG = double precision, RIGHTARG = double precision[], FUNCTION = chunk_div);
CREATE FUNCTION chunk_div(a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 32 AS 'MODULE_PATHNAME', 'relgrad_chunk_div';
CREATE OPERATOR / (LEFTARG = double precision[], RIGHTARG = double precision, FUNCTION = chunk_div);
CREATE OPERATOR ^ (LEFTARG = real[], RIGHTARG = real[], FUNCTION = power);
CREATE OPERATOR ^ (LEFTARG = double precision, RIGHTARG = real[], FUNCTION = power);
CREATE OPERATOR ^ (LEFTARG = real[], RIGHTARG = double precision, FUNCTION = power);
CREATE OPERATOR ^ (LEFTARG = double precision[], RIGHTARG = double precision[], FUNCTION = power);
CREATE OPERATOR ^ (LEFTARG = double precision, RIGHTARG = double precision[], FUNCTION = power);
CREATE OPERATOR ^ (LEFTARG = double precision[], RIGHTARG = double precision, FUNCTION = power);
CREATE FUNCTION chunk_neg(a real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_neg';
CREATE OPERATOR - (RIGHTARG = real[], FUNCTION = chunk_neg);
CREATE FUNCTION chunk_neg(a double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_chunk_neg';
CREATE OPERATOR - (RIGHTARG = double precision[], FUNCTION = chunk_neg);

-- Functions that only generated SQL calls; numbers are double precision there.
CREATE FUNCTION gen_add(a double precision, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_chunk_add';
CREATE FUNCTION gen_sub(a double precision, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_chunk_sub';
CREATE FUNCTION gen_mul(a double precision, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_chunk_mul';
CREATE FUNCTION gen_div(a double precision, b double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_chunk_div';
CREATE FUNCTION gen_sum_to(x real[], shape bigint[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_sum_to';
CREATE FUNCTION gen_sum_to(x double precision[], shape bigint[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_sum_to';
CREATE FUNCTION gen_expand_to(x real[], shape bigint[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_expand_to';
CREATE FUNCTION gen_expand_to(x double precision[], shape bigint[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_expand_to';
CREATE FUNCTION gen_expand_to(x double precision, shape bigint[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_expand_to';
CREATE FUNCTION gen_pad(x real[], shape bigint[], start bigint[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_pad';
CREATE FUNCTION gen_pad(x double precision[], shape bigint[], start bigint[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_pad';
CREATE FUNCTION gen_softmax_center(x real[], g real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_softmax_center';
CREATE FUNCTION gen_softmax_center(x double precision[], g double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_softmax_center';
CREATE FUNCTION gen_log_softmax_slope(x real[], g real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_log_softmax_slope';
CREATE FUNCTION gen_log_softmax_slope(x double precision[], g double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_log_softmax_slope';
CREATE FUNCTION gen_cross_entropy_slope(logits real[], label bigint) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_cross_entropy_slope';
CREATE FUNCTION gen_cross_entropy_slope(logits double precision[], label bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_cross_entropy_slope';
CREATE FUNCTION gen_l2_normalize_slope(x real[], g real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_l2_normalize_slope';
CREATE FUNCTION gen_l2_normalize_slope(x double precision[], g double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_l2_normalize_slope';
CREATE FUNCTION gen_l2_length(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_l2_length';
CREATE FUNCTION gen_l2_length(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_l2_length';
CREATE FUNCTION gen_layer_norm_slope(x real[], g real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_layer_norm_slope';
CREATE FUNCTION gen_layer_norm_slope(x double precision[], g double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_layer_norm_slope';
CREATE FUNCTION gen_layer_norm_deviation(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_layer_norm_deviation';
CREATE FUNCTION gen_layer_norm_deviation(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_layer_norm_deviation';
CREATE FUNCTION gen_put(g double precision, shape bigint[], index bigint[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_put';
CREATE FUNCTION gen_polygamma(n double precision, x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 22 AS 'MODULE_PATHNAME', 'relgrad_gen_polygamma';
CREATE FUNCTION gen_polygamma(n double precision, x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 22 AS 'MODULE_PATHNAME', 'relgrad_gen_polygamma';
CREATE FUNCTION gen_polygamma(n double precision, x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 4 AS 'MODULE_PATHNAME', 'relgrad_gen_polygamma';
CREATE FUNCTION gen_to_real(x double precision) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_to_real';
CREATE FUNCTION gen_to_real(x double precision[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_to_real';
CREATE FUNCTION gen_decimal(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_gen_decimal';
CREATE FUNCTION gen_stack_row(place bigint, rows bigint, missing boolean, expected bigint) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_stack_row';
CREATE FUNCTION gen_changed(what text) RETURNS boolean LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_changed';
CREATE FUNCTION gen_shaped(x real[], shape bigint[]) RETURNS boolean LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_shaped';
CREATE FUNCTION gen_shaped(x double precision[], shape bigint[]) RETURNS boolean LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_gen_shaped';
CREATE FUNCTION gen_row_id(place tid) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_row_id';
CREATE FUNCTION gen_drop_mask(key bigint, p double precision, site bigint, seed bigint, step bigint) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_gen_drop_mask';
CREATE FUNCTION gen_drop_mask(key bigint, p double precision, site bigint, seed bigint, step bigint, shape bigint[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 22 AS 'MODULE_PATHNAME', 'relgrad_gen_drop_mask';
CREATE FUNCTION gen_row_key(parts bigint[]) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_row_key';
CREATE FUNCTION gen_text_key(x text) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_text_key';
CREATE FUNCTION gen_float_key(x double precision) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_float_key';
CREATE FUNCTION gen_eq_mask(a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_eq_mask';
CREATE FUNCTION gen_eq_mask(a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_eq_mask';
CREATE FUNCTION gen_eq_mask(a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_eq_mask';
CREATE FUNCTION gen_eq_mask(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_eq_mask';
CREATE FUNCTION gen_eq_mask(a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_eq_mask';
CREATE FUNCTION gen_eq_mask(a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_eq_mask';
CREATE FUNCTION gen_select(mask real[], a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask double precision, a real[], b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask real[], a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask double precision, a double precision, b real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask real[], a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask double precision, a real[], b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask real[], a double precision, b double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask double precision[], a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask double precision, a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask double precision[], a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask double precision, a double precision, b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask double precision[], a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask double precision, a double precision[], b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_select(mask double precision[], a double precision, b double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 12 AS 'MODULE_PATHNAME', 'relgrad_gen_select';
CREATE FUNCTION gen_acosh_slope(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_acosh_slope';
CREATE FUNCTION gen_acosh_slope(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_gen_acosh_slope';
CREATE FUNCTION gen_acosh_slope(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 102 AS 'MODULE_PATHNAME', 'relgrad_gen_acosh_slope';
CREATE FUNCTION gen_asin_slope(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_asin_slope';
CREATE FUNCTION gen_asin_slope(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 70 AS 'MODULE_PATHNAME', 'relgrad_gen_asin_slope';
CREATE FUNCTION gen_asin_slope(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 70 AS 'MODULE_PATHNAME', 'relgrad_gen_asin_slope';
CREATE FUNCTION gen_asinh_slope(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_asinh_slope';
CREATE FUNCTION gen_asinh_slope(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 70 AS 'MODULE_PATHNAME', 'relgrad_gen_asinh_slope';
CREATE FUNCTION gen_asinh_slope(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 70 AS 'MODULE_PATHNAME', 'relgrad_gen_asinh_slope';
CREATE FUNCTION gen_atan_slope(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_atan_slope';
CREATE FUNCTION gen_atan_slope(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 57 AS 'MODULE_PATHNAME', 'relgrad_gen_atan_slope';
CREATE FUNCTION gen_atan_slope(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 57 AS 'MODULE_PATHNAME', 'relgrad_gen_atan_slope';
CREATE FUNCTION gen_atanh_slope(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_atanh_slope';
CREATE FUNCTION gen_atanh_slope(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 57 AS 'MODULE_PATHNAME', 'relgrad_gen_atanh_slope';
CREATE FUNCTION gen_atanh_slope(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 57 AS 'MODULE_PATHNAME', 'relgrad_gen_atanh_slope';
CREATE FUNCTION gen_bce_slope(z double precision, y double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_gen_bce_slope';
CREATE FUNCTION gen_bce_slope(z real[], y real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_bce_slope';
CREATE FUNCTION gen_bce_slope(z double precision, y real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_bce_slope';
CREATE FUNCTION gen_bce_slope(z real[], y double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_bce_slope';
CREATE FUNCTION gen_bce_slope(z double precision[], y double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_bce_slope';
CREATE FUNCTION gen_bce_slope(z double precision, y double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_bce_slope';
CREATE FUNCTION gen_bce_slope(z double precision[], y double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_bce_slope';
CREATE FUNCTION gen_gauss(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_gen_gauss';
CREATE FUNCTION gen_gauss(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 198 AS 'MODULE_PATHNAME', 'relgrad_gen_gauss';
CREATE FUNCTION gen_gauss(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 198 AS 'MODULE_PATHNAME', 'relgrad_gen_gauss';
CREATE FUNCTION gen_hypot_slope(x double precision, y double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_gen_hypot_slope';
CREATE FUNCTION gen_hypot_slope(x real[], y real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_hypot_slope';
CREATE FUNCTION gen_hypot_slope(x double precision, y real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_hypot_slope';
CREATE FUNCTION gen_hypot_slope(x real[], y double precision) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_hypot_slope';
CREATE FUNCTION gen_hypot_slope(x double precision[], y double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_hypot_slope';
CREATE FUNCTION gen_hypot_slope(x double precision, y double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_hypot_slope';
CREATE FUNCTION gen_hypot_slope(x double precision[], y double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 134 AS 'MODULE_PATHNAME', 'relgrad_gen_hypot_slope';
CREATE FUNCTION gen_normal_cdf(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_gen_normal_cdf';
CREATE FUNCTION gen_normal_cdf(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 262 AS 'MODULE_PATHNAME', 'relgrad_gen_normal_cdf';
CREATE FUNCTION gen_normal_cdf(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 262 AS 'MODULE_PATHNAME', 'relgrad_gen_normal_cdf';
CREATE FUNCTION gen_normal_pdf(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2 AS 'MODULE_PATHNAME', 'relgrad_gen_normal_pdf';
CREATE FUNCTION gen_normal_pdf(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 198 AS 'MODULE_PATHNAME', 'relgrad_gen_normal_pdf';
CREATE FUNCTION gen_normal_pdf(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 198 AS 'MODULE_PATHNAME', 'relgrad_gen_normal_pdf';
CREATE FUNCTION gen_sech2(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_sech2';
CREATE FUNCTION gen_sech2(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_gen_sech2';
CREATE FUNCTION gen_sech2(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_gen_sech2';
CREATE FUNCTION gen_sigmoid_slope(x double precision) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1 AS 'MODULE_PATHNAME', 'relgrad_gen_sigmoid_slope';
CREATE FUNCTION gen_sigmoid_slope(x real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_gen_sigmoid_slope';
CREATE FUNCTION gen_sigmoid_slope(x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 121 AS 'MODULE_PATHNAME', 'relgrad_gen_sigmoid_slope';

-- Aggregates. Their state is a double precision[]; see src/aggregate.c.
CREATE FUNCTION agg_add(state double precision[], x real[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_add';
CREATE FUNCTION agg_add_combine(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_add_combine';
CREATE FUNCTION agg_value_real(state double precision[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_value';
CREATE AGGREGATE sum(x real[]) (SFUNC = agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_value_real, PARALLEL = SAFE);
CREATE FUNCTION agg_add(state double precision[], x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_add';
CREATE FUNCTION agg_value(state double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_value';
CREATE AGGREGATE sum(x double precision[]) (SFUNC = agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_value, PARALLEL = SAFE);
CREATE FUNCTION agg_add(state double precision[], x real) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_add';
CREATE FUNCTION agg_value_number_real(state double precision[]) RETURNS real LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_value';
CREATE AGGREGATE sum(x real) (SFUNC = agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_value_number_real, PARALLEL = SAFE);
CREATE FUNCTION agg_add(state double precision[], x double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_add';
CREATE FUNCTION agg_value_number(state double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_value';
CREATE AGGREGATE sum(x double precision) (SFUNC = agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_value_number, PARALLEL = SAFE);
CREATE FUNCTION agg_mean_real(state double precision[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_mean';
CREATE AGGREGATE avg(x real[]) (SFUNC = agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_mean_real, PARALLEL = SAFE);
CREATE FUNCTION agg_mean(state double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_mean';
CREATE AGGREGATE avg(x double precision[]) (SFUNC = agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_mean, PARALLEL = SAFE);
CREATE FUNCTION agg_mean_number(state double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_mean';
CREATE AGGREGATE avg(x real) (SFUNC = agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_mean_number, PARALLEL = SAFE);
CREATE AGGREGATE avg(x double precision) (SFUNC = agg_add, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_mean_number, PARALLEL = SAFE);
CREATE FUNCTION agg_min(state double precision[], x real[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_min';
CREATE FUNCTION agg_min_combine(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_min_combine';
CREATE AGGREGATE min_agg(x real[]) (SFUNC = agg_min, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_min_combine, FINALFUNC = agg_value_real, PARALLEL = SAFE);
CREATE FUNCTION agg_min(state double precision[], x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_min';
CREATE AGGREGATE min_agg(x double precision[]) (SFUNC = agg_min, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_min_combine, FINALFUNC = agg_value, PARALLEL = SAFE);
CREATE FUNCTION agg_max(state double precision[], x real[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_max';
CREATE FUNCTION agg_max_combine(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_max_combine';
CREATE AGGREGATE max_agg(x real[]) (SFUNC = agg_max, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_max_combine, FINALFUNC = agg_value_real, PARALLEL = SAFE);
CREATE FUNCTION agg_max(state double precision[], x double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_max';
CREATE AGGREGATE max_agg(x double precision[]) (SFUNC = agg_max, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_max_combine, FINALFUNC = agg_value, PARALLEL = SAFE);
CREATE AGGREGATE product(x double precision) (SFUNC = pg_catalog.float8mul, STYPE = double precision, COMBINEFUNC = pg_catalog.float8mul, PARALLEL = SAFE);
CREATE FUNCTION agg_scatter(state double precision[], index bigint, value real, size bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_scatter';
CREATE FUNCTION agg_scatter_combine(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_scatter_combine';
CREATE AGGREGATE vector_agg(index bigint, value real, size bigint) (SFUNC = agg_scatter, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_scatter_combine, FINALFUNC = agg_value_real, PARALLEL = SAFE);
CREATE FUNCTION agg_scatter(state double precision[], index bigint, value double precision, size bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_scatter';
CREATE AGGREGATE vector_agg(index bigint, value double precision, size bigint) (SFUNC = agg_scatter, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_scatter_combine, FINALFUNC = agg_value, PARALLEL = SAFE);
CREATE FUNCTION agg_accuracy(state double precision[], predicted anycompatible, actual anycompatible) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_accuracy';
CREATE AGGREGATE accuracy(predicted anycompatible, actual anycompatible) (SFUNC = agg_accuracy, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_mean_number, PARALLEL = SAFE);
CREATE FUNCTION agg_accuracy(state double precision[], predicted boolean, actual double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_accuracy';
CREATE AGGREGATE accuracy(predicted boolean, actual double precision) (SFUNC = agg_accuracy, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_mean_number, PARALLEL = SAFE);
CREATE FUNCTION agg_auc(state double precision[], score double precision, label boolean) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_auc';
CREATE FUNCTION agg_pairs_combine(a double precision[], b double precision[]) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_pairs_combine';
CREATE FUNCTION agg_auc_value_number(state double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_auc_value';
CREATE AGGREGATE auc(score double precision, label boolean) (SFUNC = agg_auc, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_pairs_combine, FINALFUNC = agg_auc_value_number, PARALLEL = SAFE);
CREATE FUNCTION agg_auc(state double precision[], score double precision, label double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_auc';
CREATE AGGREGATE auc(score double precision, label double precision) (SFUNC = agg_auc, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_pairs_combine, FINALFUNC = agg_auc_value_number, PARALLEL = SAFE);
CREATE FUNCTION agg_f1(state double precision[], predicted boolean, actual boolean) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_f1';
CREATE FUNCTION agg_f1_value_number(state double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_f1_value';
CREATE AGGREGATE f1(predicted boolean, actual boolean) (SFUNC = agg_f1, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_f1_value_number, PARALLEL = SAFE);
CREATE FUNCTION agg_f1(state double precision[], predicted boolean, actual double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_f1';
CREATE AGGREGATE f1(predicted boolean, actual double precision) (SFUNC = agg_f1, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_f1_value_number, PARALLEL = SAFE);
CREATE FUNCTION agg_f1(state double precision[], predicted double precision, actual double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_f1';
CREATE AGGREGATE f1(predicted double precision, actual double precision) (SFUNC = agg_f1, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_f1_value_number, PARALLEL = SAFE);
CREATE FUNCTION agg_rmse(state double precision[], predicted double precision, actual double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_rmse';
CREATE FUNCTION agg_root_number(state double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_root';
CREATE AGGREGATE rmse(predicted double precision, actual double precision) (SFUNC = agg_rmse, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_root_number, PARALLEL = SAFE);
CREATE FUNCTION agg_log_loss(state double precision[], probability double precision, label boolean) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_log_loss';
CREATE AGGREGATE log_loss(probability double precision, label boolean) (SFUNC = agg_log_loss, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_mean_number, PARALLEL = SAFE);
CREATE FUNCTION agg_log_loss(state double precision[], probability double precision, label double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_log_loss';
CREATE AGGREGATE log_loss(probability double precision, label double precision) (SFUNC = agg_log_loss, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_add_combine, FINALFUNC = agg_mean_number, PARALLEL = SAFE);
CREATE FUNCTION agg_ndcg(state double precision[], score double precision, relevance double precision) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_ndcg';
CREATE FUNCTION agg_ndcg_value_number(state double precision[]) RETURNS double precision LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_ndcg_value';
CREATE AGGREGATE ndcg(score double precision, relevance double precision) (SFUNC = agg_ndcg, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_pairs_combine, FINALFUNC = agg_ndcg_value_number, PARALLEL = SAFE);
CREATE FUNCTION agg_ndcg(state double precision[], score double precision, relevance double precision, k bigint) RETURNS double precision[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 11 AS 'MODULE_PATHNAME', 'relgrad_agg_ndcg';
CREATE AGGREGATE ndcg(score double precision, relevance double precision, k bigint) (SFUNC = agg_ndcg, STYPE = double precision[], INITCOND = '{}', COMBINEFUNC = agg_pairs_combine, FINALFUNC = agg_ndcg_value_number, PARALLEL = SAFE);

-- Functions that the engine answers, the program relgrad-engine beside the library.
CREATE FUNCTION gradient(loss text, param anyelement, step bigint DEFAULT NULL, seed bigint DEFAULT 0) RETURNS SETOF anyelement LANGUAGE c STABLE PARALLEL UNSAFE COST 100000 ROWS 1000 AS 'MODULE_PATHNAME', 'relgrad_gradient';
CREATE FUNCTION backward(loss text, params text[], step bigint DEFAULT NULL, seed bigint DEFAULT 0) RETURNS double precision LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'relgrad_backward';
CREATE FUNCTION check_gradient(loss text, param text, samples bigint DEFAULT 100, step bigint DEFAULT NULL, seed bigint DEFAULT 0, batch text DEFAULT NULL, batch_size bigint DEFAULT NULL) RETURNS TABLE(key text, "column" text, element bigint, analytic double precision, "numeric" double precision, error double precision, ok boolean) LANGUAGE c STABLE PARALLEL UNSAFE COST 1000000 ROWS 100 AS 'MODULE_PATHNAME', 'relgrad_check_gradient';
CREATE FUNCTION explain_gradient(loss text, param text, stage text DEFAULT 'sql') RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'relgrad_explain_gradient';
CREATE FUNCTION backward(loss text, params text, step bigint DEFAULT NULL, seed bigint DEFAULT 0) RETURNS double precision LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'relgrad_backward';
CREATE FUNCTION check_gradient(loss text, param text[], samples bigint DEFAULT 100, step bigint DEFAULT NULL, seed bigint DEFAULT 0, batch text DEFAULT NULL, batch_size bigint DEFAULT NULL) RETURNS TABLE(key text, "column" text, element bigint, analytic double precision, "numeric" double precision, error double precision, ok boolean) LANGUAGE c STABLE PARALLEL UNSAFE COST 1000000 ROWS 100 AS 'MODULE_PATHNAME', 'relgrad_check_gradient';
CREATE FUNCTION explain_gradient(loss text, param text[], stage text DEFAULT 'sql') RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'relgrad_explain_gradient';
CREATE FUNCTION distribute(what text, by text, servers text[] DEFAULT NULL) RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'relgrad_distribute';
CREATE FUNCTION undistribute(what text) RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'relgrad_undistribute';
CREATE FUNCTION gen_servers() RETURNS TABLE(name text, state text, version text, "table" text, rows bigint, bytes bigint) LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000 ROWS 20 AS 'MODULE_PATHNAME', 'relgrad_gen_servers';
CREATE FUNCTION gen_member(message bytea) RETURNS bytea LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'relgrad_gen_member';
CREATE FUNCTION gen_rows() RETURNS SETOF record LANGUAGE c STABLE PARALLEL RESTRICTED COST 1000 ROWS 1000 AS 'MODULE_PATHNAME', 'relgrad_gen_rows';
CREATE FUNCTION gen_place(tableoid oid, place tid, xmin xid, cmin cid) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'relgrad_gen_place';
-- The servers of postgres_fdw that the role has a user mapping for, and what tables have there, by their statistics.
CREATE VIEW servers AS SELECT * FROM relgrad.gen_servers();
GRANT SELECT ON servers TO PUBLIC;
CREATE PROCEDURE train(loss text DEFAULT NULL, params text[] DEFAULT NULL, optimizer text DEFAULT NULL, lr double precision DEFAULT NULL, momentum double precision DEFAULT NULL, beta1 double precision DEFAULT NULL, beta2 double precision DEFAULT NULL, alpha double precision DEFAULT NULL, epsilon double precision DEFAULT NULL, history bigint DEFAULT NULL, weight_decay double precision DEFAULT NULL, schedule text DEFAULT NULL, warmup bigint DEFAULT NULL, step_size bigint DEFAULT NULL, gamma double precision DEFAULT NULL, eta_min double precision DEFAULT NULL, clip_norm double precision DEFAULT NULL, nonnegative text[] DEFAULT NULL, project text[] DEFAULT NULL, options jsonb DEFAULT NULL, sparse anyelement DEFAULT NULL::boolean, batch text DEFAULT NULL, batch_size bigint DEFAULT NULL, before_step text DEFAULT NULL, epochs bigint DEFAULT NULL, seed bigint DEFAULT NULL, validate text DEFAULT NULL, every bigint DEFAULT NULL, patience bigint DEFAULT NULL, restore_best boolean DEFAULT NULL, tolerance double precision DEFAULT NULL, max_seconds double precision DEFAULT NULL, progress text DEFAULT NULL, name text DEFAULT NULL, note text DEFAULT NULL, tags text[] DEFAULT NULL, resume bigint DEFAULT NULL) LANGUAGE c AS 'MODULE_PATHNAME', 'relgrad_train';
CREATE PROCEDURE train(loss text, params text, optimizer text DEFAULT NULL, lr double precision DEFAULT NULL, momentum double precision DEFAULT NULL, beta1 double precision DEFAULT NULL, beta2 double precision DEFAULT NULL, alpha double precision DEFAULT NULL, epsilon double precision DEFAULT NULL, history bigint DEFAULT NULL, weight_decay double precision DEFAULT NULL, schedule text DEFAULT NULL, warmup bigint DEFAULT NULL, step_size bigint DEFAULT NULL, gamma double precision DEFAULT NULL, eta_min double precision DEFAULT NULL, clip_norm double precision DEFAULT NULL, nonnegative text[] DEFAULT NULL, project text[] DEFAULT NULL, options jsonb DEFAULT NULL, sparse anyelement DEFAULT NULL::boolean, batch text DEFAULT NULL, batch_size bigint DEFAULT NULL, before_step text DEFAULT NULL, epochs bigint DEFAULT NULL, seed bigint DEFAULT NULL, validate text DEFAULT NULL, every bigint DEFAULT NULL, patience bigint DEFAULT NULL, restore_best boolean DEFAULT NULL, tolerance double precision DEFAULT NULL, max_seconds double precision DEFAULT NULL, progress text DEFAULT NULL, name text DEFAULT NULL, note text DEFAULT NULL, tags text[] DEFAULT NULL, resume bigint DEFAULT NULL) LANGUAGE c AS 'MODULE_PATHNAME', 'relgrad_train';
CREATE PROCEDURE train(loss "any", params "any", optimizer text DEFAULT NULL, lr double precision DEFAULT NULL, momentum double precision DEFAULT NULL, beta1 double precision DEFAULT NULL, beta2 double precision DEFAULT NULL, alpha double precision DEFAULT NULL, epsilon double precision DEFAULT NULL, history bigint DEFAULT NULL, weight_decay double precision DEFAULT NULL, schedule text DEFAULT NULL, warmup bigint DEFAULT NULL, step_size bigint DEFAULT NULL, gamma double precision DEFAULT NULL, eta_min double precision DEFAULT NULL, clip_norm double precision DEFAULT NULL, nonnegative text[] DEFAULT NULL, project text[] DEFAULT NULL, options jsonb DEFAULT NULL, sparse anyelement DEFAULT NULL::boolean, batch text DEFAULT NULL, batch_size bigint DEFAULT NULL, before_step text DEFAULT NULL, epochs bigint DEFAULT NULL, seed bigint DEFAULT NULL, validate text DEFAULT NULL, every bigint DEFAULT NULL, patience bigint DEFAULT NULL, restore_best boolean DEFAULT NULL, tolerance double precision DEFAULT NULL, max_seconds double precision DEFAULT NULL, progress text DEFAULT NULL, name text DEFAULT NULL, note text DEFAULT NULL, tags text[] DEFAULT NULL, resume bigint DEFAULT NULL, batchsize "any" DEFAULT NULL, betas "any" DEFAULT NULL, early_stopping "any" DEFAULT NULL, epoch "any" DEFAULT NULL, eps "any" DEFAULT NULL, eta "any" DEFAULT NULL, grad_clip "any" DEFAULT NULL, history_size "any" DEFAULT NULL, iterations "any" DEFAULT NULL, l2 "any" DEFAULT NULL, lambda "any" DEFAULT NULL, learning_rate "any" DEFAULT NULL, learningrate "any" DEFAULT NULL, max_epochs "any" DEFAULT NULL, max_grad_norm "any" DEFAULT NULL, max_iter "any" DEFAULT NULL, minibatch "any" DEFAULT NULL, n_epochs "any" DEFAULT NULL, num_epochs "any" DEFAULT NULL, optimiser "any" DEFAULT NULL, random_state "any" DEFAULT NULL, scheduler "any" DEFAULT NULL, steps "any" DEFAULT NULL, timeout "any" DEFAULT NULL, validation "any" DEFAULT NULL, warmup_steps "any" DEFAULT NULL, weightdecay "any" DEFAULT NULL) LANGUAGE c AS 'MODULE_PATHNAME', 'relgrad_train';

-- What train() records. Rows belong to the user who trains, and nobody else sees them; pg_dump keeps them.
CREATE SEQUENCE run_id;
CREATE TABLE run_row (run bigint PRIMARY KEY DEFAULT nextval('run_id'), loss text NOT NULL, parameters text[] NOT NULL, options jsonb NOT NULL, seed bigint NOT NULL,
  status text NOT NULL, step bigint NOT NULL, best double precision, waited bigint NOT NULL, name text, note text, tags text[],
  started timestamptz NOT NULL, updated timestamptz NOT NULL, keys text NOT NULL, context text, progress text, owner name NOT NULL DEFAULT current_user);
CREATE TABLE loss (run bigint, step bigint, epoch bigint NOT NULL, loss double precision NOT NULL, validation double precision, at timestamptz NOT NULL,
  owner name NOT NULL DEFAULT current_user, PRIMARY KEY (run, step, owner));
CREATE TABLE state (run bigint, parameter text, name text, row bigint, v double precision[],
  owner name NOT NULL DEFAULT current_user, PRIMARY KEY (run, parameter, name, row, owner));
ALTER TABLE state ALTER COLUMN v SET STORAGE EXTERNAL;
CREATE TABLE validation (run bigint, step bigint, position bigint, name text NOT NULL, value double precision,
  owner name NOT NULL DEFAULT current_user, PRIMARY KEY (run, step, position, owner));
GRANT USAGE ON SEQUENCE run_id TO PUBLIC;
ALTER TABLE run_row ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON run_row USING (owner = current_user) WITH CHECK (owner = current_user);
GRANT SELECT, DELETE, INSERT (loss, parameters, options, seed, status, step, best, waited, name, note, tags, started, updated, keys, context, progress),
  UPDATE (status, step, best, waited, name, note, tags, updated, progress) ON run_row TO PUBLIC;

-- How far runs of other servers are whose parameters lie here: written with these, in one transaction.
CREATE TABLE mark (leader text, run bigint, step bigint NOT NULL, owner name NOT NULL DEFAULT current_user,
  PRIMARY KEY (leader, run, owner));
ALTER TABLE mark ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON mark USING (owner = current_user) WITH CHECK (owner = current_user);
GRANT SELECT, INSERT, UPDATE, DELETE ON mark TO PUBLIC;

-- The runs of who asks; a superuser sees all. One says running while a session holds its lock (on a standby nobody sees that): a server
-- or a session that ended amid a run could not note it.
CREATE VIEW run WITH (security_barrier) AS SELECT run, loss, parameters, options, seed,
  CASE WHEN status = 'running' AND NOT pg_is_in_recovery() AND NOT EXISTS (SELECT FROM pg_locks AS l WHERE l.locktype = 'advisory' AND l.granted
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND l.classid = 1919382133 AND l.objid::bigint = run % 4294967296 AND l.objsubid = 2)
    THEN 'interrupted' ELSE status END AS status,
  step, best, waited, name, note, tags, started, updated, keys, context, progress, owner
FROM run_row WHERE owner = current_user OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
GRANT SELECT, DELETE ON run TO PUBLIC;

-- Who may change everything in run_row may also do it here.
CREATE FUNCTION impl_change_run() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO relgrad.run_row (run, loss, parameters, options, seed, status, step, best, waited, name, note, tags, started, updated, keys, context, progress, owner)
    VALUES (coalesce(NEW.run, nextval('relgrad.run_id')), NEW.loss, NEW.parameters, NEW.options, NEW.seed, NEW.status, NEW.step, NEW.best, NEW.waited, NEW.name, NEW.note, NEW.tags, NEW.started, NEW.updated,
      NEW.keys, NEW.context, NEW.progress, coalesce(NEW.owner, current_user));
  ELSE
    UPDATE relgrad.run_row SET run = NEW.run, loss = NEW.loss, parameters = NEW.parameters, options = NEW.options, seed = NEW.seed,
      status = CASE WHEN NEW.status = OLD.status THEN status ELSE NEW.status END, step = NEW.step, best = NEW.best, waited = NEW.waited, name = NEW.name, note = NEW.note, tags = NEW.tags, started = NEW.started,
      updated = NEW.updated, keys = NEW.keys, context = NEW.context, progress = NEW.progress, owner = NEW.owner WHERE run = OLD.run;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER change INSTEAD OF INSERT OR UPDATE ON run FOR EACH ROW EXECUTE FUNCTION impl_change_run();
ALTER TABLE loss ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON loss USING (owner = current_user)
  WITH CHECK (owner = current_user AND EXISTS (SELECT FROM run_row AS r WHERE r.run = loss.run AND r.owner = current_user));
GRANT SELECT, DELETE, INSERT (run, step, epoch, loss, validation, at) ON loss TO PUBLIC;
ALTER TABLE state ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON state USING (owner = current_user)
  WITH CHECK (owner = current_user AND EXISTS (SELECT FROM run_row AS r WHERE r.run = state.run AND r.owner = current_user));
GRANT SELECT, DELETE, INSERT (run, parameter, name, row, v) ON state TO PUBLIC;
ALTER TABLE validation ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON validation USING (owner = current_user)
  WITH CHECK (owner = current_user AND EXISTS (SELECT FROM run_row AS r WHERE r.run = validation.run AND r.owner = current_user));
GRANT SELECT, DELETE, INSERT (run, step, position, name, value) ON validation TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('relgrad.run_id', '');
SELECT pg_catalog.pg_extension_config_dump('relgrad.run_row', '');
SELECT pg_catalog.pg_extension_config_dump('relgrad.loss', '');
SELECT pg_catalog.pg_extension_config_dump('relgrad.state', '');
SELECT pg_catalog.pg_extension_config_dump('relgrad.validation', '');

-- What psql's \dn+, \df+, \do+ and \d+ say.
COMMENT ON SCHEMA relgrad IS 'gradients of losses written as SQL, and training; gen_… and impl_… are internal';
DO $do$
DECLARE
  object text;
  remark text;
BEGIN
  FOR object, remark IN
    WITH said (kind, name, remark) AS (VALUES
      ('routine', 'abs', 'The absolute value; bigint and real keep their type.'),
      ('routine', 'acos', 'The inverse cosine, in radians; NaN outside [-1,1].'),
      ('routine', 'acosh', 'The inverse hyperbolic cosine; NaN below 1.'),
      ('routine', 'argmax', 'The position, from 0, of the largest element of a vector: the first of equal ones, or the first NaN.'),
      ('routine', 'argmin', 'The position, from 0, of the smallest element of a vector: the first of equal ones, or the first NaN.'),
      ('routine', 'asin', 'The inverse sine, in radians; NaN outside [-1,1].'),
      ('routine', 'asinh', 'The inverse hyperbolic sine.'),
      ('routine', 'atan', 'The inverse tangent, in radians.'),
      ('routine', 'atan2', 'The angle in radians, from -π to π, of the point with the coordinates x and y; scalars give double precision.'),
      ('routine', 'atanh', 'The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.'),
      ('routine', 'bce_with_logits', 'The binary cross-entropy of the logit z against the target y in [0,1], element by element, without overflow: max(z,0) - z·y + ln(1 + e^-|z|).'),
      ('routine', 'cbrt', 'The cube root, of negative numbers too.'),
      ('routine', 'clip', 'x held between lo and hi, element by element: minimum(maximum(x, lo), hi).'),
      ('routine', 'concat_axis', 'a and b joined along a constant axis (counted from 1); all other axes are equal. The operator || joins along the first.'),
      ('routine', 'cos', 'The cosine of x radians.'),
      ('routine', 'cosd', 'The cosine of x degrees.'),
      ('routine', 'cosh', 'The hyperbolic cosine.'),
      ('routine', 'cot', 'The cotangent of x radians; Infinity at 0.'),
      ('routine', 'cotd', 'The cotangent of x degrees; Infinity at 0, -Infinity at 180.'),
      ('routine', 'cross_entropy', '-log_softmax(logits)[label] of a vector of logits and a label that counts from 0, in double precision, without overflow. A label outside the vector is an error.'),
      ('routine', 'current_epoch', 'The epoch of the training run, a bigint from 1: the pass over batch that the step belongs to. Without batch, and in gradient(…, step => n), the step; 0 outside.'),
      ('routine', 'current_seed', 'The seed of the training run or of gradient(…, seed => n), a bigint; 0 outside.'),
      ('routine', 'current_step', 'The step of the training run or of gradient(…, step => n), a bigint; 0 outside.'),
      ('routine', 'degrees', 'An angle of x radians in degrees.'),
      ('routine', 'diag', 'Of a vector [n] the diagonal matrix [n,n]; of a square matrix [n,n] its diagonal [n].'),
      ('routine', 'digamma', 'ψ(x), the derivative of lgamma; NaN at 0 and at negative integers.'),
      ('routine', 'dot', 'The sum of a * b over all elements of two chunks of one shape, in double precision.'),
      ('routine', 'dropout', 'In an ordinary SELECT and in validation x itself. In a loss each element is 0 with probability p, else x/(1-p), drawn anew at each step; p is a constant in [0,1), met to 2⁻³².'),
      ('routine', 'einsum', 'Einstein''s summation: einsum(''ij,jk->ik'', a, b) multiplies the elements that the labels pair and sums over the labels that the result lacks. A label repeated in one operand takes the diagonal, one repeated in the result places it. Without -> the result has the labels that occur once, sorted. No labels: double precision. A loss, and the embedded store, take up to 16 operands, which are multiplied by twos in the cheapest order.'),
      ('routine', 'elu', 'x where x > 0, else eˣ - 1.'),
      ('routine', 'erf', 'The error function.'),
      ('routine', 'erfc', '1 - erf(x), with all its digits where it is small.'),
      ('routine', 'exp', 'eˣ; underflows to 0 and overflows to Infinity without an error.'),
      ('routine', 'expm1', 'eˣ - 1, with all its digits where x is small.'),
      ('routine', 'full', 'A double precision chunk of a constant shape (bigint[]) with the number x everywhere.'),
      ('routine', 'gelu', 'x·Φ(x), Φ the normal distribution function by erf.'),
      ('routine', 'glorot_uniform', 'Uniform draws in ±sqrt(6 / (fan_in + fan_out)). The result is double precision; shape (constant) and key are bigint[]. Every engine draws the same.'),
      ('routine', 'greater', 'Element by element 1 where a > b, else 0 (also where one is NaN).'),
      ('routine', 'huber', 'Huber''s loss: x²/2 where |x| ≤ delta, else delta·(|x| - delta/2). The derivative with respect to x is x cut off at ±delta.'),
      ('routine', 'hypot', '√(x² + y²), element by element, without overflow of the squares.'),
      ('routine', 'l2_normalize', 'x divided by its Euclidean norm over the last axis; 0 where the norm is 0.'),
      ('routine', 'layer_norm', '(x - mean) / sqrt(variance + 1e-5) over the last axis, with the population variance.'),
      ('routine', 'leaky_relu', 'x where x > 0, else slope·x.'),
      ('routine', 'lgamma', 'ln|Γ(x)|, the logarithm of the gamma function; Infinity at 0 and at negative integers.'),
      ('routine', 'ln', 'The natural logarithm; -Infinity at 0, NaN below.'),
      ('routine', 'log', 'The logarithm to base 10.'),
      ('routine', 'log10', 'The logarithm to base 10, as log.'),
      ('routine', 'log1p', 'ln(1 + x), with all its digits where x is small; -Infinity at -1, NaN below.'),
      ('routine', 'log2', 'The logarithm to base 2; -Infinity at 0, NaN below.'),
      ('routine', 'log_softmax', 'x - ln Σ eˣ over the last axis, without overflow.'),
      ('routine', 'logsigmoid', 'ln(sigmoid(x)) = -ln(1 + e⁻ˣ), without overflow and with all its digits for large x.'),
      ('routine', 'logsumexp', 'ln Σ eˣ without overflow, over all elements in double precision or over one axis (counted from 1), which is kept with length 1.'),
      ('routine', 'matmul', 'The matrix product. a is [m,k] or a row [k], b is [k,n] or a column [k]; the result has the axes m and n that exist, and is double precision for two vectors (outside a loss, where a function has one type, use dot). Above rank 2 both have equal leading axes and one product each.'),
      ('routine', 'max_elements', 'The largest element in double precision, or the largest along one axis (counted from 1), which is kept with length 1. NaN where one is.'),
      ('routine', 'maximum', 'The larger of a and b, element by element; NaN where one is.'),
      ('routine', 'mean_elements', 'The mean of all elements in double precision, or over one axis (counted from 1), which is kept with length 1.'),
      ('routine', 'min_elements', 'The least element in double precision, or the least along one axis (counted from 1), which is kept with length 1. NaN where one is.'),
      ('routine', 'minimum', 'The smaller of a and b, element by element; NaN where one is.'),
      ('routine', 'mse', 'The mean of (a - b)² over all elements of two chunks of one shape, in double precision.'),
      ('routine', 'norm', 'The Euclidean norm of all elements, in double precision, also where their squares are out of range. Its second derivative, which the square of the norm divides, needs that in range; that of l2_normalize does not.'),
      ('routine', 'one_hot', 'The double precision vector [n] with 1 at the position label (counted from 0) and 0 elsewhere; n is constant. A label outside the vector is an error.'),
      ('routine', 'outer', 'The outer product of the vectors a [m] and b [n]: [m,n].'),
      ('routine', 'power', 'x ^ y, element by element; scalars give double precision.'),
      ('routine', 'radians', 'An angle of x degrees in radians.'),
      ('routine', 'random_int', 'A uniform draw of a bigint in 0 … n-1: floor(n·u), u the first uniform draw of (seed, key).'),
      ('routine', 'random_normal', 'Draws from the standard normal distribution (Philox, Box–Muller). The result is double precision; shape (constant) and key are bigint[]. Every engine draws the same.'),
      ('routine', 'random_uniform', 'Uniform draws in [0,1) (Philox). The result is double precision; shape (constant) and key are bigint[]. Every engine draws the same.'),
      ('routine', 'relu', 'x where x > 0, else 0; NaN stays NaN.'),
      ('routine', 'reshape', 'The elements of x in row-major order with another constant shape of the same size.'),
      ('routine', 'sigmoid', '1 / (1 + e⁻ˣ), without overflow.'),
      ('routine', 'sign', '-1, 0 or 1 (NaN for NaN).'),
      ('routine', 'silu', 'x·sigmoid(x).'),
      ('routine', 'sin', 'The sine of x radians.'),
      ('routine', 'sind', 'The sine of x degrees.'),
      ('routine', 'sinh', 'The hyperbolic sine.'),
      ('routine', 'softmax', 'eˣ / Σ eˣ over the last axis, without overflow.'),
      ('routine', 'softplus', 'ln(1 + eˣ), without overflow.'),
      ('routine', 'softsign', 'x / (1 + |x|), between -1 and 1.'),
      ('routine', 'sqnorm', 'The sum of the squares of all elements, in double precision.'),
      ('routine', 'sqrt', 'The square root; NaN below 0.'),
      ('routine', 'square', 'x².'),
      ('routine', 'stop_gradient', 'x itself, as a constant for the derivative.'),
      ('routine', 'sum_elements', 'The sum of all elements in double precision, or over one axis (counted from 1), which is kept with length 1.'),
      ('routine', 'tan', 'The tangent of x radians.'),
      ('routine', 'tand', 'The tangent of x degrees; Infinity at 90, -Infinity at 270.'),
      ('routine', 'tanh', 'The hyperbolic tangent.'),
      ('routine', 'transpose', 'm with its last two axes exchanged.'),
      ('routine', 'zeros', 'A double precision chunk of zeros of a constant shape (bigint[]).'),
      ('routine', 'chunk_add', 'a + b, element by element.'),
      ('routine', 'chunk_sub', 'a - b, element by element.'),
      ('routine', 'chunk_mul', 'a * b, element by element.'),
      ('routine', 'chunk_div', 'a / b, element by element; between integers truncated toward zero, and division by zero an error.'),
      ('routine', 'chunk_neg', '-a, element by element.'),
      ('routine', 'gen_add', 'called by generated SQL only: a + b, element by element.'),
      ('routine', 'gen_sub', 'called by generated SQL only: a - b, element by element.'),
      ('routine', 'gen_mul', 'called by generated SQL only: a * b, element by element.'),
      ('routine', 'gen_div', 'called by generated SQL only: a / b, element by element; between integers truncated toward zero, and division by zero an error.'),
      ('routine', 'gen_sum_to', 'called by generated SQL only: Sums x over the axes in which the attribute''s shape has length 1 or no axis (aligned at the right): the inverse of broadcasting. Without a shape, the sum of all elements in double precision.'),
      ('routine', 'gen_expand_to', 'called by generated SQL only: Repeats x to the attribute''s shape as broadcasting does. A scalar becomes a chunk of the attribute''s type.'),
      ('routine', 'gen_pad', 'called by generated SQL only: Zeros of the attribute''s shape with x placed at the attribute''s (0-based) indices: the derivative of slice.'),
      ('routine', 'gen_softmax_center', 'called by generated SQL only: g - Σ softmax(x)·g over the last axis, with all its digits where one element outweighs the others.'),
      ('routine', 'gen_log_softmax_slope', 'called by generated SQL only: g - softmax(x)·Σ g over the last axis, with all its digits where one element outweighs the others.'),
      ('routine', 'gen_cross_entropy_slope', 'called by generated SQL only: softmax(logits) less 1 at the label, with all its digits where that is almost 1.'),
      ('routine', 'gen_l2_normalize_slope', 'called by generated SQL only: (g - y·Σ y·g) / |x| for y = l2_normalize(x) over the last axis, with all its digits where one element outweighs the others; 0 where x is.'),
      ('routine', 'gen_l2_length', 'called by generated SQL only: The Euclidean norm over the last axis, which is kept with length 1.'),
      ('routine', 'gen_layer_norm_slope', 'called by generated SQL only: (g - mean(g) - y·mean(y·g)) / sd over the last axis for y = layer_norm(x) and its deviation sd, with all its digits where what is taken away leaves little.'),
      ('routine', 'gen_layer_norm_deviation', 'called by generated SQL only: sqrt(variance + 1e-5) over the last axis, which is kept with length 1.'),
      ('routine', 'gen_put', 'called by generated SQL only: Zeros of the attribute''s shape and type with the scalar g at [i][j]…: the derivative of a subscript. All zeros where an index is outside.'),
      ('routine', 'gen_polygamma', 'called by generated SQL only: The derivative of order n of digamma, n an integer from 1 on.'),
      ('routine', 'gen_to_real', 'called by generated SQL only: a rounded to single precision: CAST(a AS real) where no parameter is read, so that comparisons and keys see what is stored. Where one is, the cast stays exact in double precision, else central differences would see steps.'),
      ('routine', 'gen_decimal', 'called by generated SQL only: a rounded to 15 significant decimal digits, which double precision holds: the result of a cast to numeric, and of arithmetic with numeric values where no parameter is read, so that 3 * 1.1 = 3.3 as in Postgres. The gradient passes, as through other casts.'),
      ('routine', 'gen_stack_row', 'called by generated SQL only: The position of a row in the array that array_agg stacks, from 0. It is an error where the group does not have the attribute''s number of rows, or where the row''s value is missing.'),
      ('routine', 'gen_changed', 'called by generated SQL only: raises an error: a definition has changed since the text was made'),
      ('routine', 'gen_shaped', 'called by generated SQL only: whether x has that shape'),
      ('routine', 'gen_row_id', 'called by generated SQL only: a row''s place in its table as one number'),
      ('routine', 'gen_drop_mask', 'called by generated SQL only: The mask of dropout, of the attribute''s shape (none: a scalar) and type: element i is 0 with probability Num, else 1/(1 - Num), by word i mod 4 of block i / 4 of Philox in the stream (seed, hash(Int, step, key)). Num is met to 2⁻³²; above 0 it never becomes 0, nor 1.'),
      ('routine', 'gen_row_key', 'called by generated SQL only: A 64-bit hash of the values of a key, for draws.'),
      ('routine', 'gen_text_key', 'called by generated SQL only: a text as a part of row_key''s key'),
      ('routine', 'gen_float_key', 'called by generated SQL only: a number as a part of row_key''s key: its bits'),
      ('routine', 'gen_eq_mask', 'called by generated SQL only: Element by element 1 where a = b, else 0 (also where one is NaN).'),
      ('routine', 'gen_select', 'called by generated SQL only: Element by element a where the mask is not 0, else b. The other side''s value does not matter, even if NaN.'),
      ('routine', 'gen_acosh_slope', 'called by generated SQL only: 1 / √(x² - 1).'),
      ('routine', 'gen_asin_slope', 'called by generated SQL only: 1 / √(1 - x²).'),
      ('routine', 'gen_asinh_slope', 'called by generated SQL only: 1 / √(1 + x²).'),
      ('routine', 'gen_atan_slope', 'called by generated SQL only: 1 / (1 + x²).'),
      ('routine', 'gen_atanh_slope', 'called by generated SQL only: 1 / (1 - x²).'),
      ('routine', 'gen_bce_slope', 'called by generated SQL only: sigmoid(z) - y, with all its digits where y is 0 or 1.'),
      ('routine', 'gen_gauss', 'called by generated SQL only: e^(-x²).'),
      ('routine', 'gen_hypot_slope', 'called by generated SQL only: x / √(x² + y²), 0 where both are 0.'),
      ('routine', 'gen_normal_cdf', 'called by generated SQL only: The distribution function of the standard normal distribution.'),
      ('routine', 'gen_normal_pdf', 'called by generated SQL only: The density of the standard normal distribution.'),
      ('routine', 'gen_sech2', 'called by generated SQL only: 1 / cosh²(x).'),
      ('routine', 'gen_sigmoid_slope', 'called by generated SQL only: sigmoid(x)·sigmoid(-x).'),
      ('routine', 'agg_add', 'a part of the aggregates sum, avg'),
      ('routine', 'agg_add_combine', 'a part of the aggregates sum, avg, accuracy, f1, rmse, log_loss'),
      ('routine', 'agg_value_real', 'a part of the aggregates sum, min_agg, max_agg, vector_agg'),
      ('routine', 'agg_value', 'a part of the aggregates sum, min_agg, max_agg, vector_agg'),
      ('routine', 'agg_value_number_real', 'a part of the aggregates sum'),
      ('routine', 'agg_value_number', 'a part of the aggregates sum'),
      ('routine', 'agg_mean_real', 'a part of the aggregates avg'),
      ('routine', 'agg_mean', 'a part of the aggregates avg'),
      ('routine', 'agg_mean_number', 'a part of the aggregates avg, accuracy, log_loss'),
      ('routine', 'agg_min', 'a part of the aggregates min_agg'),
      ('routine', 'agg_min_combine', 'a part of the aggregates min_agg'),
      ('routine', 'agg_max', 'a part of the aggregates max_agg'),
      ('routine', 'agg_max_combine', 'a part of the aggregates max_agg'),
      ('routine', 'agg_scatter', 'a part of the aggregates vector_agg'),
      ('routine', 'agg_scatter_combine', 'a part of the aggregates vector_agg'),
      ('routine', 'agg_accuracy', 'a part of the aggregates accuracy'),
      ('routine', 'agg_auc', 'a part of the aggregates auc'),
      ('routine', 'agg_pairs_combine', 'a part of the aggregates auc, ndcg'),
      ('routine', 'agg_auc_value_number', 'a part of the aggregates auc'),
      ('routine', 'agg_f1', 'a part of the aggregates f1'),
      ('routine', 'agg_f1_value_number', 'a part of the aggregates f1'),
      ('routine', 'agg_rmse', 'a part of the aggregates rmse'),
      ('routine', 'agg_root_number', 'a part of the aggregates rmse'),
      ('routine', 'agg_log_loss', 'a part of the aggregates log_loss'),
      ('routine', 'agg_ndcg', 'a part of the aggregates ndcg'),
      ('routine', 'agg_ndcg_value_number', 'a part of the aggregates ndcg'),
      ('operator', '+', 'a + b, element by element.'),
      ('operator', '-', 'a - b, element by element.'),
      ('operator', '*', 'a * b, element by element.'),
      ('operator', '/', 'a / b, element by element; between integers truncated toward zero, and division by zero an error.'),
      ('operator', '^', 'x ^ y, element by element; scalars give double precision.'),
      ('operator', 'prefix -', '-a, element by element.'),
      ('routine', 'sum', 'The sum of numbers or, element by element, of chunks of one shape. real stays real (accumulated in double precision), bigint gives numeric.'),
      ('routine', 'avg', 'The mean of numbers, in double precision, or of chunks of one shape, in their type.'),
      ('routine', 'min_agg', 'The least of each element of chunks of one shape.'),
      ('routine', 'max_agg', 'The greatest of each element of chunks of one shape.'),
      ('routine', 'product', 'The product of numbers, in double precision. A loss computes it as e^Σln|x|, to about as many units in the last place as that sum is large.'),
      ('routine', 'vector_agg', 'The vector of that size with each row''s value at its index, counted from 0, and 0 elsewhere; values at one index add up. An index outside is an error. real gives real[]. The size is constant.'),
      ('routine', 'accuracy', 'The share of the rows in which both are equal, of any type; predicted may also be boolean and actual 0 or 1, as in `accuracy(p > 0.5, label)`. accuracy_score of scikit-learn.'),
      ('routine', 'auc', 'The area under the ROC curve: the share of the pairs of a row labelled 1 and one labelled 0 in which the first has the greater score; equal scores count one half. The label is 0 or 1, or boolean. NULL where all labels are equal. roc_auc_score of scikit-learn.'),
      ('routine', 'f1', '`2·tp / (2·tp + fp + fn)`, of numbers 0 and 1 or of booleans, as in `f1(p > 0.5, label)`; 0 where no row is 1. f1_score of scikit-learn.'),
      ('routine', 'rmse', 'The root of the mean square of their difference. root_mean_squared_error of scikit-learn.'),
      ('routine', 'log_loss', 'The mean of `-ln(probability)` where the label is 1, of `-ln(1 - probability)` where it is 0. The probability is taken to be 2⁻⁵² at least and 1 - 2⁻⁵² at most. The label may be boolean. log_loss of scikit-learn, of two classes.'),
      ('routine', 'ndcg', 'The gain of a ranking by falling score, of its first k places, over the greatest possible: `Σ relevance / log2(1 + place)`. Rows of one score have their mean relevance, which is the mean over their orders. 0 where no row is relevant. Each query is a group: `SELECT avg(n) FROM (SELECT ndcg(score, relevance, 10) AS n FROM t GROUP BY query) q`. ndcg_score of scikit-learn.'),
      ('routine', 'gradient', 'rows of the table with the gradient of the loss in the value columns: SELECT * FROM gradient(''loss'', NULL::w)'),
      ('routine', 'backward', 'the loss; fills the temporary tables w_grad, … in the same pass: SELECT backward(''loss'', ARRAY[''w''])'),
      ('routine', 'explain_gradient', 'a stage of the plan (ra, grad, opt, physical, sql, all): SELECT explain_gradient(''loss'', ''w'')'),
      ('routine', 'check_gradient', 'sampled elements of the gradient against central differences, worst first: SELECT * FROM check_gradient(''loss'', ''w'')'),
      ('routine', 'distribute', 'spreads a table over the servers that the role has a user mapping for: SELECT distribute(''rating'', by => ''u'')'),
      ('routine', 'undistribute', 'brings the rows of a distributed table back into an ordinary one: SELECT undistribute(''rating'')'),
      ('routine', 'gen_servers', 'what the view servers shows'),
      ('routine', 'gen_member', 'by which a session at another server leads this one: a message and its answer'),
      ('routine', 'gen_rows', 'called by generated SQL only: rows that the engine holds'),
      ('routine', 'gen_place', 'called by generated SQL only: a hash of where a row stands, and of its version'),
      ('routine', 'train', 'minimises the loss over the parameters: CALL train(''loss'', ARRAY[''w''], lr => 0.01, epochs => 100); CALL train(resume => 1) goes on with a run. An option that is NULL is not given, and then is what it would be by optimizer => ''adam'', lr => 0.001, momentum => 0.9, beta1 => 0.9, beta2 => 0.999, alpha => 0.99, epsilon => 1e-8, history => 10, weight_decay => 0, schedule => ''constant'', warmup => 0, gamma => 0.1, eta_min => 0, epochs => 100, seed => 0, every => 1, patience => 0, restore_best => false; nothing stands for step_size, clip_norm, nonnegative, project, options, sparse, batch, batch_size, before_step, validate, tolerance, max_seconds, progress, name, note, tags, resume'),
      ('routine', 'train of any', 'the error of train with an option by a name that other programs have, such as learning_rate, which says its name here'),
      ('relation', 'servers', 'servers of postgres_fdw that the role has a user mapping for, and the tables there that losses read'),
      ('column', 'servers.name', 'the server''s name'),
      ('column', 'servers.state', 'whether it answers and has relgrad'),
      ('column', 'servers.version', 'the version of relgrad there'),
      ('column', 'servers.table', 'the table whose rows are there'),
      ('column', 'servers.rows', 'how many rows it has there, by its statistics'),
      ('column', 'servers.bytes', 'how large it is there, by its statistics'),
      ('routine', 'impl_change_run', 'the trigger by which who may change everything in run_row changes the view run'),
      ('relation', 'run_id', 'numbers of runs'),
      ('relation', 'run_row', 'what train records of each run; read it through the view run'),
      ('relation', 'loss', 'the loss of each step of each run'),
      ('relation', 'state', 'the state of optimizers, with which a run goes on'),
      ('relation', 'validation', 'the figures of the validations of each run'),
      ('relation', 'mark', 'how far runs of other servers are whose parameters lie here'),
      ('relation', 'run', 'runs of train: those of who asks; a superuser sees all'),
      ('column', 'run.run', 'number of the run, which resume takes'),
      ('column', 'run_row.run', 'number of the run, which resume takes'),
      ('column', 'run.loss', 'the loss: a view or a query'),
      ('column', 'run_row.loss', 'the loss: a view or a query'),
      ('column', 'run.parameters', 'the tables, or table.column, that are trained'),
      ('column', 'run_row.parameters', 'the tables, or table.column, that are trained'),
      ('column', 'run.options', 'the options of train with which it began, those that were not given too'),
      ('column', 'run_row.options', 'the options of train with which it began, those that were not given too'),
      ('column', 'run.seed', 'seed of the draws'),
      ('column', 'run_row.seed', 'seed of the draws'),
      ('column', 'run.status', 'running, finished, stopped by … , cancelled, failed or interrupted'),
      ('column', 'run_row.status', 'running, finished, stopped by … , cancelled, failed or interrupted'),
      ('column', 'run.step', 'steps that are done and committed'),
      ('column', 'run_row.step', 'steps that are done and committed'),
      ('column', 'run.best', 'lowest validation'),
      ('column', 'run_row.best', 'lowest validation'),
      ('column', 'run.waited', 'validations since the lowest one'),
      ('column', 'run_row.waited', 'validations since the lowest one'),
      ('column', 'run.name', 'option name of train'),
      ('column', 'run_row.name', 'option name of train'),
      ('column', 'run.note', 'option note of train'),
      ('column', 'run_row.note', 'option note of train'),
      ('column', 'run.tags', 'option tags of train'),
      ('column', 'run_row.tags', 'option tags of train'),
      ('column', 'run.started', 'when it began'),
      ('column', 'run_row.started', 'when it began'),
      ('column', 'run.updated', 'when it was committed last'),
      ('column', 'run_row.updated', 'when it was committed last'),
      ('column', 'run.keys', 'count and hash of the rows that are trained: a resumed run must find the same'),
      ('column', 'run_row.keys', 'count and hash of the rows that are trained: a resumed run must find the same'),
      ('column', 'run.context', 'settings of the session that began it, as JSON: a resumed run has them'),
      ('column', 'run_row.context', 'settings of the session that began it, as JSON: a resumed run has them'),
      ('column', 'run.progress', 'what changes while it runs, as JSON: options taken anew, the step of the best validation'),
      ('column', 'run_row.progress', 'what changes while it runs, as JSON: options taken anew, the step of the best validation'),
      ('column', 'run.owner', 'the role that trained'),
      ('column', 'run_row.owner', 'the role that trained'),
      ('column', 'loss.run', 'number of the run'),
      ('column', 'loss.step', 'number of the step, from 1'),
      ('column', 'loss.epoch', 'the pass over batch that the step belongs to, from 1; without batch the step'),
      ('column', 'loss.loss', 'the loss before the step''s update'),
      ('column', 'loss.validation', 'the first validation figure behind the step; NULL: it was not validated'),
      ('column', 'loss.at', 'when the step was done'),
      ('column', 'loss.owner', 'the role that trained'),
      ('column', 'state.run', 'number of the run'),
      ('column', 'state.parameter', 'table.column'),
      ('column', 'state.name', 'a buffer of the optimizer; value, best, last: values of the parameter itself'),
      ('column', 'state.row', 'number of the piece, from 0'),
      ('column', 'state.v', '4096 numbers, the last piece filled up with zeros'),
      ('column', 'state.owner', 'the role that trained'),
      ('column', 'validation.run', 'number of the run'),
      ('column', 'validation.step', 'number of the step behind which it was validated'),
      ('column', 'validation.position', 'number of the column of validate, from 1; the first one decides'),
      ('column', 'validation.name', 'name of that column'),
      ('column', 'validation.value', 'the figure; NULL: it was NULL or not a number'),
      ('column', 'validation.owner', 'the role that trained'),
      ('column', 'mark.leader', 'the server and database from which the run is led'),
      ('column', 'mark.run', 'number of the run there'),
      ('column', 'mark.step', 'the step after which the parameters here were written last'),
      ('column', 'mark.owner', 'the role that trained')
    ), found AS (
      SELECT 'routine' AS kind, proname || CASE WHEN '"any"'::regtype = ANY (proargtypes) THEN ' of any' ELSE '' END
        AS name, format('ROUTINE %s', oid::regprocedure) AS object
      FROM pg_proc WHERE pronamespace = 'relgrad'::regnamespace
      UNION ALL
      SELECT 'operator', CASE oprleft WHEN 0 THEN 'prefix ' ELSE '' END || oprname, format('OPERATOR %s',
        oid::regoperator)
      FROM pg_operator WHERE oprnamespace = 'relgrad'::regnamespace
      UNION ALL
      SELECT 'relation', relname, format('%s %s',
        CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass)
      FROM pg_class WHERE relnamespace = 'relgrad'::regnamespace AND relkind IN ('r', 'v', 'S')
      UNION ALL
      SELECT 'column', relname || '.' || attname, format('COLUMN %s.%I', attrelid::regclass, attname)
      FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
      WHERE relnamespace = 'relgrad'::regnamespace AND relkind IN ('r', 'v') AND attnum > 0 AND NOT attisdropped
    )
    SELECT found.object, said.remark FROM said LEFT JOIN found USING (kind, name)
  LOOP
    EXECUTE format('COMMENT ON %s IS %L', object, remark);
  END LOOP;
END $do$;
