#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small files as other programs write them: NumPy, Pillow, libtiff's tools, gzip, pigz, zstd, xz, bzip2.

    make_seeds.py FOLDER    writes FOLDER/FORMAT/…: more for the fuzzers to start from

tests/cli/test_other_writers.py counts the same files. What is not installed here is left out; for Parquet
and Arrow the environments of scripts/python.sh are asked too.
"""
import csv
import gzip
import io
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np

try:
    from PIL import Image
except ImportError:
    Image = None

ROWS, COLUMNS = 24, 37


class Maker:
    """Files under `folder`, with the samples that each must give and the options it needs."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.made = []
        self.random = np.random.default_rng(20261122)

    def path(self, kind, name):
        path = self.folder / kind / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def note(self, path, samples, *options):
        self.made.append((pathlib.Path(path), np.asarray(samples), options))
        return path

    def smooth(self, channels):
        """A picture with edges and noise, 8 bits."""
        y, x = np.mgrid[0:ROWS, 0:COLUMNS]
        planes = [(x * (3 + c) + y * 5 + 40 * (x > y)) % 256 for c in range(channels)]
        noise = self.random.integers(0, 9, (ROWS, COLUMNS, channels))
        picture = np.clip(np.stack(planes, -1) + noise, 0, 255).astype(np.uint8)
        return picture[..., 0] if channels == 1 else picture


def arrays(make):
    for name in "|u1 |i1 <u2 >u2 <i2 <u4 >i4 <u8 <i8 <f2 <f4 >f4 <f8 >f8".split():
        low, high = (0, 200) if np.dtype(name).kind == "u" else (-100, 100)
        data = make.random.integers(low, high, 100).astype(name)
        path = make.path("npy", name[1:] + ("-big" if name[0] == ">" else "") + ".npy")
        np.save(path, data)
        make.note(path, data)
    for shape in ((), (7, 5), (4, 5, 3), (1, 1), (20, 21, 5)):
        data = np.asarray(make.random.normal(size=shape), np.float32)
        path = make.path("npy", "shape" + "x".join(map(str, shape)) + ".npy")
        np.save(path, data)
        make.note(path, data)
    pairs = make.random.normal(size=(30, 2))
    np.save(make.note(make.path("npy", "pairs.npy"), pairs[:, 1], "--column", "2"), pairs)
    data = np.asfortranarray(make.random.normal(size=(6, 7)))
    np.save(make.note(make.path("npy", "fortran.npy"), data), data)
    for version in ((2, 0), (3, 0)):
        path = make.note(make.path("npy", f"version{version[0]}.npy"), data[0])
        with open(path, "wb") as file:
            np.lib.format.write_array(file, data[0], version=version)
    for name, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
        path = make.path("zip", name + ".npz")
        save(path, one=data, two=pairs)
        make.note(f"{path}:one", data)
        make.note(f"{path}:two", pairs[:, 0], "--column", "1")
        path = make.note(make.path("zip", name + "-only.npz"), data)
        save(path, data)
    data = make.random.integers(0, 60000, 77).astype(np.uint16)
    data.tofile(make.note(make.path("raw", "u16"), data, "--dtype", "u16"))
    for name, kind in ((">i2", "i16"), (">f8", "f64")):
        data = (make.random.normal(size=99) * 100).astype(name)
        path = make.path("raw", kind + "-big")
        data.tofile(make.note(path, data, "--dtype", kind, "--endian", "big"))


def fits_unit(data, **cards):
    """A header and an array's bytes, as astropy.io.fits writes them."""
    cards = {"BITPIX": data.dtype.itemsize * (-8 if data.dtype.kind == "f" else 8), "NAXIS": data.ndim,
             **{f"NAXIS{i + 1}": n for i, n in enumerate(reversed(data.shape))}, **cards}
    lines = "".join(f"{key:8}= {value:>20}".ljust(80) for key, value in cards.items()) + "END".ljust(80)
    return lines, data.tobytes()


def fits(make):
    def write(name, *units):
        path = make.path("fits", name)
        heads = ["SIMPLE  =                    T".ljust(80)] + ["XTENSION= '{:8}'".format(u[2]).ljust(80) for u in units[1:]]
        path.write_bytes(b"".join((head + unit[0]).encode().ljust(-(-len(head + unit[0]) // 2880) * 2880) +
                                  unit[1].ljust(-(-len(unit[1]) // 2880) * 2880, b"\0") for head, unit in zip(heads, units)))
        return path
    for name, low, high in (("u1", 0, 256), (">i2", -300, 300), (">i4", -300, 300), (">i8", -300, 300), (">f4", -9, 9), (">f8", -9, 9)):
        data = make.random.integers(low, high, (5, 6, 7)).astype(name)
        make.note(write(name[-2:], fits_unit(data)), data)
        half = 2 ** (8 * data.dtype.itemsize - 1)
        if name in (">i2", ">i4"):
            make.note(write("u" + name[2:] + "-zero", fits_unit(data, BZERO=half)), (data.astype(np.int64) + half).astype(np.uint32))
        make.note(write(name[-2:] + "-scaled", fits_unit(data, BSCALE=0.5, BZERO="1.5D0")), 1.5 + 0.5 * data.astype(np.float64))
    table = np.zeros(40, [("a", ">i2"), ("b", ">f8"), ("t", "S3"), ("c", ">i4"), ("l", "u1")])
    for field in "abcl":
        table[field] = make.random.integers(0, 90, 40)
    columns = {"PCOUNT": 0, "GCOUNT": 1, "TFIELDS": 5, "EXTNAME": "'EVENTS'"}
    for i, (field, form) in enumerate(zip("abtcl", ("I", "D", "3A", "J", "B"))):
        columns |= {f"TTYPE{i + 1}": f"'{field}'", f"TFORM{i + 1}": f"'{form}'"}
    rows = table.view("u1").reshape(40, -1)
    picture = make.random.integers(0, 99, (9, 8)).astype(">i2")
    path = write("several", fits_unit(np.zeros(0, "u1"), NAXIS1=0), (*fits_unit(rows, **columns), "BINTABLE"),
                 (*fits_unit(picture, EXTNAME="'SCI'"), "IMAGE"))
    for field in "abcl":
        make.note(f"{path}:events", table[field], "--column", field)
    make.note(f"{path}:2", picture)


def texts(make):
    data = make.random.normal(size=(50, 3)).round(6)
    column = ("--column", "2")
    for name, options in (("space", {}), ("comma", {"delimiter": ","}), ("tab", {"delimiter": "\t"}),
                          ("header", {"delimiter": ",", "header": "a,b,c", "comments": ""}),
                          ("comment", {"header": "three columns"}), ("crlf", {"newline": "\r\n"}),
                          ("short", {"fmt": "%.7g", "delimiter": ";"})):
        path = make.path("text", name)
        np.savetxt(path, data, **options)
        make.note(path, np.loadtxt(path, delimiter=options.get("delimiter"),
                                   skiprows=int(name == "header"))[:, 1], *column)
    path = make.note(make.path("text", "quoted"), data[:, 1], *column)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["a", "the \"second\", b", "c"])
        writer.writerows(data.tolist())


def json_lines(make):
    random = make.random.normal(size=40).round(4).tolist()
    for name, how in (("plain", {}), ("tight", {"separators": (",", ":")}), ("utf8", {"ensure_ascii": False})):
        records = [{"t": 'a "quoted\\" {text}', "x": x, "ä": i, "a": {"b": i % 2 == 0, "l": [1, {"x": None}]}}
                   for i, x in enumerate(random)]
        lines = "".join(json.dumps(record, **how) + "\n" for record in records)
        make.note(make.path("json_lines", name), np.array(random), "--column", "x").write_text(lines, encoding="utf-8")


def compressed(make):
    data = make.random.integers(0, 1000, 600)
    text = "".join(f"{n}\n" for n in data).encode()
    commands = {"gzip": ("gzip", "-c"), "gzip1": ("gzip", "-1c"), "gzip9n": ("gzip", "-9nc"),
                "pigz": ("pigz", "-b128", "-p2", "-c"), "pigz-rsync": ("pigz", "-Rc"),
                "zstd": ("zstd", "-qc"), "zstd19": ("zstd", "-19", "-qc", "--no-check"),
                "zstd-long": ("zstd", "--long=27", "-qc"), "zstd-fast": ("zstd", "--fast=5", "-qc"),
                "xz": ("xz", "-c"), "xz9": ("xz", "-9ec", "--check=sha256"), "xz-blocks": ("xz", "-c", "--block-size=500"),
                "bzip2": ("bzip2", "-c"), "bzip2-1": ("bzip2", "-1c")}
    for name, command in commands.items():
        if shutil.which(command[0]):
            packed = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout
            make.note(make.path("stream", name), data).write_bytes(packed)
            # Two members or frames, one after the other.
            make.note(make.path("stream", name + "-twice"), np.concatenate((data, data))) \
                .write_bytes(packed + packed)
    make.note(make.path("stream", "python"), data).write_bytes(gzip.compress(text))
    file = io.BytesIO()
    with gzip.GzipFile("a name.txt", "wb", 6, file, mtime=1) as stream:
        stream.write(text)
    make.note(make.path("stream", "python-named"), data).write_bytes(file.getvalue())


def read_back(path):
    """What Pillow reads, as Tally hands it out: samples as stored."""
    with Image.open(path) as image:
        mode, kind = image.mode, image.format
        if mode == "P":
            return np.asarray(image.convert("RGBA" if "transparency" in image.info else "RGB"))
        samples = np.asarray(image)
        if mode == "1":
            white = samples.astype(np.uint8)
            if kind == "PPM":
                return 1 - white
            stored = 1 - white if kind == "TIFF" and image.tag_v2[262] == 0 else white
            return stored * np.uint8(255)
        if mode == "CMYK" and kind == "JPEG":
            return 255 - samples
        if mode == "I" and kind in ("PNG", "PPM"):
            return samples.astype(np.uint16)
        return samples


def pictures(make):
    grey, colour, four = make.smooth(1), make.smooth(3), make.smooth(4)
    deep = (grey.astype(np.uint16) * 257 + 3).astype(np.uint16)
    images = {"1": Image.fromarray(grey).convert("1"), "L": Image.fromarray(grey),
              "RGB": Image.fromarray(colour), "RGBA": Image.fromarray(four, "RGBA"),
              "CMYK": Image.fromarray(four, "CMYK"), "I16": Image.fromarray(deep),
              "LA": Image.fromarray(four, "RGBA").convert("LA"),
              "F": Image.fromarray(grey.astype(np.float32) / 7),
              "deep": Image.fromarray(deep.astype(np.int32)),
              "I": Image.fromarray(grey.astype(np.int32) - 99),
              "P": Image.fromarray(colour).quantize(20), "P256": Image.fromarray(colour).quantize(256)}

    def save(kind, name, mode, **options):
        path = make.path(kind, name)
        images[mode].save(path, {"pnm": "ppm"}.get(kind, kind), **options)
        make.note(path, read_back(path))

    for mode in "1 L RGB RGBA LA I16 P P256".split():
        save("png", mode, mode)
        save("png", mode + "-optimised", mode, optimize=True)
    save("png", "P-transparent", "P", transparency=3)
    for mode in ("L", "RGB", "CMYK"):
        save("jpeg", mode, mode, quality=90)
        save("jpeg", mode + "-progressive", mode, progressive=True)
        save("jpeg", mode + "-optimised", mode, optimize=True, quality=20)
    for sampling in (0, 1, 2):
        save("jpeg", f"sampling{sampling}", "RGB", subsampling=sampling)
    for mode in ("1", "L", "RGB", "deep"):
        save("pnm", mode, mode)
    for mode in "1 L RGB RGBA CMYK I16 F I P".split():
        save("tiff", mode, mode)
        for packing in ("tiff_lzw", "tiff_adobe_deflate", "packbits"):
            save("tiff", f"{mode}-{packing}", mode, compression=packing)
    for packing in ("group3", "group4"):
        save("tiff", "1-" + packing, "1", compression=packing)
    save("tiff", "RGB-jpeg", "RGB", compression="jpeg")


def other_pictures(make):
    """GIF, BMP, WebP and APNG: all frames, one behind the other."""
    def save(name, frames, want, **options):
        path = make.path("png" if name.endswith(".png") else "frames", name)
        try:
            frames[0].save(path, append_images=frames[1:], **options)
        except (KeyError, OSError):
            return  # a Pillow without it
        make.note(path, np.concatenate([np.asarray(image) for image in want]))
    grey, colour, four = make.smooth(1), make.smooth(3), Image.fromarray(make.smooth(4), "RGBA")
    grey, colour = Image.fromarray(grey), Image.fromarray(colour)
    few, many = colour.quantize(6), colour.quantize(256)
    for name, image in (("1", grey.convert("1")), ("L", grey), ("RGB", colour), ("P", few), ("P256", many)):
        save(name + ".bmp", [image], [image.convert("RGB")])
    for name, image in (("L", grey), ("P", few), ("P256", many)):
        save(name + ".gif", [image], [image.convert("RGB")], interlace=0)
        save(name + "-interlaced.gif", [image], [image.convert("RGB")], interlace=1)
    noise = [Image.fromarray(make.random.integers(0, 256, (ROWS, COLUMNS, 3)).astype(np.uint8)) for _ in range(3)]
    save("animated.png", noise, noise, save_all=True)
    save("animated.webp", noise, noise, save_all=True, lossless=True)
    save("RGB.webp", [colour], [colour], lossless=True)
    save("RGBA.webp", [four], [four], lossless=True, exact=True)
    lossy = make.path("frames", "lossy.webp")
    try:
        colour.save(lossy)
    except (KeyError, OSError):
        return
    make.note(lossy, read_back(lossy))


def copies(make):
    """libtiff's own writer: tiles, planes, byte orders, BigTIFF."""
    ways = {"big": ("-B",), "little": ("-L",), "bigtiff": ("-8",), "reversed": ("-f", "lsb2msb"),
            "tiles": ("-t", "-w", "16", "-l", "16"), "rows": ("-r", "5"), "planes": ("-p", "separate"),
            "planes-tiles": ("-p", "separate", "-t", "-w", "16", "-l", "32", "-c", "lzw"),
            "lzw2": ("-c", "lzw:2", "-r", "7"), "zip2": ("-c", "zip:2", "-t", "-w", "32", "-l", "16"),
            "zstd": ("-c", "zstd"), "lzma": ("-c", "lzma"), "big-lzw": ("-B", "-c", "lzw:2")}
    for mode in ("L", "RGB", "RGBA", "I16", "F", "P"):
        for name, way in ways.items():
            if mode == "F" and name in ("lzw2", "zip2", "big-lzw"):
                continue  # that predictor is for integers
            source, path = make.path("tiff", mode), make.path("tiff", f"{mode}-copy-{name}")
            done = subprocess.run(("tiffcp", *way, source, path), capture_output=True)
            if done.returncode:
                path.unlink(missing_ok=True)
            else:
                make.note(path, read_back(source))


def table_of(random, pa):
    missing = random.random(40) < 0.2
    whole = np.repeat(random.integers(-9, 90, 20), 2)
    columns = {"i32": whole.astype(np.int32), "f64": whole / 4, "i64": whole, "bool": whole > 40}
    return pa.table({name: pa.array(column, mask=missing if name != "i32" else None)
                     for name, column in columns.items()})


def tables(folder, pa, pq):
    """Small Parquet and Arrow files: every type, encoding and codec, with and without missing values."""
    random = np.random.default_rng(20261122)
    for name in ("parquet", "arrow"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    table = table_of(random, pa)
    parquet = folder / "parquet"
    written = table.append_column("word", pa.array([f"w{n}" for n in table["i32"].to_numpy()], mask=random.random(40) < 0.2))
    for codec in ("none", "snappy", "gzip", "zstd", "lz4"):
        for version in ("1.0", "2.0"):
            pq.write_table(written, parquet / f"{codec}-{version}", compression=codec, data_page_version=version,
                           row_group_size=25)
    for encoding, names in (("RLE", ["bool"]), ("BYTE_STREAM_SPLIT", ["i32", "f64", "i64"]),
                            ("DELTA_BINARY_PACKED", ["i32", "i64"]),
                            ("DELTA_LENGTH_BYTE_ARRAY", ["word"]), ("DELTA_BYTE_ARRAY", ["word"])):
        pq.write_table(written, parquet / encoding, compression="none", use_dictionary=False, data_page_size=64,
                       column_encoding={name: encoding for name in names})
    arrows(folder / "arrow", table, pa)


def arrows(folder, table, pa):
    number = pa.array([1, 0, None, 1] * 10, pa.int8())
    few = pa.table({"named": pa.DictionaryArray.from_arrays(number, pa.array([2.5, None])),
                    "group": pa.StructArray.from_arrays([table["i64"].combine_chunks()], ["a"]),
                    "half": pa.array(np.arange(40, dtype=np.float16)), "text": pa.array(["a", None] * 20)})
    words = [None if i % 5 == 0 else f"w{i % 7}" * (1 + i % 9) for i in range(40)]
    texts = {"utf8": pa.array(words), "large": pa.array(words, pa.large_string()), "numbered": pa.array(words).dictionary_encode()}
    if hasattr(pa, "string_view"):
        texts["view"] = pa.array(words, pa.string_view())
    for name, made in (("numbers", table), ("few", few), ("words", pa.table(texts))):
        for how, writer in (("file", pa.ipc.new_file), ("stream", pa.ipc.new_stream)):
            for codec in (None, "lz4", "zstd"):
                with writer(str(folder / f"{name}-{how}-{codec}"), made.schema,
                            options=pa.ipc.IpcWriteOptions(compression=codec)) as file:
                    file.write_table(made, max_chunksize=25)


def tables_by(python, folder):
    return subprocess.run((python, __file__, "--tables", folder), capture_output=True).returncode == 0


def make_all(folder):
    """[(path, samples, options of the command), …]"""
    make = Maker(folder)
    arrays(make)
    fits(make)
    texts(make)
    json_lines(make)
    compressed(make)
    if Image:
        pictures(make)
        other_pictures(make)
    if Image and shutil.which("tiffcp"):
        copies(make)
    return make.made


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--tables":
        import pyarrow
        import pyarrow.parquet
        tables(pathlib.Path(arguments[1]), pyarrow, pyarrow.parquet)
    elif len(arguments) == 1:
        folder = pathlib.Path(arguments[0])
        pythons = [sys.executable, *sorted(pathlib.Path("build/python").glob("*/bin/python"))]
        print(len(make_all(folder)), "files",
              "and tables" if any(tables_by(python, folder) for python in pythons) else "")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
