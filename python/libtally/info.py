# SPDX-License-Identifier: Apache-2.0
"""What there is to count on, and with."""

import ctypes
from collections import namedtuple

from . import _library as c

Device = namedtuple("Device", "id name memory_bytes available reason")
Device.__doc__ = """A device: 'cuda:0', its name, its memory, and why it is missing if it is."""
Method = namedtuple("Method", "name summary devices dtypes parameters")
Method.__doc__ = """A way of counting, as `method=` names it; its settings by their keys."""
Parameter = namedtuple("Parameter", "default least most help")
Parameter.__doc__ = """A setting of a method: a whole number within limits."""


def devices():
    """Every device, present or missing.

    Returns
    -------
    list of Device

    Examples
    --------
    >>> import libtally as tally
    >>> tally.devices()[0].id
    'cpu'
    """
    found = []
    for i in range(c.device_count()):
        info = c.DeviceInfo()
        c.device_get(i, ctypes.byref(info))
        texts = (x.decode("utf-8", "replace") for x in (info.id, info.name, info.reason))
        id_, name, reason = texts
        found.append(Device(id_, name, info.memory_bytes, bool(info.available), reason))
    return found


def methods():
    """Every method of the library.

    Returns
    -------
    list of Method
    """
    found = []
    for i in range(c.method_count()):
        info = c.MethodInfo()
        c.method_get(i, ctypes.byref(info))
        texts = (info.name, info.summary, info.devices, info.dtypes)
        found.append(Method(*(x.decode() for x in texts), _parameters(info.parameters)))
    return found


def _parameters(first):
    """The array that a NULL key ends, as a dict."""
    found = {}
    while first[len(found)].key:
        p = first[len(found)]
        found[p.key.decode()] = Parameter(p.standard, p.least, p.most, p.help.decode())
    return found
