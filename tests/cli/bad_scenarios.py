"""Bad input for `muster scenario`: each gives one line that names file and place, and status 2."""

import copy
import gzip
import json
import pathlib
import random
import tempfile

from harness import HERE, Tests, expect, expect_accepted, expect_no_crash, expect_refused, run, shown

tests = Tests()
EVERYTHING = json.loads((HERE / "everything.json").read_text())
SMALL = {
    "topology": {
        "nodes": [{"name": "n", "gpus": 8}],
        "queues": [{"name": "d"}, {"name": "q", "parent": "d", "gpu": {"quota": 4}}],
        "jobs": [{"name": "j", "queue": "q", "tasks": [{"request": {"gpus": 1}}, {"request": {"gpus": 1}}]}],
    }
}


def play(data, name="bad.json", options=()):
    """Plays a file of that content, under a name that messages have to hold."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / name).write_bytes(data)
        return run("scenario", *options, name, folder=folder)


def edited(scenario, path, value):
    """A copy with `value` at the path, such as "topology.nodes.0.gpus"; DELETED takes it away."""
    changed = copy.deepcopy(scenario)
    *way, last = path.split(".")
    at = changed
    for step in way:
        at = at[int(step)] if isinstance(at, list) else at[step]
    at[int(last) if isinstance(at, list) else last] = value
    return changed


def written(path):
    """The path as messages write it."""
    text = ""
    for step in path.split("."):
        text += f"[{step}]" if step.isdigit() else f".{step}" if text else step
    return text


def refuses_text(data, fragments):
    expect_refused(play(data), "muster: bad.json", *fragments)


def refuses_edit(path, value, fragments):
    refuses_text(json.dumps(edited(SMALL, path, value)).encode(), (written(path), *fragments))


def text_of(scenario):
    return json.dumps(scenario).encode()


# Whole files: what is wrong, the bytes, and what the line has to hold.
FILES = [
    ("an empty file", b"", ("is empty", "expected")),
    ("white space alone", b" \n\t\n", ("empty",)),
    ("a file cut in the middle", text_of(SMALL)[:100], (":1:101:",)),
    ("a file cut within a string", b'{"id": "x', (":1:10:",)),
    ("bytes that are no UTF-8 in a string", b'{"id": "\xff\xfe"}', (":1:", "UTF-8")),
    ("a cut UTF-8 sequence", b'{"id": "\xc3"}', (":1:",)),
    ("bytes that are no UTF-8 outside strings", b'\xff\xfe{\x00"\x00', (":1:1:",)),
    ("UTF-16", '{"id": 1}'.encode("utf-16"), (":1:1:",)),
    ("NUL bytes", b'{"id": "a"}\0\0', (":1:12:",)),
    ("a NUL in a name", b'{"id": "a\\u0000b"}', ("id", "NUL")),
    ("half of a surrogate pair", b'{"id": "\\ud800"}', (":1:",)),
    ("NaN", b'{"topology": {"nodes": [{"name": "n", "gpus": NaN}]}}', (":1:47:",)),
    ("an infinity", b'{"topology": {"nodes": [{"name": "n", "gpus": -Infinity}]}}', (":1:48:",)),
    ("1e400", b'{"topology": {"nodes": [{"name": "n", "gpus": 1e400}]}}', (":1:47:", "infinity")),
    ("-1e400", b'{"topology": {"nodes": [{"name": "n", "gpus": -1e400}]}}', (":1:47:", "infinity")),
    ("a number of a thousand digits", b'{"topology": {"nodes": [{"name": "n", "gpus": %s}]}}' % (b"9" * 1000),
     (":1:47:",)),
    ("a number with a leading zero", b'{"topology": {"nodes": [{"name": "n", "gpus": 01}]}}', (":1:",)),
    ("a hexadecimal number", b'{"topology": {"nodes": [{"name": "n", "gpus": 0x1}]}}', (":1:",)),
    ("a comma too many", b'[{"topology": {}},]', (":1:",)),
    ("a comment", b'{"id": "x" /* y */}', (":1:12:",)),
    ("single quotes", b"{'id': 1}", (":1:2:",)),
    ("text behind the document", b"{} {}", (":1:4:",)),
    ("a second line that is wrong", b'{\n  "id": x\n}', (":2:9:",)),
    ("a million opening brackets", b"[" * 1_000_000, (":1:513:", "nested too deeply", "512")),
    ("a million nested objects", b'{"a":' * 1_000_000, ("nested too deeply",)),
    ("a million nested arrays that are closed", b"[" * 1_000_000 + b"]" * 1_000_000, ("nested too deeply",)),
    ("a number alone", b"7", ("the document", "expected an object", "found number")),
    ("a string alone", b'"x"', ("the document", "expected an object", "found string")),
    ("null alone", b"null", ("the document", "expected an object", "found null")),
    ("an array of numbers", b"[1, 2]", ("[0]", "expected an object")),
    ("an object without a cluster", b'{"id": "x"}', ("topology", "is missing")),
    ("a second scenario that is wrong", b"[%s, {}]" % text_of(SMALL), ("[1].topology", "is missing")),
    ("a gzip file that is cut", gzip.compress(text_of(EVERYTHING))[:200], ("gzip data ends too early",)),
    ("a gzip file that is damaged", gzip.compress(text_of(EVERYTHING))[:-8] + bytes(8), ("damaged gzip data",)),
    ("a gzip header alone", b"\x1f\x8b", ("gzip",)),
    ("a gzip file of an empty one", gzip.compress(b""), ("is empty",)),
    ("YAML", b"topology:\n  nodes: []\n", (":1:1:",)),
]
for name, data, fragments in FILES:
    tests.add(f"bad file: {name}", refuses_text, data, fragments)

# One field of a small scenario: the path, the value, and what the line has to hold.
NODE = {"name": "n"}
DEEP = {"name": "g", "pod_sets": [{"name": "default"}]}
for _ in range(100):
    DEEP = {"name": "g", "groups": [DEEP]}
EDITS = [
    ("topology.nodes", {}, ("expected an array", "found object")),
    ("topology.nodes", None, ("is missing",)),
    ("topology.queues", None, ("is missing",)),
    ("topology.jobs", None, ("is missing",)),
    ("topology.nodes.0.name", "", ("empty",)),
    ("topology.nodes.0.name", None, ("is missing",)),
    ("topology.nodes.0.gpus", -1, ("expected a whole number from 0 to", "found -1")),
    ("topology.nodes.0.gpus", 0.5, ("expected a whole number", "found 0.5")),
    ("topology.nodes.0.gpus", 1e300, ("expected a whole number", "found 1.0000000000000001e+300")),
    ("topology.nodes.0.gpus", 2**64 - 1, ("expected a whole number",)),
    ("topology.nodes.0.gpus", "8", ("expected a whole number", "found string")),
    ("topology.nodes.0.cpu_milli", -1, ("expected a whole number", "found -1")),
    ("topology.nodes.0.cpu_milli", 2**63, ("expected a whole number",)),
    ("topology.nodes.0.memory_bytes", 2**62, ("expected a whole number",)),
    ("topology.nodes.0.pods", -1, ("found -1",)),
    ("topology.nodes.0.gpu_memory_mib", 1, ("expected at least 100 MiB",)),
    ("topology.nodes.0.mig_strategy", "both", ("'both'", "none, single or mixed")),
    ("topology.nodes.0.mig_instances", {"nvidia.com/mig-1g.5gb": -1}, ("expected a whole number", "found -1")),
    ("topology.nodes.0.labels", {"a": 1}, ("expected a string", "found number")),
    ("topology.nodes.0.numa", {"policy": "any", "zones": []}, ("'any'", "single-numa-node")),
    ("topology.nodes.0.numa", {"scope": "any", "zones": []}, ("'any'", "pod or container")),
    ("topology.nodes.0.numa", {"zones": [{"id": "z"}] * 100}, ("zones",)),
    ("topology.nodes.0.numa", {"zones": [{"id": "z"}, {"id": "z"}]}, ("zone 'z' is defined twice",)),
    ("topology.queues.1.parent", "nobody", ("there is no queue called 'nobody'",)),
    ("topology.queues.1.name", "d", ("queue 'd' is defined twice",)),
    ("topology.queues.1.gpu", {"quota": -2}, ("expected a number from -1", "found -2")),
    ("topology.queues.1.gpu", {"quota": 1e19}, ("expected a number", "1e+18")),
    ("topology.queues.1.gpu", {"limit": "x"}, ("expected a number", "found string")),
    ("topology.queues.1.gpu", {"limit": -0.5}, ("expected a number >= 0, or -1 for no limit", "found -0.5")),
    ("topology.queues.1.priority", 2**31, ("expected a whole number",)),
    ("topology.queues.1.historical_usage", {"gpu": -1}, ("expected a number", "found -1")),
    ("topology.queues.1.creation_offset_seconds", 1e300, ("expected a number",)),
    ("topology.queues.1.preempt_min_runtime_seconds", -1, ("expected a number", "found -1")),
    ("topology.jobs.0.name", "", ("empty",)),
    ("topology.jobs.0.queue", "nobody", ("there is no queue called 'nobody'",)),
    ("topology.jobs.0.queue", None, ("is missing",)),
    ("topology.jobs.0.tasks", None, ("is missing",)),
    ("topology.jobs.0.qos_class", "best", ("'best'", "Guaranteed, Burstable or BestEffort")),
    ("topology.jobs.0.age_seconds", -1, ("expected a number", "found -1")),
    ("topology.jobs.0.priority", 1e10, ("expected a whole number",)),
    ("topology.jobs.0.tasks.0.pod_set", "other", ("'other'",)),
    ("topology.jobs.0.tasks.0.status", "asleep", ("'asleep'", "pending, gated")),
    ("topology.jobs.0.tasks.0.node", "nowhere", ("there is no node called 'nowhere'",)),
    ("topology.jobs.0.tasks.1.name", "j-0", ("task 'j-0' is defined twice",)),
    ("topology.jobs.0.tasks.0.name", "", ("empty",)),
    ("topology.jobs.0.tasks.0.request", {"gpus": -1}, ("found -1",)),
    ("topology.jobs.0.tasks.0.request", {"gpus": 1.5}, ("found 1.5",)),
    ("topology.jobs.0.tasks.0.request", {"gpu_fraction": 1.5}, ("expected a number from 0 to 1",)),
    ("topology.jobs.0.tasks.0.request", {"gpu_fraction": -0.5}, ("expected a number from 0 to 1",)),
    ("topology.jobs.0.tasks.0.request", {"gpus": 1, "gpu_fraction": 0.5}, ("only one of",)),
    ("topology.jobs.0.tasks.0.request", {"gpu_memory_mib": 1, "mig": {"nvidia.com/mig-1g.5gb": 1}}, ("mig",)),
    ("topology.jobs.0.tasks.0.request", {"cpu_milli": -1}, ("found -1",)),
    ("topology.jobs.0.tasks.0.resource_claims", [{}], ("claim_name", "is missing")),
    ("topology.jobs.0.root", {"pod_sets": [{"name": "a"}, {"name": "a"}]}, ("pod set 'a' is defined twice",)),
    ("topology.jobs.0.root", {"pod_sets": [{"name": "a", "min_available": -1}]}, ("min_available", "found -1")),
    ("topology.jobs.0.root", {"min_subgroups": -1, "pod_sets": [{"name": "default"}]}, ("min_subgroups", "found -1")),
    ("topology.jobs.0.root", {"pod_sets": [{}]}, ("pod_sets[0].name", "is missing")),
    ("kind", {"actions": ["sleep"]}, ("actions[0]", "there is no action 'sleep'", "expected allocate")),
    ("kind", {"actions": ["allocate", "allocate"]}, ("actions[1]", "listed twice")),
    ("kind", {"actions": "allocate"}, ("actions", "expected an array")),
    ("kind", {"mode": "endless"}, ("mode", "'endless'", "single_session or multi_round")),
    ("kind", {"rounds_until_match": 0}, ("rounds_until_match", "expected a whole number from 1")),
    ("kind", {"rounds_after_match": 1e9}, ("rounds_after_match", "expected a whole number from 0")),
    ("config", {"queue_depth_per_action": {"sleep": 1}}, ("there is no action 'sleep'",)),
    ("config", {"queue_depth_per_action": {"reclaim": -2}}, ("queue_depth_per_action.reclaim", "found -2")),
    ("config", {"staleness_grace_period_seconds": 1e300}, ("staleness_grace_period_seconds",)),
    ("config", {"plugins": [{"name": "nodeplacement", "arguments": {"gpu": "both"}}]},
     ("plugins[0]", "'both'", "binpack, spread or leaststranded")),
    ("config", {"plugins": [{}]}, ("plugins[0].name", "is missing")),
    ("config", {"search_budgets": {"job_seconds": -1}}, ("search_budgets.job_seconds", "found -1")),
]
for path, value, fragments in EDITS:
    shown_value = json.dumps(value)
    tests.add(
        f"bad field: {path} = {shown_value[:60]}{'...' if len(shown_value) > 60 else ''}", refuses_edit, path, value,
        fragments,
    )


def refuses(scenario, *fragments):
    refuses_text(text_of(scenario), fragments)


tests.add("a second node of one name", refuses, edited(SMALL, "topology.nodes", [NODE, NODE]),
          "topology.nodes[1]", "node 'n' is defined twice")
tests.add("a second job of one name", refuses, edited(SMALL, "topology.jobs", [SMALL["topology"]["jobs"][0]] * 2),
          "topology.jobs[1]", "job 'j' is defined twice")
tests.add("a second topology of one name", refuses,
          edited(SMALL, "topology.topologies", [{"name": "t", "levels": [{"node_label": "a"}]}] * 2),
          "topology.topologies[1]", "topology 't' is defined twice")
tests.add("a cycle of three queues", refuses,
          edited(SMALL, "topology.queues", [{"name": a, "parent": b} for a, b in ("qd", "de", "eq")]),
          "topology.queues[2]", "its parent 'q' leads back to it")
tests.add("a queue that is its own parent", refuses, edited(SMALL, "topology.queues.1.parent", "q"),
          "topology.queues[1]", "its parent 'q' leads back to it")
tests.add("a running task without a node", refuses, edited(SMALL, "topology.jobs.0.tasks.0.status", "running"),
          "topology.jobs[0].tasks[0].node: is missing")
tests.add("a job without pod sets", refuses, edited(SMALL, "topology.jobs.0.root", {"name": "r"}),
          "topology.jobs[0]", "it has no pod set")
tests.add("more MIG slices than a node can have", refuses,
          edited(SMALL, "topology.nodes.0.mig_instances", {"nvidia.com/mig-1g.5gb": 2**60}),
          "topology.nodes[0]", "nvidia.com/mig-1g.5gb", "must be 0 to 65536")
tests.add("a million pod sets", refuses,
          edited(SMALL, "topology.jobs.0.root", {"pod_sets": [{"name": str(i)} for i in range(1_000_000)]}),
          "pod_sets[9999]", "expected at most 10000")
tests.add("more memory than can be counted", refuses,
          edited(SMALL, "topology.nodes", [{"name": str(i), "memory_bytes": 2**53} for i in range(300)]),
          "topology.nodes[256]", "the sum of memory over all nodes is too large")
tests.add("more levels of groups than the document may have", refuses,
          edited(SMALL, "topology.jobs.0.root", {"groups": [DEEP] * 200}), "groups")


# Everything that has a type, as something else.
WRONG = {
    "a string": (7, True, [], {}),
    "a whole number": ("x", True, [], {}),
    "a number": ("x", True, [], {}),
    "true or false": ("x", 7, [], {}),
    "an array": ("x", 7, True, {}),
    "an object": ("x", 7, True, []),
}
# Plugins take numbers and booleans as they take strings.
TOLERANT = ("config.plugins.1.arguments.", "config.plugins.2.arguments.")
EXTREMES = ("-1", "0", "0.5", "1e308", "9223372036854775807", "18446744073709551615", "5e-324")


def fields(value, path=""):
    """(path, value) of everything in a document, the whole left out."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        if "." in str(key) or "/" in str(key):
            continue
        way = f"{path}.{key}" if path else str(key)
        yield way, member
        yield from fields(member, way)


def kind_of(value):
    names = {str: "a string", bool: "true or false", list: "an array", dict: "an object"}
    return names.get(type(value), "a number")


def refuses_other_types(path, value):
    for wrong in WRONG[kind_of(value)]:
        if path.startswith(TOLERANT) and not isinstance(wrong, (list, dict)):
            continue
        result = play(text_of(edited(EVERYTHING, path, wrong)))
        expect_refused(result, "muster: bad.json: " + written(path) + ": expected")


def survives_extremes(path, _):
    """Any number is either taken or refused with its path."""
    for extreme in EXTREMES:
        text = text_of(edited(EVERYTHING, path, "@")).replace(b'"@"', extreme.encode())
        result = play(text)
        expect_no_crash(result)
        if result.status:
            expect_refused(result, "muster: bad.json: ", written(path).rsplit(".", 1)[0])


for field, found in fields(EVERYTHING):
    tests.add(f"another type at {field}", refuses_other_types, field, found)
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        tests.add(f"extreme numbers at {field}", survives_extremes, field, found)


def survives(data):
    """Whatever the bytes are: played, or refused with one line."""
    result = play(data)
    expect_no_crash(result)
    if result.status:
        expect_refused(result, "muster: bad.json")


def cuts_and_flips(seed):
    chance = random.Random(seed)
    whole = bytearray(text_of(EVERYTHING))
    for _ in range(10):
        survives(bytes(whole[: chance.randrange(len(whole))]))
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3, 20))):
            damaged[chance.randrange(len(damaged))] = chance.choice((chance.randrange(256), ord(chance.choice('"0-,[]{}:'))))
        survives(bytes(damaged))


for seed in range(10):
    tests.add(f"cuts and damage {seed}", cuts_and_flips, seed)


@tests.case("the scenario with every field is accepted")
def _():
    expect_accepted(play(text_of(EVERYTHING)))
    expect_accepted(play(text_of(SMALL)))


@tests.case("a missing file")
def _():
    expect_refused(run("scenario", "no-such-file.json"), "muster: no-such-file.json: No such file or directory")


@tests.case("a folder")
def _():
    expect_refused(run("scenario", "examples"), "muster: examples: Is a directory")


@tests.case("a file below a file")
def _():
    expect_refused(run("scenario", "Makefile/x"), "muster: Makefile/x: Not a directory")


@tests.case("a name that is too long")
def _():
    expect_refused(run("scenario", "x" * 300), "File name too long")


@tests.case("standard input is called so")
def _():
    expect_refused(run("scenario", "-", text=b"{"), "muster: standard input:1:2:")


@tests.case("the first bad file ends the run and leaves no output")
def _():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "good.json").write_bytes(text_of(SMALL))
        (pathlib.Path(folder) / "bad.json").write_bytes(b"{}")
        expect_refused(run("scenario", "good.json", "bad.json", "good.json", folder=folder), "bad.json: topology")


@tests.case("a gzip bomb")
def _():
    member = gzip.compress(b" " * (64 << 20), 9)
    expect_refused(play(member * 17, "bomb.json.gz"), "bomb.json.gz: is larger than the limit of 1073741824 bytes")


@tests.case("names cannot break the line or move the cursor")
def _():
    nasty = "a\n\x1b[31mb\x07\x9b\u202ec"
    expect_refused(play(text_of(edited(SMALL, "topology.jobs.0.queue", nasty))), "a??[31mb??????c")
    expect_refused(play(text_of(edited(SMALL, "topology.nodes.0.labels", {nasty: 1}))), "a??[31mb??????c")
    result = play(text_of({**SMALL, "id": nasty, "name": nasty + "2"}))
    expect_accepted(result)
    expect(result.out.startswith("a ?[31mb??????c: a ?[31mb??????c2\n"), result.out[:80])


@tests.case("very long names are cut in messages")
def _():
    result = play(text_of(edited(SMALL, "topology.jobs.0.queue", "x" * 1_000_000)))
    expect_refused(result, "topology.jobs[0]")
    expect(len(result.err) < 700, shown(result))
    expect_accepted(play(text_of(edited(SMALL, "topology.jobs.0.name", "x" * 1_000_000))))


@tests.case("an unknown plugin is named and left out")
def _():
    result = play(text_of(edited(SMALL, "config", {"plugins": [{"name": "predicates"}, {"name": "news"}]})))
    expect_accepted(result)
    expect(result.err == "muster: warning: unknown plugin 'news' is ignored\n", shown(result))


@tests.case("an empty cluster is played")
def _():
    expect_accepted(play(text_of({"topology": {"nodes": [], "queues": [], "jobs": []}})))
    expect_accepted(play(text_of({"topology": {"nodes": [NODE], "queues": [], "jobs": []}})))
    expect_accepted(play(b"[]"))


@tests.case("members that are there twice")
def _():
    for path, text in (
        ("topology.nodes.0.labels", b'{"a": "1", "a": "2"}'),
        ("topology.nodes.1.mig_instances", b'{"nvidia.com/mig-1g.5gb": 3, "nvidia.com/mig-1g.5gb": 4}'),
        ("topology.nodes.0.numa.zones.0.allocatable", b'{"gpus": 1, "gpus": 2}'),
        ("topology.jobs.3.tasks.0.request.mig", b'{"nvidia.com/mig-1g.5gb": 1, "nvidia.com/mig-1g.5gb": 1}'),
        ("topology.jobs.0.tasks.0.observed_numa_placement.0.amount", b'{"gpus": 1, "gpus": 1}'),
        ("config.queue_depth_per_action", b'{"reclaim": 1, "reclaim": 2}'),
        ("topology.dra.device_classes", b'["gpu.nvidia.com", "gpu.nvidia.com"]'),
    ):
        survives(text_of(edited(EVERYTHING, path, "@")).replace(b'"@"', text))


@tests.case("queues nested ten thousand deep are played")
def _():
    queues = [{"name": "q0"}] + [{"name": f"q{i}", "parent": f"q{i - 1}"} for i in range(1, 10_000)]
    changed = edited(edited(SMALL, "topology.queues", queues), "topology.jobs.0.queue", "q9999")
    expect_accepted(play(text_of(changed)))
