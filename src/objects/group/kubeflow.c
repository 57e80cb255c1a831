/* SPDX-License-Identifier: Apache-2.0 */

/* Kubeflow's training jobs: all replicas are one gang; PyTorchJobs have subgroups and may be cut into segments. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/group/rules.h"

static const struct training_kind {
    const char *kind;
    const char *specs;  // the member that lists the replicas by type
    const char *mandatory[2];
} training_kinds[] = {
    {"TFJob", "tfReplicaSpecs", {NULL, NULL}},           {"XGBoostJob", "xgbReplicaSpecs", {"Master", "Worker"}},
    {"JAXJob", "jaxReplicaSpecs", {"Worker", NULL}},     {"MPIJob", "mpiReplicaSpecs", {"Launcher", "Worker"}},
    {"PyTorchJob", "pytorchReplicaSpecs", {NULL, NULL}},
};

static const struct training_kind *training_kind_of(const struct object *object)
{
    for (size_t i = 0; i < ARRAY_LEN(training_kinds); i++) {
        if (strcmp(training_kinds[i].kind, object->kind->kind) == 0)
            return &training_kinds[i];
    }
    BUG_ON(true);
}

/* The pods of all replica types; each that is listed has to have some. */
static int count_replicas(const struct training_kind *kind, const struct json_at *specs, int64_t *ret_total,
                          struct err *err)
{
    int64_t total = 0;

    if (!yyjson_is_obj(specs->val))
        return json_fail(specs, err, -EINVAL, "is missing");
    for (size_t i = 0; i < ARRAY_LEN(kind->mandatory) && kind->mandatory[i]; i++) {
        struct json_at spec = json_member(specs, kind->mandatory[i]);
        if (!spec.val)
            return json_fail(&spec, err, -EINVAL, "is missing");
    }
    for (struct json_at item = {0}; json_next(specs, &item);) {
        int64_t replicas = 1;

        TRY(json_member_int64(&item, "replicas", JSON_OPTIONAL, 1, INT32_MAX, &replicas, err));
        total += replicas;
    }
    if (total < 1 || total > INT32_MAX)
        return json_fail(specs, err, -EINVAL, "expected 1 to %d pods, found %lld", INT32_MAX, (long long)total);
    *ret_total = total;
    return 0;
}

static bool is_live_launcher(const struct object *pod, const struct object *job)
{
    const char *name = object_label(pod, KEY_JOB_NAME);
    const char *role = object_label(pod, KEY_JOB_ROLE);
    struct json_at meta = json_member(&pod->root, "metadata");

    return !pod->is_replaced && strcmp(pod->namespace, job->namespace) == 0 && name && role &&
           strcmp(name, job->name) == 0 && strcmp(role, "launcher") == 0 && !json_peek_str(&meta, "deletionTimestamp");
}

/* A launcher that waits for the workers cannot be part of what they wait for. */
static int leave_out_launcher(struct grouping *g, const struct json_at *specs, struct err *err)
{
    struct json_at spec = json_member(&g->top->root, "spec");
    const char *policy = json_peek_str(&spec, "launcherCreationPolicy");
    struct json_at launcher = json_member(specs, "Launcher");

    if (!policy || strcmp(policy, "WaitForWorkersReady") != 0)
        return 0;
    TRY(group_need_pods(g, arena_printf(g->arena, KEY_JOB_NAME "=%s," KEY_JOB_ROLE "=launcher", g->top->name), err));
    for (const struct object *pod = object_set_first(g->objects, g->pod->kind); pod; pod = pod->next) {
        if (is_live_launcher(pod, g->top))
            return 0;
    }
    g->min_member -= (int32_t)json_peek_int(&launcher, "replicas", 1);
    return 0;
}

int group_kubeflow(struct grouping *g, struct err *err)
{
    static const char *const min_path[] = {"runPolicy", "schedulingPolicy", "minAvailable"};
    const struct training_kind *kind = training_kind_of(g->top);
    struct json_at spec = json_member(&g->top->root, "spec");
    struct json_at specs = json_member(&spec, kind->specs);
    int64_t min = 0;

    TRY(group_need_whole(g, g->top, err));
    TRY(group_base(g, false, "train", err));
    int r = spec_int(g->top, min_path, ARRAY_LEN(min_path), &min, err);
    if (r == 0)
        r = count_replicas(kind, &specs, &min, err);
    if (r < 0)
        return r;
    g->min_member = (int32_t)min;
    return strcmp(kind->kind, "MPIJob") == 0 ? leave_out_launcher(g, &specs, err) : 0;
}

/* How a PyTorchJob's workers are cut into segments that stay close to each other. */
struct segments {
    int64_t size;  // 0: not at all
    struct topology_constraint_spec topology;
};

/* An annotation of the pod, else of the template of its workers. */
static const char *worker_annotation(const struct grouping *g, const struct json_at *template, const char *key)
{
    const char *of_pod = object_annotation(g->pod, key);
    struct json_at meta = json_member(template, "metadata");
    struct json_at annotations = json_member(&meta, "annotations");

    return of_pod && *of_pod ? of_pod : json_peek_str(&annotations, key);
}

static int segments_decode(const struct grouping *g, const struct json_at *template, struct segments *ret_segments,
                           struct err *err)
{
    const char *size = worker_annotation(g, template, KEY_SEGMENT_SIZE);
    const char *topology = worker_annotation(g, template, KEY_TOPOLOGY);
    const char *required = worker_annotation(g, template, KEY_SEGMENT_REQUIRED);
    const char *preferred = worker_annotation(g, template, KEY_SEGMENT_PREFERRED);

    *ret_segments = (struct segments){0};
    if (!size || !*size)
        return 0;
    if (!int_parse(size, 1, INT32_MAX, &ret_segments->size))
        return err_set(err, -EINVAL, "annotation " KEY_SEGMENT_SIZE ": expected a whole number above 0, found '%s'",
                       size);
    if (!topology || !*topology)
        topology = owner_annotation(g, g->top, KEY_TOPOLOGY);
    if (topology && ((required && *required) || (preferred && *preferred)))
        ret_segments->topology = (struct topology_constraint_spec){topology, required, preferred};
    return 0;
}

static bool is_replica_type(const struct grouping *g, const char *type)
{
    const char *label = object_label(g->pod, KEY_REPLICA_TYPE);

    return label && strcmp(label, type) == 0;
}

/* The segment that the pod belongs to by its index. */
static int join_segment(struct grouping *g, const struct segments *segments, struct err *err)
{
    const char *label = object_label(g->pod, KEY_REPLICA_INDEX);
    int64_t index = 0;

    if (!is_replica_type(g, "worker"))
        return 0;
    if (!label || !int_parse(label, 0, INT32_MAX, &index))
        return err_set(err, -EINVAL, "Pod %s: label " KEY_REPLICA_INDEX ": expected a whole number >= 0", g->pod->name);
    g->pod_subgroup = arena_printf(&g->objects->arena, "worker-%lld", (long long)(index / segments->size));
    return 0;
}

/*
 * Segments whose first worker is among those that are needed are needed themselves; those beyond need no pod, so that
 * elastic jobs may grow into them.
 */
static int add_segments(struct grouping *g, const struct segments *segments, int64_t workers, int64_t needed,
                        struct err *err)
{
    int64_t count = (workers + segments->size - 1) / segments->size;
    int64_t rest = workers % segments->size;
    int64_t needed_segments = (needed + segments->size - 1) / segments->size;

    if (count > SEGMENTS_MAX)
        return err_set(err, -EINVAL, "annotation " KEY_SEGMENT_SIZE ": results in %lld segments, expected at most %d",
                       (long long)count, SEGMENTS_MAX);
    add_subgroup(g, (struct subgroup_draft){.name = "worker", .min_subgroup = (int32_t)count});
    for (int64_t i = 0; i < count; i++) {
        int64_t size = i == count - 1 && rest ? rest : segments->size;

        add_subgroup(g, (struct subgroup_draft){
                            .name = arena_printf(g->arena, "worker-%lld", (long long)i),
                            .parent = "worker",
                            .min_member = i < needed_segments ? (int32_t)size : 0,
                            .min_subgroup = -1,
                            .topology = segments->topology,
                        });
    }
    return join_segment(g, segments, err);
}

static int add_workers(struct grouping *g, const struct json_at *worker, int64_t needed, struct err *err)
{
    struct json_at template = json_member(worker, "template");
    struct segments segments;
    int64_t workers = 1;

    TRY(json_member_int64(worker, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &workers, err));
    TRY(segments_decode(g, &template, &segments, err));
    if (segments.size > 0 && workers > 0)
        return add_segments(g, &segments, workers, needed, err);

    add_subgroup(g, (struct subgroup_draft){.name = "worker", .min_member = (int32_t)needed, .min_subgroup = -1});
    if (is_replica_type(g, "worker"))
        g->pod_subgroup = "worker";
    return 0;
}

int group_pytorch(struct grouping *g, struct err *err)
{
    static const char *const elastic_path[] = {"elasticPolicy", "minReplicas"};
    static const char *const min_path[] = {"runPolicy", "schedulingPolicy", "minAvailable"};
    struct json_at spec = json_member(&g->top->root, "spec");
    struct json_at specs = json_member(&spec, "pytorchReplicaSpecs");
    struct json_at master = json_member(&specs, "Master");
    struct json_at worker = json_member(&specs, "Worker");
    int64_t masters = master.val ? 1 : 0;
    int64_t min = 0;

    TRY(group_kubeflow(g, err));
    TRY(json_member_int64(&master, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &masters, err));
    int r = spec_int(g->top, min_path, ARRAY_LEN(min_path), &min, err);
    if (r == 0)
        r = spec_int(g->top, elastic_path, ARRAY_LEN(elastic_path), &min, err);
    if (r < 0)
        return r;
    if (r > 0)
        g->min_member = (int32_t)min;

    if (masters > 0) {
        add_subgroup(g, (struct subgroup_draft){.name = "master", .min_member = (int32_t)masters, .min_subgroup = -1});
        if (is_replica_type(g, "master"))
            g->pod_subgroup = "master";
    }
    return worker.val ? add_workers(g, &worker, MAX(g->min_member - masters, (int64_t)0), err) : 0;
}
