"""The independent reader finds in golden stores, bit for bit, what the library read when it wrote them."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import xxhash

sys.path.insert(0, str(Path(__file__).parent))
import octavo_reader
import triangle_reader

GOLDEN = Path(__file__).parents[1] / "golden"
STORES = sorted(path.parent.name for path in GOLDEN.glob("*/run.octavo"))


def bits(levels):
    return ["".join("01"[int(bit)] for bit in level) for level in levels]


def hexadecimal(arrays):
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays).hex()


def test_there_are_golden_stores():
    assert STORES


@pytest.mark.parametrize("name", STORES)
def test_every_bit_is_as_it_was_written(name):
    expected = json.loads((GOLDEN / name / "expected.json").read_text())
    steps = octavo_reader.read_store(GOLDEN / name / "run.octavo")
    assert [step.step for step in steps] == [step["step"] for step in expected["steps"]]
    for step, want in zip(steps, expected["steps"], strict=True):
        assert step.flow == want["flow"]
        assert step.time == want["time"]
        assert len(step.parts) == len(want["parts"])
        for number, part_wanted in enumerate(want["parts"]):
            if "triangles" in part_wanted:
                assert_triangles(*triangle_reader.read(steps, step), part_wanted)
                continue
            part = octavo_reader.read_part(step, number)
            assert part.index == part_wanted["index"]
            assert [list(interval) for interval in part.held] == part_wanted["held"]
            assert bits(part.refined) == part_wanted["refined"]
            assert bits(part.owned) == part_wanted["owned"]
            fields = {name: hexadecimal(levels) for name, levels in part.fields.items()}
            assert fields == part_wanted["fields"]
            particles = {
                f"{species}/{attribute}": hexadecimal([values])
                for species, attributes in part.particles.items()
                for attribute, values in attributes.items()
            }
            assert particles == part_wanted["particles"]


def assert_triangles(mesh, fields, wanted):
    assert (mesh.x.tolist(), mesh.y.tolist(), mesh.planes) == (wanted["x"], wanted["y"], wanted["planes"])
    assert mesh.triangles.ravel().tolist() == wanted["triangles"]
    assert {name: hexadecimal([values]) for name, values in fields.items()} == wanted["fields"]


def test_a_flipped_bit_is_noticed(tmp_path):
    source = GOLDEN / STORES[0] / "run.octavo" / "analysis" / "data.000"
    target = tmp_path / "run.octavo" / "analysis" / "data.000"
    target.parent.mkdir(parents=True)
    data = bytearray(source.read_bytes())
    whole = len(read_everything(write(target, data)))
    data[12288 + 40] ^= 4
    with pytest.raises(octavo_reader.Damage):
        read_everything(write(target, data))
    data[12288 + 40] ^= 4
    data[4096 + 30] ^= 4
    assert len(read_everything(write(target, data))) == whole  # there is another record of that commit
    data[8192 + 30] ^= 4
    assert len(read_everything(write(target, data))) < whole
    data[8] = 1
    data[504:512] = xxhash.xxh3_64_intdigest(bytes(data[:504])).to_bytes(8, "little")
    with pytest.raises(octavo_reader.Unsupported):
        read_everything(write(target, data))


def test_what_a_mark_lists_and_is_gone_is_lost(tmp_path):
    store = tmp_path / "run.octavo"
    shutil.copytree(GOLDEN / next(name for name in STORES if name.endswith("-lossless")) / "run.octavo", store)
    orders, newest = octavo_reader.read_mark(store, "analysis")
    assert (orders, newest) == ({1, 2, 3}, 2) and octavo_reader.lost_orders(store, "analysis") == set()
    assert octavo_reader.read_mark(store, "checkpoint") == (None, None)
    (store / "analysis" / "data.001").unlink()
    assert octavo_reader.lost_orders(store, "analysis") == {1, 2, 3}
    mark = store / "analysis.durable"
    data = bytearray(mark.read_bytes())
    data[200] ^= 1
    mark.write_bytes(data)
    with pytest.raises(octavo_reader.Damage):
        octavo_reader.read_mark(store, "analysis")


def write(target, data):
    target.write_bytes(data)
    return target.parents[1]


def read_everything(store):
    steps = octavo_reader.read_store(store)
    return [octavo_reader.read_part(step, number) for step in steps for number in range(len(step.parts))]
