"""Reads and writes tensors in tables with deltalake, polars and numpy, for python_test.go.

tensors.py read DIR... prints the sum of the bytes of each tensor's elements, as deltalake and as polars read it
tensors.py write DIR   writes a table for each layout, and prints the same of the tensor in it
tensors.py change DIR... appends a copy of the tensor "x" as "copy" to each table, and makes a checkpoint and fewer files
"""
import hashlib
import io
import os
import sys

import deltalake
import numpy as np
import polars
import pyarrow as pa

ORDINALS = ["zero", "one", "two", "three", "four", "five"]


def show(name, array):
    data = np.ascontiguousarray(array).tobytes()
    print(name, array.dtype, "x".join(map(str, array.shape)), hashlib.sha256(data).hexdigest())


def dense(rows):
    """The array of a tensor's rows, each a dict."""
    first = rows[0]
    dtype = np.dtype(first["dtype"])
    if first["layout"] == "ftsf":
        chunks = {r["chunk_index"]: r["chunk"] for r in rows if r["chunk"] is not None}
        data = b"".join(chunks[i] for i in sorted(chunks))
        return np.frombuffer(data, dtype).reshape(first["dimensions"])
    shape = first["dense_shape"]
    out = np.zeros(shape, dtype)
    flat = out.reshape(-1)
    for r in rows:
        read[r["layout"]](r, out, flat, shape)
    return out


def read_coo(r, out, flat, shape):
    if r["value"] is not None:
        out[tuple(r["i%d" % d] for d in range(len(shape)))] = r["value"]


def read_csr(r, out, flat, shape):
    columns = r["flattened_shape"][1]
    starts = r["crow_indices"]
    for row in range(len(starts) - 1):
        for k in range(starts[row], starts[row + 1]):
            flat[(r["first_row"] + row) * columns + r["col_indices"][k]] = r["value"][k]


def read_csc(r, out, flat, shape):
    columns = r["flattened_shape"][1]
    starts = r["ccol_indices"]
    for column in range(len(starts) - 1):
        for k in range(starts[column], starts[column + 1]):
            flat[r["row_indices"][k] * columns + r["first_col"] + column] = r["value"][k]


def read_csf(r, out, flat, shape):
    def walk(level, node, index):
        index = index + (r["fid_" + ORDINALS[level]][node],)
        if level == len(shape) - 1:
            out[index] = r["value"][node]
            return
        starts = r["fptr_" + ORDINALS[level]]
        for child in range(starts[node], starts[node + 1]):
            walk(level + 1, child, index)

    for node in range(len(r["fid_zero"])):
        walk(0, node, ())


def read_bsgs(r, out, flat, shape):
    if r["values"] is None:
        return
    block = np.array(r["values"], out.dtype).reshape(r["block_shape"])
    corner = [r["i%d" % d] * r["block_shape"][d] for d in range(len(shape))]
    place = tuple(slice(c, min(c + b, n)) for c, b, n in zip(corner, block.shape, shape))
    out[place] = block[tuple(slice(0, p.stop - p.start) for p in place)]


read = {"coo": read_coo, "csr": read_csr, "csc": read_csc, "csf": read_csf, "bsgs": read_bsgs}


def read_table(path):
    table = deltalake.DeltaTable(path)
    for name in sorted(set(table.to_pyarrow_table(columns=["id"]).column("id").to_pylist())):
        show(name, dense(table.to_pyarrow_table(filters=[("id", "=", name)]).to_pylist()))
        show(name, dense(polars.scan_delta(path).filter(polars.col("id") == name).collect().to_dicts()))


def write_tables(base):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6, 4, 5)).astype(np.float32)
    x[rng.random(x.shape) < 0.7] = 0
    ints = pa.list_(pa.int32())

    def store(name, array, columns):
        path = os.path.join(base, name)
        deltalake.write_deltalake(path, pa.table(columns))
        show(name, array)

    def npy(a):
        b = io.BytesIO()
        np.save(b, a)
        return b.getvalue()

    big = np.asfortranarray(x.astype(">f8"))
    n = 6
    for name, array, chunks in [("ftsf", x, [c.tobytes() for c in x]), ("npy", x, [npy(c) for c in x]),
                                ("fortran", x.astype(np.float64), [npy(np.asfortranarray(c)) for c in big])]:
        order = [3, 1, 0, 5, 2, 4]
        store(name, array, {
            "id": ["x"] * n, "chunk": pa.array([chunks[i] for i in order], pa.binary()),
            "dim_count": pa.array([3] * n, pa.int32()), "dimensions": pa.array([x.shape] * n, ints),
            "chunk_dim_count": pa.array([2] * n, pa.int32()), "chunk_index": pa.array(order, pa.int64()),
            "dtype": [str(array.dtype)] * n})
    at = np.argwhere(x)
    k = len(at)
    values = x[tuple(at.T)]
    head = {"id": ["x"] * k, "layout": ["COO"] * k, "dense_shape": pa.array([x.shape] * k, ints)}
    store("coo", x, head | {"value": values} | {"i%d" % d: at[:, d] for d in range(3)})
    store("indices", x, head | {"value": values, "indices": pa.array(at.tolist(), ints)})
    flat = x.reshape(6, 20)
    where = np.argwhere(flat)
    starts = np.searchsorted(where[:, 0], range(7))
    store("csr", x, {"id": ["x"], "layout": ["CSR"], "dense_shape": pa.array([x.shape], ints),
                     "flattened_shape": pa.array([flat.shape], ints), "crow_indices": pa.array([starts], ints),
                     "col_indices": pa.array([where[:, 1]], ints), "value": pa.array([values], pa.list_(pa.float32()))})
    where = np.argwhere(x.reshape(24, 5).T)  # in the order of columns
    starts = np.searchsorted(where[:, 0], range(6))
    store("csc", x, {"id": ["x"], "layout": ["CSC"], "dense_shape": pa.array([x.shape], ints),
                     "flattened_shape": pa.array([(24, 5)], ints), "ccol_indices": pa.array([starts], ints),
                     "row_indices": pa.array([where[:, 1]], ints),
                     "value": pa.array([x.reshape(24, 5)[where[:, 1], where[:, 0]]], pa.list_(pa.float32()))})
    ids, pointers = [], []
    for level in range(3):  # the nodes of a level are the different beginnings of indices
        nodes = np.unique(at[:, :level + 1], axis=0)
        ids.append(nodes[:, level])
        if level > 0:
            above = np.unique(at[:, :level], axis=0)
            first = [tuple(n) for n in nodes[:, :level].tolist()]
            pointers.append([first.index(tuple(n)) for n in above.tolist()] + [len(nodes)])
    store("csf", x, {"id": ["x"], "layout": ["CSF"], "dense_shape": pa.array([x.shape], ints),
                     "fid_zero": pa.array([ids[0]], ints), "fid_one": pa.array([ids[1]], ints),
                     "fid_two": pa.array([ids[2]], ints), "fptr_zero": pa.array([pointers[0]], ints),
                     "fptr_one": pa.array([pointers[1]], ints), "value": pa.array([values], pa.list_(pa.float32()))})
    blocks = [(i, j, x[i:i + 1, 2 * j:2 * j + 2]) for i in range(6) for j in range(2)]
    blocks = [b for b in blocks if b[2].any()]
    k = len(blocks)
    store("bsgs", x, {"id": ["x"] * k, "dense_shape": pa.array([x.shape] * k, ints),
                      "block_shape": pa.array([[1, 2, 5]] * k, ints),
                      "indices": pa.array([[i, j, 0] for i, j, _ in blocks], ints),
                      "values": pa.array([b.reshape(-1) for _, _, b in blocks], pa.list_(pa.float32()))})


def change_table(path):
    rows = deltalake.DeltaTable(path).to_pyarrow_table(filters=[("id", "=", "x")])
    copy = rows.set_column(rows.column_names.index("id"), "id", pa.array(["copy"] * rows.num_rows))
    deltalake.write_deltalake(path, copy, mode="append")
    table = deltalake.DeltaTable(path)
    table.create_checkpoint()
    table.optimize.compact()
    table.create_checkpoint()


if __name__ == "__main__":
    if sys.argv[1] == "read":
        for path in sys.argv[2:]:
            read_table(path)
    elif sys.argv[1] == "change":
        for path in sys.argv[2:]:
            change_table(path)
    else:
        write_tables(sys.argv[2])
    # Threads of a library may still run: where Python ends as usual, they sometimes abort it.
    sys.stdout.flush()
    os._exit(0)
