"""A machine with `muster up`, and short words for what its users type."""

import contextlib
import json
import subprocess

import machine

SECONDS = 90


class Desk(machine.Machine):
    """kubectl and Helm work in a namespace that a test has for itself."""

    def __enter__(self):
        super().__enter__()
        self.wait_for("/api/v1/nodes/fake-00000")
        return self

    @contextlib.contextmanager
    def namespace(self, name):
        """A namespace for a test; it is gone when the test ends, which shows that namespaces end."""
        self.kubectl("create", "namespace", name)
        self.wait_for(f"/api/v1/namespaces/{name}/serviceaccounts/default")
        yield Place(self, name)
        self.kubectl("delete", "namespace", name, "--wait=false")
        self.wait_gone(f"/api/v1/namespaces/{name}", SECONDS)

    def refused(self, *words, feed=None):
        """What a command prints that has to fail."""
        done = self.call(*words, feed=feed)
        if done.returncode == 0:
            raise AssertionError(f"{' '.join(words)} succeeded: {done.stdout}")
        return done.stderr

    def call(self, *words, feed=None):
        return subprocess.run(words, env=self.environment(), cwd=self.folder, input=feed, text=True, capture_output=True,
                              timeout=SECONDS, check=False)

    def ends_well(self):
        """The last test: the server stops when it is told to, and the sanitizers have nothing to say."""
        status = self.stop(machine.NAME)
        log = self.processes.log_of(machine.NAME, 10000000)
        bad = [line for line in log.splitlines() if any(word in line for word in ("Sanitizer", "runtime error", "BUG:"))]
        is_well = status == 0 and not bad
        if not is_well:
            print("".join(f"# {line}\n" for line in [str(status), *bad[:10], *log.splitlines()[-40:]]), end="")
        print(f"{'ok' if is_well else 'not ok'} - the server stops when it is told to")
        return (1, 0, 0) if is_well else (0, 1, 0)


class Place:
    """kubectl in one namespace."""

    def __init__(self, desk, name):
        self.desk, self.name = desk, name

    def kubectl(self, *words, feed=None):
        """Standard output alone: warnings go elsewhere."""
        done = self.desk.call("kubectl", "-n", self.name, *words, feed=feed)
        if done.returncode:
            raise AssertionError(f"kubectl {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def refused(self, *words, feed=None):
        return self.desk.refused("kubectl", "-n", self.name, *words, feed=feed)

    def apply(self, *objects, more=()):
        return self.kubectl("apply", "-f", "-", *more, feed=listed(objects))

    def get(self, *words):
        return json.loads(self.kubectl("get", *words, "-o", "json"))

    def field(self, kind, name, path):
        return self.kubectl("get", kind, name, "-o", f"jsonpath={{{path}}}")

    def names(self, kind, *words):
        return sorted(one.partition("/")[2] for one in self.kubectl("get", kind, "-o", "name", *words).split())

    def wait_until(self, check, what):
        return self.desk.wait_until(check, what, SECONDS)

    def roll_out(self, what):
        """Waits until a workload is as it should be."""
        return self.kubectl("rollout", "status", what, f"--timeout={SECONDS}s")


def listed(objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def config(name, labels=None, **data):
    more = {"labels": labels} if labels else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **more}, "data": data}


def pod(name, labels=None, annotations=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {},
                                                            "annotations": annotations or {}},
            "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": "x"}], **spec}}


def queue(name, **spec):
    """A queue whose quota is unlimited but for one GPU."""
    unlimited = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name}, "spec": {
        "resources": {"cpu": unlimited, "memory": unlimited, "gpu": {**unlimited, "quota": 1}}, **spec}}
