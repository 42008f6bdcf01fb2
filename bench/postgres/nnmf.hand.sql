-- d nnmf_loss / d taste, by hand: (2 (dot - rating) trait + 0.32 taste) / n, summed over a user's ratings
WITH g AS (
  SELECT r.userid, sum((2 * (dot(taste.v, trait.v) - r.rating)) * trait.v) AS v, count(*) AS ratings
  FROM rating r JOIN taste USING (userid) JOIN trait USING (item)
  GROUP BY r.userid
),
n AS (
  SELECT sum(ratings) AS n FROM g
)
SELECT userid, (1 / n.n::double precision) * (g.v + (0.32::double precision * g.ratings) * taste.v) AS v
FROM g JOIN taste USING (userid) CROSS JOIN n
ORDER BY userid
