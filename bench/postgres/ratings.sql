-- Other measurements have tables of these names.
DROP TABLE IF EXISTS rating, taste, trait CASCADE;
CREATE TABLE rating AS SELECT u AS usr, 50 * j + (u * 7 + j * 13) % 50 AS item,
    (1 + (u * 31 + j * 17) % 9) / 2.0::real AS rating
  FROM generate_series(0, :users - 1) AS u, generate_series(0, 99) AS j;
ALTER TABLE rating ADD PRIMARY KEY (usr, item);
CREATE TABLE taste (usr int PRIMARY KEY, v real[]);
CREATE TABLE trait (item int PRIMARY KEY, v real[]);
CREATE VIEW rating_loss AS SELECT avg((r.rating - dot(u.v, i.v)) ^ 2) AS loss
  FROM rating r JOIN taste u USING (usr) JOIN trait i USING (item);
