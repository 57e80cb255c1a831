/* SPDX-License-Identifier: Apache-2.0 */

/* CronJobs: a Job for each time of a schedule. The name of a Job is that of its time, so that none is created twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/client/meta.h"
#include "local/controllers/actions.h"
#include "local/controllers/status.h"
#include "local/controllers/template.h"
#include "local/controllers/values.h"
#include "local/workloads/workloads.h"
#include "text/clock/cron.h"
#include "text/clock/zone.h"
#include "text/json.h"

#define SCHEDULED_AT "batch.kubernetes.io/cronjob-scheduled-timestamp"

enum { NAME_ROOM = 52, MISSED_MAX = 100, HISTORY_SUCCEEDED = 3, HISTORY_FAILED = 1 };

struct jobs VEC_OF(struct child *);

/* The times of a CronJob. */
struct times {
    struct cron cron;
    struct zone zone;
    nsec_t last;  // that has come, and not been missed for good; 0: none
    nsec_t next;  // 0: none
    bool has_missed_many;
};

static yyjson_val *object_of(const struct child *job)
{
    return yyjson_doc_get_root(job->doc);
}

static bool is_over(const struct child *job)
{
    return condition_is_true(object_of(job), "Complete") || condition_is_true(object_of(job), "Failed");
}

/* Times. */

static nsec_t local_before(const struct times *times, nsec_t time)
{
    nsec_t local = cron_before(&times->cron, time + zone_offset(&times->zone, time));

    return local > 0 ? zone_to_utc(&times->zone, local) : 0;
}

static nsec_t local_after(const struct times *times, nsec_t time)
{
    nsec_t local = cron_after(&times->cron, time + zone_offset(&times->zone, time));

    return local > 0 ? zone_to_utc(&times->zone, local) : 0;
}

static bool read_schedule(struct owner *cron_job, struct times *times)
{
    const char *schedule = kube_text(cron_job->object, "spec", "schedule");
    const char *name = kube_text(cron_job->object, "spec", "timeZone");
    struct err err = {0};

    if (cron_parse(schedule, &times->cron, &err) < 0) {
        owner_event(cron_job, "Warning", "UnparseableSchedule", "unparseable schedule: %s: %s", schedule, err.text);
        return false;
    }
    if (zone_read(&times->zone, name, &err) < 0) {
        owner_event(cron_job, "Warning", "UnknownTimeZone", "invalid timeZone: %s: %s", name, err.text);
        return false;
    }
    return true;
}

static void find_times(struct owner *cron_job, struct times *times)
{
    yyjson_val *job = cron_job->object;
    nsec_t now = nsec_now_wall(), since = time_at(job, "status", "lastScheduleTime");
    int64_t deadline = number_at(job, -1, "spec", "startingDeadlineSeconds");

    if (since == 0)
        since = time_at(job, "metadata", "creationTimestamp");
    if (deadline >= 0)
        since = MAX(since, now - deadline * NSEC_PER_SEC);
    times->last = local_before(times, now + 1);
    times->next = local_after(times, now);
    if (times->last <= since) {
        times->last = 0;
        return;
    }
    nsec_t time = times->last;
    for (int missed = 0; missed <= MISSED_MAX && time > since; missed++) {
        time = local_before(times, time);
        times->has_missed_many = missed == MISSED_MAX;
    }
}

/* Jobs. */

static int compare_starts(const void *left, const void *right)
{
    const struct child *a = *(struct child *const *)left, *b = *(struct child *const *)right;

    if (a->created != b->created)
        return a->created < b->created ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void keep_newest(struct owner *cron_job, struct jobs *jobs, int64_t limit)
{
    if (jobs->len > 1)
        qsort(jobs->items, jobs->len, sizeof *jobs->items, compare_starts);
    for (uint32_t i = 0; i < jobs->len && (int64_t)jobs->len - i > limit; i++) {
        if (!jobs->items[i]->is_ending)
            owner_delete(cron_job, jobs->items[i]);
    }
}

static void clean(struct owner *cron_job)
{
    yyjson_val *spec = yyjson_obj_get(cron_job->object, "spec");
    struct jobs succeeded = {0}, failed = {0};

    owner_foreach(cron_job, job)
    {
        if (condition_is_true(object_of(job), "Complete"))
            vec_push(&succeeded, job);
        else if (condition_is_true(object_of(job), "Failed"))
            vec_push(&failed, job);
    }
    keep_newest(cron_job, &succeeded, number_at(spec, HISTORY_SUCCEEDED, "successfulJobsHistoryLimit"));
    keep_newest(cron_job, &failed, number_at(spec, HISTORY_FAILED, "failedJobsHistoryLimit"));
    vec_done(&succeeded);
    vec_done(&failed);
}

static void create_job(struct owner *cron_job, const struct times *times)
{
    yyjson_val *template = value_at(cron_job->object, "spec", "jobTemplate");
    yyjson_mut_val *job = NULL;
    char name[CHILD_NAME_MAX], local[TIME_TEXT_MAX];

    (void)snprintf(name, sizeof name, "%.*s-%lld", NAME_ROOM, cron_job->name, (long long)(times->last / NSEC_PER_MIN));
    yyjson_mut_doc *doc = template_child(cron_job, 0, template, name, NULL, &job);
    (void)zone_format(&times->zone, times->last, local);
    template_mark(doc, job, "annotations", SCHEDULED_AT, local);
    (void)yyjson_mut_obj_add_val(doc, job, "spec", yyjson_val_mut_copy(doc, yyjson_obj_get(template, "spec")));
    owner_create(cron_job, 0, doc);
}

static struct child *find_job(struct owner *cron_job, nsec_t time)
{
    char suffix[32];

    (void)snprintf(suffix, sizeof suffix, "-%lld", (long long)(time / NSEC_PER_MIN));
    owner_foreach(cron_job, job)
    {
        size_t len = strlen(job->name), end = strlen(suffix);

        if (len > end && strcmp(job->name + len - end, suffix) == 0)
            return job;
    }
    return NULL;
}

/* Starts the Job of the last time, if its policy lets it. */
static void start(struct owner *cron_job, const struct times *times)
{
    const char *policy = kube_text(cron_job->object, "spec", "concurrencyPolicy");
    bool is_busy = false;

    owner_foreach(cron_job, job)
    {
        if (is_over(job))
            continue;
        is_busy = true;
        if (strcmp(policy, "Replace") == 0 && !job->is_ending)
            owner_delete(cron_job, job);
    }
    if (is_busy && strcmp(policy, "Forbid") == 0) {
        owner_event(cron_job, "Normal", "JobAlreadyActive",
                    "Not starting job because prior execution is running and concurrency policy is Forbid");
        return;
    }
    /* Those that are replaced go first. */
    if (owner_has_acted(cron_job))
        return;
    if (times->has_missed_many)
        owner_event(cron_job, "Warning", "TooManyMissedTimes",
                    "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew");
    create_job(cron_job, times);
}

/* The status. */

static void add_reference(yyjson_mut_doc *doc, yyjson_mut_val *active, const struct child *job)
{
    yyjson_mut_val *reference = yyjson_mut_arr_add_obj(doc, active);

    (void)yyjson_mut_obj_add_str(doc, reference, "apiVersion", "batch/v1");
    (void)yyjson_mut_obj_add_str(doc, reference, "kind", "Job");
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "name", job->name);
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "namespace", job->namespace);
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "uid", job->uid);
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "resourceVersion",
                                    kube_text(object_of(job), "metadata", "resourceVersion"));
}

static yyjson_val *old_reference(struct owner *cron_job, const char *uid)
{
    size_t i, max;
    yyjson_val *reference;

    yyjson_arr_foreach(value_at(cron_job->object, "status", "active"), i, max, reference)
    {
        if (yyjson_equals_str(yyjson_obj_get(reference, "uid"), uid))
            return reference;
    }
    return NULL;
}

static void tell_end(struct owner *cron_job, const struct child *job)
{
    owner_event(cron_job, "Normal", "SawCompletedJob", "Saw completed job: %s, condition: %s", job->name,
                condition_is_true(object_of(job), "Complete") ? "Complete" : "Failed");
}

static void set_status(struct owner *cron_job, const struct times *times)
{
    yyjson_mut_val *status = NULL;
    yyjson_mut_doc *doc = json_new_object(&status);
    yyjson_mut_val *active = yyjson_mut_arr(doc);
    nsec_t scheduled = time_at(cron_job->object, "status", "lastScheduleTime");
    nsec_t succeeded = time_at(cron_job->object, "status", "lastSuccessfulTime");

    owner_foreach(cron_job, job)
    {
        yyjson_val *old = old_reference(cron_job, job->uid);

        if (is_over(job)) {
            if (old)
                tell_end(cron_job, job);
            succeeded = MAX(succeeded, time_at(object_of(job), "status", "completionTime"));
        } else if (old) {
            (void)yyjson_mut_arr_append(active, yyjson_val_mut_copy(doc, old));
        } else {
            add_reference(doc, active, job);
        }
    }
    if (times->last > 0 && find_job(cron_job, times->last))
        scheduled = MAX(scheduled, times->last);
    if (yyjson_mut_arr_size(active) > 0)
        (void)yyjson_mut_obj_add_val(doc, status, "active", active);
    if (scheduled > 0)
        status_add_time(doc, status, "lastScheduleTime", scheduled);
    if (succeeded > 0)
        status_add_time(doc, status, "lastSuccessfulTime", succeeded);
    (void)owner_set_status(cron_job, doc, status);
}

static void sync_cron_job(struct owner *cron_job)
{
    struct times times = {0};
    bool is_good = read_schedule(cron_job, &times);

    if (is_good && !value_at(cron_job->object, "metadata", "deletionTimestamp")) {
        clean(cron_job);
        find_times(cron_job, &times);
        if (times.next > 0)
            owner_look_again(cron_job, times.next);
        if (times.last > 0 && !bool_at(cron_job->object, "spec", "suspend") && !find_job(cron_job, times.last))
            start(cron_job, &times);
    }
    if (!owner_has_acted(cron_job))
        set_status(cron_job, &times);
    zone_done(&times.zone);
}

const struct controller_kind cron_jobs_controller = {
    .service = CONTROLLER_SERVICE("cronjobs"),
    .component = "cronjob-controller",
    .owner = KUBE_CRON_JOBS,
    .children = {KUBE_JOBS},
    .child_kinds = 1,
    .sync = sync_cron_job,
};
