# SPDX-License-Identifier: Apache-2.0
"""Functions that torch.compile runs as they are.

It looks into every Python function that a compiled one calls, and puts its own operations in place of NumPy's and its
own copies in place of ctypes' structures. Edges would be off by a bit and the library's answers lost.
"""

import functools
import sys
import types

_DISABLED = {}  # functions as torch.compile lets them alone


def untraced(function):
    """The function, called as it is where torch.compile is in use: the graph breaks there."""

    @functools.wraps(function)
    def call(*args, **keywords):
        if "torch._dynamo" not in sys.modules:
            return function(*args, **keywords)
        if function not in _DISABLED:
            _DISABLED[function] = sys.modules["torch"].compiler.disable(function)
        return _DISABLED[function](*args, **keywords)

    return call


def methods_untraced(*but):
    """A class whose methods are called so, but some."""

    def of(cls):
        for name, method in list(vars(cls).items()):
            if isinstance(method, types.FunctionType) and name not in but:
                setattr(cls, name, untraced(method))
        return cls

    return of
