-- plan(loss, params): what is chosen when a loss and its gradients run at 4 sites. For the loss how each product of blocks is
-- made, in the order in which they are computed: one side goes to all sites (BMM), both meet where the columns lie that are summed
-- over (CMM), or where others lie (RMM). For each table of parameters whether its rows stay with a site (model parallel) or go to
-- all sites (data parallel).
CREATE FUNCTION plan(loss text, params text[]) RETURNS TABLE (relation text, choice text) LANGUAGE sql AS $$
WITH line AS (
  SELECT n, line, count(*) FILTER (WHERE line ~ '^[^ ]+:$') OVER (ORDER BY n) AS part -- 0 is what stands above the plan, 1 the loss
  FROM unnest(string_to_array(explain_gradient(loss, params, stage => 'sites:4'), E'\n')) WITH ORDINALITY AS u(line, n)
)
SELECT 'loss', string_agg(substring(line from '[BCR]MM'), ', ' ORDER BY n DESC) FROM line WHERE part = 1 AND line ~ '[BCR]MM'
UNION ALL
SELECT split_part(line, ': ', 1), split_part(line, ': ', 2) FROM line WHERE part = 0 AND line ~ '(data|model) parallel'
$$;
