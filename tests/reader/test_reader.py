"""The independent reader finds in golden stores, bit for bit, what the library read when it wrote them."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

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
    data[4096 + 40] ^= 4
    with pytest.raises(octavo_reader.Damage):
        read_everything(write(target, data))
    data[4096 + 40] ^= 4
    data[512 + 30] ^= 4
    data[1024 + 30] ^= 4
    assert len(read_everything(write(target, data))) < whole


def write(target, data):
    target.write_bytes(data)
    return target.parents[1]


def read_everything(store):
    steps = octavo_reader.read_store(store)
    return [octavo_reader.read_part(step, number) for step in steps for number in range(len(step.parts))]
