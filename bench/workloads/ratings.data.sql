-- Ratings of some users for some items.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE rating (usr int, item int, rating real, PRIMARY KEY (usr, item));
\copy rating FROM 'rating.npz' WITH (FORMAT npz)
