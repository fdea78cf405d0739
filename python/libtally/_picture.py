# SPDX-License-Identifier: Apache-2.0
"""A histogram as a small picture in a notebook, and drawn by matplotlib."""

import html as escaping

import numpy as np

WIDTH, HEIGHT = 360, 120


def html(hist):
    n = len(hist.axes)
    picture = (_stairs(hist) if n == 1 else _map(hist) if n == 2 else "") if all(hist.shape) else ""
    axes = "<br/>".join(escaping.escape(repr(axis)) for axis in hist.axes)
    flows = ", ".join(f"{name} {n:,}" for name, n in zip(hist.flows._fields, hist.flows) if n)
    text = f"{axes}<br/><b>{hist.sum():,}</b> in bins" + (f"; {flows}" if flows else "")
    return f'<div style="font-family:sans-serif;font-size:small">{picture}<div>{text}</div></div>'


def _svg(body):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}">{body}</svg>'
    )


def _stairs(hist):
    """Neighbouring bins are drawn together where there are more than pixels."""
    edges, values = hist.axes[0].edges, np.nan_to_num(hist.values())
    step = -(-len(values) // WIDTH)
    values = np.add.reduceat(values, np.arange(0, len(values), step))
    edges = np.append(edges[:-1:step], edges[-1])
    top = max(values.max(), 0) or 1
    x = (edges - edges[0]) / (edges[-1] - edges[0]) * WIDTH
    y = HEIGHT - np.maximum(values, 0) / top * (HEIGHT - 4)
    path = f"M0 {HEIGHT}" + "".join(f"V{b:.1f}H{a:.1f}" for a, b in zip(x[1:], y))
    return _svg(f'<path d="{path}V{HEIGHT}Z" fill="#4878a8"/>')


def _map(hist):
    """At most 60 by 40 cells."""
    values = hist.values()
    for i, most in enumerate((60, 40)):
        step = -(-values.shape[i] // most)
        values = np.add.reduceat(values, np.arange(0, values.shape[i], step), axis=i)
    w, h = WIDTH / values.shape[0], HEIGHT / values.shape[1]
    top = max(values.max(), 0) or 1
    cells = [
        f'<rect x="{i * w:.1f}" y="{HEIGHT - (j + 1) * h:.1f}" width="{w:.1f}" height="{h:.1f}" '
        f'opacity="{values[i, j] / top:.3f}"/>'
        for i, j in zip(*np.nonzero(values > 0))
    ]
    return _svg(f'<g fill="#4878a8">{"".join(cells)}</g>')


class Stack(list):
    """Histograms of the same axes, one for each bin of another."""

    def __init__(self, axis, hists):
        super().__init__(hists)
        self.axis = axis

    def plot(self, ax=None, stack=True, **keywords):
        """Draws those of one axis by matplotlib's `stairs`, on each other or, without `stack`, each from 0, with a
        legend; returns what was drawn."""
        ax = _axes_of(ax)
        below, drawn = 0.0, []
        for i, hist in enumerate(self):
            if hist.ndim != 1:
                raise ValueError("plot: of histograms of one axis")
            values, name = hist.values(), self.axis[i]
            name = name if isinstance(name, (str, int)) else f"[{name[0]:g}, {name[1]:g})"
            given = {"fill": stack, "label": str(name), **keywords}
            top = values + below
            drawn.append(ax.stairs(top, hist.axes[0].edges, baseline=below if stack else 0, **given))
            below = top if stack else 0.0
            ax.set_xlabel(hist.axes[0].label or hist.axes[0].name)
        ax.legend()
        return drawn


def _axes_of(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.gca()


def plot(hist, ax, keywords):
    """Draws it on `ax`, or the current axes."""
    if hist.ndim > 2:
        raise ValueError("plot: one or two axes; project to them first")
    ax = _axes_of(ax)
    edges = [axis.edges for axis in hist.axes]
    if hist.ndim == 1:
        drawn = ax.stairs(hist.values(), edges[0], **keywords)
    else:
        drawn = ax.pcolormesh(*edges, hist.values().T, **keywords)
        ax.set_ylabel(hist.axes[1].label or hist.axes[1].name)
    ax.set_xlabel(hist.axes[0].label or hist.axes[0].name)
    return drawn
