"""The independent reader decodes what the library encodes: the golden chunks, and samples that this build wrote.

Samples are written by `OCTAVO_CODEC_SAMPLES=DIR octavo_codec_test --gtest_filter='Golden.*'`; with the same variable
set, this test reads them.
"""

import os
import pathlib

import numpy as np
import octavo_codecs as reader
import pytest

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "codec"


def samples():
    """One parameter set a sample: its line in samples.txt and its bytes from samples.bin."""
    folders = [GOLDEN]
    if os.environ.get("OCTAVO_CODEC_SAMPLES"):
        folders.append(pathlib.Path(os.environ["OCTAVO_CODEC_SAMPLES"]))
    found = []
    for folder in folders:
        data, at = (folder / "samples.bin").read_bytes(), 0
        for line in (folder / "samples.txt").read_text().splitlines():
            name, scalar, *numbers = line.split()
            family, width, count, coarse, parents, chunk, *more = map(int, numbers)
            boxes, weights, sides = more[:4], *(more[4:] + [0, 0])[:2]
            size = (
                1 if scalar == "bits" else int(scalar[5:]) if scalar.startswith("bytes") else np.dtype(scalar).itemsize
            )
            pieces = []
            at_boxes = boxes[3] * 12 if boxes else 0
            for length in (chunk, count * size, coarse * size, parents * 4, at_boxes, weights * size, sides * 24):
                pieces.append(data[at : at + length])
                at += length
            pieces[-3] = (boxes[:3], np.frombuffer(pieces[-3], "<u4").reshape(-1, 3)) if at_boxes else None
            pieces[-2] = np.frombuffer(pieces[-2], scalar) if weights else None
            pieces[-1] = np.frombuffer(pieces[-1], "<u4").reshape(-1, 6) if sides else None
            found.append(pytest.param(scalar, family, width, count, *pieces, id=f"{folder.name}-{name}"))
        assert at == len(data)
    return found


SAMPLES = samples()


@pytest.mark.parametrize(
    "scalar, family, width, count, chunk, expected, coarse, parents, boxes, weights, sides", SAMPLES
)
def test_a_chunk_decodes_to_the_library_s_values(
    scalar, family, width, count, chunk, expected, coarse, parents, boxes, weights, sides
):
    data = b"before" + chunk + b"behind"
    if scalar == "bits":
        bits, size = reader.decode_bits(data, 6, count)
        assert bits.tobytes() == expected
    elif scalar.startswith("bytes"):
        values, size = reader.decode_integers(data, 6, int(scalar[5:]), count)
        assert values == expected
    else:
        above = np.frombuffer(coarse, scalar) if coarse else None
        below = np.frombuffer(parents, np.uint32) if parents else None
        context = (above, below, family, width, count, scalar)
        values, size = reader.decode_chunk(data, 6, *context, boxes=boxes, weights=weights, sides=sides)
        assert values.tobytes() == expected
    assert size == len(chunk)


def test_samples_use_every_codec_and_every_prediction():
    codecs, predictions, lattices = set(), set(), set()
    for sample in SAMPLES:
        codec, _, _, payload = reader.read_head(reader.Cursor(sample.values[4]))
        codecs.add(codec)
        if codec in (reader.TREE, reader.LOG_GRID, reader.LINEAR_GRID):
            if codec != reader.TREE:
                reader.read_bound(payload)
                lattice = reader.Lattice(payload, sample.values[0])
                lattices.add((codec, "two phases", lattice.phase[0] != lattice.phase[1]))
                lattices |= {(codec, "narrow", lattice.narrow > 0), (codec, "common", lattice.common is not None)}
            flags = payload.byte()
            predictions |= {(codec, flags & 3), (codec, "twins", bool(flags & 4)), (codec, "weights", bool(flags & 64))}
            predictions.add((codec, "sides", bool(flags & 128)))
    assert codecs == {*range(12), 16, 17} - {8}
    for codec in (reader.LOG_GRID, reader.LINEAR_GRID):
        assert {(codec, "two phases", True), (codec, "common", True)} <= lattices
    assert (reader.LOG_GRID, "narrow", True) in lattices
    for codec in (reader.TREE, reader.LOG_GRID, reader.LINEAR_GRID):
        assert {(codec, reader.PREVIOUS), (codec, reader.PARENT), (codec, "twins", True)} <= predictions
        assert (codec, "sides", True) in predictions
    assert (reader.TREE, "weights", True) in predictions
    assert {(reader.TREE, 3), (reader.LOG_GRID, 2), (reader.LOG_GRID, 3), (reader.LINEAR_GRID, 3)} <= predictions


def test_a_truncated_chunk_raises():
    sample = next(s for s in SAMPLES if s.id.endswith("float64_3_D_point"))
    _, family, width, count, chunk, _, coarse, parents, *_ = sample.values
    above, below = np.frombuffer(coarse, "float64"), np.frombuffer(parents, np.uint32)
    for size in (0, 1, 5, len(chunk) // 2, len(chunk) - 1):
        with pytest.raises(ValueError):
            reader.decode_chunk(chunk[:size], 0, above, below, family, width, count, "float64")


@pytest.mark.parametrize("name", ["float32_large_lossless", "float32_large_point", "float32_large_abs"])
def test_large_samples_have_eight_states(name, monkeypatch):
    seen, order = set(), reader.coding_order
    monkeypatch.setattr(reader, "coding_order", lambda lanes, *rest: seen.add(lanes) or order(lanes, *rest))
    sample = next(sample for sample in SAMPLES if sample.id == f"codec-{name}")
    test_a_chunk_decodes_to_the_library_s_values(*sample.values)
    assert 8 in seen
