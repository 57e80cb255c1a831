/* SPDX-License-Identifier: Apache-2.0 */

/* Pods of Kubernetes' own workloads. A workload that make_child() says 1 for is another scheduler's, and done. */
#include <string.h>

#include "objects/make/maker.h"

struct job_json {
    int32_t parallelism;
    int32_t completions;
    const char *mode;
    struct json_at template;
};

static int job_decode(const struct json_at *spec, struct job_json *ret_json, struct err *err)
{
    static const struct field fields[] = {
        FIELD(job_json, parallelism, "parallelism", FIELD_COUNT),
        FIELD(job_json, completions, "completions", FIELD_COUNT),
        FIELD(job_json, mode, "completionMode", FIELD_STR),
        FIELD_NEEDED(job_json, template, "template", FIELD_OBJECT),
    };

    *ret_json = (struct job_json){.parallelism = 1, .completions = -1, .mode = "NonIndexed"};
    return FIELDS_DECODE(spec, fields, ret_json, err);
}

/* As many pods as may run at once, but no more than are left to complete. */
static int64_t job_pods(const struct object *owner, const struct job_json *json)
{
    struct json_at status = json_member(&owner->root, "status");
    int64_t left =
        json->completions < 0 ? json->parallelism : json->completions - json_peek_int(&status, "succeeded", 0);

    return MIN((int64_t)json->parallelism, MAX(left, (int64_t)0));
}

int make_job(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct job_json json;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(job_decode(&spec, &json, err));
    if (workload_is_over(owner) || workload_is_suspended(&spec))
        return 0;
    bool is_indexed = strcmp(json.mode, "Indexed") == 0;
    int64_t count = job_pods(owner, &json);
    for (int64_t i = 0; i < count; i++) {
        const char *index = make_number(maker, i);
        struct child child = {
            .name = arena_printf(maker->arena, "%s-%s", owner->name, index),
            .template = &json.template,
            .labels = {{"batch.kubernetes.io/job-name", owner->name},
                       {"job-name", owner->name},
                       {is_indexed ? "batch.kubernetes.io/job-completion-index" : NULL, index}},
            .annotations = {{is_indexed ? "batch.kubernetes.io/job-completion-index" : NULL, index}},
        };

        int r = make_child(maker, owner, &child, err);
        if (r != 0)
            return r;
    }
    return 0;
}

/* Equal pods, told apart by a number; those of a StatefulSet know theirs. */
static int make_numbered(struct maker *maker, const struct object *owner, bool is_stateful, struct err *err)
{
    struct json_at spec;
    struct json_at template;
    int64_t replicas = 1;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_int64(&spec, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &replicas, err));
    TRY(json_member_object(&spec, "template", JSON_REQUIRED, &template, err));
    struct json_at ordinals = json_member(&spec, "ordinals");
    int64_t start = is_stateful ? json_peek_int(&ordinals, "start", 0) : 0;
    for (int64_t i = 0; i < replicas; i++) {
        const char *index = make_number(maker, start + i);
        const char *name = arena_printf(maker->arena, "%s-%s", owner->name, index);
        struct child child = {
            .name = name,
            .template = &template,
            .labels = {{is_stateful ? "apps.kubernetes.io/pod-index" : NULL, index},
                       {"statefulset.kubernetes.io/pod-name", name}},
        };

        int r = make_child(maker, owner, &child, err);
        if (r != 0)
            return r;
    }
    return 0;
}

int make_replicas(struct maker *maker, const struct object *owner, struct err *err)
{
    return make_numbered(maker, owner, false, err);
}

int make_stateful_set(struct maker *maker, const struct object *owner, struct err *err)
{
    return make_numbered(maker, owner, true, err);
}

/* A notebook is a StatefulSet of one, until it is stopped. */
int make_notebook(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at template;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "template", JSON_REQUIRED, &template, err));
    if (object_annotation(owner, "kubeflow-resource-stopped"))
        return 0;
    struct child child = {
        .name = arena_printf(maker->arena, "%s-0", owner->name),
        .template = &template,
        .labels = {{"notebook-name", owner->name}},
    };
    return make_child(maker, owner, &child, err);
}

/* A CronJob has no pods until its time comes; a DaemonSet's come with the nodes. */
int make_nothing(struct maker *maker, const struct object *owner, struct err *err)
{
    (void)maker;
    (void)owner;
    (void)err;
    return 0;
}
