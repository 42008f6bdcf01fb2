"""Reads, changes and writes tables of Delta Lake with deltalake and polars, for python_test.go and the lists' test.

tables.py read DIR...    prints the rows of each table, as deltalake and as polars read it
tables.py change DIR     appends to a table, deletes from it, writes a checkpoint
tables.py append DIR     appends ten times
tables.py write DIR      writes tables of its own and prints their rows
tables.py lists DIR      prints the rows in JSON, in the order of their first columns, by deltalake and by polars
tables.py arrays DIR     writes a table with columns of lists
"""
import datetime
import decimal
import json
import os
import struct
import sys

import deltalake
import polars
import pyarrow as pa
import pyarrow.parquet as pq


def text(v):
    """A value as text: floats by their bits."""
    if v is None:
        return "-"
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, float):
        return "%016x" % struct.unpack("<Q", struct.pack("<d", v))[0]
    if isinstance(v, (bytes, bytearray)):
        return "x" + v.hex()
    if isinstance(v, datetime.datetime):
        epoch = datetime.datetime(1970, 1, 1, tzinfo=v.tzinfo and datetime.timezone.utc)
        return "t%d" % ((v - epoch) // datetime.timedelta(microseconds=1))
    if isinstance(v, datetime.date):
        return v.isoformat()
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, dict):
        return "{" + " ".join(k + "=" + text(v[k]) for k in sorted(v)) + "}"
    if isinstance(v, (list, tuple)):
        return "[" + " ".join(text(x) for x in v) + "]"
    return str(v)


def show(title, table):
    print("==", title)
    names = sorted(table.column_names)
    rows = zip(*(table.column(n).to_pylist() for n in names)) if table.num_rows else []
    for line in sorted(" | ".join(text(v) for v in row) for row in rows):
        print(line)


def read(path, predicate=None):
    show(path, deltalake.DeltaTable(path).to_pyarrow_table(filters=predicate))


def read_polars(path):
    frame = polars.scan_delta(path).collect()
    names = sorted(frame.columns)
    print("==", path)
    for line in sorted(" | ".join(text(v) for v in row) for row in frame.select(names).iter_rows()):
        print(line)


def change(path):
    rows = pa.table({"k": pa.array([100, 101], pa.int64()), "v": pa.array([1.5, None], pa.float64()),
                     "s": pa.array(["p", None], pa.string())})
    deltalake.write_deltalake(path, rows, mode="append")
    t = deltalake.DeltaTable(path)
    t.delete("k = 101")
    t.create_checkpoint()
    deltalake.write_deltalake(path, rows, mode="append")


def write(base):
    n = 1000
    utc = datetime.timezone.utc
    rows = pa.table({
        "b": pa.array([i % 3 == 0 for i in range(n)]), "i1": pa.array([i % 100 for i in range(n)], pa.int8()),
        "i2": pa.array(range(n), pa.int16()), "i8": pa.array([i << 40 for i in range(n)], pa.int64()),
        "f4": pa.array([i / 3 for i in range(n)], pa.float32()),
        "f8": pa.array([float("nan") if i == 7 else i / 3 for i in range(n)], pa.float64()),
        "s": pa.array([None if i % 5 == 0 else "text %d" % i for i in range(n)]),
        "raw": pa.array([bytes([i % 256]) * (i % 7) for i in range(n)], pa.binary()),
        "day": pa.array([datetime.date(2000, 1, 1) + datetime.timedelta(i) for i in range(n)]),
        "at": pa.array([datetime.datetime(2020, 1, 1, 1, 2, 3, i, utc) for i in range(n)], pa.timestamp("us", "UTC")),
        "clock": pa.array([datetime.datetime(1960, 1, 1, 1, 2, 3, i) for i in range(n)], pa.timestamp("us")),
        "money": pa.array([decimal.Decimal(i) / 100 - 5 for i in range(n)], pa.decimal128(9, 2)),
        "big": pa.array([decimal.Decimal(i * 10 ** 20) for i in range(n)], pa.decimal128(38, 0)),
        "list": pa.array([list(range(i % 4)) if i % 6 else None for i in range(n)], pa.list_(pa.int32())),
        "deep": pa.array([[[1.0 * i], []] for i in range(n)], pa.list_(pa.list_(pa.float32()))),
        "st": pa.array([{"x": i, "y": ["a", None]} for i in range(n)],
                       pa.struct([("x", pa.int64()), ("y", pa.list_(pa.string()))])),
        "m": pa.array([[("k%d" % i, i)] for i in range(n)], pa.map_(pa.string(), pa.int32())),
        "p": pa.array([["a b", "50%", "ä=/", None][i % 4] for i in range(n)])})
    path = os.path.join(base, "types")
    deltalake.write_deltalake(path, rows, partition_by=["p"])
    deltalake.write_deltalake(path, rows.slice(0, 10).drop_columns(["deep"]).append_column(
        "new", pa.array(range(10), pa.int32())), mode="append", schema_mode="merge")
    deltalake.DeltaTable(path).create_checkpoint()
    read(path)
    path = os.path.join(base, "frame")
    frame = polars.from_arrow(rows.drop_columns(["m"]))
    frame.write_delta(path)
    frame.head(10).write_delta(path, mode="append")
    read(path)
    path = os.path.join(base, "many")
    small = pa.table({"k": pa.array([1, 2, 3], pa.int64())})
    for i in range(13):
        deltalake.write_deltalake(path, small, mode="append", configuration={"delta.checkpointInterval": "5"})
    t = deltalake.DeltaTable(path)
    t.optimize.compact()
    t.delete("k = 2")
    read(path)
    for number, options in enumerate([
            dict(use_dictionary=False, column_encoding={"k": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY"}),
            dict(use_dictionary=False, column_encoding={"k": "DELTA_BINARY_PACKED", "s": "DELTA_LENGTH_BYTE_ARRAY"}),
            dict(data_page_version="2.0", compression="gzip"), dict(compression="snappy", data_page_size=100),
            dict(compression="none", use_deprecated_int96_timestamps=True), dict(write_page_index=True)]):
        one = pa.table({"k": pa.array([None if i % 9 == 0 else i * i for i in range(n)], pa.int64()),
                        "s": pa.array(["prefix %d" % (i // 3) for i in range(n)]), "at": rows.column("at")})
        path = os.path.join(base, "encoded%d.parquet" % number)
        pq.write_table(one, path, **options)
        show(path, one)


def lists(path):
    frame = polars.scan_delta(path).collect()
    for table in deltalake.DeltaTable(path).to_pyarrow_table(), frame.to_arrow():
        print("==", path)
        for row in sorted(zip(*(c.to_pylist() for c in table.columns)), key=lambda row: row[0]):
            print(json.dumps(row, default=str, ensure_ascii=False))


def arrays(path):
    utc = datetime.timezone.utc
    day, at = datetime.date(1969, 12, 31), datetime.datetime(2026, 1, 2, 3, 4, 5, 6)

    def column(typ, *rows):
        return pa.array(rows, pa.list_(typ))

    deltalake.write_deltalake(path, pa.table({
        "k": pa.array([1, 2, 3], pa.int32()),
        "b": column(pa.int8(), [1, -128], [], None),
        "s": column(pa.int16(), [32767], [None], []),
        "i": column(pa.int32(), [1, None, -2], None, [2147483647]),
        "l": column(pa.int64(), [9007199254740993, None], [], None),
        "x": column(pa.string(), ["a b", None, "NULL", "", '"q"', "{x,y}", "ä\\"], [], [None]),
        "d": column(pa.date32(), [day, None], None, []),
        "n": column(pa.decimal128(9, 2), [decimal.Decimal("-1.50"), None], [], None),
        "o": column(pa.bool_(), [True, None, False], None, []),
        "t": column(pa.timestamp("us", "UTC"), [at.replace(tzinfo=utc), None], [], None),
        "c": column(pa.timestamp("us"), [at, None], None, []),
        "f": column(pa.float32(), [0.1, -0.0], [float("inf"), 1], None),
        "g": column(pa.float64(), [0.1, float("nan")], None, [5e-324, float("-inf")]),
        "m": column(pa.list_(pa.int64()), [[1, 2, None], [3, 4, 5]], [], None),
        "w": column(pa.list_(pa.float32()), [[1.5, 2]], [[3, 4]], None),
        "hole": column(pa.float32(), [1.5, None], [2], None)}))


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    for path in paths:
        if command == "read":
            read(path)
            read_polars(path)
        elif command == "change":
            change(path)
            read(path)
        elif command == "lists":
            lists(path)
        elif command == "arrays":
            arrays(path)
        elif command == "append":
            row = pa.table({"k": pa.array([7], pa.int64()), "v": [1.0], "s": ["python"]})
            for _ in range(10):
                deltalake.write_deltalake(path, row, mode="append")
        else:
            write(path)
    # Threads of a library may still run: where Python ends as usual, they sometimes abort it.
    sys.stdout.flush()
    os._exit(0)
