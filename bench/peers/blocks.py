"""Matrices of tables of blocks."""
import numpy as np


def dense(t):
    """The matrix of a table with columns i, j and v."""
    n, m = t["i"].max() + 1, t["j"].max() + 1
    r, c = t["v"].shape[1:]
    return np.ascontiguousarray(t["v"].reshape(n, m, r, c).transpose(0, 2, 1, 3).reshape(n * r, m * c))


def below(t):
    """Blocks of a column of blocks, one below the other."""
    return t["v"].reshape(-1, t["v"].shape[2])


def beside(t):
    """Blocks of a row of blocks, side by side."""
    return np.ascontiguousarray(np.concatenate(list(t["v"]), axis=1))
