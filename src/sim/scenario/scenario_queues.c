/* SPDX-License-Identifier: Apache-2.0 */

/* Queues of a scenario. A later one in the list is newer, also where the file gives equal creation times. */
#include <errno.h>
#include <math.h>

#include "model/queue.h"
#include "model/state.h"
#include "sim/scenario/scenario_internal.h"

enum { DEFAULT_PRIORITY = 100, SECONDS_APART = 60 };
#define QUOTA_MAX 1e18

/* The format's names, by SHARE_*. */
static const char *const resource_names[] = {[SHARE_CPU] = "cpu", [SHARE_MEMORY] = "memory", [SHARE_GPU] = "gpu"};

static int read_number(const struct json_at *at, const char *key, double *value, struct err *err)
{
    int rc = json_member_double(at, key, JSON_OPTIONAL, UNLIMITED, QUOTA_MAX, value, err);

    if (rc > 0 && *value < 0 && *value != UNLIMITED)
        return scenario_fail(at, key, err, "expected a number >= 0, or -1 for no limit, found %g", *value);
    return rc;
}

static int read_share(const struct json_at *item, int resource, struct queue_spec *queue, struct err *err)
{
    struct json_at share;
    int rc;

    queue->deserved[resource] = resource == SHARE_GPU ? 0 : UNLIMITED;
    queue->limit[resource] = UNLIMITED;
    queue->weight[resource] = resource == SHARE_GPU ? 0 : 1;
    if ((rc = json_member_object(item, resource_names[resource], JSON_OPTIONAL, &share, err)) <= 0)
        return rc;
    if ((rc = read_number(&share, "quota", &queue->deserved[resource], err)) < 0 ||
        (rc = read_number(&share, "limit", &queue->limit[resource], err)) < 0)
        return rc;
    rc = read_number(&share, "over_quota_weight", &queue->weight[resource], err);
    /* Recorded scenarios give it to the one department that holds all queues, where every weight comes to the same. */
    if (queue->weight[resource] == UNLIMITED)
        queue->weight[resource] = 1;
    return rc;
}

static int read_shares(const struct json_at *item, struct queue_spec *queue, struct err *err)
{
    struct json_at usage;
    int rc = json_member_object(item, "historical_usage", JSON_OPTIONAL, &usage, err);

    for (int resource = 0; rc >= 0 && resource < SHARE_COUNT; resource++) {
        rc = json_member_double(&usage, resource_names[resource], JSON_OPTIONAL, 0, QUOTA_MAX, &queue->usage[resource],
                                err);
        if (rc >= 0)
            rc = read_share(item, resource, queue, err);
    }
    return rc;
}

static int read_times(const struct json_at *item, struct queue_spec *queue, struct err *err)
{
    nsec_t offset = (nsec_t)item->index * SECONDS_APART * NSEC_PER_SEC;
    int rc = scenario_seconds(item, "creation_offset_seconds", -SCENARIO_AGE_MAX, SCENARIO_AGE_MAX, &offset, err);

    if (rc < 0)
        return rc;
    queue->created = SCENARIO_NOW + offset + (nsec_t)item->index;
    rc = scenario_seconds(item, "preempt_min_runtime_seconds", 0, SCENARIO_SECONDS_MAX, &queue->preempt_min_runtime,
                          err);
    if (rc < 0)
        return rc;
    queue->has_preempt_min_runtime = rc > 0;
    rc = scenario_seconds(item, "reclaim_min_runtime_seconds", 0, SCENARIO_SECONDS_MAX, &queue->reclaim_min_runtime,
                          err);
    queue->has_reclaim_min_runtime = rc > 0;
    return rc;
}

static int read_queue(struct scenario_reader *r, const struct json_at *item, struct err *err)
{
    struct queue_spec queue = {0};
    int64_t priority = DEFAULT_PRIORITY;
    queue_id there;
    int rc;

    if ((rc = json_object(item, err)) < 0 || (rc = scenario_name(item, "name", &queue.name, err)) < 0)
        return rc;
    there = state_find_queue(r->state, queue.name);
    if (there != NO_ID && r->state->queues.items[there].is_present)
        return scenario_fail(item, "name", err, "queue '%s' is defined twice", queue.name);
    if ((rc = json_member_str(item, "parent", JSON_OPTIONAL, &queue.parent, err)) < 0 ||
        (rc = json_member_int64(item, "priority", JSON_OPTIONAL, INT32_MIN, INT32_MAX, &priority, err)) < 0 ||
        (rc = read_times(item, &queue, err)) < 0 || (rc = read_shares(item, &queue, err)) < 0)
        return rc;
    queue.priority = (int32_t)priority;
    if ((rc = state_put_queue(r->state, &queue, err)) < 0)
        return scenario_wrap(item, rc, err);
    vec_push(&r->s->queues, state_find_queue(r->state, queue.name));
    return 0;
}

/* A queue may come before its parent, so that parents are looked for at the end. */
static int check_parents(struct scenario_reader *r, const struct json_at *array, struct err *err)
{
    for (struct json_at item = {0}; json_next(array, &item);) {
        const char *parent = "";
        queue_id id;
        int rc = json_member_str(&item, "parent", JSON_OPTIONAL, &parent, err);

        if (rc < 0)
            return rc;
        id = *parent ? state_find_queue(r->state, parent) : 0;
        if (*parent && (id == NO_ID || !r->state->queues.items[id].is_present))
            return scenario_fail(&item, "parent", err, "there is no queue called '%s'", parent);
    }
    return 0;
}

int scenario_read_queues(struct scenario_reader *r, const struct json_at *topology, struct err *err)
{
    struct json_at array;
    int rc = json_member_array(topology, "queues", JSON_REQUIRED, &array, err);

    for (struct json_at item = {0}; rc >= 0 && json_next(&array, &item);)
        rc = read_queue(r, &item, err);
    return rc < 0 ? rc : check_parents(r, &array, err);
}
