"""Slices of GPUs by MIG, on the pretended driver."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from daemon import BUILD, Daemon, MUSTER, kill_daemon, names, restart_on_pretended_driver

H200 = {"FAKE_GPU_NAME": "NVIDIA H200", "FAKE_GPU_BYTES": str(140 << 30)}


def restart_with_mig(daemon, mode="on", keep="1h", **more):
    return restart_on_pretended_driver(daemon, "50ms", mig={"keep": keep}, FAKE_GPU_MIG=mode, **H200, **more)


def ask_slice(daemon, name, profile, **more):
    return daemon.ask("PUT", "/v1/groups/" + name, {"name": name, "gpus": [0], "mig": profile, **more})


def slices(daemon):
    """Who has which place of the first GPU."""
    return {slice["start"]: slice.get("group", slice["use"]) for slice in daemon.status()["gpus"][0]["mig"]["slices"]}


def random_requests_and_crashes_strand_no_slice():
    folder = tempfile.mkdtemp(prefix="muster-slices-")
    try:
        run = subprocess.run([BUILD / "gpud-slices", (BUILD / "tests/gpu/libfake-nvml.so").resolve(), folder,
                              os.environ.get("SLICES_SEED", "1"), "1000"], capture_output=True, text=True, timeout=600)
        assert run.returncode == 0, run.stderr
        print("# " + run.stdout.strip())
        assert int(re.search(r"(\d+) crashes", run.stdout)[1]) > 50, run.stdout
    finally:
        shutil.rmtree(folder)


def a_group_gets_a_slice_to_itself():
    daemon = Daemon()
    try:
        restart_with_mig(daemon)
        status, answer = ask_slice(daemon, "a", "1g.18gb")
        assert status == 201 and answer["slice"].startswith("MIG-") and answer["mig"] == "1g.18gb", answer
        assert slices(daemon) == {6: "a"}, "the first place that leaves room for the large ones"
        group = daemon.of_group("a")
        assert group["state"] == "slice" and group["slice"] == answer["slice"] and "socket" not in group, group
        assert group["enforcement"]["by"] == "mig" and "slice" in group["enforcement"]["reason"], group
        assert ask_slice(daemon, "a", "1g.18gb")[0] == 200, "it is as it was"
        assert ask_slice(daemon, "a", "2g.35gb")[0] == 409
        assert ask_slice(daemon, "b", "4g.71gb")[0] == 201 and ask_slice(daemon, "c", "2g.35gb")[0] == 201
        assert slices(daemon) == {0: "b", 4: "c", 6: "a"}
        status, answer = ask_slice(daemon, "d", "1g.18gb")
        assert status == 409 and "no room" in answer["error"], answer
        status, answer = ask_slice(daemon, "d", "1g.5gb")
        assert status == 400 and "1g.18gb, " in answer["error"], answer
        for more in ({"memory": {"limit": "1Gi"}}, {"compute": {"share": 0.5}}, {"pod": {}}):
            assert ask_slice(daemon, "d", "1g.18gb", **more)[0] == 400, more
        assert ask_slice(daemon, "d", "1g.18gb", parkable=True)[0] == 422
        status, answer = daemon.group("d", "1Gi")
        assert status == 422 and "request a slice" in answer["error"], answer
        assert sorted(names(daemon)) == ["a", "b", "c"]
    finally:
        daemon.stop()


def unused_slices_are_used_again_and_removed_late():
    daemon = Daemon()
    try:
        restart_with_mig(daemon)
        first = ask_slice(daemon, "a", "1g.18gb")[1]["slice"]
        assert daemon.ask("DELETE", "/v1/groups/a")[0] == 200
        daemon.wait_for(lambda: slices(daemon) == {6: "idle"})
        assert ask_slice(daemon, "b", "1g.18gb")[1]["slice"] == first
        assert daemon.ask("DELETE", "/v1/groups/b")[0] == 200
        daemon.wait_for(lambda: slices(daemon) == {6: "idle"})
        assert ask_slice(daemon, "c", "7g.141gb")[0] == 201 and slices(daemon) == {0: "c"}, "it was in the way"
        assert daemon.ask("DELETE", "/v1/groups/c")[0] == 200
        daemon.wait_for(lambda: slices(daemon) == {0: "idle"})
        daemon.process.terminate()
        daemon.process.wait()
        config = pathlib.Path(daemon.config)
        config.write_text(config.read_text().replace('"1h"', '"1s"'))
        driver = daemon.folder + "/driver"
        daemon.options = {"env": {**os.environ, "LD_LIBRARY_PATH": driver, "FAKE_GPU_STATE": driver + "/state",
                                  "FAKE_GPU_MIG": "on", **H200}}
        daemon.start()
        daemon.wait_for(lambda: not slices(daemon), 30)
    finally:
        daemon.stop()


def slices_outlive_a_killed_daemon():
    daemon = Daemon()
    try:
        env = restart_with_mig(daemon)
        given = {name: ask_slice(daemon, name, "1g.18gb")[1]["slice"] for name in "abc"}
        saved = pathlib.Path(daemon.folder, "run/groups.json")
        daemon.wait_for(lambda: '"c"' in saved.read_text())
        assert daemon.ask("DELETE", "/v1/groups/b")[0] == 200
        daemon.wait_for(lambda: '"b"' not in saved.read_text())
        kill_daemon(daemon)
        daemon.options = {"env": env}
        daemon.start()
        found = {group["group"]: group["slice"] for group in daemon.status()["groups"]}
        assert found == {name: given[name] for name in "ac"}, (found, given)
        assert sorted(slices(daemon).values()) == ["a", "c", "idle"], slices(daemon)
        assert ask_slice(daemon, "d", "1g.18gb")[1]["slice"] == given["b"]
        kill_daemon(daemon)
        pathlib.Path(daemon.folder, "run/slices.json").write_text("[{]")
        saved.unlink()
        daemon.start()
        assert sorted(slices(daemon).values()) == ["foreign"] * 3, "what is not known to be ours is left alone"
        assert os.path.exists(daemon.folder + "/run/slices.json.damaged")
    finally:
        daemon.stop()


def programs_run_with_a_slice():
    daemon = Daemon()
    try:
        env = restart_with_mig(daemon)
        run = [MUSTER, "gpu", "run", "--folder", daemon.folder + "/run", "--mig", "1g.18gb"]
        out = subprocess.run([*run, "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES; echo [$LD_PRELOAD]; exit 7"], env=env,
                             capture_output=True, text=True, timeout=60)
        assert out.returncode == 7 and re.fullmatch(r"MIG-\S+\n\[\]\n", out.stdout), out
        assert not names(daemon)
        child = subprocess.Popen([*run, "--name", "spin", "--", BUILD / "gpu-spin", "1000", "60"], env=env,
                                 stdout=subprocess.DEVNULL, start_new_session=True)
        daemon.wait_for(lambda: names(daemon), 20)
        table = subprocess.run([MUSTER, "gpu", "status", "--folder", daemon.folder + "/run"], capture_output=True,
                               text=True, timeout=60).stdout
        assert "MIG 1g.18gb" in table, table
        child.terminate()
        child.wait(20)
        daemon.wait_for(lambda: not names(daemon), 20)
        assert daemon.status()["unregisteredProcesses"] == 0
        for more, message in ((["--memory", "1Gi"], "takes no other option"), (["--gpu", "7"], "no GPU '7'")):
            wrong = subprocess.run([*run, *more, "--", "true"], env=env, capture_output=True, text=True, timeout=60)
            assert wrong.returncode != 0 and message in wrong.stderr, wrong
        plain = subprocess.run([MUSTER, "gpu", "run", "--folder", daemon.folder + "/run", "--memory", "1Gi", "--", "true"],
                               env=env, capture_output=True, text=True, timeout=60)
        assert plain.returncode != 0 and "no GPU that can be shared" in plain.stderr, plain
    finally:
        daemon.stop()


def gpus_without_slices_are_shared_as_before():
    """MIG mode is off, the driver has nothing of it, or it is from before MIG."""
    for mode, reason in (("off", "MIG mode of the GPU is off"), ("", "the GPU has no MIG"), (None, "the GPU has no MIG")):
        daemon = Daemon()
        try:
            env = restart_with_mig(daemon, mode or "")
            if mode is None:
                daemon.process.terminate()
                daemon.process.wait()
                shutil.copy(BUILD / "tests/gpu/libfake-nvml-old.so", daemon.folder + "/driver/libnvidia-ml.so.1")
                daemon.options = {"env": env}
                daemon.start()
            assert daemon.group("a", "1Gi")[0] == 201
            enforcement = daemon.of_group("a")["enforcement"]
            assert enforcement["by"] == "muster" and reason in enforcement["reason"], enforcement
            status, answer = ask_slice(daemon, "b", "1g.18gb")
            assert status == 422 and ("is off" if mode else "has no MIG") in answer["error"], answer
            assert daemon.status()["gpus"][0]["mig"]["mode"] == ("off" if mode else "unsupported")
            run = subprocess.run([MUSTER, "gpu", "run", "--folder", daemon.folder + "/run", "--mig", "1g.18gb", "--", "true"],
                                 env=env, capture_output=True, text=True, timeout=60)
            assert run.returncode != 0 and "no GPU in MIG mode" in run.stderr, run
        finally:
            daemon.stop()


TESTS = [
    random_requests_and_crashes_strand_no_slice,
    a_group_gets_a_slice_to_itself,
    unused_slices_are_used_again_and_removed_late,
    slices_outlive_a_killed_daemon,
    programs_run_with_a_slice,
    gpus_without_slices_are_shared_as_before,
]
