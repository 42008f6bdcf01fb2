"""Runs programs of this folder in one process, which loads their library once: each line of standard input is the arguments of
one, a list of JSON, whose first is the program. A program that runs in turns reads its turns from the lines behind.
"""
import gc, json, runpy, sys

for line in sys.stdin:
    sys.argv = json.loads(line)
    sys.modules.pop("common", None)  # it reads the arguments
    program = runpy.run_path(sys.argv[0])
    del program
    gc.collect()
