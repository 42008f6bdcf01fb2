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


def flat(index, shape):
    """Indices as one number, in row-major order; 0 where there are none."""
    return np.ravel_multi_index(index, shape) if len(shape) else np.zeros(len(index[0]) if index else 1, np.int64)


def lists(values, starts):
    """A column of lists that begin at some places of an array."""
    pa = lib("pyarrow")
    return pa.LargeListArray.from_arrays(pa.array(np.append(starts, len(values)), pa.int64()), pa.array(values))


def parts(column):
    """The numbers of a column of lists one after the other, and how many each list has."""
    column = column.combine_chunks()
    return column.flatten().to_numpy(), lib("pyarrow").compute.list_value_length(column).to_numpy().astype(np.int64)


def sections(n, most):
    """Where sections of about so many elements begin."""
    return np.arange(0, max(n, 1), max(most, 1))


class Matrix:
    """csr and csc: some rows or columns of a matrix in each row of the table."""

    def names(q):
        column = q["form"] == "csc"
        return ("first_col", "last_col", "ccol_indices", "row_indices") if column else \
            ("first_row", "last_row", "crow_indices", "col_indices")

    def rows(q, x, like):
        (coords, values), shape, k = x, q["shape"], like["row_dims"]
        sides = flat(coords[:k], shape[:k]), flat(coords[k:], shape[k:])
        major, minor = sides[::-1] if q["form"] == "csc" else sides
        if q["form"] == "csc":
            order = np.lexsort((minor, major))
            major, minor, values = major[order], minor[order], values[order]
        starts = np.unique(np.searchsorted(major, major[sections(len(values), like["most"])]))
        ends = np.append(starts[1:], len(values))
        pointers = [np.searchsorted(major[a:b], np.arange(major[a], major[b - 1] + 2)) for a, b in zip(starts, ends)]
        begin = np.cumsum([0] + [len(p) for p in pointers])[:-1]
        first, last, crow, inner = Matrix.names(q)
        sizes = [int(np.prod(shape[:k])), int(np.prod(shape[k:]))]
        same = {"flattened_shape": sizes, "row_dims": k}
        return same, {first: major[starts], last: major[ends - 1], crow: lists(np.concatenate(pointers), begin),
                      inner: lists(minor, starts), "value": lists(values, starts)}

    def tensor(q, table, like):
        first, _, crow, inner = Matrix.names(q)
        pointers, many = parts(table[crow])
        own = np.diff(pointers, append=0)
        ends = np.cumsum(many) - 1
        own[ends] = 0
        rows = np.arange(len(pointers)) - np.repeat(ends + 1 - many, many) + np.repeat(table[first].to_numpy(), many)
        major, minor, k, shape = np.repeat(rows, own), parts(table[inner])[0], like["row_dims"], q["shape"]
        if q["form"] == "csc":
            major, minor = minor, major
        coords = [*np.unravel_index(major, shape[:k]), *np.unravel_index(minor, shape[k:])]
        return coords, parts(table["value"])[0]


class Tree:
    """csf: the tree of some elements in each row of the table."""

    ordinals = "zero one two three four five six seven eight nine".split()

    def rows(q, x, like):
        coords, values = x
        starts = sections(len(values), like["most"])
        new = np.zeros(len(values), bool)
        new[starts] = True
        own, at = {"root_first": coords[0][starts], "root_last": coords[0][np.append(starts[1:], len(values)) - 1]}, None
        above = None
        for d, c in enumerate(coords):
            new = new.copy()
            new[1:] |= c[1:] != c[:-1]
            number = np.cumsum(new) - 1  # of each element's node in this level
            if above is not None:
                up, begin = above
                child = np.append(number[up], number[-1] + 1)  # the first child of each node, and the end
                base = number[starts]
                ends = np.append(begin[1:], len(up))
                lists_ = [np.append(child[a:b], child[b]) - s for a, b, s in zip(begin, ends, base)]
                own["fptr_" + Tree.ordinals[d - 1]] = lists(np.concatenate(lists_), begin + np.arange(len(begin)))
            nodes = np.flatnonzero(new)
            above = nodes, number[starts]
            own["fid_" + Tree.ordinals[d]] = lists(c[nodes], number[starts])
        return {}, own | {"value": lists(values, starts)}

    def tensor(q, table, like):
        rank = len(q["shape"])
        ids = [parts(table["fid_" + Tree.ordinals[d]])[0] for d in range(rank)]
        node, coords = np.arange(len(ids[-1])), [ids[-1]]
        for d in range(rank - 2, -1, -1):
            pointers, many = parts(table["fptr_" + Tree.ordinals[d]])
            own = np.delete(np.diff(pointers, append=0), np.cumsum(many) - 1)
            node = np.repeat(np.arange(len(own)), own)[node]
            coords.insert(0, ids[d][node])
        return coords, parts(table["value"])[0]


class Blocks:
    """bsgs: a block in each row of the table."""

    def rows(q, x, like):
        (coords, values), block = x, like["block"]
        index = [c // b for c, b in zip(coords, block)]
        order = np.lexsort(index[::-1])
        index = [i[order] for i in index]
        new = np.ones(len(values), bool)
        new[1:] = np.any([i[1:] != i[:-1] for i in index], axis=0)
        first, cells = np.flatnonzero(new), int(np.prod(block))
        dense = np.zeros(len(first) * cells, values.dtype)
        inner = flat([c[order] % b for c, b in zip(coords, block)], block)
        dense[(np.cumsum(new) - 1) * cells + inner] = values[order]
        own = {f"i{d}": i[first] for d, i in enumerate(index)}
        return {"block_shape": block}, own | {"values": lists(dense, np.arange(len(first)) * cells)}

    def tensor(q, table, like):
        block, (dense, _) = like["block"], parts(table["values"])
        at = np.flatnonzero(dense)
        row, inner = np.divmod(at, int(np.prod(block)))
        index = [table[f"i{d}"].to_numpy()[row] for d in range(len(block))]
        coords = [i * b + r for i, b, r in zip(index, block, np.unravel_index(inner, block))]
        return coords, dense[at]


sparse = {"csr": Matrix, "csc": Matrix, "csf": Tree, "bsgs": Blocks}


def alike(q):
    """How relgrad has cut the tensor, which deltalake's rows follow: dimensions that are rows, elements of a row, blocks."""
    key = "like", q["data"], q["form"]
    if key not in memory:
        rows = lib("deltalake").DeltaTable(q["rows"]).to_pyarrow_table()
        names = rows.column_names
        memory[key] = {
            "row_dims": rows["row_dims"][0].as_py() if "row_dims" in names else 0,
            "block": rows["block_shape"][0].as_py() if "block_shape" in names else None,
            "most": -(-len(tensor(q)[1]) // rows.num_rows),
        }
    return memory[key]


def ordered(q, coords, values, part):
    """A tensor in row-major order, and of it the slice."""
    if part:
        keep = (coords[0] >= part[0]) & (coords[0] < part[1])
        coords, values = [c[keep] for c in coords], values[keep]
    key = flat(coords, q["shape"])
    if np.any(key[1:] < key[:-1]):
        order = np.argsort(key)
        coords, values = [c[order] for c in coords], values[order]
    return coords, values


class Delta:
    """Tables of deltalake. The form blob has the npy file of the tensor in one row. The rows of other forms are made of the
    tensor, and a tensor of the rows, by NumPy."""

    versions = "deltalake"

    def prepare(q):
        """What is written; how relgrad has cut it is looked up before."""
        if q["form"] in sparse:
            alike(q)
        return tensor(q)

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
            same, own = sparse[q["form"]].rows(q, x, alike(q))
            n = len(next(iter(own.values())))
            types = {"row_dims": pa.int32()}
            same = {k: pa.repeat(pa.scalar(v, types.get(k, pa.list_(pa.int64()))), n) for k, v in
                    ({"dense_shape": q["shape"]} | same).items()}
            own = same | {k: v if isinstance(v, pa.Array) else pa.array(v) for k, v in own.items()}
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
        return ordered(q, *sparse[form].tensor(q, table.to_table(filter=bounds), alike(q)), part)

    def bounds(q, low, high):
        """The columns that must not be below the first and above the second number, for a slice."""
        form = q["form"]
        if form == "ftsf":
            return "chunk_index", "chunk_index", low * q["shape"][1], high * q["shape"][1] - 1
        if form == "coo":
            return "i0", "i0", low, high - 1
        if form == "csf":
            return "root_last", "root_first", low, high - 1
        like = alike(q)
        if form == "bsgs":
            block = like["block"][0]
            return "i0", "i0", low // block, (high - 1) // block
        inner = int(np.prod(q["shape"][1 : like["row_dims"]]))
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
    """How many elements there are that are not zero, and the sum of their absolute values."""
    if isinstance(x, tuple):
        x = x[1]
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
