package pgrun

// meanings are losses by the kind of their construct; "server: " is in front of those of which the store lacks something.
var meanings = map[string][]string{
	"a group beside an outer join": {
		"SELECT sum(z * z) FROM (SELECT w.id, w.y * coalesce(sum(e.wt), 1) AS z FROM w LEFT JOIN e ON w.id = e.src GROUP BY w.id) q",
		"SELECT sum(z * z) FROM (SELECT w.id, w.y * coalesce(sum(e.wt), 1) + sqnorm(w.v) AS z FROM e RIGHT JOIN w ON w.id = e.dst GROUP BY w.id) q",
		"SELECT sum(z * z * c) FROM (SELECT id, w.y * coalesce(sum(e.wt), 1) AS z, count(*) AS c FROM w LEFT JOIN (SELECT src AS id, wt FROM e ) e USING (id) GROUP BY w.id) q",
		"SELECT sum(z * z * c) FROM (SELECT id, coalesce(w.y, 2) * coalesce(sum(e.wt), 1) + coalesce(t.n, 3) AS z, count(*) AS c FROM (SELECT src AS id, wt FROM e ) e RIGHT JOIN w USING (id) LEFT JOIN t USING (id) GROUP BY w.id, t.id) q",
		"SELECT sum(z * c) FROM (SELECT w.id, coalesce(w.y, 7) * sum(e.wt) + coalesce(max(w.id), 5) AS z, count(*) AS c FROM e LEFT JOIN w ON w.id = e.src AND w.id <> 2 GROUP BY w.id) q",
		"SELECT sum(z * c) FROM (SELECT e.src, e.dst, coalesce(e.wt, 0.5) * sum(sqnorm(w.v)) + coalesce(e.src * e.dst, 5) AS z, count(w.id) AS c FROM w LEFT JOIN e ON w.id = e.src + 2 LEFT JOIN t ON t.id = e.dst AND t.n > 10 GROUP BY e.src, e.dst) q",
		"SELECT sum(z * c) FROM (SELECT t.id, t.n * sum(w.y) + length(coalesce(t.grp, 'none')) + coalesce(t.price, 2) AS z, count(*) AS c FROM w LEFT JOIN t ON t.id = w.id GROUP BY t.id) q",
		"SELECT sum(z) FROM (SELECT w.id, sqnorm(w.v) + count(e.src) * w.y AS z FROM w LEFT JOIN e ON w.id = e.src GROUP BY w.id HAVING count(e.src) < 2 AND w.id <> 3) q",
		"SELECT sum(z) FROM (SELECT w.*, w.y * coalesce(stddev_pop(e.wt), 3) AS z FROM w LEFT JOIN e ON w.id = e.src GROUP BY w.id) q WHERE q.id < 5",
		"SELECT sum(z * z) FROM (SELECT a.id, dot(a.v, max_agg(b.v)) + a.y AS z FROM w a LEFT JOIN w b ON a.id < b.id GROUP BY a.id) q WHERE id < 5",
		"SELECT sum(z * z) FROM (SELECT a.id, b.id AS bid, coalesce(b.y, 2) * sqnorm(a.v) + coalesce(sum(e.wt), 1) AS z FROM w a LEFT JOIN w b ON b.id = a.id + 2 LEFT JOIN e ON e.src = a.id AND e.dst <> b.id GROUP BY a.id, b.id) q",
	},
}
