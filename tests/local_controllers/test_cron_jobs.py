"""CronJobs. Their clock is moved by the status: times since the last one that is written there are due."""

import datetime

import suite
import world
from suite import expect

SUITE = suite.Suite()


def cron_job(name, annotations=None, **spec):
    pod = world.template({}, annotations, restartPolicy="Never")
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name},
            "spec": {"schedule": "* * * * *", "suspend": True,
                     "jobTemplate": {"metadata": {"labels": {"cron": name}}, "spec": {"template": pod}}, **spec}}


def text_of(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def make_due(cluster, name, minutes=3):
    cluster.api.patch(f"{world.CRON_JOBS}/{name}/status",
                      {"status": {"lastScheduleTime": text_of(now() - datetime.timedelta(minutes=minutes))}})
    cluster.api.patch(f"{world.CRON_JOBS}/{name}", {"spec": {"suspend": False}})


def jobs_of(cluster, name):
    return cluster.api.items(f"{world.JOBS}?labelSelector=cron={name}")


def start(cluster, name, annotations=None, minutes=3, **spec):
    cluster.api.create(world.CRON_JOBS, cron_job(name, annotations, **spec))
    make_due(cluster, name, minutes)


def stop(cluster, name):
    world.delete(cluster, f"{world.CRON_JOBS}/{name}")


@SUITE.test("a CronJob starts the Job of the last time, once, and says so")
def test_start(cluster):
    start(cluster, "tick", {"test/finish-after": "1s"})
    (job,) = cluster.wait_until(lambda: jobs_of(cluster, "tick"), "a Job")[-1:]
    when = job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    minutes = int(datetime.datetime.fromisoformat(when).timestamp()) // 60
    expect(job["metadata"]["name"], f"tick-{minutes}", "name")
    owner = job["metadata"]["ownerReferences"][0]
    expect((owner["kind"], owner["name"], owner["controller"]), ("CronJob", "tick", True), "owner")
    found = cluster.wait_for(f"{world.CRON_JOBS}/tick", lambda found: found.get("status", {}).get("lastScheduleTime") == when)
    expect([one["name"] for one in found.get("status", {}).get("active", [])], [f"tick-{minutes}"], "active")
    cluster.wait_for(f"{world.CRON_JOBS}/tick", lambda found: "lastSuccessfulTime" in found["status"] and
                     not found.get("status", {}).get("active"))
    world.wait_reason(cluster, "tick", "SuccessfulCreate")
    world.wait_reason(cluster, "tick", "SawCompletedJob")
    stop(cluster, "tick")


@SUITE.test("Forbid starts no Job beside one that runs, Replace replaces it, and suspend starts none")
def test_policies(cluster):
    for name, policy in (("forbid", "Forbid"), ("replace", "Replace")):
        start(cluster, name, concurrencyPolicy=policy)
        first = cluster.wait_until(lambda name=name: jobs_of(cluster, name), "a Job")[-1]["metadata"]["name"]
        cluster.wait_for(f"{world.CRON_JOBS}/{name}", lambda found: found.get("status", {}).get("active"))
        if policy == "Replace":
            # The next minute.
            cluster.wait_until(lambda first=first, name=name: [
                job for job in jobs_of(cluster, name) if job["metadata"]["name"] != first], "the next Job", 90)
            cluster.wait_gone(f"{world.JOBS}/{first}")
            world.wait_reason(cluster, "forbid", "JobAlreadyActive")
            expect(len(jobs_of(cluster, "forbid")), 1, "Jobs of the one that forbids")
    for name in ("forbid", "replace"):
        cluster.api.patch(f"{world.CRON_JOBS}/{name}", {"spec": {"suspend": True}})
        stop(cluster, name)


@SUITE.test("a time that is past its deadline is missed")
def test_deadline(cluster):
    start(cluster, "late", schedule="0 0 1 1 *", minutes=60 * 24 * 400, startingDeadlineSeconds=60)
    start(cluster, "soon", schedule="0 0 1 1 *", minutes=60 * 24 * 400)
    cluster.wait_until(lambda: jobs_of(cluster, "soon"), "the Job without a deadline")
    expect(jobs_of(cluster, "late"), [], "Jobs with a deadline")
    stop(cluster, "late")
    stop(cluster, "soon")


@SUITE.test("a schedule is in its time zone")
def test_zone(cluster):
    start(cluster, "zone", schedule="30 12 * * *", timeZone="Asia/Kolkata", minutes=60 * 24 * 2)
    (job,) = cluster.wait_until(lambda: jobs_of(cluster, "zone"), "a Job")
    when = job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    expect(when[10:], "T12:30:00+05:30", "local time")
    minutes = int(datetime.datetime.fromisoformat(when).timestamp()) // 60
    expect(job["metadata"]["name"], f"zone-{minutes}", "name")
    stop(cluster, "zone")


@SUITE.test("old Jobs beyond the history limits are removed")
def test_history(cluster):
    cluster.api.create(world.CRON_JOBS, cron_job("past", successfulJobsHistoryLimit=1, failedJobsHistoryLimit=0))
    owner = cluster.api.get(f"{world.CRON_JOBS}/past")
    template = owner["spec"]["jobTemplate"]
    for number in range(3):
        cluster.api.create(world.JOBS, {
            "apiVersion": "batch/v1", "kind": "Job", "spec": {**template["spec"], "completions": 0, "parallelism": 0},
            "metadata": {"name": f"past-{number}", "labels": {"cron": "past"}, "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "CronJob", "name": "past", "uid": owner["metadata"]["uid"],
                 "controller": True}]}})
        cluster.wait_for(f"{world.JOBS}/past-{number}", lambda found: world.condition(found, "Complete"))
    make_due(cluster, "past")
    cluster.wait_until(lambda: len([job for job in jobs_of(cluster, "past") if world.condition(job, "Complete")]) <= 1,
                       "one Job that is complete")
    stop(cluster, "past")


@SUITE.test("controllers that are killed start no Job twice")
def test_kill(cluster):
    for number in range(4):
        start(cluster, f"again-{number}")
        world.kill(cluster)
        world.start(cluster)
        cluster.wait_until(lambda number=number: jobs_of(cluster, f"again-{number}"), "a Job")
        names = {job["metadata"]["name"] for job in jobs_of(cluster, f"again-{number}")}
        cluster.wait_for(f"{world.CRON_JOBS}/again-{number}", lambda found: found.get("status", {}).get("active"))
        expect(len(names) <= 2, True, f"Jobs: {names}")
        stop(cluster, f"again-{number}")
