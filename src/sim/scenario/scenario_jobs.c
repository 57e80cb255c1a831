/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Jobs of a scenario. Their trees are flattened as the model wants them: parents before children, and of one group's
 * children the groups before the pod sets.
 */
#include <errno.h>
#include <string.h>

#include "model/state.h"
#include "sim/scenario/scenario_internal.h"

enum { DEFAULT_PRIORITY = 50, FIRST_FIXED_PRIORITY = 100, SECONDS_APART = 60, GROUPS_MAX = 10000 };

struct group_list_spec VEC_OF(struct group_spec);

static int read_constraint(const struct json_at *at, struct topology_constraint_spec *topology, struct err *err)
{
    struct json_at object;
    int rc = json_member_object(at, "topology_constraint", JSON_OPTIONAL, &object, err);

    if (rc <= 0 || (rc = json_member_str(&object, "topology", JSON_OPTIONAL, &topology->topology, err)) < 0 ||
        (rc = json_member_str(&object, "required_level", JSON_OPTIONAL, &topology->required, err)) < 0)
        return rc;
    return json_member_str(&object, "preferred_level", JSON_OPTIONAL, &topology->preferred, err);
}

static int push_group(const struct json_at *at, const struct group_spec *group, struct group_list_spec *groups,
                      struct err *err)
{
    if (groups->len == GROUPS_MAX)
        return json_fail(at, err, -EINVAL, "expected at most %d groups and pod sets", GROUPS_MAX);
    vec_push(groups, *group);
    return 0;
}

static int read_pod_set(const struct json_at *at, int32_t parent, struct group_list_spec *groups, struct err *err)
{
    struct group_spec set = {.parent = parent, .is_pod_set = true};
    int64_t min = 0;
    int rc;

    if ((rc = json_object(at, err)) < 0 || (rc = scenario_name(at, "name", &set.name, err)) < 0 ||
        (rc = json_member_int64(at, "min_available", JSON_OPTIONAL, 0, INT32_MAX, &min, err)) < 0 ||
        (rc = read_constraint(at, &set.topology, err)) < 0)
        return rc;
    vec_foreach (groups, other) {
        if (other->is_pod_set && strcmp(other->name, set.name) == 0)
            return scenario_fail(at, "name", err, "pod set '%s' is defined twice", set.name);
    }
    set.min = (int32_t)min;
    return push_group(at, &set, groups, err);
}

/* Recursion ends with the nesting of the document, which is limited. */
static int read_group(const struct json_at *at, int32_t parent, struct group_list_spec *groups, struct err *err)
{
    struct group_spec group = {.name = "", .parent = parent};
    int32_t here = (int32_t)groups->len;
    struct json_at array;
    int64_t min = -1;
    int rc;

    if ((rc = json_object(at, err)) < 0 || (rc = json_member_str(at, "name", JSON_OPTIONAL, &group.name, err)) < 0 ||
        (rc = json_member_int64(at, "min_subgroups", JSON_OPTIONAL, 0, INT32_MAX, &min, err)) < 0 ||
        (rc = read_constraint(at, &group.topology, err)) < 0)
        return rc;
    group.min = (int32_t)min;
    if ((rc = push_group(at, &group, groups, err)) < 0)
        return rc;

    rc = json_member_array(at, "groups", JSON_OPTIONAL, &array, err);
    for (struct json_at item = {0}; rc >= 0 && json_next(&array, &item);)
        rc = read_group(&item, here, groups, err);
    if (rc >= 0)
        rc = json_member_array(at, "pod_sets", JSON_OPTIONAL, &array, err);
    for (struct json_at item = {0}; rc >= 0 && json_next(&array, &item);)
        rc = read_pod_set(&item, here, groups, err);
    return rc;
}

static int read_tree(const struct json_at *job, size_t task_count, struct group_list_spec *groups, struct err *err)
{
    struct json_at root;
    int rc = json_member_object(job, "root", JSON_OPTIONAL, &root, err);

    if (rc < 0)
        return rc;
    if (rc > 0)
        return read_group(&root, -1, groups, err);
    vec_push(groups, (struct group_spec){.name = "", .parent = -1, .min = -1});
    vec_push(groups, (struct group_spec){.name = "default", .is_pod_set = true, .min = (int32_t)task_count});
    return 0;
}

static int read_qos(const struct json_at *job, enum qos_class *ret, struct err *err)
{
    static const char *const names[] = {[QOS_UNSET] = "",
                                        [QOS_GUARANTEED] = "Guaranteed",
                                        [QOS_BURSTABLE] = "Burstable",
                                        [QOS_BEST_EFFORT] = "BestEffort"};
    const char *name = "";
    int rc = json_member_str(job, "qos_class", JSON_OPTIONAL, &name, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *ret = (enum qos_class)i;
            return 0;
        }
    }
    return scenario_fail(job, "qos_class", err, "expected Guaranteed, Burstable or BestEffort, found '%s'", name);
}

static int read_times(const struct json_at *job, size_t job_count, struct gang_spec *gang, struct err *err)
{
    nsec_t age = (nsec_t)(job_count - job->index) * SECONDS_APART * NSEC_PER_SEC;
    nsec_t stale = 0;
    int rc;

    if ((rc = scenario_seconds(job, "age_seconds", 0, SCENARIO_AGE_MAX, &age, err)) < 0 ||
        (rc = scenario_seconds(job, "preemption_delay_seconds", 0, SCENARIO_SECONDS_MAX, &gang->preemption_delay,
                               err)) < 0 ||
        (rc = scenario_seconds(job, "stale_seconds", 0, SCENARIO_AGE_MAX, &stale, err)) < 0)
        return rc;
    gang->created = SCENARIO_NOW - age;
    gang->stale_since = rc > 0 ? SCENARIO_NOW - stale : 0;
    rc = scenario_seconds(job, "staleness_grace_period_seconds", -SCENARIO_SECONDS_MAX, SCENARIO_SECONDS_MAX,
                          &gang->staleness_grace, err);
    gang->has_grace = rc > 0;
    return rc;
}

static int read_queue(struct scenario_reader *r, const struct json_at *job, struct gang_spec *gang, struct err *err)
{
    queue_id queue;
    int rc = scenario_name(job, "queue", &gang->queue, err);

    if (rc < 0)
        return rc;
    queue = state_find_queue(r->state, gang->queue);
    if (queue == NO_ID || !r->state->queues.items[queue].is_present)
        return scenario_fail(job, "queue", err, "there is no queue called '%s'", gang->queue);
    return 0;
}

static int read_gang(struct scenario_reader *r, const struct json_at *job, struct gang_spec *gang, struct err *err)
{
    int64_t priority = DEFAULT_PRIORITY;
    int rc;

    if ((rc = json_object(job, err)) < 0 || (rc = scenario_name(job, "name", &gang->name, err)) < 0 ||
        (rc = scenario_take_name(r, NAME_JOB, job, NULL, gang->name, err)) < 0 ||
        (rc = json_member_str(job, "namespace", JSON_OPTIONAL, &gang->namespace, err)) < 0 ||
        (rc = read_queue(r, job, gang, err)) < 0 ||
        (rc = json_member_int64(job, "priority", JSON_OPTIONAL, INT32_MIN, INT32_MAX, &priority, err)) < 0)
        return rc;
    gang->uid = gang->name;
    gang->priority = (int32_t)priority;
    gang->is_preemptible = priority < FIRST_FIXED_PRIORITY;
    return json_member_bool(job, "preemptible", JSON_OPTIONAL, &gang->is_preemptible, err);
}

/* A job that runs has started a minute ago, unless the file says something else, which may be that it never did. */
static int read_last_start(struct scenario_reader *r, const struct json_at *job, const struct scenario_job *entry,
                           bool has_started, struct err *err)
{
    nsec_t age = SECONDS_APART * NSEC_PER_SEC;
    bool is_given = yyjson_obj_get(job->val, "last_start_age_seconds") != NULL;
    int rc = scenario_seconds(job, "last_start_age_seconds", 0, SCENARIO_AGE_MAX, &age, err);

    if (rc < 0)
        return rc;
    if (rc > 0 || (has_started && !is_given))
        state_set_gang_times(r->state, entry->gang, SCENARIO_NOW - age, 0, entry->stale_since);
    return 0;
}

static int put_gang(struct scenario_reader *r, const struct json_at *job, size_t job_count, struct gang_spec *gang,
                    const struct json_at *tasks, struct err *err)
{
    struct group_list_spec groups = {0};
    int rc;

    if ((rc = read_gang(r, job, gang, err)) < 0 || (rc = read_times(job, job_count, gang, err)) < 0)
        return rc;
    rc = read_tree(job, yyjson_arr_size(tasks->val), &groups, err);
    if (rc >= 0) {
        gang->groups = groups.items;
        gang->group_count = groups.len;
        rc = scenario_wrap(job, state_put_gang(r->state, gang, err), err);
    }
    vec_done(&groups);
    return rc;
}

static int read_job(struct scenario_reader *r, const struct json_at *job, size_t job_count, struct err *err)
{
    struct gang_spec gang = {.namespace = ""};
    struct scenario_owner owner = {0};
    struct scenario_job entry = {.first_pod = r->s->pods.len};
    struct json_at tasks;
    bool has_started = false;
    int rc;

    if ((rc = json_member_array(job, "tasks", JSON_REQUIRED, &tasks, err)) < 0 ||
        (rc = put_gang(r, job, job_count, &gang, &tasks, err)) < 0 || (rc = read_qos(job, &owner.qos, err)) < 0 ||
        (rc = json_member_bool(job, "stays_releasing_when_evicted", JSON_OPTIONAL, &entry.stays_releasing, err)) < 0)
        return rc;
    owner.job = gang.name;
    owner.namespace = gang.namespace;
    owner.gang = entry.gang = state_find_gang(r->state, gang.namespace, gang.name);
    if ((rc = scenario_read_tasks(r, &tasks, &owner, &has_started, err)) < 0)
        return rc;
    entry.pod_count = r->s->pods.len - entry.first_pod;
    entry.stale_since = gang.stale_since;
    vec_push(&r->s->jobs, entry);
    return read_last_start(r, job, &entry, has_started, err);
}

int scenario_read_jobs(struct scenario_reader *r, const struct json_at *topology, struct err *err)
{
    struct json_at array;
    int rc = json_member_array(topology, "jobs", JSON_REQUIRED, &array, err);

    for (struct json_at item = {0}; rc >= 0 && json_next(&array, &item);) {
        rc = read_job(r, &item, yyjson_arr_size(array.val), err);
        arena_clear(&r->scratch);
    }
    return rc < 0 ? rc : 0;
}
