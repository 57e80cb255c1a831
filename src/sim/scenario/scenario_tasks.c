/* SPDX-License-Identifier: Apache-2.0 */

/* Tasks of a scenario's jobs: one pod each, whose UID is its name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/state.h"
#include "sim/scenario/scenario_internal.h"

enum { NAME_TEXT = 512 };

#define TYPE_LABEL "kai.scheduler/type"
#define PRIORITY_LABEL "kai.scheduler/task-priority"

static int read_status(const struct json_at *task, struct pod_spec *pod, struct err *err)
{
    const char *name = "pending";
    int rc = json_member_str(task, "status", JSON_OPTIONAL, &name, err);

    if (rc < 0)
        return rc;
    if (*name == '\0' || strcmp(name, "unset") == 0)
        name = "pending";
    if (!pod_status_find(name, &pod->status))
        return scenario_fail(task, "status", err,
                             "expected pending, gated, allocated, pipelined, binding, bound, running, releasing, "
                             "stuck_in_releasing, succeeded, failed, unknown or deleted, found '%s'",
                             name);
    return 0;
}

/* One group a shared device. A pod that the file places on no group in particular has devices of its own. */
static int read_groups(struct scenario_reader *r, const struct json_at *task, struct pod_spec *pod, struct err *err)
{
    bool is_shared = pod->request.kind == REQUEST_FRACTION || pod->request.kind == REQUEST_GPU_MEMORY;
    const char **names;
    int rc = scenario_strings(r, task, "gpu_groups", &pod->gpu_groups, &pod->gpu_group_count, err);

    if (rc < 0 || !is_shared)
        return rc;
    if (pod->gpu_group_count == 0) {
        names = arena_calloc(&r->scratch, pod->request.devices, sizeof *names);
        for (uint32_t i = 0; i < pod->request.devices; i++) {
            char *text = arena_alloc(&r->scratch, NAME_TEXT);

            (void)snprintf(text, NAME_TEXT, "auto-%.400s-%u", pod->name, i);
            names[i] = text;
        }
        pod->gpu_groups = names;
        pod->gpu_group_count = pod->request.devices;
    }
    if (pod->gpu_group_count != pod->request.devices)
        return scenario_fail(task, "gpu_groups", err, "expected one for each of the %u devices, found %zu",
                             pod->request.devices, pod->gpu_group_count);
    return 0;
}

static int read_numa_placement(struct scenario_reader *r, const struct json_at *task, struct pod_spec *pod,
                               struct err *err)
{
    struct json_at array;
    struct numa_draw_spec *draws;
    size_t room = 0;
    int rc = json_member_array(task, "observed_numa_placement", JSON_OPTIONAL, &array, err);

    if (rc <= 0)
        return rc;
    for (struct json_at item = {0}; json_next(&array, &item);)
        room += yyjson_obj_size(yyjson_obj_get(item.val, "amount"));
    draws = arena_calloc(&r->scratch, room, sizeof *draws);
    for (struct json_at item = {0}; json_next(&array, &item);) {
        const char *zone;
        struct amount_spec *amounts;
        size_t count;

        if ((rc = json_object(&item, err)) < 0 || (rc = scenario_name(&item, "zone", &zone, err)) < 0 ||
            (rc = scenario_amounts(r, &item, "amount", 0, &amounts, &count, err)) < 0)
            return rc;
        for (size_t i = 0; i < count; i++)
            draws[pod->numa_count++] = (struct numa_draw_spec){zone, amounts[i].resource, amounts[i].amount};
    }
    pod->numa = draws;
    return 0;
}

static int read_place(struct scenario_reader *r, const struct json_at *task, struct pod_spec *pod, struct err *err)
{
    const char *node = "";
    int rc = json_member_str(task, "node", JSON_OPTIONAL, &node, err);

    if (rc < 0)
        return rc;
    if (*node && state_find_node(r->state, node) == NO_ID)
        return scenario_fail(task, "node", err, "there is no node called '%s'", node);
    if (!status_in(pod->status, ACTIVE_USED))
        return 0;
    if (*node == '\0')
        return scenario_fail(task, "node", err, "is missing, since the task is %s", pod_status_name(pod->status));
    pod->node = node;
    if ((rc = read_groups(r, task, pod, err)) < 0)
        return rc;
    return read_numa_placement(r, task, pod, err);
}

/* Labels that say which task of a job comes first. */
static void read_roles(struct pod_spec *pod)
{
    for (size_t i = 0; i < pod->label_count; i++) {
        const struct str_pair *label = &pod->labels[i];
        char *end;

        if (strcmp(label->key, "training.kubeflow.org/job-role") == 0 &&
            (strcmp(label->value, "master") == 0 || strcmp(label->value, "launcher") == 0))
            pod->roles |= POD_ROLE_LEADER;
        if (strcmp(label->key, "ray.io/node-type") == 0 && strcmp(label->value, "head") == 0)
            pod->roles |= POD_ROLE_HEAD;
        if (strcmp(label->key, PRIORITY_LABEL) != 0)
            continue;
        errno = 0;
        long value = strtol(label->value, &end, 10);
        pod->is_task_priority_bad = errno || end == label->value || *end || value < INT32_MIN || value > INT32_MAX;
        pod->has_task_priority = !pod->is_task_priority_bad;
        pod->task_priority = pod->has_task_priority ? (int32_t)value : 0;
    }
}

static int read_order(const struct json_at *task, struct pod_spec *pod, struct err *err)
{
    int64_t priority;
    int rc = json_member_int64(task, "order_priority", JSON_OPTIONAL, INT32_MIN, INT32_MAX, &priority, err);

    if (rc <= 0)
        return rc;
    pod->has_task_priority = true;
    pod->is_task_priority_bad = false;
    pod->task_priority = (int32_t)priority;
    return 0;
}

/* As in the recorded scenarios a term selects pods by the labels of the pod that has it, whatever it names itself. */
static int read_pod_term(struct scenario_reader *r, const struct json_at *task, const char *key,
                         const struct pod_spec *pod, const struct pod_term_spec **ret, size_t *ret_count,
                         struct err *err)
{
    struct json_at object;
    struct pod_term_spec *term;
    struct match_spec *all;
    int rc = json_member_object(task, key, JSON_OPTIONAL, &object, err);

    if (rc <= 0)
        return rc;
    term = ARENA_NEW(&r->scratch, struct pod_term_spec);
    if ((rc = scenario_name(&object, "topology_key", &term->topology_key, err)) < 0)
        return rc;
    all = arena_calloc(&r->scratch, pod->label_count, sizeof *all);
    for (size_t i = 0; i < pod->label_count; i++)
        all[i] = (struct match_spec){MATCH_IN, pod->labels[i].key, &pod->labels[i].value, 1};
    term->selector = (struct selector_spec){all, pod->label_count};
    *ret = term;
    *ret_count = 1;
    return 0;
}

static int read_constraints(struct scenario_reader *r, const struct json_at *task, struct pod_spec *pod,
                            struct err *err)
{
    struct constraints_spec *c = &pod->constraints;
    const char *const *types;
    size_t type_count;
    int rc;

    if ((rc = scenario_strings(r, task, "node_affinity_types", &types, &type_count, err)) < 0 ||
        (rc = scenario_strings(r, task, "pvcs", &c->volume_claims, &c->volume_claim_count, err)) < 0 ||
        (rc = read_pod_term(r, task, "pod_affinity", pod, &c->affinity, &c->affinity_count, err)) < 0 ||
        (rc = read_pod_term(r, task, "pod_anti_affinity", pod, &c->anti_affinity, &c->anti_affinity_count, err)) < 0)
        return rc;
    if (type_count > 0) {
        struct match_spec *match = ARENA_NEW(&r->scratch, struct match_spec);
        struct selector_spec *term = ARENA_NEW(&r->scratch, struct selector_spec);

        *match = (struct match_spec){MATCH_IN, TYPE_LABEL, types, type_count};
        *term = (struct selector_spec){match, 1};
        c->node_terms = term;
        c->node_term_count = 1;
    }
    return 0;
}

static int read_claims(struct scenario_reader *r, const struct json_at *task, struct pod_spec *pod, struct err *err)
{
    struct json_at array;
    struct pod_claim_spec *claims;
    int rc = json_member_array(task, "resource_claims", JSON_OPTIONAL, &array, err);

    if (rc <= 0)
        return rc;
    claims = arena_calloc(&r->scratch, yyjson_arr_size(array.val), sizeof *claims);
    for (struct json_at item = {0}; json_next(&array, &item);) {
        struct pod_claim_spec *claim = &claims[pod->claim_count++];

        if ((rc = json_object(&item, err)) < 0 || (rc = scenario_name(&item, "claim_name", &claim->name, err)) < 0 ||
            (rc = json_member_bool(&item, "from_template", JSON_OPTIONAL, &claim->is_from_template, err)) < 0)
            return rc;
    }
    pod->claims = claims;
    return 0;
}

static int read_names(struct scenario_reader *r, const struct json_at *task, const struct scenario_owner *owner,
                      struct pod_spec *pod, struct err *err)
{
    char *text;
    int rc = json_member_str(task, "name", JSON_OPTIONAL, &pod->name, err);

    if (rc < 0)
        return rc;
    if (rc > 0 && *pod->name == '\0')
        return scenario_fail(task, "name", err, "is empty, expected a name");
    if (rc == 0) {
        size_t size = strlen(owner->job) + sizeof "-18446744073709551615";

        text = arena_alloc(&r->scratch, size);
        (void)snprintf(text, size, "%s-%zu", owner->job, task->index);
        pod->name = text;
    }
    pod->uid = pod->name;
    pod->namespace = owner->namespace;
    pod->gang = owner->job;
    pod->pod_set = "default";
    if ((rc = scenario_take_name(r, NAME_TASK, task, NULL, pod->name, err)) < 0)
        return rc;
    return json_member_str(task, "pod_set", JSON_OPTIONAL, &pod->pod_set, err);
}

static int check_pod_set(struct scenario_reader *r, const struct json_at *task, const struct scenario_owner *owner,
                         pod_id pod, const char *pod_set, struct err *err)
{
    if (r->state->pods.items[pod].pod_set == NO_ID)
        return scenario_fail(task, "pod_set", err, "the job %s has none called '%s'", owner->job, pod_set);
    return 0;
}

static int read_task(struct scenario_reader *r, const struct json_at *task, const struct scenario_owner *owner,
                     bool *has_started, struct err *err)
{
    struct pod_spec pod = {0};
    struct str_pair *labels;
    pod_id id;
    int rc;

    if ((rc = json_object(task, err)) < 0 || (rc = read_names(r, task, owner, &pod, err)) < 0 ||
        (rc = read_status(task, &pod, err)) < 0 ||
        (rc = scenario_pairs(r, task, "labels", 0, &labels, &pod.label_count, err)) < 0)
        return rc;
    pod.labels = labels;
    read_roles(&pod);
    if ((rc = read_order(task, &pod, err)) < 0 || (rc = scenario_read_request(r, task, &pod.request, err)) < 0 ||
        (rc = read_place(r, task, &pod, err)) < 0 || (rc = read_constraints(r, task, &pod, err)) < 0 ||
        (rc = read_claims(r, task, &pod, err)) < 0)
        return rc;
    pod.request.qos = owner->qos;
    if ((rc = state_put_pod(r->state, &pod, err)) < 0)
        return scenario_wrap(task, rc, err);
    id = state_find_pod(r->state, pod.namespace, pod.name);
    vec_push(&r->s->pods, id);
    if (status_in(pod.status, ALLOCATED_SET))
        *has_started = true;
    return check_pod_set(r, task, owner, id, pod.pod_set, err);
}

int scenario_read_tasks(struct scenario_reader *r, const struct json_at *tasks, const struct scenario_owner *owner,
                        bool *ret_has_started, struct err *err)
{
    for (struct json_at item = {0}; json_next(tasks, &item);) {
        int rc = read_task(r, &item, owner, ret_has_started, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}
