-- :lib is the compiled peers.c
CREATE FUNCTION bench_scan(bigint, real[]) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS :lib;
CREATE FUNCTION bench_touch(bigint, real[]) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS :lib;
CREATE FUNCTION bench_read(bigint, real[]) RETURNS bigint LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS :lib;
CREATE AGGREGATE scan_chunks(real[]) (SFUNC = bench_scan, STYPE = bigint, INITCOND = '0', PARALLEL = SAFE);
CREATE AGGREGATE touch_chunks(real[]) (SFUNC = bench_touch, STYPE = bigint, INITCOND = '0', PARALLEL = SAFE);
CREATE AGGREGATE read_chunks(real[]) (SFUNC = bench_read, STYPE = bigint, INITCOND = '0', PARALLEL = SAFE);
CREATE FUNCTION bench_product(real[], real[]) RETURNS real[] LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS :lib;
CREATE FUNCTION bench_sgemm(real[], bigint) RETURNS bigint LANGUAGE c VOLATILE STRICT AS :lib;
CREATE FUNCTION bench_allocate(int, int) RETURNS bigint LANGUAGE c VOLATILE STRICT AS :lib;
