"""`partita compile --emit-c`: a folder of C, or nothing."""

import subprocess
from pathlib import Path

import numpy as np
from cli_cases import MODEL, Run, refused

COMPILE = ["compile", "m.onnxtxt", "--shape", "N=3", "--target", "c"]


def test_a_model_becomes_a_program(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    assert run(*COMPILE, "--emit-c", "c") == (0, "", "")
    subprocess.run(["make", "--quiet"], cwd="c", check=True)
    x = np.array([[1, -2, 3, -4]] * 3, np.float32)
    np.save("x.npy", x)
    np.save("ab.npy", np.array([7, -8]))
    arguments = ["c/model", "x.npy", "a/b=ab.npy"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["y.npy", "file.npy"]
    np.testing.assert_array_equal(np.load("y.npy"), np.maximum(2 * x, 0))
    np.testing.assert_array_equal(np.load("file.npy"), [-7, 8])


def test_beside_an_artifact(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    code, out, err = run(*COMPILE, "--emit-c", "c", "-o", "m.partita")
    assert (code, err) == (0, "")
    assert out.startswith("m.partita: ")
    assert Path("c/model.c").exists()


def test_only_target_c_writes_c(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    outcome = run("compile", "m.onnxtxt", "--shape", "N=3", "--emit-c", "c")
    assert refused(outcome) == "expected target c, which writes C; set target c"
    assert not Path("c").exists()


def test_what_c_cannot_do(run: Run) -> None:
    """A model is C as a whole or not at all; the message says which op is not."""
    Path("m.onnxtxt").write_text(MODEL)
    outcome = run(*COMPILE[:-1], 'c{ops="relay.add"}', "--emit-c", "c")
    assert "cannot be C as a whole: relay.relu" in refused(outcome)
    assert not Path("c").exists()


def test_a_folder_that_is_in_use(run: Run) -> None:
    Path("m.onnxtxt").write_text(MODEL)
    Path("c").mkdir()
    Path("c/mine").touch()
    outcome = run(*COMPILE, "--emit-c", "c")
    assert refused(outcome) == "expected c to be a new or empty folder"
    assert [each.name for each in Path("c").iterdir()] == ["mine"]
