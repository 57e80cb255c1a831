/* SPDX-License-Identifier: Apache-2.0 */
#include "services/starter/lineup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "objects/fields.h"
#include "objects/keys.h"

#define NUMBER_MAX (INT64_C(1) << 53)

void waiter_free(struct waiter *job)
{
    if (!job)
        return;
    free(job->namespace);
    free(job->name);
    free(job->uid);
    free(job->job_name);
    free(job->user);
    free(job->array_index);
    free(job->dependency);
    free(job->wait_reason);
    free(job);
}

static void array_free(struct waiter_array *array)
{
    free(array->namespace);
    free(array->name);
    free(array);
}

void lineup_done(struct lineup *lineup)
{
    size_t cursor = 0;

    for (struct waiter *job; (job = strmap_next(&lineup->jobs, &cursor));)
        waiter_free(job);
    cursor = 0;
    for (struct waiter_array *array; (array = strmap_next(&lineup->arrays, &cursor));)
        array_free(array);
    strmap_done(&lineup->jobs);
    strmap_done(&lineup->arrays);
}

static void replace(char **text, const char *with)
{
    if (*text && strcmp(*text, with) == 0)
        return;
    free(*text);
    *text = xstrdup(with);
}

static int64_t number_of(const char *text)
{
    int64_t number = 0;

    return int_parse(text, 1, NUMBER_MAX, &number) ? number : 0;
}

static nsec_t time_of(const char *text)
{
    nsec_t time = 0;

    return *text && time_parse(text, &time, NULL) == 0 ? time : 0;
}

static enum waiter_end end_of(yyjson_val *object)
{
    yyjson_val *conditions = yyjson_obj_get(yyjson_obj_get(object, "status"), "conditions");
    yyjson_val *condition;
    size_t i, count;

    yyjson_arr_foreach(conditions, i, count, condition)
    {
        const char *type = kube_text(condition, "type");

        if (strcmp(kube_text(condition, "status"), "True") != 0)
            continue;
        if (strcmp(type, "Complete") == 0)
            return JOB_COMPLETED;
        if (strcmp(type, "Failed") == 0)
            return JOB_FAILED;
    }
    return *kube_text(object, "metadata", "annotations", KEY_CANCELLED) ? JOB_CANCELLED : JOB_LIVES;
}

static void read_state(struct waiter *job, yyjson_val *object)
{
    yyjson_val *spec = yyjson_obj_get(object, "spec");
    yyjson_val *template = yyjson_obj_get(yyjson_obj_get(spec, "template"), "metadata");
    const char *start = kube_text(object, "metadata", "annotations", KEY_START);
    yyjson_val *keep = yyjson_obj_get(spec, "ttlSecondsAfterFinished");

    job->end = end_of(object);
    job->is_suspended = yyjson_is_true(yyjson_obj_get(spec, "suspend"));
    job->is_held = strcmp(start, KEY_START_HELD) == 0;
    job->is_waiting = strcmp(start, KEY_START_WHEN_READY) == 0 && job->is_suspended && job->end == JOB_LIVES;
    job->has_started = *kube_text(object, "status", "startTime") != '\0';
    job->tells_pods = yyjson_obj_get(yyjson_obj_get(template, "labels"), KEY_JOB_ID) != NULL;
    job->keep_s = yyjson_is_int(keep) ? yyjson_get_sint(keep) : -1;
    job->cancelled = time_of(kube_text(object, "metadata", "annotations", KEY_CANCELLED));
    job->begin = time_of(kube_text(object, "metadata", "annotations", KEY_BEGIN));
    if (!job->is_waiting)
        job->is_starting = false;
}

/* The array of a Job never changes. */
static void join_array(struct lineup *lineup, struct waiter *job, const char *name)
{
    struct waiter_array *array = strmap_get(&lineup->arrays, job->namespace, name);

    if (job->array || !*name)
        return;
    if (!array) {
        array = xcalloc(1, sizeof *array);
        array->namespace = xstrdup(job->namespace);
        array->name = xstrdup(name);
        (void)strmap_put(&lineup->arrays, array->namespace, array->name, array);
    }
    array->jobs++;
    job->array = array;
}

static void leave_array(struct lineup *lineup, struct waiter *job)
{
    struct waiter_array *array = job->array;

    job->array = NULL;
    if (!array || --array->jobs > 0)
        return;
    (void)strmap_remove(&lineup->arrays, array->namespace, array->name);
    array_free(array);
}

struct waiter *lineup_put(struct lineup *lineup, yyjson_val *object)
{
    const char *namespace = kube_text(object, "metadata", "namespace");
    const char *name = kube_text(object, "metadata", "name");
    struct waiter *job = strmap_get(&lineup->jobs, namespace, name);
    const char *job_name = kube_text(object, "metadata", "annotations", KEY_SUBMIT_NAME);
    uint64_t version = strtoull(kube_text(object, "metadata", "resourceVersion"), NULL, 10);

    if (job && version < job->version && strcmp(job->uid, kube_text(object, "metadata", "uid")) == 0)
        return job;
    if (!job) {
        job = xcalloc(1, sizeof *job);
        job->namespace = xstrdup(namespace);
        job->name = xstrdup(name);
        job->sequence = lineup->next_sequence++;
        (void)strmap_put(&lineup->jobs, job->namespace, job->name, job);
    }
    job->version = version;
    replace(&job->uid, kube_text(object, "metadata", "uid"));
    replace(&job->job_name, *job_name ? job_name : name);
    replace(&job->user, kube_text(object, "metadata", "labels", KEY_SUBMIT_USER));
    join_array(lineup, job, kube_text(object, "metadata", "labels", KEY_ARRAY));
    replace(&job->array_index, kube_text(object, "metadata", "labels", KEY_ARRAY_INDEX));
    replace(&job->dependency, kube_text(object, "metadata", "annotations", KEY_DEPENDENCY));
    replace(&job->wait_reason, kube_text(object, "metadata", "annotations", KEY_WAIT_REASON));
    job->number = number_of(kube_text(object, "metadata", "labels", KEY_JOB_ID));
    job->array_number = number_of(kube_text(object, "metadata", "labels", KEY_ARRAY_ID));
    job->array_limit = number_of(kube_text(object, "metadata", "annotations", KEY_ARRAY_LIMIT));
    job->created = time_of(kube_text(object, "metadata", "creationTimestamp"));
    lineup->highest = MAX(lineup->highest, job->number);
    if (job->array && job->array_number > 0)
        job->array->number = job->array_number;
    read_state(job, object);
    return job;
}

struct waiter *lineup_remove(struct lineup *lineup, const char *namespace, const char *name)
{
    struct waiter *job = strmap_remove(&lineup->jobs, namespace, name);

    if (job)
        leave_array(lineup, job);
    return job;
}

void lineup_tally(struct lineup *lineup)
{
    size_t cursor = 0;

    for (struct waiter_array *array; (array = strmap_next(&lineup->arrays, &cursor));)
        array->active = 0;
    cursor = 0;
    for (struct waiter *job; (job = strmap_next(&lineup->jobs, &cursor));) {
        if (job->array && job->end == JOB_LIVES && (!job->is_suspended || job->is_starting))
            job->array->active++;
    }
}

void waiter_starts(struct waiter *job)
{
    if (job->array && !job->is_starting)
        job->array->active++;
    job->is_starting = true;
}

/* --- dependencies --- */

struct looking {
    const struct lineup *lineup;
    const struct waiter *job;
};

/* "12", "12_3" or a name in the same namespace. */
static bool is_named(const struct waiter *job, const struct waiter *other, const char *name)
{
    const char *gap = strchr(name, '_');
    int64_t number = 0;

    if (int_parse(name, 1, NUMBER_MAX, &number))
        return other->number == number || other->array_number == number;
    if (gap && strspn(name, "0123456789") == (size_t)(gap - name) && gap > name)
        return other->array_number == strtoll(name, NULL, 10) && strcmp(other->array_index, gap + 1) == 0;
    return strcmp(other->namespace, job->namespace) == 0 &&
           (strcmp(other->name, name) == 0 || strcmp(other->job_name, name) == 0);
}

static enum dependency_state stands(const struct waiter *other, enum dependency_type type)
{
    bool has_ended = other->end != JOB_LIVES;
    bool is_good = other->end == JOB_COMPLETED;

    switch (type) {
    case DEPENDENCY_AFTER:
        return has_ended || other->has_started ? DEPENDENCY_MET : DEPENDENCY_OPEN;
    case DEPENDENCY_AFTER_ANY:
        return has_ended ? DEPENDENCY_MET : DEPENDENCY_OPEN;
    case DEPENDENCY_AFTER_NOT_OK:
        return !has_ended ? DEPENDENCY_OPEN : is_good ? DEPENDENCY_NEVER : DEPENDENCY_MET;
    default:
        return !has_ended ? DEPENDENCY_OPEN : is_good ? DEPENDENCY_MET : DEPENDENCY_NEVER;
    }
}

/* Several jobs of a name, or the elements of an array, count together. */
static enum dependency_state look_at_all(const struct looking *looking, enum dependency_type type, const char *name)
{
    enum dependency_state worst = DEPENDENCY_MET;
    bool is_known = false;
    size_t cursor = 0;

    for (const struct waiter *other; (other = strmap_next(&looking->lineup->jobs, &cursor));) {
        if (other == looking->job || !is_named(looking->job, other, name))
            continue;
        if (type == DEPENDENCY_AFTER_CORR && other->array && strcmp(other->array_index, looking->job->array_index) != 0)
            continue;
        is_known = true;
        worst = MAX(worst, stands(other, type));
    }
    if (is_known)
        return worst;
    /* A job that has been removed has ended, nobody knows how. */
    return type == DEPENDENCY_AFTER || type == DEPENDENCY_AFTER_ANY ? DEPENDENCY_MET : DEPENDENCY_NEVER;
}

static enum dependency_state look(void *arg, enum dependency_type type, const char *name)
{
    const struct looking *looking = arg;
    const struct waiter *job = looking->job;
    size_t cursor = 0;

    if (type != DEPENDENCY_SINGLETON)
        return look_at_all(looking, type, name);
    for (const struct waiter *other; (other = strmap_next(&looking->lineup->jobs, &cursor));) {
        bool is_earlier =
            other->number > 0 && job->number > 0 ? other->number < job->number : other->sequence < job->sequence;

        if (other != job && is_earlier && other->end == JOB_LIVES && strcmp(other->job_name, job->job_name) == 0 &&
            strcmp(other->user, job->user) == 0 && strcmp(other->namespace, job->namespace) == 0)
            return DEPENDENCY_OPEN;
    }
    return DEPENDENCY_MET;
}

/* --- the plan --- */

static const char *keeps_from_start(const struct lineup *lineup, const struct waiter *job, nsec_t now,
                                    nsec_t *ret_again)
{
    struct looking looking = {.lineup = lineup, .job = job};
    enum dependency_state state = DEPENDENCY_MET;

    if (*job->dependency && dependency_judge(job->dependency, look, &looking, &state, NULL) < 0)
        state = DEPENDENCY_NEVER;
    if (state != DEPENDENCY_MET)
        return state == DEPENDENCY_OPEN ? "Dependency" : "DependencyNeverSatisfied";
    if (job->begin > now) {
        *ret_again = job->begin;
        return "BeginTime";
    }
    return job->array && job->array_limit > 0 && job->array->active >= job->array_limit ? "ArrayLimit" : "";
}

struct waiter_plan lineup_plan(const struct lineup *lineup, const struct waiter *job, nsec_t now)
{
    struct waiter_plan plan = {.reason = ""};

    if (job->end == JOB_CANCELLED && job->keep_s >= 0) {
        nsec_t until = job->cancelled + job->keep_s * NSEC_PER_SEC;

        plan.is_deleted = until <= now;
        plan.look_again = plan.is_deleted ? 0 : until;
    }
    plan.needs_number = job->number == 0 && job->end == JOB_LIVES;
    if (!job->is_waiting || job->is_starting)
        return plan;
    plan.reason = keeps_from_start(lineup, job, now, &plan.look_again);
    plan.starts = !*plan.reason;
    return plan;
}
