"""The objects that Muster makes for the operators of others: Prometheus, ServiceMonitors, vertical autoscalers."""

import bed
import client

NAMESPACE = "kai-scheduler"
MONITORING = f"/apis/monitoring.coreos.com/v1/namespaces/{NAMESPACE}"
PROMETHEUS = f"{MONITORING}/prometheuses/prometheus"
MONITORS = f"{MONITORING}/servicemonitors"
AUTOSCALERS = f"/apis/autoscaling.k8s.io/v1/namespaces/{NAMESPACE}/verticalpodautoscalers"
POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
USAGE = f"/api/v1/namespaces/{NAMESPACE}/services/usage-prometheus"
ACCOUNT = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/prometheus"
SWITCHED_OFF = "kai/deprecation-timestamp"


def apply_crds(cluster):
    cluster.apply_crds(bed.ROOT / "tests" / "cluster" / "crds_operators.yaml")


def switched_off(prometheus):
    """Since when it is; None: it is not."""
    return prometheus["metadata"].get("annotations", {}).get(SWITCHED_OFF)


def say_available(cluster):
    """What the operator of Prometheus does once the pods run."""
    cluster.api.patch(f"{PROMETHEUS}/status", {"status": {"conditions": [{"type": "Available", "status": "True"}]}})


def are_gone(cluster, *paths):
    """Whether none of these objects is there."""
    for path in paths:
        try:
            cluster.api.get(path)
            return False
        except client.ApiError as error:
            if error.status != 404:
                raise
    return True
