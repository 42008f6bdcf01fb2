package gradtest

import "slices"

// Recursions are losses with recursive queries, over the tables of Graph. A database cannot compute them: relgrad's
// engine does.
var Recursions = slices.Concat(ServerRecursions, []Loss{
	// what reaches a row comes from several, and goes to several
	{"WITH RECURSIVE r(step, node, x) AS (SELECT 0, node, 0.25::double precision FROM member UNION ALL SELECT " +
		"step + 1, node, x FROM (SELECT r.step, a.dst AS node, sum(a.weight * r.x) AS x FROM r JOIN adj a ON a.src " +
		"= r.node WHERE r.step < 3 GROUP BY r.step, a.dst) q) SELECT sum(x * x * node) FROM r WHERE step > 1",
		[]string{"adj"}},
	// what the step reads besides is joined, aggregated and recursive itself
	{"WITH RECURSIVE n(k, y) AS (SELECT 0::bigint, 1::double precision UNION ALL SELECT m.node, y * h.x + 1 FROM " +
		"n JOIN member m ON m.node = n.k + 1 JOIN half h ON h.node = n.k + 2), d AS (SELECT dst, sum(weight) AS w " +
		"FROM adj GROUP BY dst), s(k, x) AS (SELECT 0::bigint, sum(weight) FROM adj UNION ALL SELECT n.k, s.x * " +
		"sin(d.w) * n.y FROM s JOIN n ON n.k = s.k + 1 JOIN d ON d.dst = s.k) SELECT sum(s.x * s.x * n.y) FROM s " +
		"JOIN n ON n.k = s.k", []string{"adj", "half"}},
	{"SELECT sum(g.weight ^ 2) FROM gradient('WITH RECURSIVE r(step, node, x) AS (SELECT 0, node, 0.5::double " +
		"precision FROM member UNION ALL SELECT step + 1, node, x FROM (SELECT r.step, a.dst AS node, sum(a.weight " +
		"* r.x ^ 2) AS x FROM r JOIN adj a ON a.src = r.node WHERE r.step < 2 GROUP BY r.step, a.dst) q) SELECT " +
		"sum(x * x) FROM r', NULL::adj) g", []string{"adj"}},
	// groups that do not name the step
	{"WITH RECURSIVE r(step, node, x) AS (SELECT 0::bigint, node, 0.5::double precision FROM member UNION ALL " +
		"SELECT st, node, x FROM (SELECT max(r.step) + 1 AS st, a.dst AS node, sum(a.weight * r.x) AS x FROM r " +
		"JOIN adj a ON a.src = r.node GROUP BY a.dst) q WHERE st < 4) SELECT sum(x * x * (node + 1)) FROM r WHERE " +
		"step > 0", []string{"adj"}},
	// second derivatives through a window over a level, and through groups that do not name the step
	{"SELECT sum(g.weight ^ 2) FROM gradient('WITH RECURSIVE r(step, src, dst, x) AS (SELECT 0, src, dst, weight " +
		"FROM adj UNION ALL SELECT r.step + 1, r.src, r.dst, sin(a.weight * r.x + sum(r.x ^ 2) OVER (PARTITION BY " +
		"r.src ORDER BY r.dst)) FROM r JOIN adj a ON a.src = r.src AND a.dst = r.dst WHERE r.step < 2) SELECT " +
		"sum(x * x * (dst + 1)) FROM r', NULL::adj) g", []string{"adj"}},
	{"SELECT sum(g.weight ^ 2) FROM gradient('WITH RECURSIVE r(step, node, x) AS (SELECT 0::bigint, node, " +
		"0.5::double precision FROM member UNION ALL SELECT st, node, x FROM (SELECT max(r.step) + 1 AS st, a.dst " +
		"AS node, sum(a.weight * r.x ^ 2) AS x FROM r JOIN adj a ON a.src = r.node GROUP BY a.dst) q WHERE st < 3) " +
		"SELECT sum(x * x * (node + 1)) FROM r WHERE step > 0', NULL::adj) g", []string{"adj"}},
	// and through a step with rows that find no partner
	{"SELECT sum(g.x ^ 2) FROM gradient('WITH RECURSIVE s(node, x) AS (SELECT 0::bigint, sum(weight) FROM adj " +
		"UNION ALL SELECT s.node + 1, sin(s.x) * coalesce(h.x, 0.5) + 1 FROM s LEFT JOIN half h ON h.node = s.node " +
		"+ 2 WHERE s.node < 4) SELECT sum(x * x * (node + 1)) FROM s', NULL::half) g", []string{"adj", "half"}},
})

// ServerRecursions are those that a server takes for each of their parameters: PostgreSQL lets no step aggregate.
var ServerRecursions = []Loss{
	{"WITH RECURSIVE s(node, v) AS (SELECT node, v FROM w0 WHERE node = 0 UNION ALL SELECT w0.node, tanh(w0.v * " +
		"s.v) + w0.v FROM s JOIN w0 ON w0.node = s.node + 1) SELECT sum(sqnorm(v) * (node + 1)) FROM s",
		[]string{"w0"}},
	// several states, of sequences of different lengths; the loss reads the last rows only
	{"WITH RECURSIVE s(club, node, h, c) AS (SELECT club, min(node), 0 * max(node) * ARRAY[1, 1, 1]::double " +
		"precision[], 0.5::double precision FROM member GROUP BY club UNION ALL SELECT m.club, m.node + 2 - " +
		"m.club, tanh(matmul(matmul(h, w1.v), transpose(w1.v)) + c * w0.v), c * sum_elements(h * w0.v) + 1 FROM s " +
		"JOIN member m ON m.club = s.club AND m.node = s.node JOIN w0 ON w0.node = m.node, w1) SELECT " +
		"sum(sqnorm(h) * c) FROM s WHERE node > 1", []string{"w0", "w1"}},
	// steps of descent, whose rate is trained
	{"WITH RECURSIVE g(step, x) AS (SELECT 0, 2::double precision UNION ALL SELECT step + 1, x - exp(a.weight) * " +
		"0.1 * (x ^ 3 - x) FROM g, adj a WHERE a.src = 0 AND a.dst = 0 AND step < 5) SELECT sum(x ^ 2) FROM g " +
		"WHERE step = 5", []string{"adj"}},
	// a state that is NULL at some level, and depends on one behind it
	{"WITH RECURSIVE s(node, y, x) AS (SELECT 1::bigint, 2::double precision, 1::double precision UNION ALL " +
		"SELECT h.node, CASE WHEN h.node > 2 THEN coalesce(s.y, 1.5) * s.x END, h.x * s.x FROM s JOIN half h ON " +
		"h.node = s.node + 1) SELECT sum(coalesce(x, 3) * (node + 1)) + sum(coalesce(y, 1) ^ 2) FROM s",
		[]string{"half"}},
	// a state of numbers that no parameter changes, beside one that has a gradient
	{"WITH RECURSIVE s(node, d, v) AS (SELECT 1::bigint, 0.5::double precision, v FROM w0 WHERE node = 0 UNION ALL " +
		"SELECT h.node, sin(s.d) + h.x, w0.v * s.d + s.v FROM s JOIN half h ON h.node = s.node + 1 JOIN w0 ON w0.node = " +
		"h.node) SELECT sum(sqnorm(v) * (node + d)) FROM s", []string{"w0"}},
	// a tree: each row has its own children
	{"WITH RECURSIVE t(node, level, x) AS (SELECT src, 0, weight FROM adj WHERE src = 0 AND dst = 0 UNION ALL " +
		"SELECT 10 * t.node + a.dst, t.level + 1, t.x * a.weight + sqrt(abs(t.x)) FROM t JOIN adj a ON a.src = " +
		"t.node % 10 WHERE a.dst > 0 AND t.level < 3) SELECT sum(x ^ 2 * level) FROM t", []string{"adj"}},
	// draws, whose rows are told apart by the keys of the step's rows
	{"WITH RECURSIVE s(node, v) AS (SELECT node, v FROM w0 WHERE node = 0 UNION ALL SELECT w0.node, " +
		"dropout(tanh(s.v), 0.3) * w0.v + w0.v FROM s JOIN w0 ON w0.node = s.node + 1) SELECT sum(sqnorm(v) * " +
		"(node + 1)) FROM s", []string{"w0"}},
	// a window over a level
	{"WITH RECURSIVE r(step, src, dst, x) AS (SELECT 0, src, dst, weight FROM adj UNION ALL SELECT r.step + 1, " +
		"r.src, r.dst, a.weight * r.x + sum(r.x ^ 2) OVER (PARTITION BY r.src ORDER BY r.dst) FROM r JOIN adj a ON " +
		"a.src = r.src AND a.dst = r.dst WHERE r.step < 2) SELECT sum(x * x * (dst + 1)) FROM r", []string{"adj"}},
	// a step with rows that find no partner
	{"WITH RECURSIVE s(node, x) AS (SELECT 0::bigint, sum(weight) FROM adj UNION ALL SELECT s.node + 1, s.x * " +
		"coalesce(h.x, 0.5) + 1 FROM s LEFT JOIN half h ON h.node = s.node + 2 WHERE s.node < 4) SELECT sum(x * x " +
		"* (node + 1)) FROM s", []string{"adj", "half"}},
	// the gradient of a recursive query within a loss: its own gradient goes through both recursions
	{"SELECT sum(sqnorm(g.v) * (g.node + 1)) FROM gradient('WITH RECURSIVE s(node, v) AS (SELECT node, v FROM w0 " +
		"WHERE node = 0 UNION ALL SELECT w0.node, tanh(w0.v * s.v) + w0.v FROM s JOIN w0 ON w0.node = s.node + 1) " +
		"SELECT sum(sqnorm(v)) FROM s', NULL::w0) g", []string{"w0"}},
}
