"""Non-negative factorisation of a dense matrix by projected gradients.

forms: numpy      the gradient by way of the residual
       algebraic  dW = W(HHᵀ) − AHᵀ, dH = (WᵀW)H − WᵀA: what its author may find by hand; the loss costs next to nothing then
"""
from common import *
from blocks import *

a, w, h = dense(table("a")), below(table("w")), beside(table("h"))
r, rate = None if form == "algebraic" else np.empty_like(a), np.float32(2e-6)
square = float(np.vdot(a, a))


def update(dw, dh):
    global w, h
    w -= rate * dw
    h -= rate * dh
    np.maximum(w, 0, out=w)
    np.maximum(h, 0, out=h)


def plain(_):
    np.matmul(w, h, out=r)
    np.subtract(r, a, out=r)
    loss = float(np.vdot(r, r))
    update(r @ h.T, w.T @ r)
    return loss


def algebraic(_):
    ah, hh, ww = a @ h.T, h @ h.T, w.T @ w
    loss = square - 2 * np.vdot(ah.astype(np.float64), w) + np.vdot(ww.astype(np.float64), hh)
    update(w @ hh - ah, ww @ h - w.T @ a)
    return loss


report(*measure(algebraic if form == "algebraic" else plain), numpy_version())
