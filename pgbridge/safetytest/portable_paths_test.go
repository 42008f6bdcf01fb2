package safetytest

import (
	"context"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/migrations"
)

// mixed makes, for the operators in the portable tier's texts, one for each two types, and so also for pairs for which
// Postgres has only an inexact match. Each raises an error when it is called.
const mixed = `DO $$
DECLARE
  types constant text[] := ARRAY['smallint', 'integer', 'bigint', 'real', 'double precision', 'numeric', 'text',
'name', 'oid', 'regclass', 'regtype', '"char"', 'boolean',
    'double precision[]', 'real[]', 'text[]', 'integer[]', 'bigint[]', 'jsonb', 'character varying'];
  l text; r text; op text; f text; n int := 0;
BEGIN
  FOREACH l IN ARRAY types LOOP
    FOREACH r IN ARRAY types LOOP
      n := n + 1;
      EXECUTE
format('CREATE FUNCTION evil.tells%s(%s, %s) RETURNS boolean LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION ''an ` +
	`operator of %s and %s is called''; END $f$', n, l, r, l, r);
      EXECUTE
format('CREATE FUNCTION evil.makes%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION ''an ` +
	`operator of %s and %s is called''; END $f$', n, l, r, l, l, r);
      FOREACH op IN ARRAY ARRAY['=', '<>', '<', '>', '<=', '>=', '~', '+', '-', '*', '/', '%', '||', '->', '->>', '<<',
'>>', '&', '|', '#'] LOOP
        f := CASE WHEN op IN ('=', '<>', '<', '>', '<=', '>=', '~') THEN 'tells' ELSE 'makes' END || n;
        EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = evil.%I)', op, l, r, f);
      END LOOP;
    END LOOP;
  END LOOP;
END $$`

// portablePaths calls the portable tier with another user's operators on the search path, after Postgres's own and
// before them.
func portablePaths(e *env) {
	ctx := context.Background()
	e.must("CREATE DATABASE portable_paths TEMPLATE template0")
	dsn := strings.Replace(e.c.DSN, "dbname=postgres", "dbname=portable_paths", 1)
	conn, err := migrations.Connect(ctx, dsn)
	if err != nil {
		e.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := migrations.Apply(ctx, conn); err != nil {
		e.t.Fatal(err)
	}
	p := &env{c: e.c, db: "portable_paths", session: open(e.t, e.c.DSN, "dbname=portable_paths")}
	p.must(model + `CREATE TABLE v (id int PRIMARY KEY, x double precision[], m double precision[], r real[]);
INSERT INTO v SELECT i, ARRAY[i, 0.5, -2], ARRAY[[1, i], [0.5, 2]], ARRAY[0.25, i] FROM generate_series(1, 3) AS g(i);
CREATE VIEW kernels AS SELECT sum(relgrad.norm(x) + relgrad.dot(x,
relgrad.tanh(x)) + relgrad.logsumexp(x) + relgrad.sum_elements(relgrad.softmax(x)) + ` +
		`relgrad.sum_elements(relgrad.layer_norm(x))
  + relgrad.sum_elements(relgrad.matmul(m, relgrad.transpose(m))) + ` +
		`relgrad.sum_elements(relgrad.einsum('ij,jk->ik', m, m)) + relgrad.sqnorm(r) + ` +
		`relgrad.sum_elements(relgrad.l2_normalize(x))
  + relgrad.cross_entropy(x, 1) + relgrad.gelu(x[1]) + relgrad.sigmoid(x[2]) + relgrad.erf(x[3]) + ` +
		`relgrad.log1p(x[1]) + relgrad.huber(x[3], 1.0) + relgrad.sum_elements(relgrad.clip(x, 0.0, 1.0))
  + relgrad.sum_elements(relgrad.random_normal(ARRAY[3], 1, ARRAY[id::bigint])) + ` +
		`relgrad.sum_elements(relgrad.concat_axis(m, m, 1)) + relgrad.max_elements(relgrad.reshape(m, ARRAY[4]))) AS loss,
  relgrad.sum_elements(relgrad.sum(x)) + relgrad.sum_elements(relgrad.max_agg(x)) + ` +
		`relgrad.sum_elements(relgrad.vector_agg(id, x[1], 4)) AS sums FROM v`)
	s, err := relgrad.Dial(ctx, dsn, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	defer s.Close()
	for _, c := range [][2]string{{"public.loss", "public.trend"}, {"SELECT loss FROM public.kernels", "public.v"}} {
		if err := s.CompileText(ctx, c[0], c[1]); err != nil {
			e.t.Fatal(err)
		}
	}
	calls := []string{"SELECT * FROM public.kernels",
		"SELECT slope, shift FROM relgrad.gradient('public.loss', NULL::public.trend)",
		"SELECT relgrad.backward('public.loss', ARRAY['public.trend'])",
		"SELECT relgrad.backward('public.loss', 'public.trend')",
		"SELECT pg_catalog.length(relgrad.explain_gradient('public.loss', 'public.trend')), " +
			"pg_catalog.length(relgrad.explain_gradient('public.loss', ARRAY['public.trend']))",
		"SELECT relgrad.gen_add(1, 2), relgrad.gen_div(1, 3), relgrad.exp(1.0), relgrad.power(2.0, 0.5)"}
	var want []string
	for _, c := range calls {
		want = append(want, p.must(c))
	}
	p.must("CREATE SCHEMA evil; " + mixed)
	for _, path := range []string{"public, relgrad, evil", "evil, public, relgrad", "evil, pg_catalog, public, relgrad"} {
		for i, c := range calls {
			p.must("SET search_path = " + path + "; DISCARD PLANS")
			p.gives(c, want[i])
		}
	}
}
