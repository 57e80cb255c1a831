/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Workloads of Run:ai. Each of their values stands as {value: X}, and lists of them as {items: {name: {value: X}}}; the
 * controller writes them as a job of another kind: a RunaiJob, a training job of Kubeflow's, or a Knative service.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/make/maker.h"
#include "objects/notes.h"
#include "objects/reader.h"
#include "text/quantity.h"

#define PROJECT_NAMESPACE "runai-"

/* A workload's spec, and that of the workload which it takes the rest of its values from. */
struct wanted {
    struct json_at own;
    struct json_at base;
};

/* The value called `key`, from the workload itself or from its base; without a value when neither has it. */
static yyjson_val *value_of(const struct wanted *wanted, const char *key, const char *member)
{
    yyjson_val *own = yyjson_obj_get(yyjson_obj_get(wanted->own.val, key), member);

    return own ? own : yyjson_obj_get(yyjson_obj_get(wanted->base.val, key), member);
}

static const char *text_of(struct maker *maker, const struct wanted *wanted, const char *key)
{
    yyjson_val *value = value_of(wanted, key, "value");
    char number[NUMBER_TEXT_MAX];

    if (yyjson_is_num(value))
        return arena_strdup(maker->arena, number_format(value, number));
    return yyjson_get_str(value);
}

static int count_of(struct maker *maker, const struct wanted *wanted, const char *key, int64_t min, int64_t *ret_count,
                    struct err *err)
{
    const char *text = text_of(maker, wanted, key);
    struct json_at at = json_member(&wanted->own, key);

    if (text && !int_parse(text, min, INT32_MAX, ret_count))
        return json_fail(&at, err, -EINVAL, "expected a whole number >= %lld, found '%s'", (long long)min, text);
    return 0;
}

/* Returns 0 when the workload is only there for others to take their values from. */
static int wanted_decode(struct maker *maker, const struct object *owner, struct wanted *ret_wanted, struct err *err)
{
    const char *usage = NULL;
    const char *base = NULL;

    *ret_wanted = (struct wanted){0};
    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &ret_wanted->own, err));
    TRY(json_member_str(&ret_wanted->own, "usage", JSON_OPTIONAL, &usage, err));
    TRY(json_member_str(&ret_wanted->own, "baseWorkload", JSON_OPTIONAL, &base, err));
    if (base) {
        const struct object *found = object_set_find(maker->set, owner->kind, owner->namespace, base);

        if (!found)
            found = object_set_find(maker->set, owner->kind, "runai", base);
        if (found)
            ret_wanted->base = json_member(&found->root, "spec");
        else
            object_notes_warn(maker->notes,
                              "%s %s/%s: its base %s is not in the input; the workload is read without it",
                              owner->kind->kind, owner->namespace, owner->name, base);
    }
    return !usage || strcmp(usage, "Template") != 0;
}

/* Whole GPUs are a resource; parts of one, and its memory, stand in annotations. */
static int put_gpus(struct maker *maker, const struct wanted *wanted, struct draft *draft, yyjson_mut_val *limits,
                    struct err *err)
{
    const char *gpu = text_of(maker, wanted, "gpu");
    const char *memory = text_of(maker, wanted, "gpuMemory");
    const char *mig = text_of(maker, wanted, "migProfile");
    int64_t whole = 0;
    int64_t bytes = 0;

    if (memory) {
        TRY(quantity_parse(memory, QUANTITY_ONE, &bytes, err));
        draft_put_str(draft, draft->annotations, KEY_GPU_MEMORY, make_number(maker, bytes >> 20));
    } else if (mig) {
        draft_put_str(draft, limits, arena_printf(maker->arena, KEY_MIG_PREFIX "%s", mig), "1");
    } else if (gpu && !int_parse(gpu, 0, INT32_MAX, &whole)) {
        draft_put_str(draft, draft->annotations, KEY_GPU_FRACTION, gpu);
    } else if (whole > 0) {
        draft_put_str(draft, limits, "nvidia.com/gpu", gpu);
    }
    return 0;
}

/* Items of a list of values, one by one, as members of `into`. */
static void put_items(const struct wanted *wanted, const char *key, struct draft *draft, yyjson_mut_val *into)
{
    struct json_at items = {.val = value_of(wanted, key, "items")};

    for (struct json_at item = {0}; json_next(&items, &item);) {
        struct json_at value = json_member(&item, "value");

        draft_put(draft, into, item.key, &value);
    }
}

static void put_volumes(const struct wanted *wanted, struct draft *draft)
{
    struct json_at items = {.val = value_of(wanted, "pvcs", "items")};
    yyjson_mut_val *volumes = NULL;

    for (struct json_at item = {0}; json_next(&items, &item);) {
        struct json_at value = json_member(&item, "value");
        const char *claim = json_peek_str(&value, "claimName");

        if (!claim)
            continue;
        if (!volumes)
            volumes = yyjson_mut_obj_add_arr(draft->doc, draft->spec, "volumes");
        yyjson_mut_val *volume = yyjson_mut_arr_add_obj(draft->doc, volumes);
        draft_put_str(draft, volume, "name", item.key);
        draft_put_str(draft, yyjson_mut_obj_add_obj(draft->doc, volume, "persistentVolumeClaim"), "claimName", claim);
    }
}

static void put_tolerations(const struct wanted *wanted, struct draft *draft)
{
    struct json_at items = {.val = value_of(wanted, "tolerations", "items")};
    yyjson_mut_val *tolerations = items.val ? yyjson_mut_obj_add_arr(draft->doc, draft->spec, "tolerations") : NULL;

    for (struct json_at item = {0}; json_next(&items, &item);) {
        struct json_at value = json_member(&item, "value");

        if (value.val)
            (void)yyjson_mut_arr_append(tolerations, yyjson_val_mut_copy(draft->doc, value.val));
    }
}

/* The first of an ordered list of pools, which is the one that is tried first. */
static const char *pool_of(struct maker *maker, const struct wanted *wanted)
{
    const char *pools = text_of(maker, wanted, "nodePools");

    if (!pools)
        return text_of(maker, wanted, "nodePool");
    return arena_printf(maker->arena, "%.*s", (int)strcspn(pools, " ,"), pools);
}

/* The pod that the workload asks for. */
static int draft_pod(struct maker *maker, const struct object *owner, const struct wanted *wanted, struct draft *draft,
                     struct err *err)
{
    static const struct {
        const char *key;
        const char *resource;
        bool is_limit;
    } amounts[] = {
        {"cpu", "cpu", false}, {"memory", "memory", false}, {"cpuLimit", "cpu", true}, {"memoryLimit", "memory", true}};
    struct json_at nothing = {0};
    const char *node_type = text_of(maker, wanted, "nodeType");
    bool has_project = strncmp(owner->namespace, PROJECT_NAMESPACE, strlen(PROJECT_NAMESPACE)) == 0;

    draft_init(draft);
    draft_put_str(draft, draft->spec, "schedulerName", maker->options->scheduler_name);
    put_items(wanted, "labels", draft, draft->labels);
    put_items(wanted, "annotations", draft, draft->annotations);
    if (has_project)
        draft_put_str(draft, draft->labels, KEY_PROJECT, owner->namespace + strlen(PROJECT_NAMESPACE));
    draft_put_str(draft, draft->labels, maker->options->node_pool_label, pool_of(maker, wanted));
    if (node_type)
        draft_put_str(draft, yyjson_mut_obj_add_obj(draft->doc, draft->spec, "nodeSelector"), "run.ai/type", node_type);
    put_tolerations(wanted, draft);
    put_volumes(wanted, draft);

    yyjson_mut_val *container = draft_container(draft, owner->name, &nothing);
    yyjson_mut_val *resources = yyjson_mut_obj_add_obj(draft->doc, container, "resources");
    yyjson_mut_val *requests = yyjson_mut_obj_add_obj(draft->doc, resources, "requests");
    yyjson_mut_val *limits = yyjson_mut_obj_add_obj(draft->doc, resources, "limits");
    for (size_t i = 0; i < ARRAY_LEN(amounts); i++)
        draft_put_str(draft, amounts[i].is_limit ? limits : requests, amounts[i].resource,
                      text_of(maker, wanted, amounts[i].key));
    put_items(wanted, "extendedResources", draft, limits);
    return put_gpus(maker, wanted, draft, limits, err);
}

/* The pod template of the workload. The caller frees it; NULL when it cannot be made. */
static int template_of(struct maker *maker, const struct object *owner, const struct wanted *wanted,
                       yyjson_doc **ret_doc, struct err *err)
{
    struct draft draft;

    int r = draft_pod(maker, owner, wanted, &draft, err);
    *ret_doc = make_finish(draft.doc);
    return r;
}

static const char *name_of(struct maker *maker, const struct object *owner, const struct wanted *wanted)
{
    const char *name = text_of(maker, wanted, "name");
    const char *prefix = text_of(maker, wanted, "namePrefix");

    return name ? name : prefix ? arena_printf(maker->arena, "%s-0", prefix) : owner->name;
}

/* The class that stands as a label on the job; `fallback` may be NULL. */
static const char *priority_of(struct maker *maker, const struct wanted *wanted, const char *fallback)
{
    const char *given = text_of(maker, wanted, "priorityClass");

    return given ? given : fallback;
}

int make_runai_workload(struct maker *maker, const struct object *owner, struct err *err)
{
    struct wanted wanted;
    int64_t parallelism = 1;
    int64_t completions = -1;
    _cleanup_(json_doc_freep) yyjson_doc *pod = NULL;

    int r = wanted_decode(maker, owner, &wanted, err);
    if (r <= 0)
        return r;
    bool is_interactive = strcmp(owner->kind->kind, "InteractiveWorkload") == 0;
    bool is_preemptible = yyjson_get_bool(value_of(&wanted, "preemptible", "value"));
    const char *build = is_preemptible ? "build-preemptible" : "build";
    const char *priority = priority_of(maker, &wanted, is_interactive ? build : NULL);
    TRY(count_of(maker, &wanted, "parallelism", 0, &parallelism, err));
    TRY(count_of(maker, &wanted, "completions", 0, &completions, err));
    TRY(template_of(maker, owner, &wanted, &pod, err));

    struct json_at template = json_root(pod);
    struct json_at meta = json_member(&template, "metadata");
    struct child child = {
        .api_version = "run.ai/v1",
        .kind = "RunaiJob",
        .name = name_of(maker, owner, &wanted),
        .metadata = &meta,
        .labels = {{priority ? KEY_PRIORITY_CLASS : NULL, priority}},
    };
    struct draft job;
    draft_init(&job);
    (void)yyjson_mut_obj_add_int(job.doc, job.spec, "parallelism", parallelism);
    if (completions >= 0)
        (void)yyjson_mut_obj_add_int(job.doc, job.spec, "completions", completions);
    draft_put(&job, job.spec, "template", &template);
    return make_drafted(maker, owner, &child, &job, err);
}

/* Kubeflow's jobs that a DistributedWorkload can be. */
static const struct framework {
    const char *name;
    const char *api_version;
    const char *kind;
    const char *specs;
    const char *first;        // what is there once, beside the workers
    bool is_first_a_trainer;  // it works like the others; else it only starts them
} frameworks[] = {
    {"pytorch", "kubeflow.org/v1", "PyTorchJob", "pytorchReplicaSpecs", "Master", true},
    {"mpi", "kubeflow.org/v2beta1", "MPIJob", "mpiReplicaSpecs", "Launcher", false},
    {"tf", "kubeflow.org/v1", "TFJob", "tfReplicaSpecs", "Chief", true},
    {"tensorflow", "kubeflow.org/v1", "TFJob", "tfReplicaSpecs", "Chief", true},
    {"xgboost", "kubeflow.org/v1", "XGBoostJob", "xgbReplicaSpecs", "Master", true},
    {"jax", "kubeflow.org/v1", "JAXJob", "jaxReplicaSpecs", NULL, false},
};

static const struct framework *framework_of(struct maker *maker, const struct wanted *wanted)
{
    const char *given = text_of(maker, wanted, "distributedFramework");
    const char *type = given ? given : json_peek_str(&wanted->own, "jobType");
    const char *name = type ? make_lower(maker, type) : "";

    for (size_t i = 0; i < ARRAY_LEN(frameworks); i++) {
        if (strncmp(name, frameworks[i].name, strlen(frameworks[i].name)) == 0)
            return &frameworks[i];
    }
    return NULL;
}

static void put_replicas(struct draft *job, yyjson_mut_val *specs, const char *type, int64_t count,
                         const struct json_at *template)
{
    yyjson_mut_val *replica = yyjson_mut_obj_add_obj(job->doc, specs, type);

    (void)yyjson_mut_obj_add_int(job->doc, replica, "replicas", count);
    draft_put(job, replica, "template", template);
}

/* The pod that only starts the others asks for nothing. */
static void strip_resources(struct draft *job, yyjson_mut_val *specs, const char *type)
{
    yyjson_mut_val *template = yyjson_mut_obj_get(yyjson_mut_obj_get(specs, type), "template");
    yyjson_mut_val *spec = yyjson_mut_obj_get(template, "spec");
    yyjson_mut_val *annotations = yyjson_mut_obj_get(yyjson_mut_obj_get(template, "metadata"), "annotations");

    (void)job;
    (void)yyjson_mut_obj_remove_str(yyjson_mut_arr_get_first(yyjson_mut_obj_get(spec, "containers")), "resources");
    (void)yyjson_mut_obj_remove_str(annotations, KEY_GPU_FRACTION);
    (void)yyjson_mut_obj_remove_str(annotations, KEY_GPU_MEMORY);
}

int make_runai_distributed(struct maker *maker, const struct object *owner, struct err *err)
{
    struct wanted wanted;
    int64_t workers = 1;
    _cleanup_(json_doc_freep) yyjson_doc *pod = NULL;

    int r = wanted_decode(maker, owner, &wanted, err);
    if (r <= 0)
        return r;
    const struct framework *framework = framework_of(maker, &wanted);
    if (!framework)
        return json_fail(&wanted.own, err, -EINVAL,
                         "expected distributedFramework to be PyTorch, MPI, TF, XGBoost or JAX");
    TRY(count_of(maker, &wanted, "workers", 0, &workers, err));
    TRY(template_of(maker, owner, &wanted, &pod, err));

    struct json_at template = json_root(pod);
    struct json_at meta = json_member(&template, "metadata");
    const char *priority = priority_of(maker, &wanted, NULL);
    struct child child = {
        .api_version = framework->api_version,
        .kind = framework->kind,
        .name = name_of(maker, owner, &wanted),
        .metadata = &meta,
        .labels = {{priority ? KEY_PRIORITY_CLASS : NULL, priority}},
    };
    struct draft job;
    draft_init(&job);
    yyjson_mut_val *specs = yyjson_mut_obj_add_obj(job.doc, job.spec, framework->specs);
    if (framework->first)
        put_replicas(&job, specs, framework->first, 1, &template);
    if (framework->first && !framework->is_first_a_trainer)
        strip_resources(&job, specs, framework->first);
    if (workers > 0)
        put_replicas(&job, specs, "Worker", workers, &template);
    return make_drafted(maker, owner, &child, &job, err);
}

int make_runai_inference(struct maker *maker, const struct object *owner, struct err *err)
{
    struct wanted wanted;
    _cleanup_(json_doc_freep) yyjson_doc *pod = NULL;

    int r = wanted_decode(maker, owner, &wanted, err);
    if (r <= 0)
        return r;
    TRY(template_of(maker, owner, &wanted, &pod, err));

    struct json_at template = json_root(pod);
    struct json_at meta = json_member(&template, "metadata");
    const char *priority = priority_of(maker, &wanted, NULL);
    struct child child = {
        .api_version = "serving.knative.dev/v1",
        .kind = "Service",
        .name = name_of(maker, owner, &wanted),
        .metadata = &meta,
        .labels = {{priority ? KEY_PRIORITY_CLASS : NULL, priority}},
    };
    struct draft service;
    draft_init(&service);
    draft_put(&service, service.spec, "template", &template);
    yyjson_mut_val *template_meta = yyjson_mut_obj_get(yyjson_mut_obj_get(service.spec, "template"), "metadata");
    draft_put_str(&service, yyjson_mut_obj_get(template_meta, "annotations"), KEY_KNATIVE_MIN_SCALE,
                  text_of(maker, &wanted, "minScale"));
    return make_drafted(maker, owner, &child, &service, err);
}

/* A job whose pods are called <job>-<index>-<attempt>: each index is a group of its own. */
int make_runai_job(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at template;
    int64_t parallelism = 1;
    int64_t completions = -1;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "template", JSON_REQUIRED, &template, err));
    TRY(json_member_int64(&spec, "parallelism", JSON_OPTIONAL, 0, INT32_MAX, &parallelism, err));
    TRY(json_member_int64(&spec, "completions", JSON_OPTIONAL, 0, INT32_MAX, &completions, err));
    if (workload_is_over(owner) || workload_is_suspended(&spec))
        return 0;
    int64_t count = completions < 0 ? parallelism : MIN(parallelism, completions);
    for (int64_t i = 0; i < count; i++) {
        struct child child = {
            .name = arena_printf(maker->arena, "%s-%lld-0", owner->name, (long long)i),
            .template = &template,
        };

        int r = make_child(maker, owner, &child, err);
        if (r != 0)
            return r;
    }
    return 0;
}
