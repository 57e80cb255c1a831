/* SPDX-License-Identifier: Apache-2.0 */

/* LeaderWorkerSets, one gang a replica, and JobSets, one gang with a subgroup for each job. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/group/rules.h"

#define LEADER "leader"
#define WORKERS "workers"

/* What a LeaderWorkerSet says of its groups. */
struct leader_worker {
    struct json_at template;                   // of the workers
    int64_t size;                              // pods needed, the leader among them
    int64_t segment;                           // 0: not cut
    bool is_leader_excluded;                   // it stands outside of the segments
    int64_t worker_index;                      // of the pod; -1: it does not say
    struct topology_constraint_spec topology;  // of each segment
};

static bool divides(const struct leader_worker *lw)
{
    return (lw->size - 1) % lw->segment == 0;
}

static int64_t segment_of(const struct leader_worker *lw, int64_t worker)
{
    if (worker == 0)
        return 0;
    return divides(lw) ? (worker - 1) / lw->segment : worker / lw->segment;
}

/* With LeaderReady the workers are made when the leader runs: until it has a node it is alone. */
static int size_decode(struct grouping *g, const struct json_at *spec, struct leader_worker *lw, struct err *err)
{
    struct json_at template = json_member(spec, "leaderWorkerTemplate");
    struct json_at pod_spec = json_member(&g->pod->root, "spec");
    const char *policy = "LeaderCreated";
    const char *size_text = object_annotation(g->pod, KEY_LWS_SIZE);
    const char *node = json_peek_str(&pod_spec, "nodeName");

    lw->size = 1;
    TRY(json_member_int64(&template, "size", JSON_OPTIONAL, 1, INT32_MAX, &lw->size, err));
    TRY(json_member_str(spec, "startupPolicy", JSON_OPTIONAL, &policy, err));
    if (strcmp(policy, "LeaderReady") != 0)
        return 0;
    if (lw->worker_index == 0 && (!node || !*node))
        lw->size = 1;
    else if (size_text)
        (void)int_parse(size_text, 1, INT32_MAX, &lw->size);
    return 0;
}

static int segment_decode(struct grouping *g, const struct json_at *template, struct leader_worker *lw, struct err *err)
{
    struct json_at policy = json_member(template, "subGroupPolicy");
    struct json_at meta = json_member(&lw->template, "metadata");
    struct json_at annotations = json_member(&meta, "annotations");
    const char *type = json_peek_str(&policy, "subGroupPolicyType");
    const char *text = owner_annotation(g, g->top, KEY_SEGMENT_SIZE);

    lw->is_leader_excluded = type && strcmp(type, "LeaderExcluded") == 0;
    int r = json_member_int64(&policy, "subGroupSize", JSON_OPTIONAL, 0, INT32_MAX, &lw->segment, err);
    if (r < 0)
        return r;
    if (!text)
        text = json_peek_str(&annotations, KEY_SEGMENT_SIZE);
    if (r == 0 && !text)
        return 0;
    if (r == 0 && !int_parse(text, INT32_MIN, INT32_MAX, &lw->segment))
        lw->segment = 0;
    if (lw->segment < 2 || lw->segment > lw->size)
        return err_set(err, -EINVAL, "segment size: expected 2 to %lld, the size of the group", (long long)lw->size);
    if (lw->is_leader_excluded && !divides(lw))
        return err_set(err, -EINVAL, "segment size: with LeaderExcluded it has to divide the %lld workers",
                       (long long)(lw->size - 1));
    if (segment_of(lw, lw->size - 1) >= SEGMENTS_MAX)
        return err_set(err, -EINVAL, "segment size: results in more than %d segments", SEGMENTS_MAX);
    return 0;
}

static void segment_topology_decode(const struct grouping *g, struct leader_worker *lw)
{
    struct topology_constraint_spec of_template =
        topology_of(&lw->template, KEY_SEGMENT_REQUIRED, KEY_SEGMENT_PREFERRED);
    const char *topology = object_annotation(g->pod, KEY_TOPOLOGY);
    const char *required = object_annotation(g->pod, KEY_SEGMENT_REQUIRED);
    const char *preferred = object_annotation(g->pod, KEY_SEGMENT_PREFERRED);

    topology = topology               ? topology
               : of_template.topology ? of_template.topology
                                      : owner_annotation(g, g->top, KEY_TOPOLOGY);
    required = required ? required : of_template.required;
    preferred = preferred ? preferred : of_template.preferred;
    if (topology && (required || preferred))
        lw->topology = (struct topology_constraint_spec){topology, required, preferred};
}

static void add_unsegmented(struct grouping *g, const struct leader_worker *lw)
{
    add_subgroup(g, (struct subgroup_draft){.name = LEADER, .min_member = 1, .min_subgroup = -1});
    if (lw->size > 1)
        add_subgroup(g,
                     (struct subgroup_draft){.name = WORKERS, .min_member = (int32_t)lw->size - 1, .min_subgroup = -1});
    g->pod_subgroup = lw->worker_index == 0 ? LEADER : lw->size > 1 ? WORKERS : NULL;
}

/*
 * Pods of the set that fall into a segment; the leader only where it takes a worker's place. KAI counts the leader into
 * a lone segment twice, so that such gangs never start.
 */
static int64_t segment_pods(const struct leader_worker *lw, int64_t segment)
{
    int64_t last = segment_of(lw, lw->size - 1);
    int64_t pods = 0;

    if (segment != last)
        return lw->segment;
    for (int64_t worker = lw->size - 1; worker >= divides(lw) && segment_of(lw, worker) == segment; worker--)
        pods++;
    return pods;
}

static void add_segmented(struct grouping *g, const struct leader_worker *lw)
{
    int64_t count = segment_of(lw, lw->size - 1) + 1;

    if (lw->is_leader_excluded)
        add_subgroup(g, (struct subgroup_draft){.name = LEADER, .min_member = 1, .min_subgroup = -1});
    for (int64_t i = 0; i < count; i++) {
        bool is_parent = i == 0 && !lw->is_leader_excluded;

        add_subgroup(g, (struct subgroup_draft){
                            .name = arena_printf(g->arena, "segment-%lld", (long long)i),
                            .min_member = (int32_t)segment_pods(lw, i),
                            .min_subgroup = is_parent ? 2 : -1,
                            .topology = lw->topology,
                        });
    }
    if (!lw->is_leader_excluded) {
        int64_t first = segment_pods(lw, 0) + divides(lw);

        add_subgroup(g, (struct subgroup_draft){LEADER, "segment-0", 1, -1, {0}});
        add_subgroup(g, (struct subgroup_draft){WORKERS, "segment-0", (int32_t)first - 1, -1, {0}});
    }
    int64_t segment = segment_of(lw, MAX(lw->worker_index, (int64_t)0));
    if (lw->worker_index == 0)
        g->pod_subgroup = LEADER;
    else if (segment == 0 && !lw->is_leader_excluded)
        g->pod_subgroup = WORKERS;
    else
        g->pod_subgroup = arena_printf(&g->objects->arena, "segment-%lld", (long long)segment);
}

int group_leader_worker_set(struct grouping *g, struct err *err)
{
    const char *group_index = object_label(g->pod, KEY_LWS_GROUP_INDEX);
    const char *worker_index = object_label(g->pod, KEY_LWS_WORKER_INDEX);
    struct json_at spec = json_member(&g->top->root, "spec");
    struct json_at template = json_member(&spec, "leaderWorkerTemplate");
    struct leader_worker lw = {.template = json_member(&template, "workerTemplate"), .worker_index = -1};
    int64_t number = 0;

    TRY(group_need_whole(g, g->top, err));
    TRY(group_base(g, false, "train", err));
    if (worker_index && !int_parse(worker_index, 0, INT32_MAX, &lw.worker_index))
        return err_set(err, -EINVAL, "Pod %s: label " KEY_LWS_WORKER_INDEX ": expected a whole number >= 0, found '%s'",
                       g->pod->name, worker_index);
    TRY(size_decode(g, &spec, &lw, err));
    TRY(segment_decode(g, &template, &lw, err));
    segment_topology_decode(g, &lw);
    g->min_member = (int32_t)lw.size;
    if (group_index && int_parse(group_index, 0, INT32_MAX, &number))
        g->name = arena_printf(&g->objects->arena, "%s-group-%lld", g->name, (long long)number);
    if (lw.segment)
        add_segmented(g, &lw);
    else
        add_unsegmented(g, &lw);
    return 0;
}

static int job_min_member(const struct json_at *template, int64_t *ret_min, struct err *err)
{
    struct json_at spec = json_member(template, "spec");
    struct json_at meta = json_member(template, "metadata");
    struct json_at annotations = json_member(&meta, "annotations");
    struct json_at at = json_member(&annotations, KEY_MIN_MEMBER);
    const char *text = json_peek_str(&annotations, KEY_MIN_MEMBER);

    *ret_min = 1;
    TRY(json_member_int64(&spec, "parallelism", JSON_OPTIONAL, 0, INT32_MAX, ret_min, err));
    if (text && *text && !int_parse(text, 1, INT32_MAX, ret_min))
        return json_fail(&at, err, -EINVAL, "expected a whole number >= 1, found '%s'", text);
    return 0;
}

static int add_replicated_job(struct grouping *g, const struct json_at *at, struct err *err)
{
    struct json_at template = json_member(at, "template");
    struct topology_constraint_spec topology = topology_of(&template, KEY_TOPOLOGY_REQUIRED, KEY_TOPOLOGY_PREFERRED);
    const char *name = NULL;
    int64_t replicas = 1;
    int64_t min = 1;

    TRY(json_member_str(at, "name", JSON_REQUIRED, &name, err));
    TRY(json_member_int64(at, "replicas", JSON_OPTIONAL, 0, SEGMENTS_MAX, &replicas, err));
    TRY(job_min_member(&template, &min, err));
    if (!topology.topology || (!topology.required && !topology.preferred))
        topology = (struct topology_constraint_spec){0};
    add_subgroup(g, (struct subgroup_draft){.name = name, .min_subgroup = (int32_t)replicas});
    for (int64_t i = 0; i < replicas; i++) {
        add_subgroup(g, (struct subgroup_draft){
                            .name = arena_printf(g->arena, "%s-replica-%lld", name, (long long)i),
                            .parent = name,
                            .min_member = (int32_t)min,
                            .min_subgroup = -1,
                            .topology = topology,
                        });
    }
    return 0;
}

static bool starts_in_order(const struct json_at *spec)
{
    struct json_at policy = json_member(spec, "startupPolicy");
    const char *order = json_peek_str(&policy, "startupPolicyOrder");

    return order && strcmp(order, "InOrder") == 0;
}

/* Older releases made groups without subgroups: one for all jobs, or one a job where they start in order. */
static bool has_flat_group(struct grouping *g, const struct json_at *jobs)
{
    if (group_presence(g, g->name) == GROUP_FLAT)
        return true;
    for (struct json_at item = {0}; json_next(jobs, &item);) {
        const char *name = json_peek_str(&item, "name");

        if (name && group_presence(g, arena_printf(g->arena, "%s-%s", g->name, name)) == GROUP_FLAT)
            return true;
    }
    return false;
}

/* The shape that such groups keep: all pods of the jobs that start together. */
static int group_flat_job_set(struct grouping *g, const struct json_at *spec, const char *job, struct err *err)
{
    struct json_at jobs = json_member(spec, "replicatedJobs");
    bool is_one = starts_in_order(spec);
    int64_t total = 0;

    for (struct json_at item = {0}; json_next(&jobs, &item);) {
        struct json_at template = json_member(&item, "template");
        const char *name = json_peek_str(&item, "name");
        int64_t replicas = 1;
        int64_t min = 1;

        if (is_one && (!name || strcmp(name, job) != 0))
            continue;
        TRY(json_member_int64(&item, "replicas", JSON_OPTIONAL, 0, SEGMENTS_MAX, &replicas, err));
        TRY(job_min_member(&template, &min, err));
        total += replicas * min;
    }
    g->min_member = (int32_t)CLAMP(total, (int64_t)1, (int64_t)INT32_MAX);
    if (is_one)
        g->name = arena_printf(&g->objects->arena, "%s-%s", g->name, job);
    return 0;
}

/* Jobs that start in order are made one after the other: one is enough to begin. */
static int job_set_min(struct grouping *g, const struct json_at *spec, int64_t jobs, int64_t *ret_min, struct err *err)
{
    int64_t fallback = starts_in_order(spec) ? 1 : jobs;

    TRY(annotation_int(g->top, KEY_MIN_MEMBER, 1, fallback, ret_min, err));
    *ret_min = MIN(*ret_min, jobs);
    return 0;
}

int group_job_set(struct grouping *g, struct err *err)
{
    const char *job = object_label(g->pod, KEY_JOBSET_REPLICATED_JOB);
    const char *index = object_label(g->pod, KEY_JOBSET_JOB_INDEX);
    struct json_at spec = json_member(&g->top->root, "spec");
    struct json_at jobs = json_member(&spec, "replicatedJobs");
    int64_t min = 0;

    TRY(group_need_whole(g, g->top, err));
    TRY(group_base(g, false, "train", err));
    if (json_len(&jobs) == 0)
        return json_fail(&jobs, err, -EINVAL, "expected at least one job");
    if (!job || !index)
        return err_set(err, -EINVAL,
                       "Pod %s: expected the labels " KEY_JOBSET_REPLICATED_JOB " and " KEY_JOBSET_JOB_INDEX,
                       g->pod->name);
    if (has_flat_group(g, &jobs))
        return group_flat_job_set(g, &spec, job, err);
    TRY(job_set_min(g, &spec, (int64_t)json_len(&jobs), &min, err));
    g->min_subgroup = (int32_t)min;
    for (struct json_at item = {0}; json_next(&jobs, &item);)
        TRY(add_replicated_job(g, &item, err));
    g->pod_subgroup = arena_printf(&g->objects->arena, "%s-replica-%s", job, index);
    return 0;
}
