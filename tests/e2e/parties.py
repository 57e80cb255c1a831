"""Other projects whose workloads KAI Scheduler's suites run: their programs and manifests come from the Go modules that KAI's
go.mod names, and their operators run as pods of the test bed."""

import collections
import json
import os
import re
import shutil
import subprocess

import build
import kubelet

Party = collections.namedtuple("Party", "name module manifests package namespace deployment")

# `manifests` is a folder of the module: a kustomization, or CustomResourceDefinitions where there is no program.
PARTIES = [
    Party("karta", "github.com/run-ai/karta", "charts/karta/crds", None, None, None),
    Party("jobset", "sigs.k8s.io/jobset", "config/default", ".", "jobset-system", "jobset-controller-manager"),
    Party("lws", "sigs.k8s.io/lws", "config/default", "./cmd", "lws-system", "lws-controller-manager"),
    Party("training", "github.com/kubeflow/training-operator", "manifests/overlays/standalone",
          "./cmd/training-operator.v1", "kubeflow", "training-operator"),
    Party("ray", "github.com/ray-project/kuberay/ray-operator", "config/default", ".", "ray", "kuberay-operator"),
]
READY_SECONDS = 180


def folder_of(kai, party):
    """A copy of the module in DIR/build-e2e: Go's own is read-only, and a program is built with the go.sum of its module."""
    copy = kai / "build-e2e" / f"{party.name}-source"
    if not copy.exists():
        said = subprocess.run([build.find_go(), "mod", "download", "-json", party.module], cwd=kai, stdout=subprocess.PIPE, check=True)
        shutil.copytree(json.loads(said.stdout)["Dir"], copy, copy_function=shutil.copyfile)
        for top, _, _ in os.walk(copy):
            os.chmod(top, 0o755)
    return copy


def programs(kai):
    """The operators that have been built, by the names of their images."""
    return {party.name: path for party in PARTIES if party.package and (path := program_of(kai, party)).exists()}


def program_of(kai, party):
    return kai / "build-e2e" / f"operator-{party.name}"


def build_all(kai):
    """Builds the operators. One that cannot be built is reported; its suites are skipped by KAI then."""
    for party in PARTIES:
        if not party.package or program_of(kai, party).exists():
            continue
        print(f"# building the operator of {party.name}", flush=True)
        done = subprocess.run(
            ["nice", "-n", "19", build.find_go(), "build", "-ldflags=-s -w", "-o", str(program_of(kai, party)), party.package],
            cwd=folder_of(kai, party), env={**os.environ, "CGO_ENABLED": "0"}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            print(f"# {party.name} cannot be built: {done.stdout[-500:]}", flush=True)


def install_all(cluster, kai):
    """Installs what there is, and waits until the operators are ready."""
    built = programs(kai)
    wanted = [party for party in PARTIES if not party.package or party.name in built]
    for party in wanted:
        folder = folder_of(kai, party) / party.manifests
        if not party.package:
            cluster.kubectl("apply", "--server-side", "-f", folder)
            continue
        text = cluster.kubectl("kustomize", folder)
        text = re.sub(r"(\bimage: ).*", rf"\g<1>{kubelet.IMAGES[0]}{party.name}:test", text)
        if party.name == "ray":
            # The suite looks for it where its Helm chart puts it.
            text = re.sub(r"(?m)^(\s+namespace: )default$", rf"\g<1>{party.namespace}", text)
        cluster.command("kubectl", "create", "namespace", party.namespace, check=False)
        cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", feed=text)
    for party in wanted:
        if party.package:
            cluster.kubectl("-n", party.namespace, "wait", "--for=condition=Available", f"--timeout={READY_SECONDS}s",
                            f"deployment/{party.deployment}")
