"""Writes and reads tensors as relgrad's layouts do, by deltalake, zarr, TileDB and NumPy, in turns.

Each line of standard input is a request, an object of JSON, and is answered by one: the seconds that it took, and what the
request asks for. What is prepared and checked around it is not timed. A request names a program, a form, and a tensor, whose
elements lie in files: data.bin, and for a sparse tensor c0.bin, c1.bin, …, its indices as int64, sorted.
"""
import gc, importlib, json, os, shutil, sys, time

import numpy as np

memory = {}  # by folder: a tensor's elements, or rows of a table


def tensor(q):
    """The elements of a dense tensor; the indices and elements of a sparse one."""
    folder = q["data"]
    if folder not in memory:
        data = np.fromfile(os.path.join(folder, "data.bin"), q["dtype"])
        if q["sparse"]:
            rank = range(len(q["shape"]))
            memory[folder] = [np.fromfile(os.path.join(folder, f"c{d}.bin"), np.int64) for d in rank], data
        else:
            memory[folder] = data.reshape(q["shape"])
    return memory[folder]


def lib(name):
    return importlib.import_module(name)


class Plain:
    """Files of NumPy's: npy, which slices map, and npz with indices, which slices read whole, as a .pt file of torch is."""

    versions = "numpy"

    def write(q, x):
        os.makedirs(q["place"])
        file = os.path.join(q["place"], "x")
        if q["sparse"]:
            np.savez(file, *x[0], values=x[1])
        else:
            np.save(file, x)

    def read(q, part):
        file = os.path.join(q["place"], "x")
        if not q["sparse"]:
            if part:
                return np.array(np.load(file + ".npy", mmap_mode="r")[part[0] : part[1]])
            return np.load(file + ".npy")
        with np.load(file + ".npz") as f:
            values, first = f["values"], f["arr_0"]
            coords = [first] + [f[f"arr_{d}"] for d in range(1, len(q["shape"]))]
        if part:
            keep = (first >= part[0]) & (first < part[1])
            return [c[keep] for c in coords], values[keep]
        return coords, values


class Delta:
    """Tables of deltalake. The form blob has the npy file of the tensor in one row. Of other forms than ftsf and coo, rows that
    relgrad made are written and read, without making a tensor of them."""

    versions = "deltalake"

    def prepare(q):
        """The rows that are written, where making them is not timed."""
        if q["form"] in ("blob", "ftsf", "coo"):
            return tensor(q)
        key = "rows", q["data"], q["form"]
        if key not in memory:
            memory[key] = lib("deltalake").DeltaTable(q["rows"]).to_pyarrow_table()
        return memory[key]

    def rows(q, x):
        pa = lib("pyarrow")
        if q["form"] == "blob":
            import io

            out = io.BytesIO()
            np.save(out, x)
            return pa.table({"id": ["x"], "chunk": pa.array([out.getvalue()], pa.large_binary())}), 1
        if q["form"] == "ftsf":
            n, width = x.shape[0] * x.shape[1], x[0, 0].nbytes
            offsets = pa.py_buffer(np.arange(n + 1, dtype=np.int64) * width)
            chunks = pa.Array.from_buffers(pa.large_binary(), n, [None, offsets, pa.py_buffer(x)])
            dims = pa.repeat(pa.scalar(list(x.shape), pa.list_(pa.int32())), n)
            own = {"dim_count": pa.repeat(pa.scalar(x.ndim, pa.int32()), n), "dimensions": dims,
                   "chunk_dim_count": pa.repeat(pa.scalar(x.ndim - 2, pa.int32()), n),
                   "chunk_index": pa.array(np.arange(n)), "chunk": chunks}
        elif q["form"] == "coo":
            n = len(x[1])
            shape = pa.repeat(pa.scalar(q["shape"], pa.list_(pa.int64())), n)
            own = {"dense_shape": shape} | {f"i{d}": pa.array(c) for d, c in enumerate(x[0])} | {"value": pa.array(x[1])}
        else:
            return x, max(1, x.num_rows // 64)
        head = {"id": "x", "layout": q["form"], "dtype": q["dtype"]}
        return pa.table({k: pa.repeat(v, n) for k, v in head.items()} | own), max(1, n // 64)

    def write(q, x):
        d = lib("deltalake")
        table, group = Delta.rows(q, x)
        plain = d.ColumnProperties(dictionary_enabled=False, statistics_enabled="NONE")
        if q["form"] == "coo":
            group = max(group, 1 << 15)
        d.write_deltalake(q["place"], table, writer_properties=d.WriterProperties(compression="ZSTD", compression_level=1,
                          max_row_group_size=group, column_properties={"chunk": plain}))

    def read(q, part):
        d, ds = lib("deltalake"), lib("pyarrow.dataset")
        table = d.DeltaTable(q["place"]).to_pyarrow_dataset()
        form, bounds, columns = q["form"], None, None
        if form == "blob":
            import io

            x = np.load(io.BytesIO(table.to_table(columns=["chunk"])["chunk"][0].as_py()))
            return np.array(x[part[0] : part[1]]) if part else x
        if part and form != "csc":  # where columns are compressed, a slice of rows reads everything
            first, last, low, high = Delta.bounds(q, *part)
            bounds = (ds.field(first) >= low) & (ds.field(last) <= high)
        if form == "ftsf":
            rows = table.to_table(filter=bounds, columns=["chunk_index", "chunk"]).sort_by("chunk_index")
            chunks = [np.frombuffer(b.as_buffer(), q["dtype"]) for b in rows["chunk"]]
            return np.concatenate(chunks).reshape([-1] + q["shape"][1:])
        if form == "coo":
            names = [f"i{d}" for d in range(len(q["shape"]))]
            rows = table.to_table(filter=bounds, columns=names + ["value"])
            return [rows[n].to_numpy() for n in names], rows["value"].to_numpy()
        return table.to_table(filter=bounds)

    def bounds(q, low, high):
        """The columns that must not be below the first and above the second number, for a slice."""
        form = q["form"]
        if form == "ftsf":
            return "chunk_index", "chunk_index", low * q["shape"][1], high * q["shape"][1] - 1
        if form == "coo":
            return "i0", "i0", low, high - 1
        if form == "csf":
            return "root_last", "root_first", low, high - 1
        rows = memory["rows", q["data"], form]
        if form == "bsgs":
            block = rows["block_shape"][0].as_py()[0]
            return "i0", "i0", low // block, (high - 1) // block
        inner = int(np.prod(q["shape"][1 : rows["row_dims"][0].as_py()]))
        return "last_row", "first_row", low * inner, high * inner - 1


class Zarr:
    """Arrays of zarr, in 64 chunks along the first dimension."""

    versions = "zarr"

    def write(q, x):
        z = lib("zarr")
        a = z.create_array(q["place"], shape=x.shape, dtype=x.dtype, chunks=(max(1, x.shape[0] // 64),) + x.shape[1:],
                           compressors=z.codecs.ZstdCodec(level=1))
        a[:] = x

    def read(q, part):
        a = lib("zarr").open_array(q["place"], mode="r")
        return a[part[0] : part[1]] if part else a[:]


class Tile:
    """Arrays of TileDB, dense in 64 tiles along the first dimension, or sparse with tiles of a 64th of it."""

    versions = "tiledb"

    def write(q, x):
        t = lib("tiledb")
        zstd = t.FilterList([t.ZstdFilter(level=1)])
        dims = []
        for d, n in enumerate(q["shape"]):
            tile = max(1, n // 64) if d == 0 else n
            dims.append(t.Dim(f"d{d}", domain=(0, n - 1), tile=tile, dtype=np.uint64, filters=zstd))
        attrs = [t.Attr("v", dtype=q["dtype"], filters=zstd)]
        t.Array.create(q["place"], t.ArraySchema(domain=t.Domain(*dims), attrs=attrs, sparse=q["sparse"]))
        with t.open(q["place"], "w") as a:
            if q["sparse"]:
                a[tuple(x[0])] = {"v": x[1]}
            else:
                a[:] = x

    def read(q, part):
        t = lib("tiledb")
        with t.open(q["place"]) as a:
            x = a[part[0] : part[1]] if part else a[:]
        if not q["sparse"]:
            return x["v"] if isinstance(x, dict) else x
        return [x[f"d{d}"] for d in range(len(q["shape"]))], x["v"]


programs = {"NumPy": Plain, "deltalake": Delta, "zarr": Zarr, "TileDB": Tile}


def size(folder):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(folder) for f in names)


def checked(x):
    """How many elements there are that are not zero, and the sum of their absolute values; nothing of rows."""
    if isinstance(x, tuple):
        x = x[1]
    if not isinstance(x, np.ndarray):
        return {}
    return {"count": int(np.count_nonzero(x)), "sum": float(np.abs(x).sum(dtype=np.float64))}


def answer(q):
    p = programs[q["program"]]
    version = lib(p.versions).__version__
    if q["op"] == "write":
        shutil.rmtree(q["place"], ignore_errors=True)
        x = p.prepare(q) if p is Delta else tensor(q)
        gc.collect()
        begin = time.perf_counter()
        p.write(q, x)
        took = time.perf_counter() - begin
        return {"seconds": took, "bytes": size(q["place"]), "version": f"{q['program']} {version}"}
    took = []
    for _ in range(q["times"]):
        gc.collect()
        begin = time.perf_counter()
        x = p.read(q, q["part"])
        took.append(time.perf_counter() - begin)
    return {"seconds": sorted(took)[len(took) // 2]} | checked(x)


for line in sys.stdin:
    try:
        out = answer(json.loads(line))
    except ImportError as e:
        out = {"missing": str(e)}
    except Exception as e:
        out = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(out), flush=True)
