"""What the programs of the test bed are started with."""

import json
import pathlib

STAGES = pathlib.Path(__file__).resolve().parent / "stages.yaml"
SERVICE_RANGE = "10.96.0.0/16"


def etcd(folder, url, peer):
    return [
        "--name=bed", f"--data-dir={folder}/etcd", "--unsafe-no-fsync", "--log-level=warn",
        f"--listen-client-urls={url}", f"--advertise-client-urls={url}",
        f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=bed={peer}",
    ]


def kube_apiserver(host, port, etcd_url, path, with_accounts):
    """`path` gives the path of a secret by its name. Without somebody who makes service accounts, pods need none."""
    return [
        f"--etcd-servers={etcd_url}", f"--bind-address={host}", f"--advertise-address={host}",
        # Webhooks are called at the addresses of their pods: nobody routes those of Services.
        f"--secure-port={port}", "--enable-aggregator-routing=true", "--endpoint-reconciler-type=none", f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--authorization-mode=RBAC", "--allow-privileged=true", "--profiling=false",
        # For tests of clusters that have nothing newer.
        "--runtime-config=resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true",
        f"--client-ca-file={path('ca.crt')}", f"--token-auth-file={path('tokens.csv')}",
        f"--tls-cert-file={path('server.crt')}", f"--tls-private-key-file={path('server.key')}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={path('service-accounts.pub')}",
        f"--service-account-signing-key-file={path('service-accounts.key')}",
        *([] if with_accounts else ["--disable-admission-plugins=ServiceAccount"]),
    ]


def kube_controller_manager(folder, credentials):  # pylint: disable=unused-argument
    return [
        f"--kubeconfig={credentials.user('system:kube-controller-manager')}", "--leader-elect=false",
        "--secure-port=0", "--use-service-account-credentials=true", "--kube-api-qps=500", "--kube-api-burst=1000",
        f"--service-account-private-key-file={credentials.path('service-accounts.key')}",
        f"--root-ca-file={credentials.path('ca.crt')}",
        # The nodes have no heartbeat: it would be most of the traffic.
        "--node-monitor-grace-period=24h",
    ]


def kube_scheduler(folder, credentials):
    """Without a limit of its own on its requests. By a token: the server checks a certificate with every request."""
    path = folder / "kube-scheduler.json"
    config = credentials.token_user("kube-scheduler", credentials.scheduler_token)
    path.write_text(json.dumps({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": config, "qps": 5000, "burst": 5000},
    }))
    return [f"--config={path}", "--secure-port=0"]


def kwok(folder, credentials):  # pylint: disable=unused-argument
    return [
        f"--kubeconfig={credentials.admin}", f"--config={STAGES}", "--manage-all-nodes=true",
        "--node-lease-duration-seconds=0",
    ]


# Those that a bed may do without.
OPTIONAL = {
    "kube-controller-manager": kube_controller_manager,
    "kube-scheduler": kube_scheduler,
    "kwok": kwok,
}
