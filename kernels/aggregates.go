package kernels

// Aggregate is what the manual says about an aggregate function. Their code stands elsewhere (the binder composes
// them of the algebra's Σ, the store computes them); a test compares this table with what a loss takes.
type Aggregate struct {
	Name, Args, Doc string
	Derivative      string // what each row receives from the upstream gradient g of its group
	Null            string // beyond skipping rows that are NULL
	Loss            string // a loss over the tables of manual.PeerTables that uses it; "" for a metric
	Instead         string // what a loss takes instead of a metric
}

// Aggregates is the table of aggregate functions, in the manual's order.
func Aggregates() []Aggregate { return aggregates }

const spreadNull = "NULL where fewer than two rows (of the _pop forms: none) are not NULL."

const pairNull = "A pair of which one number is NULL is skipped; NULL for no pairs."

var aggregates = []Aggregate{
	{"sum", "x", "The sum of numbers or, element by element, of chunks of one shape. real stays real (accumulated in " +
		"double precision), bigint gives numeric.",
		"`g`", "", "SELECT sum(sqnorm(s) * z) FROM (SELECT n, sum(v) AS s, sum(x) AS z FROM t GROUP BY n) q", ""},
	{"avg", "x", "The mean of numbers, in double precision, or of chunks of one shape, in their type.",
		"`g / count(x)`", "", "SELECT sum(sqnorm(s) * z) FROM (SELECT n, avg(v) AS s, avg(x) AS z FROM t GROUP BY n) q", ""},
	{"count", "x or *", "The number of rows, or of those where x is not NULL, as bigint.",
		"0", "0 for no rows.", "SELECT sum(x * c) FROM t, (SELECT count(*) AS c FROM t) q", ""},
	{"min", "x", "The least of numbers or texts.", "`g`, in equal parts to the rows that tie", "",
		"SELECT sum(z * z) FROM (SELECT n, min(x) AS z FROM t GROUP BY n) q", ""},
	{"max", "x", "The greatest of numbers or texts; NaN is above all numbers.", "`g`, in equal parts to the rows that tie",
		"", "SELECT sum(z * z) FROM (SELECT n, max(x) AS z FROM t GROUP BY n) q", ""},
	{"min_agg", "x", "The least of each element of chunks of one shape.",
		"`g` element by element, in equal parts to the rows that tie", "",
		"SELECT sum(sqnorm(z)) FROM (SELECT n, min_agg(v) AS z FROM t GROUP BY n) q", ""},
	{"max_agg", "x", "The greatest of each element of chunks of one shape.",
		"`g` element by element, in equal parts to the rows that tie", "",
		"SELECT sum(sqnorm(z)) FROM (SELECT n, max_agg(v) AS z FROM t GROUP BY n) q", ""},
	{"var_pop, var_samp, variance", "x", "The variance of numbers: the mean square of the distances from the mean; " +
		"var_samp and variance divide by the number of rows less one.",
		"`g * 2 * (x - avg(x)) / count(x)` or `/ (count(x) - 1)`", spreadNull,
		"SELECT var_pop(x) * var_samp(y) + variance(u) FROM t", ""},
	{"stddev_pop, stddev_samp, stddev", "x", "The square root of the variance.", "`g * (x - avg(x)) / (count(x) * " +
		"stddev_pop(x))` or with `(count(x) - 1) * stddev_samp(x)`; 0 where the deviation is 0",
		spreadNull, "SELECT stddev_pop(x) * stddev_samp(y) + stddev(u) FROM t", ""},
	{"covar_pop, covar_samp", "y, x", "The covariance of pairs of numbers: the mean product of their distances from the " +
		"means; covar_samp divides by the number of pairs less one.",
		"to x `g * (y - avg(y)) / n`, to y `g * (x - avg(x)) / n`", pairNull + " covar_samp of one pair is NULL.",
		"SELECT covar_pop(x, y) * covar_samp(y, u) FROM t", ""},
	{"corr", "y, x", "The correlation of pairs of numbers, from -1 to 1.", "that of `regr_sxy / (sqrt(regr_sxx) * " +
		"sqrt(regr_syy))`", pairNull + " NULL where all x or all y are equal.", "SELECT corr(x, y) * corr(y, u) FROM t", ""},
	{"regr_slope, regr_intercept, regr_r2", "y, x", "The line of least squares of y over x, and how much of the " +
		"variance of y it tells: `regr_sxy / regr_sxx`, `avg(y) - regr_slope * avg(x)`, `corr ^ 2`.",
		"that of these expressions",
		pairNull + " NULL where all x are equal; regr_r2 is 1 where only all y are.",
		"SELECT regr_slope(x, y) * regr_intercept(y, u) + regr_r2(x, y) FROM t", ""},
	{"regr_sxx, regr_syy, regr_sxy", "y, x", "The sums of squares of the distances from the mean, and of their products.",
		"to x `g * 2 * (x - avg(x))`, `g * (y - avg(y))` of regr_sxy, and so to y", pairNull,
		"SELECT regr_sxx(x, y) * regr_syy(y, u) + regr_sxy(x, u) FROM t", ""},
	{"regr_avgx, regr_avgy, regr_count", "y, x", "The mean of x, of y, and the number of pairs as bigint.", "`g / n`; 0 " +
		"for regr_count", pairNull + " regr_count is 0 then.",
		"SELECT regr_avgx(x, y) * regr_avgy(x, u) * regr_count(x, y) FROM t", ""},
	{"product", "x", "The product of numbers, in double precision. A loss computes it as e^Σln|x|, to about as many " +
		"units in the last place as that sum is large.", "`g` times the product of the other rows, also where some are 0", "",
		"SELECT sum(z * z) FROM (SELECT n, product(x) AS z FROM t GROUP BY n) q", ""},
	{"vector_agg", "index bigint, value, size", "The vector of that size with each row's value at its index, counted " +
		"from 0, and 0 elsewhere; values at one index add up. " +
		"An index outside is an error. real gives real[]. The size is constant.", "`g[1 + index]`",
		"Rows where index or value is NULL are skipped.",
		"SELECT sum(sqnorm(z) * z[2]) FROM (SELECT n, vector_agg(id % 3, x, 3) AS z FROM t GROUP BY n) q", ""},
	{"array_agg", "x ORDER BY …", "The values in an array: numbers become a vector, chunks are stacked along a new " +
		"first axis. In a loss all groups have one number of rows, " +
		"and the order does not depend on a parameter.", "its element of `g`", "NULL among numbers is an error.",
		"SELECT sum(sqnorm(z) * z[2]) FROM (SELECT array_agg(coalesce(x, 2) ORDER BY id DESC) AS z FROM t) q", ""},
	metric("accuracy", "predicted, actual", "The share of the rows in which both are equal, of any type; predicted may "+
		"also be boolean and actual 0 or 1, as in `accuracy(p > 0.5, label)`. accuracy_score of scikit-learn.",
		"cross_entropy(logits, label) or bce_with_logits(z, label)"),
	metric("auc", "score, label", "The area under the ROC curve: the share of the pairs of a row labelled 1 and one "+
		"labelled 0 in which the first has the greater score; equal scores count one half. The label is 0 or 1, or "+
		"boolean. NULL where all labels are equal. roc_auc_score of scikit-learn.", "bce_with_logits(score, label)"),
	metric("f1", "predicted, actual", "`2·tp / (2·tp + fp + fn)`, of numbers 0 and 1 or of booleans, as in `f1(p > "+
		"0.5, label)`; 0 where no row is 1. f1_score of scikit-learn.", "bce_with_logits(z, label)"),
	metric("rmse", "predicted, actual", "The root of the mean square of their difference. root_mean_squared_error of "+
		"scikit-learn.", "sqrt(avg(square(predicted - actual)))"),
	metric("log_loss", "probability, label", "The mean of `-ln(probability)` where the label is 1, of `-ln(1 - "+
		"probability)` where it is 0. The probability is taken to be 2⁻⁵² at least and 1 - 2⁻⁵² at most. The label may be "+
		"boolean. log_loss of scikit-learn, of two classes.", "avg(bce_with_logits(z, label)) of the logit z"),
	metric("ndcg", "score, relevance [, k]", "The gain of a ranking by falling score, of its first k places, over the "+
		"greatest possible: `Σ relevance / log2(1 + place)`. Rows of one score have their mean relevance, which is the mean "+
		"over their orders. 0 where no row is relevant. Each query is a group: `SELECT avg(n) FROM (SELECT ndcg(score, "+
		"relevance, 10) AS n FROM t GROUP BY query) q`. ndcg_score of scikit-learn.", "cross_entropy(logits, label)"),
}

// metric is an aggregate that is no part of a loss.
func metric(name, args, doc, instead string) Aggregate {
	return Aggregate{Name: name, Args: args, Doc: doc, Null: "A row of which one is NULL is skipped; NULL for no rows.",
		Instead: instead}
}

// Metric returns the metric of a name, nil for any other function.
func Metric(name string) *Aggregate {
	for i := range aggregates {
		if a := &aggregates[i]; a.Name == name && a.Loss == "" {
			return a
		}
	}
	return nil
}
