#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws measurements: the figures of the sources, the heat map of the GPU benchmark, and the Python package's calls.

    bench/plots.py [--check]                    all pictures of docs/, from the lines in bench/results
    bench/plots.py LINES.jsonl… -o DIR [--svg]  what these lines of `tally-bench --figure` hold, to DIR/NAME.png

Needs matplotlib (scripts/setup.sh check; 3.7 for the package's calls), but for --check, which says whether the pictures of docs/ were drawn from the
lines and by the descriptions that are there: each holds their SHA-256.
"""

import argparse
import hashlib
import json
import math
import os
import sys
import textwrap

import plots_python
from figures import FIGURES
from lines import ROOT, bins as bins_words, newest, read, thousands

RUNTIMES = {"cuda": "docs/figures", "opencl": "docs/figures/opencl"}
HEAT_MAP = "docs/gpu-heat-map.svg"
# Those of Okabe and Ito, which readers who do not see all colours tell apart; markers differ too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#000000", "#8c6d1f")
MARKERS = "os^vD"
PUBLISHED = {"marker": "D", "linestyle": (0, (3, 2)), "markerfacecolor": "white", "zorder": 4}
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
INK, GREY, FAINT = "#333333", "#666666", "#e2e2e2"


def digest(*of):
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()


def by_figure(lines):
    found = {}
    for line in lines:
        if line.get("figure") in FIGURES:
            found.setdefault(line["figure"], []).append(line)
    return found


# ---- axes ----


def number(value):
    """Three digits, thousands apart; whole numbers as they are."""
    if value >= 1000:
        return thousands(round(value), "\u2009")
    if value >= 99.5 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def scaled(value, _=None):
    """1 000 as 1 k, 0.0001 as 10⁻⁴."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g}" if value > 9e-4 else "10⁻" + str(round(-math.log10(value))).translate(RAISED)


def byte_size(value, _=None):
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g} B"


def set_scale(axis, kind, ticker, at=(), few=9):
    """`axis` is an axes' xaxis or yaxis; sizes are labelled at the values `at`, so few of them."""
    set_it = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    if kind == "linear":
        axis.set_major_locator(ticker.MaxNLocator(8, steps=(1, 2, 5, 10)))
        axis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:g}"))
        return
    set_it("log", base=10 if kind == "log" else 2)
    low, high = axis.get_view_interval()
    if kind == "log":
        digits = (1,) if high / low > 500 else (1, 2, 5)
        axis.set_major_locator(ticker.LogLocator(10, subs=digits, numticks=20))
        axis.set_major_formatter(ticker.FuncFormatter(scaled))
    else:
        axis.set_major_locator(ticker.FixedLocator(sorted(set(at))[::-(-len(set(at)) // few)]))
        axis.set_major_formatter(ticker.FuncFormatter(byte_size if kind == "bytes" else
                                                      lambda v, _: thousands(round(v), "\u2009")))
    axis.set_minor_locator(ticker.NullLocator())


# ---- panels ----


def series_of(line):
    """Without the name of its data, which have panels of their own."""
    return line["series"].removesuffix(f", {line.get('data')}")


def points_of(panel, lines):
    """{series: {x or label: [value]}}"""
    found = {}
    for line in lines:
        if panel.field in line and panel.name in (None, line.get("panel", line.get("data"))):
            at = line["x"] if panel.kind == "lines" else line["label"]
            found.setdefault(series_of(line), {}).setdefault(at, []).append(line[panel.field] * panel.times)
    return found


def published_of(panel, figure):
    """What was published of a panel, as it is drawn."""
    return [one._replace(value=one.value * panel.times) for one in figure.published
            if one.field == panel.field and panel.name in (None, one.name or panel.name)]


def draw_lines(axes, panel, points, published, style):
    for i, (series, values) in enumerate(points.items()):
        at = sorted(values)
        many = len(at) > 40
        wide = 1.4 + 2.2 * (1 - i / len(points)) if len(points) > 1 and not many else 1.5  # what lies under is seen
        axes.plot(at, [values[x][0] for x in at], linewidth=wide, markersize=3 if many else wide + 3, **style[series])
    for series in dict.fromkeys(one.series for one in published):
        own = [one for one in published if one.series == series]
        few = len(own) < 8
        axes.plot([one.at for one in own], [one.value for one in own], markersize=8 if len(own) == 1 else 5 if few else 3,
                  markeredgewidth=1.8 if len(own) == 1 else 1, linewidth=1, color=style[series]["color"], **PUBLISHED)
    if panel.limit:
        limit(axes.axhline, panel.limit[0])
        axes.annotate(panel.limit[1], (0, panel.limit[0]), (4, 3), xycoords=("axes fraction", "data"),
                      textcoords="offset points", color=GREY, fontsize=8.5)


def limit(line, value):
    line(value, color=GREY, linewidth=1, linestyle=(0, (6, 4)), zorder=1)


def draw_bars(axes, panel, points, published, style):
    labels = list(dict.fromkeys(label for values in points.values() for label in values))
    wide = 0.8 / max(len(points), 1.6 if len(labels) > 3 else 2.5)
    log = panel.y == "log"
    values = [v[0] for of in points.values() for v in of.values()]
    values += [one.value for one in published]
    bottom = min(values) / 2.2 if log else 0
    crowded = len(labels) * len(points) > 20  # numbers then stand upright
    for i, (series, of) in enumerate(points.items()):
        for label, value in of.items():
            x = labels.index(label) + wide * (i - (len(points) - 1) / 2)
            axes.bar(x, value[0] - bottom, wide * 0.96, bottom, color=style[series]["color"], zorder=2)
            axes.annotate(number(value[0]), (x, value[0]), (0, 3), textcoords="offset points", ha="center",
                          va="bottom", fontsize=8.5, color=INK, rotation=90 if crowded else 0)
        for one in published:
            if one.series == series and one.at in labels:
                x = labels.index(one.at) + wide * (i - (len(points) - 1) / 2) + wide / 2
                axes.plot([x], [one.value], "D", markersize=8, color=INK, markerfacecolor="white",
                          markeredgewidth=1.8, zorder=4, transform=axes.transData + shift(axes, 9))
    axes.set_xlim(-0.6, len(labels) - 0.4)
    axes.set_ylim(bottom, max(values) * (6 if crowded else 1.8) if log else max(values) * 1.15)
    axes.set_xticks(range(len(labels)), labels)


def shift(axes, points):
    """So many points to the right."""
    from matplotlib.transforms import ScaledTranslation

    return ScaledTranslation(points / 72, 0, axes.figure.dpi_scale_trans)


def draw_ranges(axes, panel, points, style):
    rows = sorted(((min(values), max(values), label, series) for series, of in points.items()
                   for label, values in of.items()), key=lambda row: row[0])
    for y, (low, high, label, series) in enumerate(rows):
        axes.plot([low / 1.02, high * 1.02], [y, y], color=style[series]["color"], linewidth=9,
                  solid_capstyle="butt", zorder=2)
        text = number(high) if high < 1.03 * low else f"{number(low)} – {number(high)}"
        axes.annotate(text, (high, y), (7, 0), textcoords="offset points", va="center", fontsize=8.5, color=INK,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}, zorder=3)
    axes.set_yticks(range(len(rows)), [row[2] for row in rows])
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.tick_params(axis="y", length=0)


def draw_panel(axes, panel, figure, lines, style, ticker):
    points = points_of(panel, lines)
    published = published_of(panel, figure)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if panel.title:
        axes.set_title(panel.title, loc="left", fontsize=10.5, fontweight="bold", color="#1a1a1a")
    if panel.kind == "ranges":
        draw_ranges(axes, panel, points, style)
        read_gbps = [line["read_gbps"] for line in lines if "read_gbps" in line]
        if read_gbps:
            limit(axes.axvline, read_gbps[0])
            axes.annotate(f"reading alone: {number(read_gbps[0])}", (read_gbps[0], 1), (0, 3), color=GREY,
                          xycoords=("data", "axes fraction"), textcoords="offset points", ha="center", fontsize=8.5)
        axes.set_xlabel(panel.y_label)
        set_scale(axes.xaxis, panel.y, ticker)
        low, high = axes.get_xlim()
        axes.set_xlim(low, high * 3)  # numbers stand right of the bars
        axes.grid(axis="x", color=FAINT)
        return
    axes.grid(axis="y" if panel.kind == "bars" else "both", color=FAINT)
    axes.set_ylabel(panel.y_label)
    if panel.kind == "bars":
        draw_bars(axes, panel, points, published, style)
    else:
        draw_lines(axes, panel, points, published, style)
        axes.set_xlabel(panel.x_label)
        set_scale(axes.xaxis, panel.x, ticker, [x for values in points.values() for x in values],
                  9 if figure.columns == 1 else 6)
        if panel.y == "linear":
            axes.set_ylim(0, 1.08 * axes.dataLim.ymax)
    set_scale(axes.yaxis, panel.y, ticker)


# ---- pages ----


def pyplot():
    """matplotlib, set up."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("plots.py: needs matplotlib: Debian's python3-matplotlib, or pip install matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({
        "font.family": "sans-serif", "font.size": 9.5, "axes.edgecolor": INK, "axes.labelcolor": INK,
        "xtick.color": INK, "ytick.color": INK, "text.color": INK, "svg.fonttype": "none", "svg.hashsalt": "tally"})
    import matplotlib.pyplot as plt
    from matplotlib import ticker

    return plt, ticker


def save(drawn, path, source):
    """Whole or not at all, with the digest of what it was drawn from."""
    part = f"{path}.part"
    kind = path.rpartition(".")[2]
    key = {"svg": {"Description": source, "Date": None, "Creator": None}, "png": {"Source": source, "Software": None}}[kind]
    try:
        drawn.savefig(part, format=kind, dpi=100, facecolor="white", metadata=key)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def styles(figure, lines):
    """Of every series, those that were only published last."""
    names = dict.fromkeys([series_of(line) for line in lines] + [one.series for one in figure.published])
    return {name: {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "label": name,
                   "linestyle": "-" if i < len(COLOURS) else "--"} for i, name in enumerate(names)}


def subtitle(lines):
    """Whose lines these are, by the first that was measured on a device."""
    first = next((line for line in lines if line.get("driver")), None)
    if not first:
        return ""
    quick = "a quick run, " if first.get("quick") else ""
    return (f"{first['name']}, {first['driver']}; {quick}{first['date'][:10]}; "
            f"tally {first['version']} {first['commit']}")


def legend(page, figure, style, measured):
    """To the right of the data. Its width as a share of the page's."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    is_line = figure.panels[0].kind == "lines"
    handles = []
    for series, how in style.items():
        if not is_line:
            handles.append(Patch(color=how["color"], label=series))
        else:
            drawn = how if series in measured else {**how, **PUBLISHED, "label": f"{series} (published only)"}
            handles.append(Line2D([], [], markersize=5, **drawn))
    if figure.published:
        handles.append(Line2D([], [], markersize=6, color=INK, linewidth=1, label=f"published: {figure.published_on}",
                              **{**PUBLISHED, **({} if is_line else {"linestyle": "none"})}))
    words = [textwrap.fill(handle.get_label(), 30) for handle in handles]
    box = page.legend(handles, words, loc="upper right", bbox_to_anchor=(0.99, 1 - 0.75 / figure.height),
                      frameon=False, fontsize=9, labelspacing=0.7, handlelength=2.2)
    return box.get_window_extent(page.canvas.get_renderer()).width / page.bbox.width


def with_points(figure, lines):
    """The figure without panels of which no line tells."""
    panels = [panel for panel in figure.panels if points_of(panel, lines)]
    rows, before = (-(-len(of) // figure.columns) for of in (panels, figure.panels))
    return figure._replace(panels=panels, columns=min(figure.columns, len(panels)),
                           height=max(figure.height * rows / before, min(figure.height, 4.5)))


def draw_figure(name, lines, path):
    plt, ticker = pyplot()
    figure = with_points(FIGURES[name], lines)
    style = styles(figure, lines)
    page = plt.figure(figsize=(11, figure.height), dpi=100, layout="constrained")
    page.text(0.018, 1 - 0.34 / figure.height, figure.title, fontsize=14, fontweight="bold", color="#1a1a1a")
    page.text(0.018, 1 - 0.58 / figure.height, subtitle(lines), fontsize=9, color=GREY)
    note = textwrap.wrap(figure.note, 172)
    page.text(0.018, 0.12 / figure.height, "\n".join(note), fontsize=8.5, color=GREY, va="bottom", linespacing=1.3)
    side = legend(page, figure, style, {series_of(line) for line in lines}) + 0.015
    bottom = (0.24 + 0.165 * len(note)) / figure.height
    page.get_layout_engine().set(rect=(0.012, bottom, 0.985 - side, 1 - bottom - 0.72 / figure.height),
                                 h_pad=0.06, w_pad=0.06)
    rows = -(-len(figure.panels) // figure.columns)
    grid = page.subplots(rows, figure.columns, squeeze=False).ravel()
    for axes, panel in zip(grid, figure.panels):
        draw_panel(axes, panel, figure, lines, style, ticker)
    save(page, path, digest(FIGURES[name], lines))
    plt.close(page)


# ---- the heat map ----


def heat_cells(lines):
    """{(dtype, bins): share of the speed of reading, on the slowest input}"""
    cells = {}
    for line in lines:
        if line.get("part") == "all" and "fraction_of_read" in line:
            key = line["dtype"], line["bins"]
            cells[key] = min(cells.get(key, 1e9), line["fraction_of_read"])
    return cells


def heat_source(lines):
    return digest(sorted([*key, share] for key, share in heat_cells(lines).items()), lines[0].get("name"))


def draw_heat_map(lines, path):
    plt, _ = pyplot()
    cells = heat_cells(lines)
    bins = sorted({b for _, b in cells})
    dtypes = [d for d in ("u8", "u16", "i32", "f32", "f64") if any(d == at for at, _ in cells)]
    table = [[cells.get((d, b), float("nan")) for b in bins] for d in dtypes]
    page, axes = plt.subplots(figsize=(0.62 * len(bins) + 0.6, 0.38 * len(dtypes) + 0.75), layout="constrained")
    # viridis is read alike with and without colour vision, and in grey.
    axes.pcolormesh(table, cmap="viridis", vmin=0, vmax=1, edgecolors="white", linewidth=2)
    for y, row in enumerate(table):
        for x, share in enumerate(row):
            if share == share:
                r, g, b, _ = plt.cm.viridis(share)
                axes.text(x + 0.5, y + 0.5, f"{100 * share:.{0 if share >= 0.0995 else 1}f}", ha="center", va="center",
                          color="white" if 0.3 * r + 0.59 * g + 0.11 * b < 0.55 else "black")
    axes.set_xticks([x + 0.5 for x in range(len(bins))], [bins_words(b) for b in bins], fontsize=8.5)
    axes.set_yticks([y + 0.5 for y in range(len(dtypes))], dtypes)
    axes.xaxis.set_ticks_position("top")
    axes.tick_params(length=0)
    axes.invert_yaxis()
    axes.spines[:].set_visible(False)
    axes.set_title(f"Percent of the speed of reading memory by type and number of bins, slowest input "
                   f"({lines[0]['name']})", loc="left", fontsize=10.5, pad=9)
    save(page, path, heat_source(lines))
    plt.close(page)


# ---- the Python package ----


def draw_python(lines, path):
    plt, _ = pyplot()
    page = plots_python.draw(plt, COLOURS, lines)
    save(page, path, digest(lines))
    plt.close(page)


# ---- which ----


def pictures():
    """(path in the repository, digest, function that draws to a path) of every picture of docs/."""
    for runtime, folder in RUNTIMES.items():
        for name, lines in by_figure(read(f"h200-figures-{runtime}.jsonl")).items():
            yield (f"{folder}/{name}.png", digest(FIGURES[name], lines),
                   lambda path, name=name, lines=lines: draw_figure(name, lines, path))
    lines = read(newest(r".*-gpu-.*\.jsonl"))
    yield HEAT_MAP, heat_source(lines), lambda path, lines=lines: draw_heat_map(lines, path)
    for where in ("cpu", "cuda"):
        lines = read(newest(rf"python-{where}-.*\.jsonl"))
        yield f"docs/python-{where}.svg", digest(lines), lambda path, lines=lines: draw_python(lines, path)


def check():
    stale = 0
    for path, source, _ in pictures():
        try:
            with open(os.path.join(ROOT, path), "rb") as picture:
                same = source.encode() in picture.read()
        except OSError:
            same = False
        if not same:
            print(f"{path} was not drawn from these lines: run bench/plots.py", file=sys.stderr)
            stale = 1
    return stale


def draw_files(paths, folder, ending):
    try:
        found = by_figure([line for path in paths for line in read(os.path.abspath(path))])
        if not found:
            sys.exit(f"plots.py: no line of a figure in {' '.join(paths)}")
        os.makedirs(folder, exist_ok=True)
        for name, lines in found.items():
            draw_figure(name, lines, os.path.join(folder, f"{name}.{ending}"))
    except (OSError, ValueError) as error:
        sys.exit(f"plots.py: {error}")
    except KeyError as error:
        sys.exit(f"plots.py: {' '.join(paths)}: a line of {name} has no {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("lines", nargs="*", help="files that tally-bench --figure wrote (those of docs/)")
    parser.add_argument("-o", "--output", help="the folder for pictures of LINES")
    parser.add_argument("--svg", action="store_true", help="SVG instead of PNG")
    parser.add_argument("--check", action="store_true", help="only say whether the pictures of docs/ are current")
    args = parser.parse_args()
    if bool(args.lines) != bool(args.output):
        parser.error("LINES and -o go together")
    if args.lines:
        return draw_files(args.lines, args.output, "svg" if args.svg else "png")
    if args.check:
        return check()
    for path, _, draw in pictures():
        draw(os.path.join(ROOT, path))
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
