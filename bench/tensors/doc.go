// Package tensors compares tensors in tables of Delta Lake with other ways to store them.
//
// # What
//
// `relgrad bench delta` (`make delta-bench`) writes, reads and slices Inputs: in each of relgrad's layouts, and by
// deltalake, zarr, TileDB and NumPy, which bench/peers/tensors.py drives in a process of its own. It writes
// bench/DELTA.md. deltalake writes and reads all layouts from tensor to tensor, as relgrad does: NumPy makes the rows
// of the tensor, cut as relgrad has cut it, and the tensor of the rows.
//
// # Invariants
//
// All programs store the same elements in the same order. Whatever reads a tensor or a slice must find as many elements
// that are not zero, and the same sum of their sizes. Programs take turns in rounds, of which the first does not
// count and every second one goes backwards; a ratio is the median of the ratios of single rounds. Each write makes a
// new table; each read opens it. Files lie in the benchmark's folder, and caches are warm.
//
// # Errors
//
// A library that is not installed and real data that are absent are reported as missing. A program that fails or finds
// other elements is an error, and so is a missed goal; the rest is still measured.
//
// # Where to add
//
// A tensor: a row of Inputs. A program: a class in bench/peers/tensors.py and its forms in cells. A goal: goals.
package tensors
