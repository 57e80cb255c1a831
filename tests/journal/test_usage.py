"""Past use of queues: asked for at Prometheus, counted in fair shares, kept in the journal."""

import json
import time
import urllib.request

import bed
import prometheus
from stage import GROUPS, PODS, QUEUES
from suite import Skip, Suite, expect, expect_in

SUITE = Suite()
FAST = {"fetchInterval": "1s", "windowSize": "1h", "waitTimeout": "20s",
        "extraParams": {"usageQueryTimeout": "2s", "queryResolution": "1s"}}
# GPUs of 32 that are a queue's, when one of the two has had three times what the other had.
MUCH_OF_A, MUCH_OF_B, EQUAL = {"a": 8, "b": 24}, {"a": 24, "b": 8}, {"a": 16, "b": 16}


def configure(stage, source, kind="prometheus", **params):
    """A file with the setting; returns the flag that names it."""
    path = stage.cluster.folder / "usage.json"
    path.write_text(json.dumps({"usageDBConfig": {"clientType": kind, **source, "usageParams": {**FAST, **params}}}))
    return f"--scheduler-conf={path}"


def metrics(stage):
    """As text; none while it starts."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{stage.metrics_port}/metrics", timeout=10) as answer:
            return answer.read().decode()
    except OSError:
        return ""


def figures(stage, name):
    """{queue: value} of a metric."""
    return {line.split('queue_metadata_name="')[1].split('"')[0]: float(line.rsplit(" ", 1)[1])
            for line in metrics(stage).splitlines() if line.startswith(f"kai_{name}{{")}


def count(stage, name):
    return next(float(line.rsplit(" ", 1)[1]) for line in metrics(stage).splitlines() if line.startswith(f"kai_{name} "))


def begin(stage, *flags):
    """Two queues of the same right."""
    stage.stop()
    stage.clear()
    for name in ("a", "b"):
        stage.queue(name, quota=0)
    stage.start(*flags)


def ask_for_all(stage, **pods):
    """Each queue asks for the whole cluster."""
    for name in ("a", "b"):
        for number in range(8):
            stage.gang(f"{name}{number}", 1, 4, queue=name, pods=pods)


def want(stage):
    """The same, of nodes that there are not: it changes nothing but shares."""
    ask_for_all(stage, nodeSelector={"no": "where"})


def shares(stage, wanted):
    def look():
        found = figures(stage, "queue_fair_share_gpu")
        return {name: found.get(name) for name in ("a", "b")} == wanted

    stage.cluster.wait_until(look, f"shares {wanted}", 30)


def running(stage, queue):
    return sum(one["metadata"]["labels"]["kai.scheduler/queue"] == queue and bool(one["spec"].get("nodeName"))
               for one in stage.api.items(PODS))


def ends(stage):
    """A scheduler that cannot start says why."""
    stage.cluster.wait_until(lambda: not stage.cluster.processes.alive("scheduler"), "it ends", 20)
    return stage.log()


@SUITE.test("a queue that has used more in the past has a smaller share now, by the word of Prometheus")
def _(stage):
    with prometheus.Pretended() as known:
        known.used = {"a": {"gpu": 0.75, "cpu": 0.5}, "b": {"gpu": 0.25}, "gone": {"gpu": 1}}
        begin(stage, configure(stage, {"connectionString": known.url + "/"}))
        want(stage)
        # With the parts 1/2 + (1/2 - 3/4) and 1/2 + (1/2 - 1/4) of the over-quota weight, 8 of 32 and 24.
        shares(stage, MUCH_OF_A)
        expect(figures(stage, "queue_gpu_usage"), {"a": 0.75, "b": 0.25, "parent": 0, "q": 0})
        expect(figures(stage, "queue_cpu_usage"), {"a": 0.5, "b": 0, "parent": 0, "q": 0})
        expect(count(stage, "usage_query_latency_milliseconds_count") >= 1, True)
        expect(known.asked[0].startswith("sum_over_time((") and known.asked[0].endswith(")[3600s:1s])"), True,
               known.asked[0])
        # It changes while it runs; a queue that is written anew keeps its past.
        known.used = {}
        shares(stage, EQUAL)
        known.used = {"a": {"gpu": 0.25}, "b": {"gpu": 0.75}}
        shares(stage, MUCH_OF_B)
        stage.api.patch(f"{QUEUES}/b", {"spec": {"displayName": "second"}})
        stage.cluster.wait_until(lambda: 'queue_display_name="second"' in metrics(stage), "the queue's new name", 20)
        expect(figures(stage, "queue_gpu_usage")["b"], 0.75)
        shares(stage, MUCH_OF_B)
        # Who runs follows.
        for path in (PODS, GROUPS):
            stage.api.call("DELETE", f"{path}?gracePeriodSeconds=0")
        ask_for_all(stage)
        stage.cluster.wait_until(lambda: (running(stage, "a"), running(stage, "b")) == (6, 2), "six of a, two of b", 30)
    said = stage.replay()
    expect(said["same"], True, str(said))


@SUITE.test("what is known of past use stays when Prometheus fails, and its absence is waited for but for a while")
def _(stage):
    with prometheus.Pretended() as known:
        known.fails = (503, "out of order")
        begin(stage, configure(stage, {"connectionStringEnvVar": "PAST_USE"}, waitTimeout="2s", stalenessPeriod="1s"))
        expect_in("connectionStringEnvVar: variable PAST_USE is not set", ends(stage))
        stage.start(configure(stage, {"connectionString": known.url.replace("//", "//me:secret@")}, waitTimeout="3s",
                              stalenessPeriod="1s"))
        want(stage)
        stage.pod("any", 1, queue="a")
        stage.bound("any")
        log = stage.cluster.processes.log_of("scheduler", 100000)
        expect_in("past use is not known yet; scheduling without it", log)
        expect_in("past use could not be queried; keeping the last known values", log)
        expect_in("status 503: the answer is not a result of Prometheus", log)
        expect("secret" in log, False, "the password is in the log")
        expect(known.headers[-1], "Basic bWU6c2VjcmV0")
        known.fails = None
        known.used = {"a": {"gpu": 0.75}, "b": {"gpu": 0.25}}
        shares(stage, MUCH_OF_A)
        for fails, word in (((422, '{"status":"error","errorType":"bad_data","error":"parse error"}'), "parse error"),
                            ((200, '{"status":"success","data":{"resultType":"matrix","result":[]}}'),
                             "expected a vector, found matrix"),
                            ((200, '{"status":"success","data":{"resultType":"vector","result":[]}}'),
                             "no data: check that Prometheus has the capacity metrics"),
                            ((200, "x" * 10000), "the answer is not a result of Prometheus")):
            known.fails = fails
            stage.cluster.wait_until(lambda said=word: said in stage.cluster.processes.log_of("scheduler", 100000), word, 20)
            shares(stage, MUCH_OF_A)
        stage.cluster.wait_until(lambda: "past use is stale; still using it" in stage.log(), "it is stale", 20)
        known.fails = None
        known.used = {"a": {"gpu": 0.25}, "b": {"gpu": 0.75}}
        shares(stage, MUCH_OF_B)
    expect(stage.replay()["same"], True)


@SUITE.test("windows that begin anew count from then on, by the hour or by cron")
def _(stage):
    with prometheus.Pretended() as known:
        known.used = {"a": {"gpu": 0.75}, "b": {"gpu": 0.25}}
        start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 4000))
        begin(stage, configure(stage, {"connectionString": known.url}, windowType="tumbling", halfLifePeriod="30m",
                               tumblingWindowStartTime=start))
        want(stage)
        shares(stage, MUCH_OF_A)
        expect(400 <= known.windows()[0] < 700, True, f"seconds since the window began: {known.windows()[0]}")
        expect_in(" - time()) / 1800.000))[", known.asked[0])
        stage.stop()
        known.asked.clear()
        stage.start(configure(stage, {"connectionString": known.url}, windowType="cron", cronString="0 0 1 1 *"))
        stage.cluster.wait_until(known.windows, "it asks", 20)
        now = time.gmtime()
        passed = ((now.tm_yday - 1) * 24 + now.tm_hour) * 3600 + now.tm_min * 60 + now.tm_sec
        expect(abs(known.windows()[0] - passed) < 300, True, f"{known.windows()[0]} s since new year, not {passed}")
        # One that has just begun holds nothing, and nothing is asked.
        stage.stop()
        known.asked.clear()
        stage.start(configure(stage, {"connectionString": known.url}, windowType="tumbling",
                              tumblingWindowStartTime="2200-01-01T00:00:00Z"))
        shares(stage, EQUAL)
        expect(known.asked, [])


@SUITE.test("a setting for past use that makes no sense is named when the scheduler starts")
def _(stage):
    stage.stop()
    for source, params, problem in (
            ({}, {}, "usageDBConfig: expected one of connectionString and connectionStringEnvVar, found none"),
            ({"connectionString": "http://x", "connectionStringEnvVar": "Y"}, {},
             "usageDBConfig: expected one of connectionString and connectionStringEnvVar, found both"),
            ({"connectionString": "prometheus:9090"}, {},
             "usageDBConfig: connectionString: expected an address such as http://prometheus.monitoring:9090"),
            ({"connectionString": "http://x", "kind": "fake"}, {},
             "usageDBConfig: clientType: expected prometheus or history, found 'fake'"),
            ({"connectionString": "http://x"}, {"windowType": "rolling"},
             "windowType: expected sliding, tumbling or cron, found 'rolling'"),
            ({"connectionString": "http://x"}, {"windowType": "tumbling"},
             "usageDBConfig: usageParams.tumblingWindowStartTime: a tumbling window needs it"),
            ({"connectionString": "http://x"}, {"windowType": "cron"},
             "usageDBConfig: usageParams.cronString: a window of type cron needs it"),
            ({"connectionString": "http://x"}, {"windowType": "cron", "cronString": "0 25 * * *"},
             "usageDBConfig: usageParams.cronString: hour '25': expected numbers from 0 to 23"),
            ({"connectionString": "http://x"}, {"extraParams": {"queryResolution": "0s"}},
             "usageDBConfig: usageParams.extraParams: queryResolution and usageQueryTimeout have to be above 0")):
        kind = source.pop("kind", "prometheus")
        stage.start(configure(stage, source, kind, **params))
        expect_in(problem, ends(stage))
    stage.clear()
    stage.start()
    stage.pod("after", 1)
    stage.bound("after")


@SUITE.test("the real Prometheus understands what it is asked, and its answers are past use")
def _(stage):
    if not prometheus.program():
        raise Skip("Prometheus is not installed: scripts/install-deps cluster")
    port, = bed.free_ports(1)
    with prometheus.Figures({"gpu": 32, "cpu": 512, "memory": 4e12}) as scraped:
        scraped.allocated = {"a": {"gpu": 16, "cpu": 128}, "b": {}}
        prometheus.start(stage.cluster, scraped, port)
        try:
            began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
            # What one had all the time is its part of the cluster, however long that was and however it fades.
            for params in ({"windowSize": "10m"}, {"windowSize": "10m", "halfLifePeriod": "5s"},
                           {"windowType": "tumbling", "tumblingWindowStartTime": began},
                           {"windowType": "cron", "cronString": "* * * * *"}):
                begin(stage, configure(stage, {"connectionString": f"http://127.0.0.1:{port}"}, **params))
                stage.gang("one", 1, 1, queue="a")
                stage.cluster.wait_until(
                    lambda: abs(figures(stage, "queue_gpu_usage").get("a", 0) - 0.5) < 0.01 and
                    abs(figures(stage, "queue_cpu_usage").get("a", 0) - 0.25) < 0.01, f"half of the GPUs: {params}", 90)
                expect(figures(stage, "queue_gpu_usage")["b"], 0)
        finally:
            stage.cluster.stop("prometheus")
