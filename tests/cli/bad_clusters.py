"""Bad clusters and traces for `muster simulate`, `why`, `compare` and `trace`: one line that names file and place, and
status 2."""

import gzip
import io
import json
import pathlib
import random
import tempfile
import zipfile

from harness import Tests, expect, expect_accepted, expect_no_crash, expect_refused, run, run_on_terminal, shown

tests = Tests()

NODE = """apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {zone: a}}
status: {allocatable: {cpu: "64", memory: 256Gi, nvidia.com/gpu: "8", pods: "110"}}
---
"""
QUEUES = """apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: company}
spec: {resources: {gpu: {quota: -1, limit: -1, overQuotaWeight: 1}, cpu: {limit: -1}, memory: {limit: -1}}}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team}
spec: {parentQueue: company, resources: {gpu: {quota: 4, limit: -1, overQuotaWeight: 1}, cpu: {limit: -1}, memory: {limit: -1}}}
---
"""
POD = """apiVersion: v1
kind: Pod
metadata:
  name: train
  namespace: lab
  labels: {kai.scheduler/queue: team}
spec:
  schedulerName: kai-scheduler
  containers:
  - name: main
    image: none
    resources:
      limits: {nvidia.com/gpu: 20}
---
"""
CLUSTER = NODE + QUEUES + POD
TRACE = "time,name,queue,pods,gpus,run_seconds\n0,a,team,1,2,3600\n60,b,team,2,4,3600\n"


def simulate(files, *words):
    """Runs a command in a folder that holds the files, by name."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return run(*words, folder=folder)


def refuses(data, *fragments):
    """`simulate` and `why` read alike, and refuse alike."""
    simulated = simulate({"bad.yaml": data}, "simulate", "bad.yaml")
    expect_refused(simulated, *fragments)
    asked = simulate({"bad.yaml": data}, "why", "train", "bad.yaml")
    expect(asked == simulated, f"'why' says something else: {shown(asked)}")


def replaced(old, new, text=CLUSTER):
    expect(text.count(old) == 1, f"'{old}' is there {text.count(old)} times")
    return text.replace(old, new)


def laughs(levels, width):
    """Aliases of aliases: width to the power of levels."""
    lines = ["a0: &a0 [x]"]
    for i in range(1, levels + 1):
        lines.append(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]")
    return "\n".join(lines) + "\n"


# What is wrong, the text, and what the line has to hold.
OBJECT = "expected a Kubernetes object"
NONE = "bad.yaml: holds no Kubernetes object"
DEEP = "nested too deeply, expected at most 512 levels"
NO_LIMITS = "resources:\n      limits: {nvidia.com/gpu: 20}"


def annotated(annotations):
    """The cluster with a pod of these annotations, which asks for nothing else."""
    return replaced("  labels: {kai", f"  annotations: {annotations}\n  labels: {{kai").replace(NO_LIMITS, "resources: {}")


MANIFESTS = [
    ("an empty file", "", NONE),
    ("white space alone", " \n\n", NONE),
    ("comments alone", "# nothing\n", NONE),
    ("empty documents", "---\n---\n", NONE),
    ("a file cut within a mapping", CLUSTER[: CLUSTER.index("status:") + 20], "bad.yaml:5:1:"),
    ("a file cut within quotes", 'kind: "Po', "bad.yaml:1:10:"),
    ("bytes that are no UTF-8", b"kind: \xff\xfe\n", "bad.yaml: byte 6:"),
    ("a NUL", b"kind: a\0b\n", "bad.yaml: byte 7:"),
    ("a control character", b"kind: a\x01b\n", "bad.yaml: byte 7:"),
    ("UTF-16 that is cut", "kind: Pod\n".encode("utf-16") + b"x", "bad.yaml: byte 22:"),
    ("a tab for indentation", "kind: Pod\nmetadata:\n\tname: x\n", "bad.yaml:3:1: a tab"),
    ("a tab after spaces", "kind: Pod\nmetadata:\n  \tname: x\n", "bad.yaml:3:3: a tab"),
    ("wrong indentation", "kind: Pod\n  metadata: x\n name: y\n", "bad.yaml:2:11:"),
    ("a key that stands twice", "kind: Pod\nkind: Node\n", "bad.yaml:2:1: the key 'kind' is defined twice in this mapping"),
    ("a key that stands twice further down", replaced("  name: train\n", "  name: train\n  name: other\n"),
     "bad.yaml:20:3: the key 'name' is defined twice in this mapping"),
    ("an alias without an anchor", "a: *b\n", "bad.yaml:1:4:"),
    ("an alias of itself", "a: &a [*a]\n", "bad.yaml:1:8:"),
    ("aliases that explode", laughs(20, 10), "bad.yaml:7:20: aliases make more than 16 MiB"),
    ("wide aliases that explode", laughs(3, 300), "bad.yaml:4:20: aliases make more than 16 MiB"),
    ("a merge key of itself", "a: &a {<<: *a}\n", "bad.yaml:1:12:"),
    ("a merge key of a number", "a: &a 5\nb: {<<: *a}\n", "bad.yaml:2:5:"),
    ("a million opening brackets", "[" * 1_000_000, "bad.yaml:1:513: " + DEEP),
    ("a million nested mappings", "{a: " * 1_000_000, "bad.yaml:1:2049: " + DEEP),
    ("a million nested lists", "- " * 1_000_000 + "x\n", "bad.yaml:1:1025: " + DEEP),
    ("two thousand levels of indentation", "".join(" " * i + "a:\n" for i in range(2000)), "bad.yaml:513:513: " + DEEP),
    ("a key that is a list", "? [a, b]\n: c\n", "bad.yaml:1:3:"),
    ("a text alone", "hello\n", "bad.yaml:1:1: " + OBJECT),
    ("a number alone", "5\n", "bad.yaml:1:1: " + OBJECT),
    ("a list of numbers", "[1, 2]\n", "bad.yaml:1:2: " + OBJECT),
    ("another version of YAML", "%YAML 3.0\n---\na: b\n", "bad.yaml:1:1:"),
    ("a wrong escape", 'a: "\\q"\n', "bad.yaml:1:5:"),
    ("no kind", "metadata: {name: x}\n", OBJECT),
    ("a kind that is a number", "apiVersion: v1\nkind: 7\nmetadata: {name: x}\n", OBJECT),
    ("no apiVersion", "kind: Pod\nmetadata: {name: x}\n", OBJECT),
    ("no metadata", "apiVersion: v1\nkind: Pod\n", "Pod: metadata.name: is missing"),
    ("an empty name", "apiVersion: v1\nkind: Node\nmetadata: {name: ''}\n", "bad.yaml:3:18: Node: metadata.name:"),
    ("metadata that is a number", "apiVersion: v1\nkind: Pod\nmetadata: 7\n",
     "bad.yaml:3:11: Pod: metadata: expected an object, found number"),
    ("a List of numbers", "apiVersion: v1\nkind: List\nitems: [7]\n", "bad.yaml:3:9: " + OBJECT),
    ("a List of nothing", "apiVersion: v1\nkind: List\nitems: 7\n", "bad.yaml"),
    ("unknown kinds alone", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: e}\n", NONE),
    ("the quantity 0.1x", replaced('cpu: "64"', 'cpu: "0.1x"'),
     "bad.yaml:4:29: Node gpu-1: status.allocatable.cpu: expected a quantity such as 2, 500m, 1.5 or 64Gi, found '0.1x'"),
    ("the quantity 1e400", replaced('cpu: "64"', 'cpu: "1e400"'), "status.allocatable.cpu: '1e400' is too large"),
    ("the number 1e400", replaced('cpu: "64"', "cpu: 1e400"), "status.allocatable.cpu: '1e400' is too large"),
    ("the quantity -1", replaced('cpu: "64"', 'cpu: "-1"'), "status.allocatable.cpu: '-1' is negative"),
    ("an empty quantity", replaced('cpu: "64"', 'cpu: ""'), "status.allocatable.cpu: expected a quantity such as 2, 500m, 1.5 or 64Gi, found ''"),
    ("a quantity that is true", replaced('cpu: "64"', "cpu: yes"), "status.allocatable.cpu: expected"),
    ("a quantity that is an object", replaced('cpu: "64"', "cpu: {}"), "status.allocatable.cpu: expected"),
    ("NaN", replaced('cpu: "64"', "cpu: .nan"), "bad.yaml:4:29:"),
    ("an infinity", replaced('cpu: "64"', "cpu: -.inf"), "bad.yaml:4:29:"),
    ("half a device", replaced('nvidia.com/gpu: "8"', 'nvidia.com/gpu: "0.5"'), "expected a whole number of devices"),
    ("too many devices", replaced('nvidia.com/gpu: "8"', 'nvidia.com/gpu: "99999999999"'), "expected at most 1000000"),
    ("too much memory", replaced("memory: 256Gi", "memory: 9999999Ei"), "status.allocatable.memory: '9999999Ei'"),
    ("a pod of -1 GPUs", replaced("nvidia.com/gpu: 20", "nvidia.com/gpu: -1"),
     'bad.yaml:28:32: Pod lab/train: spec.containers[0].resources.limits["nvidia.com/gpu"]: \'-1\' is negative'),
    ("a pod of half a GPU", replaced("nvidia.com/gpu: 20", "nvidia.com/gpu: 0.5"), "expected a whole number of devices"),
    ("limits that are a list", replaced("{nvidia.com/gpu: 20}", "[1]"), "resources.limits: expected an object"),
    ("a label that is a number", replaced("queue: team}", "queue: 7}"), "expected a string, found number; put it in quotes"),
    ("a name that YAML takes for a number", replaced("  name: train\n", "  name: 7\n"),
     "metadata.name: expected a string, found number; put it in quotes"),
    ("a name that YAML takes for false", replaced("  name: train\n", "  name: n\n"), "found boolean; put it in quotes"),
    ("a name without end", replaced("  name: train\n", f"  name: {'n' * (1 << 20)}\n"), "expected at most 253 characters"),
    ("a Helm template", replaced("  name: train\n", "  name: {{ .Release.Name }}\n"), "has to be filled in first"),
    ("labels that are a list", replaced("{kai.scheduler/queue: team}", "[7]"), "metadata.labels: expected an object"),
    ("a spec that is a number", replaced("spec:\n  schedulerName: kai-scheduler\n", "spec: 5\nx:\n"), "spec: expected"),
    ("a fraction that is a word", annotated("{gpu-fraction: x}"), "gpu-fraction: expected a number above 0 and below 1"),
    ("a fraction of two", annotated("{gpu-fraction: '2'}"), "gpu-fraction: expected a number above 0 and below 1"),
    ("a fraction of NaN", annotated("{gpu-fraction: NaN}"), "gpu-fraction: expected a number above 0 and below 1"),
    ("-5 MiB of a GPU", annotated("{gpu-memory: '-5'}"), "gpu-memory: expected a whole number of MiB above 0"),
    ("a queue that is its own parent", replaced("parentQueue: company", "parentQueue: team"), "Queue team:"),
    ("a cycle of queues", replaced("{name: company}\nspec: {", "{name: company}\nspec: {parentQueue: team, "),
     "leads back to it"),
    ("a quota of -2", replaced("quota: 4", "quota: -2"),
     "Queue team: spec.resources.gpu.quota: expected 0 or more, or -1 for unlimited, found -2"),
    ("a name with a control character", replaced("  name: train\n", '  name: "a\\n\\e[31mb"\n'),
     "Pod lab/a??[31mb: metadata.name: expected letters, digits, '-' and '.', found a control character"),
    ("a namespace with a control character", replaced("  namespace: lab\n", '  namespace: "a\\x85b"\n'), "metadata.namespace:"),
    ("an unknown version of a queue", CLUSTER.replace("scheduling.run.ai/v2", "scheduling.run.ai/v9", 1),
     "Queue company: apiVersion: there is no scheduling.run.ai/v9 Queue; expected scheduling.run.ai/v2"),
    ("an unknown version of a pod", replaced("apiVersion: v1\nkind: Pod", "apiVersion: v7\nkind: Pod"),
     "Pod lab/train: apiVersion: there is no v7 Pod; expected v1"),
    ("a list of a number", CLUSTER + "apiVersion: v1\nkind: List\nitems: 7\n",
     "bad.yaml:32:8: items: expected the list's objects in an array"),
    ("a quota that is a word", replaced("quota: 4", "quota: four"), "spec.resources.gpu.quota: expected a number"),
    ("a quota of 1e400", replaced("quota: 4", "quota: 1e400"), "spec.resources.gpu.quota: expected a number"),
]
for name, data, fragment in MANIFESTS:
    tests.add(f"bad manifest: {name}", refuses, data, "muster: bad.yaml", fragment)


@tests.case("the cluster that the bad ones are made of is accepted")
def _():
    expect_accepted(simulate({"c.yaml": CLUSTER}, "simulate", "c.yaml"))
    expect_accepted(simulate({"c.yaml": CLUSTER}, "why", "lab/train", "c.yaml"))
    expect_accepted(simulate({"c.yaml": CLUSTER, "t.csv": TRACE}, "simulate", "c.yaml", "-t", "t.csv"))


@tests.case("unknown kinds are named and skipped with a count")
def _():
    thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: d}\n---\n"
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
    files = {"c.yaml": CLUSTER + thing + thing.replace("d}", "e}") + secret}
    result = simulate(files, "simulate", "c.yaml")
    expect_accepted(result)
    expect("2 Thing.example.com" in result.out and "1 Secret" in result.out, result.out)
    result = simulate(files, "simulate", "-o", "json", "c.yaml")
    expect_accepted(result)
    skipped = {one["kind"]: one["count"] for one in json.loads(result.out)["skipped"]}
    expect(skipped == {"Thing.example.com": 2, "Secret": 1}, skipped)


@tests.case("an object that stands twice is told about")
def _():
    result = simulate({"c.yaml": CLUSTER + POD}, "simulate", "c.yaml")
    expect_accepted(result)
    expect(result.err == "muster: warning: Pod lab/train is defined twice in the input; the later definition counts\n", result.err)


@tests.case("a pod of an unknown queue waits, and is told why")
def _():
    result = simulate({"c.yaml": replaced("queue: team}", "queue: nobody}")}, "simulate", "c.yaml")
    expect_accepted(result)
    expect("queue nobody does not exist" in result.out, result.out)


@tests.case("links in a folder lead in no circle, and those that lead nowhere count by their names")
def _():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "c").mkdir()
        (folder / "c" / "c.yaml").write_text(CLUSTER)
        (folder / "c" / "again").symlink_to(".")
        (folder / "c" / "settings").symlink_to("nowhere")
        expect_accepted(run("simulate", "c", folder=name))
        (folder / "c" / "d.yaml").symlink_to("nowhere")
        expect_refused(run("simulate", "c", folder=name), "c/d.yaml: No such file or directory")


@tests.case("a queue whose parent is not there takes part in nothing, and is told about")
def _():
    result = simulate({"c.yaml": NODE + QUEUES.split("---\n")[1] + "---\n" + POD}, "simulate", "c.yaml")
    expect_accepted(result)
    expect("warning: Queue team: its parent company does not exist" in result.err, result.err)


@tests.case("names in manifests cannot drive the terminal")
def _():
    nasty = replaced("queue: team}", 'queue: "a\\n\\e[31mb"}')
    for words in (("simulate", "c.yaml"), ("why", "lab/train", "c.yaml")):
        result = simulate({"c.yaml": nasty}, *words)
        expect_accepted(result)
        expect("\x1b" not in result.out and "?[31mb" in result.out, result.out)


@tests.case("long messages wrap on a narrow terminal")
def _():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "c.yaml").write_text(CLUSTER)
        wide = run("simulate", "c.yaml", folder=folder)
        narrow = run_on_terminal("simulate", "c.yaml", columns=80, folder=folder, env={"NO_COLOR": "1"})
    lines = [line.rstrip() for line in narrow.out.splitlines()]
    expect(max(map(len, lines)) <= 80, narrow.out)
    reason = [line for line in wide.out.splitlines() if line.startswith("lab/train ")][-1].split()
    at = next(i for i, line in enumerate(lines) if line == "Pending")
    expect(" ".join(lines[at + 2:]).split() == reason, narrow.out)


def archive(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in members.items():
            out.writestr(name, text)
    return packed.getvalue()


SNAPSHOT = archive({"snapshot.json": json.dumps({"config": {}, "rawObjects": {"pods": [], "nodes": []}})})
SNAPSHOTS = [
    ("a snapshot that is cut", SNAPSHOT[:-10], "bad.zip: the archive is truncated or damaged"),
    ("a snapshot cut early", SNAPSHOT[:60], "bad.zip: the archive is truncated or damaged"),
    ("a snapshot cut in its head", SNAPSHOT[:4], "bad.zip: the archive is truncated or damaged"),
    ("a snapshot that is damaged", SNAPSHOT[:50] + bytes([SNAPSHOT[50] ^ 255]) + SNAPSHOT[51:], "is truncated or damaged"),
    ("a snapshot that is text", b"hello", "bad.zip: the archive is truncated or damaged"),
    ("a snapshot that is empty", b"", "bad.zip: the archive is truncated or damaged"),
    ("a zip file of something else", archive({"other.json": "{}"}), "bad.zip: contains no file snapshot.json"),
    ("a zip file of thousands of files", archive({f"f{i}": "" for i in range(2000)}), "contains more than 1000 files"),
    ("a zip bomb", archive({"snapshot.json": '{"a":"' + "x" * (200 << 20) + '"}'}), "snapshot.json unpacks to more than"),
    ("a snapshot of half a document", archive({"snapshot.json": "{"}), "bad.zip:1:2:"),
    ("a snapshot of a list", archive({"snapshot.json": "[]"}), "bad.zip:"),
    ("a snapshot of an empty object", archive({"snapshot.json": "{}"}), "bad.zip:"),
    ("a snapshot with a wrong type", archive({"snapshot.json": json.dumps({"rawObjects": 7})}),
     "bad.zip: rawObjects: expected an object, found number"),
    ("a snapshot with a wrong list", archive({"snapshot.json": json.dumps({"rawObjects": {"pods": 7}})}),
     "bad.zip: rawObjects.pods: expected an array, found number"),
]


def refuses_snapshot(data, fragment):
    for words in (("simulate", "bad.zip"), ("why", "train", "bad.zip")):
        expect_refused(simulate({"bad.zip": data}, *words), "muster: bad.zip", fragment)


for name, data, fragment in SNAPSHOTS:
    tests.add(f"bad snapshot: {name}", refuses_snapshot, data, fragment)

HEAD = "time,name,queue,pods,gpus,run_seconds\n"
TRACES = [
    ("an empty one", "", "bad.csv: is empty"),
    ("missing columns", "time,name,gpus\n0,a,1\n", "bad.csv:1: missing columns: queue, run_seconds"),
    ("an unknown column", HEAD.strip() + ",speed\n0,a,team,1,1,1,1\n", "bad.csv:1: speed: there is no such column"),
    ("a column that is there twice", "time,time,name,queue\n0,0,a,team\n", "bad.csv:1: time: the column is listed twice"),
    ("thousands of columns", ",".join(f"c{i}" for i in range(5000)) + "\n", "bad.csv:1: more than 1024 columns"),
    ("too few fields", HEAD + "0,a\n", "bad.csv:2: expected 6 fields, found 2"),
    ("too many fields", HEAD + "0,a,team,1,1,1,1,1\n", "bad.csv:2: expected 6 fields, found 8"),
    ("quotes that do not end", HEAD + '0,"a,team,1,1,10\n', "bad.csv:2: a quoted field is not closed"),
    ("a NUL", HEAD + "0,a\0b,team,1,1,10\n", "bad.csv:2: expected text, found a NUL"),
    ("a name that is no UTF-8", HEAD.encode() + b"0,a\xff,team,1,1,10\n", "bad.csv:2: name: expected a name of at most 253 bytes"),
    ("a queue that is no UTF-8", HEAD.encode() + b"0,a,team\xc0\xaf,1,1,10\n", "bad.csv:2: queue: expected the name of a queue"),
    ("no name", HEAD + "0,,team,1,1,10\n", "bad.csv:2: name: expected a name"),
    ("no queue", HEAD + "0,a,,1,1,10\n", "bad.csv:2: queue: expected the name of a queue"),
    ("semicolons", HEAD.replace(",", ";"), "expected commas between the columns"),
    ("tabs", HEAD.replace(",", "\t"), "expected commas between the columns"),
    ("a queue with queues below it", HEAD + "0,a,company,1,1,10\n", "line 2: queue: 'company' has child queues"),
    ("a node that is not there", "time,event,name\n0,node_down,nowhere\n", "line 2: name: the cluster has no node"),
    ("an unknown queue", HEAD + "0,a,nobody,1,1,10\n", "no queue called 'nobody'"),
    ("a name that is taken", HEAD + "0,a,team,1,1,10\n5,a,team,1,1,10\n", "bad.csv:3: name:"),
    ("a name that drives the terminal", HEAD + "0,a\x1b[31m,team,1,1,1\n", "bad.csv:2: name:"),
    ("an unknown event", "time,event,name,queue,run_seconds\n0,dance,a,team,1\n", "bad.csv:2: event: expected one of submit"),
    ("the end of what never came", "time,event,name,queue,run_seconds\n0,cancel,a,team,\n", "bad.csv:2: name: expected"),
    ("JSON", "{}", "bad.csv:1:"),
    ("YAML", CLUSTER, "bad.csv:1:"),
    ("a gzip file that is cut", gzip.compress(TRACE.encode())[:30], "bad.csv: gzip data ends too early"),
]
for column, row in (("time", "{},a,team,1,1,1"), ("pods", "0,a,team,{},1,1"), ("gpus", "0,a,team,1,{},1"),
                    ("run_seconds", "0,a,team,1,1,{}")):
    for value in ("x", "-5", "NaN", "1e400", "1e18"):
        TRACES.append((f"{column} {value}", HEAD + row.format(value) + "\n", f"bad.csv:2: {column}: expected"))
for column, value in (("memory", "0.1x"), ("cpu", "1e400"), ("gpu_fraction", "2"), ("priority", "1e10")):
    TRACES.append((f"{column} {value}", f"time,name,queue,run_seconds,{column}\n0,a,team,1,{value}\n",
                   f"bad.csv:2: {column}:"))


def refuses_trace(data, fragment):
    files = {"c.yaml": CLUSTER, "bad.csv": data}
    for words in (("simulate", "c.yaml"), ("compare", "c.yaml", "c.yaml")):
        expect_refused(simulate(files, *words, "--trace", "bad.csv"), "muster: bad.csv", fragment)


for name, data, fragment in TRACES:
    tests.add(f"bad trace: {name}", refuses_trace, data, fragment)

FILES = {"c.yaml": CLUSTER, "t.csv": TRACE, "noyaml/a.txt": "x", "empty.json": "", "s.json": "{}", "two.json": "[{},{}]",
         "part.csv": "job_name,task_name,status,start_time,end_time,plan_cpu,plan_mem,gpu_type\n",
         "turned.csv": "inst_id,job_name,user,status,start_time,end_time\n", "rows.csv": "a,b,c,d,x,2\n", "three.csv": "1,2,3\n",
         "multi.csv": "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1000,1024,1,1000\n",
         "pods.csv": "name,cpu_milli,memory_mib,num_gpu\n"}
CALLS = [
    (("simulate",), "muster simulate: a PATH is missing; see 'muster help simulate'"),
    (("simulat",), "muster: there is no command 'simulat'; did you mean simulate? See 'muster help'"),
    (("help", "compleet"), "muster: there is no command 'compleet'; did you mean complete? See 'muster help'"),
    (("help", "complettion"), "muster: there is no command 'complettion'; did you mean completion? See 'muster help'"),
    (("nonsense",), "muster: there is no command 'nonsense'; see 'muster help'"),
    (("simulate", "--trac", "t.csv", "c.yaml"), "muster simulate: there is no option --trac; did you mean --trace? See"),
    (("simulate", "--outptu=json", "c.yaml"), "muster simulate: there is no option --outptu; did you mean --output? See"),
    (("simulate", "missing"), "muster: missing: No such file or directory"),
    (("simulate", "noyaml"), "muster: noyaml: holds no .yaml, .yml, .json or .zip files"),
    (("simulate", "c.yaml", "-t", "missing"), "muster: missing: No such file or directory"),
    (("simulate", "c.yaml", "-t", "noyaml"), "muster: noyaml: Is a directory"),
    (("simulate", "empty.json"), "muster: empty.json: is empty"),
    (("simulate", "s.json"), "muster: s.json: expected a Kubernetes object"),
    (("simulate", "c.yaml", "--usage-half-life", "x"), "muster simulate: --usage-half-life: expected a duration"),
    (("compare", "c.yaml"), "muster compare: two settings are needed: A and B"),
    (("compare", "c.yaml", "c.yaml"), "muster compare: a trace is missing"),
    (("compare", "missing", "c.yaml", "-t", "t.csv"), "muster: missing: No such file or directory"),
    (("compare", "c.yaml", "c.yaml", "-w", "missing", "-t", "t.csv"), "muster: missing: No such file or directory"),
    (("trace",), "muster trace: a verb is missing: one of convert, generate"),
    (("trace", "dance"), "muster trace: there is no verb 'dance'"),
    (("trace", "convert", "--from", "philly"), "muster trace convert: a FILE is missing"),
    (("trace", "convert", "--seed", "3", "t.csv"), "muster trace convert: there is no option --seed"),
    (("trace", "generate", "--keep-pending"), "muster trace generate: there is no option --keep-pending"),
    (("trace", "generate", "t.csv"), "muster trace generate: unexpected argument 't.csv'; 'muster trace convert' reads files"),
    (("trace", "convert", "--from", "philly", "missing"), "muster: missing: No such file or directory"),
    (("trace", "convert", "--from", "philly", "t.csv"), "muster: t.csv:1: no format of philly has any of the columns time, name,"),
    (("trace", "convert", "--from", "slurm", "two.json"), "muster: two.json: expected a file of slurm, found JSON as philly has it"),
    (("trace", "convert", "--from", "philly", "two.json"), "muster: two.json: [0].jobid: is missing"),
    (("trace", "convert", "two.json"), "muster: two.json: [0].jobid: is missing"),
    (("trace", "convert", "s.json"), "muster: s.json: data: is missing"),
    (("trace", "convert", "--from", "alibaba", "part.csv"),
     "muster: part.csv:1: the nearest format is pai_task_table (alibaba), which also needs the columns inst_num, plan_gpu; found"),
    (("trace", "convert", "multi.csv", "--queues", "many"), "muster: --queues: expected a whole number from 1 to 10000, found 'many'"),
    (("trace", "convert", "pods.csv"),
     "muster: pods.csv:1: the nearest format is openb_pod_list (alibaba), which also needs the columns gpu_milli; found"),
    (("trace", "convert", "turned.csv"), "muster: the files hold no workload that ran"),
    (("trace", "convert", "--from", "alibaba", "rows.csv"), "muster: rows.csv:1: pai_job_table: start_time: expected a number, found 'x'"),
    (("trace", "convert", "--from", "alibaba", "three.csv"), "muster: three.csv:1: expected a line of column titles, or without one 5 fields"),
    (("trace", "convert", "--from", "alibaba", "c.yaml"), "muster: c.yaml"),
    (("why",), "muster why: a WORKLOAD is missing"),
    (("why", "--kubeconfig", "gone.yaml", "train"), "muster: gone.yaml: No such file or directory"),
    (("why", "--id", "x", "train"), "muster why: --id needs exactly one PATH"),
    (("why", "nobody", "c.yaml"), "muster: there is no workload 'nobody'"),
    (("why", "", "c.yaml"), "muster: there is no workload ''"),
    (("why", "\x1b[31m\n", "c.yaml"), "muster: there is no workload '?[31m?'"),
    (("why", "--id", "x", "train", "two.json"), "muster: two.json: no scenario has the id 'x'"),
]
for value in ("x", "-5h", "1e400", "NaN"):
    CALLS.append((("simulate", "c.yaml", "--until", value), "--until: expected a duration such as 7d or a time such as"))
    CALLS.append((("simulate", "c.yaml", "--grace", value), "muster simulate: --grace: expected a duration such as"))
for bound in ("", "x", "use", "use>", "use>=NaN", "use>=1e400", "p95_wait(queue=nobody)<30m", "p95_wait(team=a)<1h"):
    CALLS.append((("compare", "c.yaml", "c.yaml", "-t", "t.csv", "--require", bound), f"--require '{bound}'"))
for option in ("seed", "days", "gpus", "gpus-per-node", "jobs", "load", "failures"):
    for value in ("-1", "NaN", "1e400", "", "x"):
        CALLS.append((("trace", "generate", f"--{option}", value), f"muster trace generate: --{option}: expected"))
for value in ("0", "", ",", "-1", "1e400", "99999999999999999999", "a,,b", "a b", "a,a"):
    CALLS.append((("trace", "generate", "--jobs", "5", "--queues", value), "queues"))


def is_wrong(words, says):
    expect_refused(simulate(FILES, *words), says)


for words, says in CALLS:
    tests.add(f"wrong call: {' '.join(words)!r}", is_wrong, words, says)


@tests.case("a report that cannot be written is a failure of the system")
def _():
    for words in (("simulate", "c.yaml", "--report", "missing/x.html"), ("simulate", "c.yaml", "--report", "noyaml"),
                  ("trace", "generate", "--jobs", "5", "--out", "missing/x.csv"),
                  ("trace", "generate", "--jobs", "5", "--cluster", "missing/x.yaml")):
        result = simulate(FILES, *words)
        expect_no_crash(result)
        expect(result.status == 1 and result.err.count("\n") == 1 and words[-1] in result.err, shown(result))


def cuts_and_flips(name, whole, words, seed):
    """Whatever the bytes are: played, or refused with one line besides warnings."""
    chance = random.Random(seed)
    for _ in range(10):
        damaged = bytearray(whole[: chance.randrange(len(whole) // 2, len(whole))] if chance.random() < 0.3 else whole)
        for _ in range(chance.choice((1, 1, 3, 20))):
            damaged[chance.randrange(len(damaged))] = chance.choice((chance.randrange(256), ord(chance.choice("\n:-{}[]&* ,"))))
        result = simulate({"c.yaml": CLUSTER, name: bytes(damaged)}, *words)
        expect_no_crash(result)
        expect(result.status in (0, 2), shown(result))
        lines = [line for line in result.err.splitlines() if not line.startswith("muster: warning: ")]
        expect(len(lines) == (1 if result.status else 0), shown(result))


for seed in range(5):
    tests.add(f"cuts and damage of manifests {seed}", cuts_and_flips, "bad.yaml", CLUSTER.encode(),
              ("simulate", "bad.yaml"), seed)
    tests.add(f"cuts and damage of traces {seed}", cuts_and_flips, "bad.csv", TRACE.encode() * 3,
              ("simulate", "c.yaml", "-t", "bad.csv"), seed)
    tests.add(f"cuts and damage of snapshots {seed}", cuts_and_flips, "bad.zip", SNAPSHOT, ("simulate", "bad.zip"), seed)
