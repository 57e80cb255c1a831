"""Memory: limits, promises, and what is owed."""

import os
import random
import re
import signal
import subprocess
import time

from daemon import Daemon, GIB, MUSTER


def limit_is_exact():
    daemon = Daemon()
    try:
        assert daemon.group("a", "20Gi")[0] == 201
        one = daemon.tenant("hold", "a", 15 * GIB)
        assert one.stdout.readline().startswith("held")
        two = daemon.tenant("hold", "a", 5 * GIB + 1)
        assert two.stdout.readline().startswith("denied")
        three = daemon.tenant("hold", "a", 5 * GIB)
        assert three.stdout.readline().startswith("held"), "credit of the first was not taken back"
        assert daemon.taken() == 20 * GIB
        figures = daemon.ask("GET", "/metrics")[1]
        assert re.search(r'muster_gpu_oom_denied_total\{[^}]*group="a"[^}]*reason="limit"\} 1\b', figures), figures
        assert re.search(r'muster_gpu_memory_used_bytes\{[^}]*group="a"[^}]*\} 21474836480', figures)
        assert re.search(r'hami_vgpu_memory_used_bytes\{[^}]*\} 21474836480', figures)
        assert re.search(r'runai_gpu_memory_used_mebibytes_per_pod_per_gpu\{[^}]*\} 20480', figures)
    finally:
        daemon.stop()


def killed_tenants_leave_nothing():
    daemon = Daemon()
    try:
        daemon.group("a", "40Gi")
        daemon.group("b", "20Gi")
        worst = 0
        chance = random.Random(4)
        for wave in range(6):
            children = [daemon.tenant("churn", "ab"[i % 2], i + wave * 100, 60) for i in range(50)]
            time.sleep(0.3 + chance.random() * 0.3)
            for child in children:
                child.send_signal(signal.SIGKILL)
            for child in children:
                child.wait()
            start = time.monotonic()
            daemon.wait_for(lambda: daemon.taken() == 0, 5)
            worst = max(worst, time.monotonic() - start)
        assert worst < 1, f"{worst:.3f} s"
        print(f"# 300 processes killed; the ledger was empty {worst * 1000:.0f} ms after the last of a wave at most")
    finally:
        daemon.stop()


def one_death_is_seen_at_once():
    daemon = Daemon()
    try:
        daemon.group("a", "40Gi")
        times = []
        for _ in range(20):
            child = daemon.tenant("hold", "a", GIB)
            assert child.stdout.readline().startswith("held")
            child.send_signal(signal.SIGKILL)
            start = time.monotonic()
            daemon.wait_for(lambda: daemon.taken() == 0, 5)
            times.append(time.monotonic() - start)
        print(f"# freed within {sorted(times)[10] * 1000:.1f} ms (median), {max(times) * 1000:.1f} ms (longest)")
        assert sorted(times)[10] < 0.1
    finally:
        daemon.stop()


def owners_get_back_what_was_borrowed():
    daemon = Daemon(memory_settings={"reserve": "1Gi", "reclaim": {"deadline": "300ms", "action": "kill"}})
    try:
        daemon.group("owner", "50Gi", share=0.5)
        daemon.group("borrower", "10Gi", "70Gi", share=0.1)
        borrower = daemon.tenant("hold", "borrower", 60 * GIB)
        assert borrower.stdout.readline().startswith("held")
        owner = daemon.tenant("hold", "owner", 40 * GIB)
        line = owner.stdout.readline()
        assert line.startswith("held"), line
        assert int(line.split()[3]) >= 300000, "the borrower had no time to give back: " + line
        assert borrower.wait(5) == -signal.SIGKILL
        assert daemon.of_group("borrower")["killed"] == 1
    finally:
        daemon.stop()


def promises_are_refused_when_they_cannot_be_kept():
    daemon = Daemon()
    try:
        cases = [
            (201, daemon.group("a", "40Gi", share=0.5, mode="strict")),
            (409, daemon.group("b", "40Gi")),
            (409, daemon.group("c", "1Gi", share=0.6)),
            (409, daemon.group("d", "1Gi", mode="time")),
            (404, daemon.group("e", "1Gi", gpus=["GPU-none"])),
            (400, daemon.group("f", "2Gi", "1Gi")),
            (400, daemon.group("g", "1Gi", mode="best")),
            (400, daemon.group("h", "1Gi", share=1.5)),
            (409, daemon.group("i", "200Gi", gpus=[1])),
            (201, daemon.group("j", "1Gi", gpus=[0, 1], share=0.25)),
            (200, daemon.group("a", "30Gi", share=0.25, mode="strict")),
            (404, daemon.ask("DELETE", "/v1/groups/none")),
            (200, daemon.ask("DELETE", "/v1/groups/a")),
            (404, daemon.ask("GET", "/v1/groups/a")),
        ]
        for i, (expected, (status, answer)) in enumerate(cases):
            assert status == expected, f"case {i}: {status} {answer}"
            assert status < 300 or len(answer["error"]) > 20, answer
        bad = daemon.ask("PUT", "/v1/groups/..%2f..", {"name": "..", "gpus": [0], "memory": {"request": 1}})
        assert bad[0] == 400, bad
    finally:
        daemon.stop()


def requests_in_others_words_are_kept():
    daemon = Daemon()
    try:
        def ask(name, gpus=(0,), **words):
            return daemon.ask("PUT", "/v1/groups/" + name, {"name": name, "gpus": list(gpus), "pod": words})

        assert ask("kai", annotations={"gpu-memory": "2000", "team": "a"})[0] == 201
        group = daemon.of_group("kai")
        assert group["requestBytes"] == group["limitBytes"] == 2000 << 20, group
        assert ask("hami", resources={"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000, "nvidia.com/gpucores": 30},
                   annotations={"nvidia.com/vgpu-mode": "hami-core"})[0] == 201
        group = daemon.of_group("hami")
        assert (group["limitBytes"], group["share"], group["mode"]) == (3000 << 20, 0.3, "strict"), group
        assert ask("runai", annotations={"gpu-memory-request": "1Gi", "gpu-memory-limit": "3Gi"})[0] == 201
        group = daemon.of_group("runai")
        assert (group["requestBytes"], group["limitBytes"]) == (GIB, 3 * GIB), group
        halves = [ask(name, gpus=(1,), annotations={"gpu-fraction": "0.5"}) for name in ("left", "right")]
        assert [status for status, _ in halves] == [201, 201], halves
        capacity = daemon.status()["gpus"][1]["capacityBytes"]
        assert daemon.of_group("left")["requestBytes"] == capacity // 2
        assert daemon.of_group("left")["share"] == 0.5
        for status, reason, words in (
                (422, "needs MPS", {"annotations": {"gpu-fraction": "0.1", "gpu-compute-mode": "sm-sharing"}}),
                (400, "gpu-fraction", {"annotations": {"gpu-fraction": "half"}}),
                (400, "requests 2 GPUs", {"annotations": {"gpu-fraction": "0.1", "gpu-fraction-num-devices": "2"}}),
                (400, "no annotation, resource or variable requests", {"annotations": {"team": "a"}}),
                (400, "requests 9765.6 GiB", {"annotations": {"gpu-memory": "9999999"}})):
            found, said = ask("refused", **words)
            assert found == status and reason in said["error"], (found, said)
        found, said = daemon.ask("PUT", "/v1/groups/both", {"name": "both", "gpus": [0], "memory": {"request": "1Gi"},
                                                            "pod": {"annotations": {"gpu-memory": "2000"}}})
        assert found == 400 and "give either" in said["error"], said
    finally:
        daemon.stop()


def what_cannot_be_meant_is_refused():
    daemon = Daemon()
    try:
        for verb, options, reason in (
                ("run", ("--memory", "0"), "expected an amount"), ("run", ("--memory", "1e400"), "expected an amount"),
                ("run", ("--memory", "nan"), "expected an amount"), ("run", ("--memory", "-5Gi"), "expected an amount"),
                ("run", ("--memory", "2"), "only 2 bytes"), ("run", ("--memory", "1.5"), "bytes"),
                ("run", ("--memory", "1Gi", "--memory-limit", "512Mi"), "is less than"),
                ("run", ("--memory", "900Gi"), "79.2 Gi"), ("run", ("--share", "2"), "above 0 and up to 1"),
                ("run", ("--share", "nan"), "above 0 and up to 1"), ("run", ("--share", "0"), "above 0 and up to 1"),
                ("run", ("--share", "0.5x"), "above 0 and up to 1"), ("run", ("--mode", "best"), "strict|fair|time"),
                ("run", ("--gpu", "7"), "no GPU '7'"), ("run", ("--name", "../x"), "--name: expected"),
                ("run", ("--output", "json"), "no option --output"), ("top", ("--memory", "1Gi"), "no option --memory"),
                ("doctor", ("-o", "json"), "no option -o")):
            program = ("--", "touch", daemon.folder + "/ran") if verb == "run" else ()
            run = subprocess.run([MUSTER, "gpu", verb, "--folder", daemon.folder + "/run", *options, *program],
                                 capture_output=True, text=True, timeout=60)
            assert run.returncode == 2 and reason in run.stderr, (options, run)
        # The first word that is no option is the program, and all words behind it are the program's.
        loose = subprocess.run([MUSTER, "gpu", "run", "--folder", daemon.folder + "/run", "--memory", "1Gi",
                                "sh", "-c", "exit $#", "--", "--memory", "x"], capture_output=True, text=True, timeout=60)
        assert loose.returncode == 2 and loose.stderr == "", loose
        assert not daemon.status()["groups"] and not os.path.exists(daemon.folder + "/ran")
    finally:
        daemon.stop()


TESTS = [
    limit_is_exact,
    one_death_is_seen_at_once,
    killed_tenants_leave_nothing,
    owners_get_back_what_was_borrowed,
    promises_are_refused_when_they_cannot_be_kept,
    requests_in_others_words_are_kept,
    what_cannot_be_meant_is_refused,
]
