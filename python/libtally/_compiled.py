# SPDX-License-Identifier: Apache-2.0
"""The compiled part: counts plain NumPy arrays of up to 64 MiB in one call from Python.

`fast` is the module, or None, of which a warning tells, where it does not load. Its functions answer None
for what is not plain; then the package's Python counts, which takes some 50 µs more a call.
"""

import ctypes
import importlib.machinery
import importlib.util
import os
import warnings

from . import _count
from . import _library as c
from ._untraced import untraced

_NAMES = ("stats_add", "plan_create", "plan_destroy", "execute", "rule_parse", "rule_bins",
          "order_statistics", "bin_statistics")  # fmt: skip


def _module():
    """The one beside TALLY_LIBRARY, else the one in this package."""
    folder = os.path.dirname(c.PATH) if "TALLY_LIBRARY" in os.environ else str(c.FOLDER)
    loader = importlib.machinery.ExtensionFileLoader(
        "libtally._fast", os.path.join(folder, "_fast.abi3.so")
    )
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("libtally._fast", loader)
    )
    loader.exec_module(module)
    return module


def _bound():
    try:
        module = _module()
    except ImportError as e:
        warnings.warn(
            f"tally: its compiled part does not load, so calls on small arrays are slow: {e}",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    addresses = (
        ctypes.cast(getattr(c.lib, "tally_" + name), ctypes.c_void_p).value for name in _NAMES
    )
    module.bind(_count.context(c.CPU).pointer.value, *addresses)
    module.introduce(_introduce)
    return module


def _introduce(kind):
    """Has the compiled part read a library's arrays from the first of them on."""
    library = kind.__module__.partition(".")[0]
    if library == "torch":
        from . import _torch  # lends by being imported  # noqa: F401
    elif library == "cupy":
        from . import _cuda

        _cuda._lend()


fast = _bound()


_MOST_FILLED_BINS = 1 << 16  # of an axis: the filler holds its edges several times
_EXACT = 1 << 53


def _given(axis):
    """An axis as `filler` takes it: the library's struct, and the edges that it points to."""
    struct = c.Axis()
    axis.fill(struct)
    return bytes(struct), axis.table


@untraced
def filler(axes, storage):
    """What `fast.fill` fills histograms on these axes by, whose storage has this number; False where
    the package's Python fills them."""
    plain = ((a.is_plain or a.circular) and not a.growth and len(a) <= _MOST_FILLED_BINS and a.has_ends() for a in axes)
    if not all(plain):
        return False
    forms = [a.axis for a in axes], [a.with_ends() for a in axes]
    return fast.filler(
        storage, all(-_EXACT < a.edges[0] and a.edges[-1] < _EXACT for a in axes),
        tuple((float(a.edges[0]), float(a.edges[-1]), a.circular) for a in axes),
        tuple(tuple(map(_given, form)) for form in forms),
    )  # fmt: skip
