package psql

import "strings"

// beginnings are words that statements begin with; keywords are those that stand elsewhere, too.
var (
	beginnings = strings.Fields("SELECT INSERT UPDATE DELETE CREATE ALTER DROP CALL DO BEGIN COMMIT ROLLBACK SAVEPOINT " +
		"RELEASE COPY EXPLAIN SET SHOW RESET WITH VALUES TRUNCATE TABLE")
	keywords = append(strings.Fields("ADD ALL AND ANY ARRAY AS ASC BETWEEN BY CASCADE CASE CAST CHECK COLUMN CONFLICT "+
		"CONSTRAINT CROSS CURRENT DEFAULT DESC DISTINCT "+
		"ELSE END ESCAPE EXCEPT EXISTS FALSE FETCH FILTER FIRST FOREIGN FROM FULL FUNCTION GENERATED GROUP HAVING IDENTITY "+
		"IF ILIKE IN INDEX INNER INTERSECT INTO IS JOIN KEY "+
		"LANGUAGE LAST LEFT LIKE LIMIT NATURAL NOT NOTHING NULL NULLS OFFSET ON OR ORDER ORDINALITY OUTER OVER PARTITION "+
		"PRIMARY PROCEDURE RECURSIVE REFERENCES RENAME REPLACE "+
		"RETURNING RETURNS RIGHT ROW ROWS SCHEMA TEMP THEN TO TRUE UNION UNIQUE USING VIEW WHEN WHERE WINDOW "+
		"BIGINT BOOLEAN DATE INTEGER JSON NUMERIC REAL SMALLINT TEXT TIMESTAMP"), beginnings...)
	aggregates = strings.Fields(
		"accuracy array_agg auc avg count f1 log_loss max min ndcg rmse stddev_pop stddev_samp string_agg sum var_pop " +
			"var_samp vector_agg")
)

// relationComes tells whether the name of a relation follows a keyword.
func relationComes(word string) bool {
	switch word {
	case "from", "join", "into", "update", "table", "view", "truncate", "copy", "references":
		return true
	}
	return false
}
