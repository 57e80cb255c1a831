/* SPDX-License-Identifier: Apache-2.0 */

/* Pods of training jobs: Kubeflow's by replica type, Ray's head and worker groups, JobSets, LeaderWorkerSets. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/make/maker.h"

/* The role that the operator writes on the pods of a replica type; NULL: none. */
static const char *role_of(const char *type)
{
    static const struct {
        const char *type;
        const char *role;
    } roles[] = {{"master", "master"}, {"chief", "master"}, {"launcher", "launcher"}};

    for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
        if (strcmp(roles[i].type, type) == 0)
            return roles[i].role;
    }
    return NULL;
}

static int make_replica_type(struct maker *maker, const struct object *owner, const struct json_at *at, struct err *err)
{
    const char *type = make_lower(maker, at->key);
    const char *role = role_of(type);
    struct json_at template;
    int64_t replicas = 1;

    TRY(json_member_int64(at, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &replicas, err));
    TRY(json_member_object(at, "template", JSON_REQUIRED, &template, err));
    for (int64_t i = 0; i < replicas; i++) {
        const char *index = make_number(maker, i);
        struct child child = {
            .name = arena_printf(maker->arena, "%s-%s-%s", owner->name, type, index),
            .template = &template,
            .labels = {{KEY_JOB_NAME, owner->name},
                       {KEY_REPLICA_TYPE, type},
                       {KEY_REPLICA_INDEX, index},
                       {role ? KEY_JOB_ROLE : NULL, role}},
        };

        int r = make_child(maker, owner, &child, err);
        if (r != 0)
            return r;
    }
    return 0;
}

int make_kubeflow(struct maker *maker, const struct object *owner, struct err *err)
{
    static const char *const members[] = {"pytorchReplicaSpecs", "tfReplicaSpecs", "xgbReplicaSpecs", "jaxReplicaSpecs",
                                          "mpiReplicaSpecs"};
    struct json_at spec = json_member(&owner->root, "spec");
    struct json_at policy = json_member(&spec, "runPolicy");
    const char *launcher = json_peek_str(&spec, "launcherCreationPolicy");
    bool delays_launcher = launcher && strcmp(launcher, "WaitForWorkersReady") == 0;

    if (workload_is_over(owner) || workload_is_suspended(&policy))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        struct json_at specs;

        TRY(json_member_object(&spec, members[i], JSON_OPTIONAL, &specs, err));
        for (struct json_at item = {0}; json_next(&specs, &item);) {
            if (delays_launcher && strcmp(item.key, "Launcher") == 0)
                continue;
            int r = make_replica_type(maker, owner, &item, err);
            if (r != 0)
                return r;
        }
    }
    return 0;
}

static int make_ray_pod(struct maker *maker, const struct object *owner, const struct json_at *template,
                        const char *name, const char *type, const char *group, struct err *err)
{
    return make_child(maker, owner,
                      &(struct child){
                          .name = name,
                          .template = template,
                          .labels = {{KEY_RAY_CLUSTER, owner->name}, {KEY_RAY_NODE_TYPE, type}, {KEY_RAY_GROUP, group}},
                      },
                      err);
}

static int make_ray_group(struct maker *maker, const struct object *owner, const struct json_at *at, size_t index,
                          struct err *err)
{
    struct json_at template;
    const char *name = arena_printf(maker->arena, "worker-group-%zu", index);
    int64_t replicas = 0;
    int64_t hosts = 1;

    TRY(json_member_str(at, "groupName", JSON_OPTIONAL, &name, err));
    TRY(json_member_int64(at, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &replicas, err));
    TRY(json_member_int64(at, "numOfHosts", JSON_OPTIONAL, 1, 10000, &hosts, err));
    TRY(json_member_object(at, "template", JSON_REQUIRED, &template, err));
    if (workload_is_suspended(at))
        return 0;
    for (int64_t i = 0; i < replicas * hosts; i++) {
        const char *pod = arena_printf(maker->arena, "%s-%s-worker-%lld", owner->name, name, (long long)i);

        int r = make_ray_pod(maker, owner, &template, pod, "worker", name, err);
        if (r != 0)
            return r;
    }
    return 0;
}

int make_ray_cluster(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at head;
    struct json_at template;
    struct json_at groups;
    size_t index = 0;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "headGroupSpec", JSON_REQUIRED, &head, err));
    TRY(json_member_object(&head, "template", JSON_REQUIRED, &template, err));
    TRY(json_member_array(&spec, "workerGroupSpecs", JSON_OPTIONAL, &groups, err));
    if (workload_is_suspended(&spec))
        return 0;
    int r = make_ray_pod(maker, owner, &template, arena_printf(maker->arena, "%s-head", owner->name), "head",
                         "headgroup", err);
    for (struct json_at item = {0}; r == 0 && json_next(&groups, &item); index++)
        r = make_ray_group(maker, owner, &item, index, err);
    return r;
}

/* RayJobs and RayServices bring a cluster up. The pod that submits the job is none of the cluster's. */
int make_ray_wrapper(struct maker *maker, const struct object *owner, struct err *err)
{
    bool is_job = strcmp(owner->kind->kind, "RayJob") == 0;
    struct json_at nothing = {0};
    struct json_at status = json_member(&owner->root, "status");
    const char *state = json_peek_str(&status, "jobDeploymentStatus");
    struct json_at spec;
    struct json_at cluster;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, is_job ? "rayClusterSpec" : "rayClusterConfig", JSON_OPTIONAL, &cluster, err));
    if (!cluster.val || workload_is_suspended(&spec) ||
        (state && (strcmp(state, "Complete") == 0 || strcmp(state, "Failed") == 0)))
        return 0;
    return make_child(maker, owner,
                      &(struct child){
                          .api_version = owner->api_version,
                          .kind = "RayCluster",
                          .name = arena_printf(maker->arena, "%s-cluster", owner->name),
                          .template = &nothing,
                          .spec = &cluster,
                      },
                      err);
}

/* One job of a JobSet: its pods, with the labels by which they know their place. */
static int make_set_job(struct maker *maker, const struct object *owner, const struct json_at *spec, const char *job,
                        int64_t job_index, struct err *err)
{
    const char *index = make_number(maker, job_index);
    struct json_at template;
    int64_t parallelism = 1;
    int64_t completions = -1;

    TRY(json_member_int64(spec, "parallelism", JSON_OPTIONAL, 0, INT32_MAX, &parallelism, err));
    TRY(json_member_int64(spec, "completions", JSON_OPTIONAL, 0, INT32_MAX, &completions, err));
    TRY(json_member_object(spec, "template", JSON_REQUIRED, &template, err));
    int64_t count = completions < 0 ? parallelism : MIN(parallelism, completions);
    for (int64_t i = 0; i < count; i++) {
        struct child child = {
            .name = arena_printf(maker->arena, "%s-%s-%s-%lld", owner->name, job, index, (long long)i),
            .template = &template,
            .labels = {{KEY_JOBSET_NAME, owner->name},
                       {KEY_JOBSET_REPLICATED_JOB, job},
                       {KEY_JOBSET_JOB_INDEX, index},
                       {"batch.kubernetes.io/job-completion-index", make_number(maker, i)}},
        };

        int r = make_child(maker, owner, &child, err);
        if (r != 0)
            return r;
    }
    return 0;
}

int make_job_set(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at jobs;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_array(&spec, "replicatedJobs", JSON_REQUIRED, &jobs, err));
    if (workload_is_over(owner) || workload_is_suspended(&spec))
        return 0;
    for (struct json_at item = {0}; json_next(&jobs, &item);) {
        struct json_at template;
        struct json_at job_spec;
        const char *name = NULL;
        int64_t replicas = 1;

        TRY(json_member_str(&item, "name", JSON_REQUIRED, &name, err));
        TRY(json_member_int64(&item, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &replicas, err));
        TRY(json_member_object(&item, "template", JSON_REQUIRED, &template, err));
        TRY(json_member_object(&template, "spec", JSON_REQUIRED, &job_spec, err));
        for (int64_t i = 0; i < replicas; i++) {
            int r = make_set_job(maker, owner, &job_spec, name, i, err);
            if (r != 0)
                return r;
        }
    }
    return 0;
}

/*
 * One replica of a LeaderWorkerSet: its leader, and the workers numbered from 1 unless they wait for the leader to run.
 */
static int make_leader_group(struct maker *maker, const struct object *owner, const struct json_at *template,
                             int64_t group, bool has_leader_only, struct err *err)
{
    const char *group_index = make_number(maker, group);
    struct json_at workers;
    struct json_at leader;
    int64_t size = 1;

    TRY(json_member_int64(template, "size", JSON_OPTIONAL, 1, INT32_MAX, &size, err));
    TRY(json_member_object(template, "workerTemplate", JSON_REQUIRED, &workers, err));
    TRY(json_member_object(template, "leaderTemplate", JSON_OPTIONAL, &leader, err));
    for (int64_t i = 0; i < (has_leader_only ? 1 : size); i++) {
        const char *worker_index = make_number(maker, i);
        struct child child = {
            .name = i == 0 ? arena_printf(maker->arena, "%s-%s", owner->name, group_index)
                           : arena_printf(maker->arena, "%s-%s-%s", owner->name, group_index, worker_index),
            .template = i == 0 && leader.val ? &leader : &workers,
            .labels = {{KEY_LWS_NAME, owner->name},
                       {KEY_LWS_GROUP_INDEX, group_index},
                       {KEY_LWS_WORKER_INDEX, worker_index}},
            .annotations = {{KEY_LWS_SIZE, make_number(maker, size)}},
        };

        int r = make_child(maker, owner, &child, err);
        if (r != 0)
            return r;
    }
    return 0;
}

int make_leader_worker_set(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at template;
    const char *policy = "LeaderCreated";
    int64_t replicas = 1;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_int64(&spec, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &replicas, err));
    TRY(json_member_str(&spec, "startupPolicy", JSON_OPTIONAL, &policy, err));
    TRY(json_member_object(&spec, "leaderWorkerTemplate", JSON_REQUIRED, &template, err));
    for (int64_t i = 0; i < replicas; i++) {
        int r = make_leader_group(maker, owner, &template, i, strcmp(policy, "LeaderReady") == 0, err);
        if (r != 0)
            return r;
    }
    return 0;
}
