-- Cora: papers, citations, words. The folder :cora holds the real data.
SET search_path = public, relgrad;
\cd :cora
CREATE TABLE node (node int PRIMARY KEY, label int, split text);
CREATE TABLE adj (src int, dst int, weight real, PRIMARY KEY (src, dst));
CREATE TABLE raw_feature (node int, feature int, value real, PRIMARY KEY (node, feature));
\copy node FROM PROGRAM 'gzip -dc cora/nodes.csv.gz' WITH (FORMAT csv, HEADER)
\copy adj FROM PROGRAM 'gzip -dc cora/adj_norm.csv.gz' WITH (FORMAT csv, HEADER)
\copy raw_feature FROM PROGRAM 'gzip -dc cora/features.csv.gz' WITH (FORMAT csv, HEADER)
CREATE TABLE feature (node int, feature int, value real, PRIMARY KEY (node, feature));
INSERT INTO feature SELECT node, feature, value / sum(value) OVER (PARTITION BY node) FROM raw_feature;
