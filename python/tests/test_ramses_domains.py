"""A step becomes a RAMSES output of any number of domains, from an output or from a store."""

from __future__ import annotations

import json

import pytest


def statistics(run_json, path):
    """What does not depend on who owns what, bit for bit where the sum's order does not matter."""
    stats = run_json("stats", path)
    assert stats["fields"]
    return stats["leaves"], {n: (f["min"], f["max"]) for n, f in stats["fields"].items()}


@pytest.fixture(scope="module")
def output(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("ramses") / "output_00003"
    run("sample", path, "--to", "ramses", "--levels", "3-5", "--domains", 4, "--particles", 500)
    return path


@pytest.mark.parametrize("domains", [1, 2, 7])
def test_domains_do_not_change_the_step(run, run_json, output, tmp_path, domains):
    out = tmp_path / "output_00003"
    done = run("convert", output, out, "--to", "ramses", "--domains", domains, "--json")
    assert json.loads(done.stdout)["domains"] == domains
    assert len(list(out.glob("amr_00003.out*"))) == domains
    assert statistics(run_json, out) == statistics(run_json, output)


def test_a_store_becomes_an_output_of_other_domains(run, run_json, output, tmp_path):
    run("convert", output, tmp_path / "o.octavo")
    run("convert", tmp_path / "o.octavo", tmp_path / "output_00003", "--to", "ramses", "--domains", 3)
    assert len(list((tmp_path / "output_00003").glob("part_00003.out*"))) == 3
    assert statistics(run_json, tmp_path / "output_00003") == statistics(run_json, output)


@pytest.mark.parametrize("words", [["--to", "ramses", "--domains", "0"], ["--to", "ramses", "--domains", "99000"],
                                   ["--domains", "4"]])  # fmt: skip
def test_wrong_numbers_of_domains_are_2(run, output, tmp_path, words):
    done = run("convert", output, tmp_path / "output_00003", *words, check=False)
    assert done.returncode == 2, done.stderr
    assert not (tmp_path / "output_00003").exists()
