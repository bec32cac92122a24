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
import octavo_solids
import octavo_triangles
import rewrite

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
        assert step.triangles is not None or step.solids is not None or len(step.parts) == len(want["parts"])
        for number, part_wanted in enumerate(want["parts"]):
            if "triangles" in part_wanted:
                assert_triangles(*octavo_triangles.read(steps, step), part_wanted)
                continue
            if "corners" in part_wanted:
                assert_solids(*octavo_solids.read(steps, step), part_wanted)
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
            assert {name: data.hex() for name, data in part.opaque.items()} == part_wanted.get("opaque", {})


def assert_triangles(mesh, fields, wanted):
    assert (mesh.x.tolist(), mesh.y.tolist(), mesh.planes) == (wanted["x"], wanted["y"], wanted["planes"])
    assert mesh.triangles.ravel().tolist() == wanted["triangles"]
    assert {name: hexadecimal([values]) for name, values in fields.items()} == wanted["fields"]
    others = {name: values.ravel().tolist() for name, values in mesh.others.items()}
    boundary = {f"boundary/{name}": values for name, values in wanted["boundary"].items()}
    assert others == {"triangles/part": wanted["part"], **boundary}


def assert_solids(mesh, fields, wanted):
    assert mesh.points.T.tolist() == [wanted[axis] for axis in "xyz"]
    assert (mesh.corners.tolist(), mesh.connectivity.tolist()) == (wanted["corners"], wanted["connectivity"])
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


def test_a_mark_that_says_how_many_are_kept_excuses_those_before(tmp_path):
    store = tmp_path / "run.octavo"
    shutil.copytree(GOLDEN / next(name for name in STORES if name.endswith("-lossless")) / "run.octavo", store)
    mark = store / "analysis.durable"
    lines = mark.read_bytes()[:485].rstrip().replace(b"orders 1-3", b"orders 1-3,90-91")

    def write(text):
        data = text.ljust(485) + b"\n"
        mark.write_bytes(data + b"checksum %016x\n" % xxhash.xxh3_64_intdigest(data))
        return octavo_reader.lost_orders(store, "analysis")

    assert write(lines) == {90, 91} == write(lines + b"\nkept 1")  # newer than all that are complete
    assert write(lines.replace(b"1-3,90", b"0-3,90") + b"\nkept 4") == {0, 90, 91}
    assert write(lines.replace(b"1-3,90", b"0-3,90") + b"\nkept 3") == {90, 91}


def test_all_layouts_are_in_the_golden_stores():
    store = GOLDEN / "v2.0-layouts" / "run.octavo"
    steps = octavo_reader.read_store(store)
    assert [step.step for step in steps] == [51, 1234567]
    assert (store / "checkpoint/slot.000/data.000").exists() and (
        store / "checkpoint/001/234/001234567/data.000"
    ).exists()
    streams = [[stream for part in step.parts for stream in part[2].streams] for step in steps]
    assert any(stream.raw_checksum == stream.stored_checksum == 0 for stream in streams[0])
    assert any(stream.offset % 8 for stream in streams[1])
    assert {octavo_reader.text(field["type"]) for field in steps[0].header["fields"]} == octavo_reader.TYPES
    lossless = GOLDEN / "v2.0-lossless" / "run.octavo"
    assert len(octavo_reader.read_commits(lossless / "analysis" / "data.000")) == 3  # steps appended to one file


def copy_changed(tmp_path, edit, name="lossless", file="analysis/data.000"):
    store = tmp_path / "run.octavo"
    shutil.copytree(GOLDEN / f"v2.0-{name}" / "run.octavo", store)
    rewrite.rewrite_segment(store / file, edit)
    return store


def test_an_unknown_feature_is_unsupported_and_an_unknown_kind_is_skipped(tmp_path):
    store = copy_changed(tmp_path / "a", lambda segment: segment.footer.update(must_understand=["knots"]))
    with pytest.raises(octavo_reader.Unsupported, match="knots"):
        read_everything(store)
    store = copy_changed(tmp_path / "b", rewrite.add_unknown_stream)
    assert len(read_everything(store)) == 4
    for old, new in ((b"int16", b"int17"), (b"cell", b"edge")):
        store = copy_changed(tmp_path / new.decode(), rewrite.replace_text(old, new))
        with pytest.raises(octavo_reader.Unsupported, match=new.decode()):
            read_everything(store)


def test_streams_must_ascend(tmp_path):
    def swap(segment):
        offsets = segment.column("offset")
        offsets[2], offsets[3] = offsets[3], offsets[2]
        segment.set_column("offset", offsets)

    with pytest.raises(octavo_reader.Damage, match="before"):
        read_everything(copy_changed(tmp_path, swap))


def write(target, data):
    target.write_bytes(data)
    return target.parents[1]


def read_everything(store):
    steps = octavo_reader.read_store(store)
    return [octavo_reader.read_part(step, number) for step in steps for number in range(len(step.parts))]
