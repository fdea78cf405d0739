# SPDX-License-Identifier: Apache-2.0
"""The chart of a call's time from 0 to 10^9 samples, by the lines of bench/python.py: one panel a case."""

WHO = ("tally", "tally on torch", "numpy", "boost-histogram", "fast-histogram", "xhistogram", "cupy", "torch", "datashader")
LEAST = 0.5  # where 0 samples stand


def by_case(lines):
    """{case: {who: [(samples, seconds)]}}"""
    found = {}
    for line in lines:
        if "case" in line:
            found.setdefault(line["case"], {}).setdefault(line["by"], []).append((line["n"], line["median_s"]))
    return found


def draw(plt, colours, lines):
    """The page."""
    cases, header = by_case(lines), lines[0]
    colours = (*colours, "#7f7f7f")
    columns = 4
    rows = -(-len(cases) // columns)
    page, panels = plt.subplots(rows, columns, figsize=(3.1 * columns, 2.3 * rows + 0.9), sharex=True, sharey=True,
                                layout="constrained", squeeze=False)  # fmt: skip
    named = [who for who in WHO if any(who in by for by in cases.values())]
    handles = {}
    for axes, (case, by) in zip(panels.flat, cases.items()):
        for who in named:
            if who in by:
                n, seconds = zip(*sorted(by[who]))
                ours = who.startswith("tally")
                handles[who], = axes.plot(
                    [max(x, LEAST) for x in n], seconds, color=colours[WHO.index(who) % len(colours)],
                    linewidth=2 if ours else 1, linestyle="--" if who == "tally on torch" else "-",
                    marker="o" if ours else None, markersize=2.5, zorder=3 if ours else 2,
                )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(case, loc="left", fontsize=9)
        axes.grid(color="#e2e2e2")
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels.flat[len(cases):]:
        axes.set_visible(False)
    for axes in panels.flat[len(cases) - columns : len(cases)]:
        axes.tick_params(labelbottom=True)
    ticks = [1, 1e3, 1e6, 1e9] if max(line.get("n", 0) for line in lines) > 1e8 else [1, 1e2, 1e4, 1e6]
    words = {1: "1", 1e2: "100", 1e3: "1 k", 1e4: "10 k", 1e6: "1 M", 1e9: "1 G"}
    panels[0][0].set_xticks([LEAST, *ticks[1:]], ["0", *(words[t] for t in ticks[1:])])
    panels[0][0].set_yticks([1e-6, 1e-3, 1], ["1 µs", "1 ms", "1 s"])
    panels[0][0].minorticks_off()
    where = next(line["where"] for line in lines if "where" in line)
    device = next(d["name"] for d in header["devices"] if d["id"].startswith(where))
    page.suptitle(f"Time of a call by its samples, on {device}, {header['date'][:10]}", x=0.01, ha="left", fontsize=10.5)
    page.legend(handles.values(), handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9)
    return page
