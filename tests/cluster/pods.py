"""A pod of ours and its containers, as kubelet.py runs them: processes with what the pod asks for."""

import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time

import network
import probes
import processes
import volumes

CONTAINER = pathlib.Path(__file__).resolve().parent / "container.py"
IMAGE_USER = 65532
REFRESH_SECONDS = 2
MOST_BACKOFF_SECONDS = 60


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def expand(text, environment):
    """$(NAME) as Kubernetes replaces it; $$(NAME) stands for itself."""
    def value(found):
        if found[0].startswith("$$"):
            return found[0][1:]
        return environment.get(found[1], found[0])
    return re.sub(r"\$?\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)", value, text)


class Container:
    """One container of a pod: its process, and how often it has been started."""

    def __init__(self, pod, spec):
        self.pod, self.spec, self.name = pod, spec, spec["name"]
        self.process = None
        self.probers = []
        self.starts = 0
        self.next_start = 0
        self.started_at = None
        self.ended = None  # the last state, once it has ended
        self.is_ready = self.is_started = False

    @property
    def is_running(self):
        return self.process is not None

    def start(self):
        path = self.pod.folder / f"{self.name}.json"
        path.write_text(json.dumps(self.description()))
        with open(self.pod.kubelet.log_path(self.pod, self.name), "ab") as log:
            self.process = self.pod.kubelet.spawn([sys.executable, "-S", "-E", str(CONTAINER), str(path)], log)
        self.starts += 1
        self.started_at = now()
        self.is_started = "startupProbe" not in self.spec
        self.is_ready = self.is_started and "readinessProbe" not in self.spec
        self.probers = [probes.Prober(self.spec, kind, self.pod.network.address, self.reporter(self.process))
                        for kind in ("startupProbe", "readinessProbe", "livenessProbe") if kind in self.spec]

    def reporter(self, process):
        def report(kind, is_good):
            self.pod.kubelet.queue.put(lambda: self.judge(process, kind, is_good))
        return report

    def judge(self, process, kind, is_good):
        """What a probe says about this process; about an earlier one it says nothing any more."""
        if process is not self.process:
            return
        if kind == "startupProbe" and is_good:
            self.is_started = True
            self.is_ready = self.is_ready or "readinessProbe" not in self.spec
        elif kind == "readinessProbe":
            self.is_ready = is_good
        elif not is_good and (kind == "startupProbe" or self.is_started):
            self.pod.kubelet.say(f"{self.pod.key} {self.name}: {kind} failed, restarting it")
            self.signal(signal.SIGTERM)
            self.pod.kubelet.later(self.pod.grace_seconds, lambda: process is self.process and self.signal(signal.SIGKILL))
        self.pod.is_changed = True

    def poll(self):
        """Notes that the process has ended."""
        if not self.process or self.process.poll() is None:
            return
        status = self.process.returncode
        for prober in self.probers:
            prober.stop()
        self.process, self.probers, self.is_ready = None, [], False
        code = 128 - status if status < 0 else status
        self.ended = {"exitCode": code, "reason": "Completed" if code == 0 else "Error", "startedAt": self.started_at,
                      "finishedAt": now()}
        self.next_start = time.monotonic() + min(MOST_BACKOFF_SECONDS, 2 ** min(self.starts - 1, 10) - 1)
        self.pod.is_changed = True
        if not self.pod.is_ending:
            self.pod.kubelet.say(f"{self.pod.key} {self.name} has ended with status {status}")

    def signal(self, number):
        if self.process:
            processes.send(self.process, number)

    def description(self):
        """What container.py is told."""
        pod, environment = self.pod.object, self.environment()
        context = {**(pod["spec"].get("securityContext") or {}), **(self.spec.get("securityContext") or {})}
        user = context.get("runAsUser", IMAGE_USER) if os.geteuid() == 0 else None
        command = self.spec.get("command", ["muster"])
        words = [expand(one, environment) for one in command + self.spec.get("args", [])]
        program = self.pod.kubelet.program_of(self.spec["image"])
        if not program:
            program = self.pod.kubelet.program if pathlib.Path(words[0]).name == "muster" else words[0]
        return {
            "parent": os.getpid(), "network": self.pod.network.path, "root": str(self.pod.folder / "root"),
            "folders": self.pod.kubelet.folders, "workingDir": self.spec.get("workingDir", "/"),
            "mounts": [self.mount(one) for one in self.spec.get("volumeMounts", [])],
            "user": user, "group": context.get("runAsGroup", user),
            "program": program, "arguments": words, "environment": environment,
        }

    def mount(self, one):
        source = self.pod.volumes.path(one["name"])
        return {"source": str(source / one["subPath"] if "subPath" in one else source), "target": one["mountPath"],
                "readOnly": bool(one.get("readOnly"))}

    def environment(self):
        kubelet, found = self.pod.kubelet, {}
        found.update({"PATH": "/usr/local/bin:/usr/bin:/bin", "HOSTNAME": self.pod.object["metadata"]["name"],
                      "KUBERNETES_SERVICE_HOST": kubelet.host, "KUBERNETES_SERVICE_PORT": kubelet.port})
        found.update({key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")})
        for one in self.spec.get("envFrom", []):
            kind, source = ("secret", one["secretRef"]) if "secretRef" in one else ("configmap", one["configMapRef"])
            data = volumes.object_data(kubelet.api, kind, self.pod.namespace, source["name"], source.get("optional"))
            found.update({one.get("prefix", "") + key: value.decode() for key, value in data.items()})
        for one in self.spec.get("env", []):
            found[one["name"]] = self.value(one, found)
        return found

    def value(self, one, known):
        source = one.get("valueFrom")
        if not source:
            return expand(one.get("value", ""), known)
        if "fieldRef" in source:
            return volumes.field(self.pod.object, source["fieldRef"]["fieldPath"])
        if "resourceFieldRef" in source:
            kind, name = source["resourceFieldRef"]["resource"].split(".", 1)
            return str((self.spec.get("resources", {}).get(kind) or {}).get(name, ""))
        kind, source = (("secret", source["secretKeyRef"]) if "secretKeyRef" in source
                        else ("configmap", source["configMapKeyRef"]))
        data = volumes.object_data(self.pod.kubelet.api, kind, self.pod.namespace, source["name"], source.get("optional"))
        return data.get(source["key"], b"").decode()

    def status(self):
        state = {"waiting": {"reason": "ContainerCreating"}}
        last = {"terminated": self.ended} if self.ended else {}
        if self.is_running:
            state = {"running": {"startedAt": self.started_at}}
        elif self.ended and not self.pod.restarts(self):
            state, last = {"terminated": self.ended}, {}
        elif self.ended:
            state = {"waiting": {"reason": "CrashLoopBackOff", "message": "the container is restarted later"}}
        return {"name": self.name, "image": self.spec["image"], "imageID": self.spec["image"],
                "containerID": f"bed://{self.pod.uid}/{self.name}/{self.starts}", "ready": self.is_ready,
                "started": self.is_running and self.is_started, "restartCount": max(0, self.starts - 1), "state": state,
                "lastState": last}


class Pod:
    """One pod of ours."""

    def __init__(self, kubelet, found):
        self.kubelet, self.object = kubelet, found
        meta = found["metadata"]
        self.namespace, self.uid = meta["namespace"], meta["uid"]
        self.key = f"{self.namespace}/{meta['name']}"
        self.path = f"/api/v1/namespaces/{self.namespace}/pods/{meta['name']}"
        self.folder = kubelet.folder / self.uid
        (self.folder / "root").mkdir(parents=True)
        self.volumes = volumes.Volumes(kubelet.api, found, self.folder / "volumes", kubelet.hosts)
        self.network = None
        self.inits = [Container(self, one) for one in found["spec"].get("initContainers", [])]
        self.containers = [Container(self, one) for one in found["spec"]["containers"]]
        self.is_changed = True
        self.is_ending = False
        self.kill_at = None
        self.next_refresh = 0
        self.has_volumes = False
        self.started_at = now()
        self.told = None

    @property
    def grace_seconds(self):
        return self.object["spec"].get("terminationGracePeriodSeconds", 30)

    def restarts(self, container):
        policy = self.object["spec"].get("restartPolicy", "Always")
        if self.is_ending:
            return False
        if policy == "Always" and container in self.containers:
            return True
        return policy != "Never" and container.ended["exitCode"] != 0

    def step(self):
        """Brings the pod one step further."""
        for one in self.inits + self.containers:
            one.poll()
        if self.is_ending:
            self.end_step()
            return
        if time.monotonic() >= self.next_refresh:
            self.next_refresh = time.monotonic() + REFRESH_SECONDS
            self.volumes.write_all()
            self.has_volumes = True
        if not self.has_volumes:
            return
        if self.network is None:
            self.network = self.kubelet.new_network()
            self.object["status"]["podIP"] = self.network.address
        waiting = [one for one in self.inits if not (one.ended and one.ended["exitCode"] == 0)]
        for one in waiting[:1] or self.containers:
            due = one.ended is None or (self.restarts(one) and time.monotonic() >= one.next_start)
            if not one.is_running and due:
                one.start()
                self.is_changed = True
        self.tell()

    def end_step(self):
        running = [one for one in self.inits + self.containers if one.is_running]
        if not running:
            self.tell()
            self.kubelet.forget(self)
            self.kubelet.api.call("DELETE", self.path, {
                "apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": {"uid": self.uid}})
        elif time.monotonic() >= self.kill_at:
            for one in running:
                one.signal(signal.SIGKILL)

    def end(self, seconds):
        """It is to end within these seconds."""
        if not self.is_ending:
            self.is_ending = True
            for one in self.inits + self.containers:
                one.signal(signal.SIGTERM)
        self.kill_at = min(self.kill_at or float("inf"), time.monotonic() + seconds)

    def close(self):
        """The object is gone, and so is everything else, at once."""
        for one in self.inits + self.containers:
            for prober in one.probers:
                prober.stop()
            one.signal(signal.SIGKILL)
            if one.process:
                one.process.wait()
        if self.network:
            self.network.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def phase(self):
        ended = [one.ended for one in self.containers]
        if all(one and not container.is_running and not self.restarts(container)
               for one, container in zip(ended, self.containers)):
            return "Succeeded" if all(one["exitCode"] == 0 for one in ended) else "Failed"
        failed = [one for one in self.inits if one.ended and one.ended["exitCode"] and not self.restarts(one)]
        if failed:
            return "Failed"
        return "Running" if any(one.starts for one in self.containers) else "Pending"

    def tell(self):
        """Writes the status, where it has changed."""
        if not self.is_changed:
            return
        is_ready = all(one.is_ready for one in self.containers) and not self.is_ending
        states = {"PodReadyToStartContainers": bool(self.network),
                  "Initialized": all(one.ended and one.ended["exitCode"] == 0 for one in self.inits),
                  "ContainersReady": is_ready, "Ready": is_ready}
        status = {
            "phase": self.phase(), "startTime": self.started_at, "hostIP": network.GATEWAY,
            "hostIPs": [{"ip": network.GATEWAY}],
            "conditions": [{"type": kind, "status": str(value), "lastTransitionTime": self.since(kind, value)}
                           for kind, value in states.items()],
            "containerStatuses": [one.status() for one in self.containers],
            "initContainerStatuses": [one.status() for one in self.inits],
        }
        if self.network:
            status.update({"podIP": self.network.address, "podIPs": [{"ip": self.network.address}]})
        self.kubelet.api.patch(f"{self.path}/status", {"metadata": {"uid": self.uid}, "status": status}, "strategic")
        self.told = {one["type"]: one for one in status["conditions"]}
        self.is_changed = False

    def since(self, kind, value):
        before = (self.told or {}).get(kind)
        return before["lastTransitionTime"] if before and before["status"] == str(value) else now()
