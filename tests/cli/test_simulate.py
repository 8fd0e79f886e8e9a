"""`partita simulate`: its tables, JSON, trace and picture, and what it refuses."""

import json
import os
import subprocess
from bisect import bisect_right
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from cli_cases import Run, refused
from vta_baseline import GOLDEN

from partita.runtime.vta import AluOpcode, HardwareConfig, Memory, Program, isa
from partita.runtime.vta import ProgramBuilder as Builder
from partita.tools.arrays import read_arrays, write_npz

RECORD = GOLDEN / "conv3x3_s1_p1.npz"
NETWORK = GOLDEN / "streams" / "resnet18_v1_tophub_alucpu_e2e.npz"

TABLES = """\
conv3x3_s1_p1.npz: 125 instructions, 1 launch, 18004 cycles; memory after it is as in the record

module   instructions   busy  fetch  load token  compute token  store token  dram  empty
load               41  32.3%   0.1%                      61.5%               0.0%   6.1%
compute            69  66.9%   0.0%       27.8%                        5.3%  0.0%   0.0%
store              15   7.1%   0.0%                      92.9%               0.0%   0.0%
dram                   27.4%

bound    of                                             cycles  of all
gemm     6400 multiplications; 656 more are by padding    6400   35.5%
compute  these, 392 resets, 1568 ALU micro-ops            9928   55.1%
dram     32.4 KiB read, 6.1 KiB written                   4925   27.4%
"""


def write_program(*, broken: bool = False) -> Path:
    """Write a program that adds 1 to 64 bytes; a broken one stores what it does not wait for."""
    builder = Builder(HardwareConfig.load("sim"), serial=not broken)
    source, result = (
        builder.input("x", dtype="int8", shape=(64,)),
        builder.output("y", 64),
    )
    uops = builder.uops("add", [(0, 0, 0)])
    with builder.layer("first"):
        builder.load(Memory.UOP, uops, columns=1)
        builder.load(Memory.ACC_8BIT, source, columns=4)
    with builder.layer("second"):
        builder.alu(AluOpcode.ADD, range(1), loops=(1, 4), dst=(0, 1), imm=1)
        builder.store(result, columns=4)
    builder.finish()
    builder.build().save("p.vta")
    return Path("p.vta")


def test_a_record_is_shown_in_tables(run: Run) -> None:
    assert run("simulate", RECORD) == (0, TABLES, "")


def test_a_network_is_shown_by_launch(run: Run) -> None:
    code, out, err = run("simulate", NETWORK, "--timing-only")
    assert (code, err) == (0, "")
    assert out.startswith(
        f"{NETWORK.name}: 4483 instructions, 19 launches, 8022244 cycles; nothing was executed\n"
    )
    rows = out.split("\n\n")[-1].splitlines()
    assert rows[0].split() == [
        *(
            "layer",
            "cycles",
            "of",
            "all",
            "gemm",
            "compute",
            "dram",
            "instructions",
            "DRAM",
        ),
    ]
    assert len(rows) == 20
    assert rows[5].split() == [
        *(
            "launch",
            "4",
            "326114.5",
            "4.1%",
            "67.6%",
            "94.7%",
            "31.5%",
            "200",
            "801.8",
            "KiB",
        ),
    ]


def test_a_record_as_json(run: Run) -> None:
    code, out, err = run("simulate", RECORD, "--json", "--order", "late_loads")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["executed_on"] == "sim"
    assert found["memory"] == {
        **{"as_recorded": True, "different_bytes": 0, "first": None}
    }
    assert (found["cycles"], found["instructions"]) == (18004, 125)
    assert found["busy"] == {
        "load": 5808,
        "compute": 12042,
        "store": 1272,
        "dram": 4925,
    }
    assert found["stalls"]["store"]["compute_token"] == 16729
    assert found["bounds"] == {"gemm": 6400, "compute": 9928, "dram": 4925}
    assert found["dram_bytes"] == 39400
    assert found["micro_ops"]["padding"] == 656


def test_a_trace_and_a_picture_are_written(run: Run) -> None:
    code, _, err = run("simulate", RECORD, "--trace", "t.json", "--timeline", "t.svg")
    assert (code, err) == (0, "")
    events = json.loads(Path("t.json").read_text())["traceEvents"]
    assert events[0]["args"]["name"] == RECORD.name
    assert sum(each["ph"] == "X" for each in events) > 125
    assert Path("t.svg").read_text().startswith("<?xml")
    assert sorted(os.listdir()) == ["t.json", "t.svg"]


@pytest.mark.parametrize("order", ["program", "early_loads", "late_loads", "random"])
def test_orders(run: Run, order: str) -> None:
    assert run("simulate", RECORD, "--order", order, "--seed", "5") == (0, TABLES, "")


def test_a_driver_executes_a_record(run: Run) -> None:
    source = Path(__file__).parent.parent / "vta_driver.c"
    command = ["cc", "-shared", "-fPIC", str(source), "-o", "lib.so"]
    subprocess.run(command, check=True)
    assert run("simulate", RECORD, "--device", "driver:lib.so") == (0, TABLES, "")


def test_a_program_has_inputs_and_outputs(run: Run) -> None:
    x = np.arange(64, dtype=np.int8)
    np.save("x.npy", x)
    code, out, err = run(
        "simulate", write_program(), "--input", "x=x.npy", "-o", "out.npz"
    )
    assert (code, err) == (0, "")
    assert out.startswith("p.vta: 5 instructions, 1 launch, ")
    assert "; executed on sim\n" in out
    assert [each.split()[0] for each in out.split("\n\n")[-1].splitlines()] == [
        *("layer", "first", "second", "none"),
    ]
    np.testing.assert_array_equal(np.load("out.npz")["y"].view(np.int8), x + 1)


def test_inputs_that_are_not_given_are_made_up(run: Run) -> None:
    outputs: list[bytes] = []
    for seed in ("0", "0", "1"):
        command = ("simulate", write_program(), "--random-inputs", seed, "-o", "o.npz")
        assert run(*command)[0] == 0
        outputs.append(np.load("o.npz")["y"].tobytes())
    assert outputs[0] == outputs[1] != outputs[2]


def test_memory_that_differs_is_an_error(run: Run) -> None:
    """All is shown before."""
    arrays = read_arrays(RECORD)
    arrays["mem_after"] = arrays["mem_after"].copy()
    address = json.loads(str(arrays["meta_json"]))["phys"]["out"]
    place = bisect_right(arrays["seg_addr"].tolist(), address) - 1
    start = int(arrays["seg_size"][:place].sum()) + address - arrays["seg_addr"][place]
    arrays["mem_after"][start + 9] ^= 1
    write_npz(Path("wrong.npz"), arrays)
    code, out, err = run("simulate", "wrong.npz", "--json")
    assert code == 1
    assert json.loads(out)["memory"]["different_bytes"] == 1
    assert err == (
        "partita: error: memory differs from wrong.npz in 1 byte after the run, first in byte 9 of out\n"
    )
    code, out, _ = run("simulate", "wrong.npz")
    assert code == 1
    assert "; memory after it differs from the record\n" in out


def test_a_stream_without_data_is_timed(run: Run) -> None:
    program = Program.of_record(RECORD)
    bits = isa.encode(program.resolved(), program.config)
    Path("a.bin").write_bytes(bits.tobytes())
    code, out, err = run("simulate", "a.bin", "--config", "sim", "--timing-only")
    assert (code, err) == (0, "")
    assert out.startswith("a.bin: 125 instructions, 1 launch, 18004 cycles; nothing ")
    assert "7056 multiplications, those by padding among them " in out
    assert refused(run("simulate", "a.bin", "--config", "sim")) == (
        "a.bin is a stream without its data; set --timing-only"
    )
    slow = {**program.config.to_json(), "MODEL_LATENCY": 64}
    Path("slow.json").write_text(json.dumps(slow))
    code, out, _ = run("simulate", RECORD, "--config", "slow.json", "--json")
    assert code == 0
    assert json.loads(out)["cycles"] > 18004


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.npz"], "cannot read none.npz: No such file or directory"),
        (
            ["short.npz"],
            "short.npz: expected an .npz record; this is another file, or a damaged one",
        ),
        (
            ["foreign.npz"],
            "foreign.npz: expected a record with insns, got one of weights",
        ),
        (
            ["m.partita"],
            "m.partita is a compiled model without VTA programs: nothing in it is for an accelerator",
        ),
        (
            ["p.vta", "--config", "sim"],
            "p.vta says itself which hardware it is for; leave out --config",
        ),
        (
            ["p.vta", "--order", "randon"],
            "expected --order program, early_loads, late_loads, random, got randon; did you mean random?",
        ),
        (
            ["p.vta", "--device", "driver:lib.so", "--order", "random"],
            "expected --order and --unchecked with --device sim only: others execute as they do",
        ),
        (
            ["p.vta", "--device", "simm"],
            "expected device sim or driver:LIB.so, got simm; did you mean sim?",
        ),
        (
            ["p.vta", "--timing-only", "-o", "y.npz"],
            "expected --output without --timing-only: nothing computes it",
        ),
        (
            ["p.vta", "--trace", "no/t.json"],
            "cannot write no/t.json: there is no folder no",
        ),
        (
            ["p.vta", "--timeline", "t.gif"],
            "expected --timeline FILE to end in one of .svg, .png, .pdf, got t.gif",
        ),
        (["p.vta", "--input", "z=x.npy"], "expected inputs x, got z"),
        (["p.vta", "--input", "x=x.npy"], "input x: expected int8[64], got float64[3]"),
    ],
)
def test_what_is_refused(run: Run, arguments: list[str], message: str) -> None:
    write_program()
    Path("short.npz").write_bytes(RECORD.read_bytes()[:3000])
    np.savez("foreign.npz", weights=np.ones(3))
    with ZipFile("m.partita", "w") as archive:
        archive.writestr("manifest.json", "{}")
    np.save("x.npy", np.ones(3))
    before = sorted(os.listdir())
    assert refused(run("simulate", *arguments)) == message
    assert sorted(os.listdir()) == before


def test_programs_that_are_wrong(run: Run) -> None:
    write_program(broken=True)
    message = refused(run("simulate", "p.vta"))
    assert message.startswith("instruction 4 (finish) does not wait for instruction 3 ")
    code, out, _ = run("simulate", "p.vta", "--timing-only")
    assert code == 0
    assert "nothing was executed" in out
