"""Random objects of built-in kinds that do work: pods and what makes them."""


def container(dice, name):
    resources = {name: dice.some(["cpu", "memory", "nvidia.com/gpu"]) for name in ("limits", "requests")}
    made = {"name": name, "image": dice.pick("busybox", "a/b:latest", "c@sha256:" + "0" * 64)}
    if dice.chance(40):
        amounts = {one: dice.quantity(one) for one in sorted({*resources["limits"], *resources["requests"]})}
        amounts = {one: "1" if one == "nvidia.com/gpu" else value for one, value in amounts.items()}
        limits = {one: amounts[one] for one in sorted(amounts) if one in resources["limits"] or "/" in one}
        made["resources"] = {"limits": limits, "requests": {one: amounts[one] for one in resources["requests"]}}
    made |= dice.maybe(20, env=lambda: [
        {"name": one, **dice.pick({"value": "1"}, {}, {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})}
        for one in dice.some(["A", "B", "C"])])
    made |= dice.maybe(15, ports=lambda: [
        {"containerPort": port, **dice.pick({}, {"name": f"p{port}"}, {"protocol": "UDP"})}
        for port in dice.some([80, 81, 443])])
    made |= dice.maybe(10, livenessProbe=lambda: dice.pick(
        {"httpGet": {"port": 80}}, {"exec": {"command": ["true"]}}, {"tcpSocket": {"port": "http"}, "periodSeconds": 3}))
    made |= dice.maybe(10, command=["sh", "-c"], args=lambda: dice.some(["a", "b"]))
    made |= dice.maybe(10, imagePullPolicy=lambda: dice.pick("Always", "Never"))
    made |= dice.maybe(8, securityContext=lambda: dice.pick({"runAsUser": 5}, {"privileged": True}, {}))
    made |= dice.maybe(8, terminationMessagePolicy="FallbackToLogsOnError")
    return made


def pod_spec(dice, policy=None):
    volumes = dice.maybe(20, volumes=lambda: [
        {"name": name, **dice.pick({"emptyDir": {}}, {"configMap": {"name": "a"}}, {"secret": {"secretName": "s"}},
                                   {"hostPath": {"path": "/tmp"}}, {"emptyDir": {"sizeLimit": "1Gi"}})}
        for name in dice.some(["v", "w"])])
    containers = [container(dice, name) for name in ["main", "side"][:dice.randint(1, 2)]]
    if volumes.get("volumes") and dice.chance(60):
        containers[0]["volumeMounts"] = [{"name": volumes["volumes"][0]["name"], "mountPath": "/data"}]
    spec = {"containers": containers, "schedulerName": dice.pick("twin", "default-scheduler"), **volumes}
    spec |= dice.maybe(100 if policy else 20, restartPolicy=policy or dice.pick("Always", "Never", "OnFailure"))
    spec |= dice.maybe(15, initContainers=lambda: [container(dice, "init")])
    spec |= dice.maybe(15, nodeSelector=lambda: dice.labels())
    spec |= dice.maybe(15, tolerations=lambda: dice.some([
        {"key": "a", "operator": "Exists"}, {"key": "b", "value": "c", "effect": "NoSchedule"},
        {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5, "key": "node.kubernetes.io/not-ready"}]))
    spec |= dice.maybe(8, terminationGracePeriodSeconds=lambda: dice.pick(0, 5, 60))
    spec |= dice.maybe(8, serviceAccountName="default")
    spec |= dice.maybe(8, hostNetwork=lambda: dice.chance(50))
    spec |= dice.maybe(6, activeDeadlineSeconds=30)
    spec |= dice.maybe(6, imagePullSecrets=lambda: [{"name": "x"}])
    spec |= dice.maybe(6, securityContext=lambda: dice.pick({}, {"runAsNonRoot": True}, {"fsGroup": 3}))
    spec |= dice.maybe(6, affinity=lambda: dice.pick(
        {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]}}},
        {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 5, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}}]}}))
    spec |= dice.maybe(5, topologySpreadConstraints=lambda: [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}])
    return spec


def template(dice, labels, policy=None):
    spec = pod_spec(dice, policy)
    if policy != "Never":
        spec.pop("activeDeadlineSeconds", None)
        spec["restartPolicy"] = "Always"
    return {"metadata": {"labels": labels}, "spec": spec}


def pod(dice):
    return {"spec": pod_spec(dice)}


def selected(dice):
    labels = {"app": dice.pick("x", "y")}
    return {"selector": {"matchLabels": labels}, "template": template(dice, {**labels, **dice.maybe(20, more="1")})}


def deployment(dice):
    spec = {**selected(dice), **dice.maybe(60, replicas=lambda: dice.randint(0, 3))}
    spec |= dice.maybe(20, strategy=lambda: dice.pick(
        {"type": "Recreate"}, {"rollingUpdate": {"maxSurge": 1}}, {"rollingUpdate": {"maxUnavailable": "30%"}}))
    spec |= dice.maybe(20, minReadySeconds=2, progressDeadlineSeconds=50)
    spec |= dice.maybe(10, revisionHistoryLimit=3, paused=True)
    return {"spec": spec}


def replica_set(dice):
    return {"spec": {**selected(dice), **dice.maybe(60, replicas=lambda: dice.randint(0, 3)),
                     **dice.maybe(20, minReadySeconds=1)}}


def stateful_set(dice):
    spec = {**selected(dice), **dice.maybe(60, replicas=lambda: dice.randint(0, 3)), "serviceName": "s"}
    spec |= dice.maybe(20, podManagementPolicy="Parallel")
    spec |= dice.maybe(20, updateStrategy=lambda: dice.pick({"type": "OnDelete"}, {"rollingUpdate": {"partition": 1}}))
    spec |= dice.maybe(20, volumeClaimTemplates=lambda: [{"metadata": {"name": "d"}, **claim(dice)}])
    spec |= dice.maybe(10, persistentVolumeClaimRetentionPolicy=lambda: {"whenDeleted": "Delete"})
    return {"spec": spec}


def daemon_set(dice):
    return {"spec": {**selected(dice), **dice.maybe(20, updateStrategy=lambda: {"type": "OnDelete"}),
                     **dice.maybe(20, minReadySeconds=2)}}


def replication_controller(dice):
    labels = {"app": "x"}
    return {"spec": {**dice.maybe(60, replicas=lambda: dice.randint(0, 3)), **dice.maybe(60, selector=labels),
                     "template": template(dice, labels)}}


def pod_template(dice):
    return {"template": template(dice, dice.labels())}


def job(dice):
    spec = {"template": {"metadata": {"labels": dice.labels()}, "spec": pod_spec(dice, dice.pick("Never", "OnFailure"))}}
    spec |= dice.maybe(30, parallelism=lambda: dice.randint(0, 3))
    spec |= dice.maybe(30, completions=lambda: dice.randint(1, 3))
    spec |= dice.maybe(20, backoffLimit=lambda: dice.randint(0, 3))
    spec |= dice.maybe(20, suspend=lambda: dice.chance(50))
    spec |= dice.maybe(10, ttlSecondsAfterFinished=1000)
    spec |= dice.maybe(10, activeDeadlineSeconds=500)
    if "completions" in spec:
        spec |= dice.maybe(30, completionMode="Indexed")
    if spec["template"]["spec"]["restartPolicy"] == "Never":
        spec |= dice.maybe(10, podFailurePolicy=lambda: {"rules": [
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}]})
        spec |= dice.maybe(10, podReplacementPolicy="Failed")
    return {"spec": spec}


def cron_job(dice):
    spec = {"schedule": dice.pick("* * * * *", "*/5 1-3 * * 1", "@daily"), "jobTemplate": job(dice)}
    spec |= dice.maybe(30, concurrencyPolicy=lambda: dice.pick("Allow", "Forbid", "Replace"))
    spec |= dice.maybe(20, suspend=lambda: dice.chance(50))
    spec |= dice.maybe(20, successfulJobsHistoryLimit=0, startingDeadlineSeconds=5)
    spec |= dice.maybe(20, timeZone="Etc/UTC")
    return {"spec": spec}


def claim(dice):
    spec = {"accessModes": dice.some(["ReadWriteOnce", "ReadOnlyMany"]) or ["ReadWriteMany"],
            "resources": {"requests": {"storage": dice.pick("1Gi", "500M", "2")}}}
    spec |= dice.maybe(30, storageClassName=lambda: dice.pick("", "fast"))
    spec |= dice.maybe(20, volumeMode=lambda: dice.pick("Block", "Filesystem"))
    spec |= dice.maybe(10, volumeName="v")
    return {"spec": spec}
