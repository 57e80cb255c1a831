/* SPDX-License-Identifier: Apache-2.0 */

/* Workloads that are made of other workloads' parts: Knative services, TrainJobs, Spark applications. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "objects/make/maker.h"
#include "objects/notes.h"

static int64_t scale_of(const struct json_at *template)
{
    struct json_at meta = json_member(template, "metadata");
    struct json_at annotations = json_member(&meta, "annotations");
    const char *min_text = json_peek_str(&annotations, KEY_KNATIVE_MIN_SCALE);
    const char *initial_text = json_peek_str(&annotations, KEY_KNATIVE_INITIAL_SCALE);
    int64_t min = 0;
    int64_t initial = 1;

    if (min_text)
        (void)int_parse(min_text, 0, INT32_MAX, &min);
    if (initial_text)
        (void)int_parse(initial_text, 0, INT32_MAX, &initial);
    return MAX(min, initial);
}

/* A service's first revision, and the pods that it starts with. */
int make_knative(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at template;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "template", JSON_REQUIRED, &template, err));
    struct json_at meta = json_member(&template, "metadata");
    const char *given = json_peek_str(&meta, "name");
    const char *revision = given ? given : arena_printf(maker->arena, "%s-00001", owner->name);

    TRY(make_child(maker, owner,
                   &(struct child){
                       .api_version = owner->api_version,
                       .kind = "Revision",
                       .name = revision,
                       .template = &template,
                       .labels = {{KEY_KNATIVE_SERVICE, owner->name}},
                   },
                   err));
    int64_t scale = scale_of(&template);
    for (int64_t i = 0; i < scale; i++) {
        struct child child = {
            .name = arena_printf(maker->arena, "%s-deployment-%lld", revision, (long long)i),
            .template = &template,
            .labels = {{KEY_KNATIVE_SERVICE, owner->name}, {KEY_KNATIVE_REVISION, revision}},
        };

        int r = make_child(maker, owner, &child, err);
        if (r != 0)
            return r;
    }
    return 0;
}

/* The runtime that a TrainJob names: a template of a JobSet, of the whole cluster or of its namespace. */
static const struct object *runtime_of(struct maker *maker, const struct object *owner, const struct json_at *reference)
{
    const char *name = json_peek_str(reference, "name");
    const char *kind = json_peek_str(reference, "kind");
    bool is_namespaced = kind && strcmp(kind, "TrainingRuntime") == 0;
    const struct object_kind *row =
        object_kind_of("trainer.kubeflow.org", is_namespaced ? "TrainingRuntime" : "ClusterTrainingRuntime");

    return name ? object_set_find(maker->set, row, is_namespaced ? owner->namespace : "", name) : NULL;
}

/* What the TrainJob says of its nodes, put over the job of the runtime that trains. */
static void override_trainer(yyjson_mut_doc *doc, yyjson_mut_val *job, const struct json_at *trainer, int64_t nodes)
{
    struct json_at resources = json_member(trainer, "resourcesPerNode");
    yyjson_mut_val *spec = yyjson_mut_obj_get(yyjson_mut_obj_get(job, "template"), "spec");
    yyjson_mut_val *pod = yyjson_mut_obj_get(yyjson_mut_obj_get(spec, "template"), "spec");
    yyjson_mut_val *container = yyjson_mut_arr_get_first(yyjson_mut_obj_get(pod, "containers"));

    if (!spec)
        return;
    (void)yyjson_mut_obj_remove_str(spec, "parallelism");
    (void)yyjson_mut_obj_remove_str(spec, "completions");
    (void)yyjson_mut_obj_add_int(doc, spec, "parallelism", nodes);
    (void)yyjson_mut_obj_add_int(doc, spec, "completions", nodes);
    if (resources.val && container) {
        (void)yyjson_mut_obj_remove_str(container, "resources");
        (void)yyjson_mut_obj_add_val(doc, container, "resources", yyjson_val_mut_copy(doc, resources.val));
    }
}

static bool is_trainer(yyjson_mut_val *job)
{
    yyjson_mut_val *meta = yyjson_mut_obj_get(yyjson_mut_obj_get(job, "template"), "metadata");
    yyjson_mut_val *step =
        yyjson_mut_obj_get(yyjson_mut_obj_get(meta, "labels"), "trainer.kubeflow.org/trainjob-ancestor-step");

    return step ? yyjson_mut_equals_str(step, "trainer")
                : yyjson_mut_equals_str(yyjson_mut_obj_get(job, "name"), "node");
}

static yyjson_doc *job_set_encode(const struct json_at *template_spec, const struct json_at *trainer, int64_t nodes)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *spec = yyjson_val_mut_copy(doc, template_spec->val);
    yyjson_mut_val *jobs = yyjson_mut_obj_get(spec, "replicatedJobs");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(jobs);

    for (yyjson_mut_val *job; (job = yyjson_mut_arr_iter_next(&iter));) {
        if (is_trainer(job))
            override_trainer(doc, job, trainer, nodes);
    }
    yyjson_mut_doc_set_root(doc, spec);
    return make_finish(doc);
}

int make_train_job(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec = json_member(&owner->root, "spec");
    struct json_at reference = json_member(&spec, "runtimeRef");
    struct json_at trainer = json_member(&spec, "trainer");
    const struct object *runtime = runtime_of(maker, owner, &reference);

    if (workload_is_over(owner) || workload_is_suspended(&spec))
        return 0;
    if (!runtime) {
        object_notes_warn(maker->notes, "TrainJob %s/%s: its runtime is not in the input; it has no pods",
                          owner->namespace, owner->name);
        return 0;
    }
    struct json_at runtime_spec = json_member(&runtime->root, "spec");
    struct json_at policy = json_member(&runtime_spec, "mlPolicy");
    struct json_at template = json_member(&runtime_spec, "template");
    struct json_at template_spec = json_member(&template, "spec");
    int64_t nodes = json_peek_int(&policy, "numNodes", 1);

    TRY(json_member_int64(&trainer, "numNodes", JSON_OPTIONAL, 1, INT32_MAX, &nodes, err));
    if (!yyjson_is_obj(template_spec.val))
        return json_fail(&template_spec, err, -EINVAL, "is missing in the runtime %s", runtime->name);
    _cleanup_(json_doc_freep) yyjson_doc *doc = job_set_encode(&template_spec, &trainer, nodes);
    struct json_at job_set = json_root(doc);
    return make_child(maker, owner,
                      &(struct child){
                          .api_version = "jobset.x-k8s.io/v1alpha2",
                          .kind = "JobSet",
                          .name = owner->name,
                          .template = &template,
                          .spec = &job_set,
                      },
                      err);
}

/* The memory of a JVM ("512m", "4g") and what it needs beside its heap, in bytes. */
static int64_t jvm_bytes(const char *text)
{
    static const struct {
        char unit;
        int shift;
    } units[] = {{'k', 10}, {'m', 20}, {'g', 30}, {'t', 40}};
    char *end;
    double heap = strtod(text, &end);

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if ((*end | ' ') == units[i].unit)
            heap *= (double)(INT64_C(1) << units[i].shift);
    }
    double beside = MAX(heap * 0.1, 384.0 * (1 << 20));
    return heap >= 0 && heap < 1e18 ? (int64_t)(heap + beside) : 0;
}

static void spark_resources(struct draft *draft, const struct json_at *part)
{
    struct json_at nothing = {0};
    yyjson_mut_doc *doc = draft->doc;
    yyjson_mut_val *container = draft_container(draft, "spark", &nothing);
    yyjson_mut_val *requests =
        yyjson_mut_obj_add_obj(doc, yyjson_mut_obj_add_obj(doc, container, "resources"), "requests");
    struct json_at gpu = json_member(part, "gpu");
    const char *core_request = json_peek_str(part, "coreRequest");
    const char *memory = json_peek_str(part, "memory");
    const char *gpu_name = json_peek_str(&gpu, "name");

    BUG_ON(!requests);
    if (core_request)
        draft_put_str(draft, requests, "cpu", core_request);
    else
        (void)yyjson_mut_obj_add_int(doc, requests, "cpu", json_peek_int(part, "cores", 1));
    (void)yyjson_mut_obj_add_int(doc, requests, "memory", jvm_bytes(memory ? memory : "1g"));
    if (gpu_name)
        (void)yyjson_mut_obj_add(requests, yyjson_mut_strcpy(doc, gpu_name),
                                 yyjson_mut_int(doc, json_peek_int(&gpu, "quantity", 1)));
}

/* The template of a driver or executor, in the shape of everybody else's. */
static yyjson_doc *spark_template(const struct json_at *part)
{
    struct json_at labels = json_member(part, "labels");
    struct json_at annotations = json_member(part, "annotations");
    struct draft draft;

    draft_init(&draft);
    draft_put_all(&draft, draft.labels, &labels);
    draft_put_all(&draft, draft.annotations, &annotations);
    draft_put_placement(&draft, part);
    spark_resources(&draft, part);
    return make_finish(draft.doc);
}

static int make_spark_pods(struct maker *maker, const struct object *owner, const struct json_at *part,
                           const char *role, int64_t count, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = spark_template(part);
    struct json_at template = json_root(doc);
    bool is_driver = strcmp(role, "driver") == 0;

    for (int64_t i = 1; i <= count; i++) {
        struct child child = {
            .name = is_driver ? arena_printf(maker->arena, "%s-driver", owner->name)
                              : arena_printf(maker->arena, "%s-exec-%lld", owner->name, (long long)i),
            .template = &template,
            .labels = {{KEY_SPARK_APP_NAME, owner->name},
                       {KEY_SPARK_APP_SELECTOR, arena_printf(maker->arena, "spark-%s", owner->name)},
                       {KEY_SPARK_ROLE, role}},
        };

        int r = make_child(maker, owner, &child, err);
        if (r != 0)
            return r;
    }
    return 0;
}

int make_spark(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at driver;
    struct json_at executor;
    int64_t instances = 1;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "driver", JSON_REQUIRED, &driver, err));
    TRY(json_member_object(&spec, "executor", JSON_OPTIONAL, &executor, err));
    TRY(json_member_int64(&executor, "instances", JSON_OPTIONAL, 0, INT32_MAX, &instances, err));
    struct json_at status = json_member(&owner->root, "status");
    struct json_at state = json_member(&status, "applicationState");
    const char *word = json_peek_str(&state, "state");
    if (word && (strcmp(word, "COMPLETED") == 0 || strcmp(word, "FAILED") == 0))
        return 0;
    int r = make_spark_pods(maker, owner, &driver, "driver", 1, err);
    return r == 0 && executor.val ? make_spark_pods(maker, owner, &executor, "executor", instances, err) : r;
}
