# SPDX-License-Identifier: Apache-2.0
"""The structs of python/libtally/_structs.py are those of the header: sizes and offsets."""

import ctypes
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("structs", root / "python/libtally/_structs.py")
py = importlib.util.module_from_spec(spec)
spec.loader.exec_module(py)

STRUCTS = {
    "tally_error": py.Error,
    "tally_view": py.View,
    "tally_axis": py.Axis,
    "tally_context_options": py.ContextOptions,
    "tally_device_info": py.DeviceInfo,
    "tally_setting": py.Setting,
    "tally_plan_options": py.PlanOptions,
    "tally_output": py.Output,
    "tally_execute_options": py.ExecuteOptions,
    "tally_stats": py.Stats,
    "tally_statistics": py.Statistics,
    "tally_statistics_options": py.StatisticsOptions,
    "tally_chunks": py.Chunks,
    "tally_rule_options": py.RuleOptions,
    "tally_quantile_options": py.QuantileOptions,
    "tally_result_info": py.ResultInfo,
    "tally_parameter": py.Parameter,
    "tally_method_info": py.MethodInfo,
}
BYTES = {"batch_stride", "row_stride", "column_stride", "channel_stride"}  # the header says _bytes

if not shutil.which("cc"):
    print("skipped: no cc here")
    sys.exit(77)
lines, here = ["#include <stdio.h>", "#include <tally/io.h>", "#include <tally/quantile.h>", "int main(void) {"], []
for name, struct in STRUCTS.items():
    lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
    here.append(f"{name} {ctypes.sizeof(struct)}")
    for field, *_ in struct._fields_:
        theirs = field + "_bytes" if field in BYTES else field
        lines.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {theirs}));')
        here.append(f"{name}.{field} {getattr(struct, field).offset}")
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder, "structs.c")
    source.write_text("\n".join([*lines, "return 0; }"]))
    program = pathlib.Path(folder, "structs")
    subprocess.run(["cc", f"-I{root}/include", source, "-o", program], check=True)
    there = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split("\n")
wrong = [f"here {h}, in the header {t}" for h, t in zip(here, there) if h != t]
if wrong:
    sys.exit("python/libtally/_structs.py is not what the headers say:\n" + "\n".join(wrong))
