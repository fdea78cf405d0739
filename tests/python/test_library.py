"""The structs of tally/_library.py are the header's."""

import ctypes
import pathlib
import shutil
import subprocess

import pytest

from tally import _library as c

HEADER = pathlib.Path(__file__).parents[2] / "include"
STRUCTS = {
    "tally_error": c.Error, "tally_view": c.View, "tally_axis": c.Axis,
    "tally_context_options": c.ContextOptions, "tally_device_info": c.DeviceInfo,
    "tally_setting": c.Setting, "tally_plan_options": c.PlanOptions, "tally_output": c.Output,
    "tally_execute_options": c.ExecuteOptions, "tally_stats": c.Stats, "tally_chunks": c.Chunks,
    "tally_result_info": c.ResultInfo, "tally_method_info": c.MethodInfo,
}  # fmt: skip
LONGER = {"batch_stride", "row_stride", "column_stride", "channel_stride"}


def test_structs(tmp_path):
    if not shutil.which("cc"):
        pytest.skip("no compiler here")
    lines = ["#include <stdio.h>", "#include <tally/tally.h>", "int main(void) {"]
    for name, struct in STRUCTS.items():
        lines.append(f'printf("%zu ", sizeof({name}));')
        for field, *_ in struct._fields_:
            theirs = field + "_bytes" if field in LONGER else field
            lines.append(f'printf("%zu ", offsetof({name}, {theirs}));')
    (tmp_path / "a.c").write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run(["cc", f"-I{HEADER}", "a.c", "-o", "a"], cwd=tmp_path, check=True)
    there = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=True)
    here = []
    for struct in STRUCTS.values():
        here.append(ctypes.sizeof(struct))
        here += [getattr(struct, field).offset for field, *_ in struct._fields_]
    assert [int(x) for x in there.stdout.split()] == here
