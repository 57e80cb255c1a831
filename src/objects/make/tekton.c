/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tekton: a TaskRun is one pod with a container for each step, a PipelineRun starts the TaskRuns of the tasks that wait
 * for no other.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/make/maker.h"
#include "objects/notes.h"

/* Combinations of one task's matrix, at most; Tekton's own limit is 256 unless it is raised. */
enum { MATRIX_MAX = 10000 };

/* A run that has ended says so in one condition, whichever way it went. */
static bool is_over(const struct object *run)
{
    struct json_at status = json_member(&run->root, "status");
    struct json_at conditions = json_member(&status, "conditions");

    for (struct json_at item = {0}; json_next(&conditions, &item);) {
        const char *type = json_peek_str(&item, "type");
        const char *value = json_peek_str(&item, "status");

        if (type && value && strcmp(type, "Succeeded") == 0 && strcmp(value, "Unknown") != 0)
            return true;
    }
    return false;
}

/*
 * The spec that a run has in itself under `spec_key`, or that of the object which it refers to under `ref_key`. Without
 * a value, after a warning, when that is not in the input.
 */
static struct json_at spec_of(struct maker *maker, const struct object *owner, const struct json_at *run,
                              const char *spec_key, const char *ref_key, const char *fallback_kind)
{
    struct json_at written = json_member(run, spec_key);
    struct json_at reference = json_member(run, ref_key);
    const char *name = json_peek_str(&reference, "name");
    const char *given = json_peek_str(&reference, "kind");
    const struct object_kind *kind = object_kind_of("tekton.dev", given ? given : fallback_kind);
    const struct object *found =
        name && kind ? object_set_find(maker->set, kind, kind->is_cluster_wide ? "" : owner->namespace, name) : NULL;

    if (written.val)
        return (struct json_at){.val = written.val, .key = spec_key};
    if (!found) {
        object_notes_warn(maker->notes, "%s %s/%s: %s %s is not in the input; its pods are left out", owner->kind->kind,
                          owner->namespace, owner->name, given ? given : fallback_kind,
                          name ? name : "that a resolver fetches");
        return (struct json_at){0};
    }
    struct json_at spec = json_member(&found->root, "spec");
    return (struct json_at){.val = spec.val, .key = "spec"};
}

/* Resources of a step: what the run says of it, its own, those of all steps; under the name of today or the older one. */
static struct json_at resources_of(const struct json_at *step, const struct json_at *overrides,
                                   const struct json_at *all)
{
    const char *name = json_peek_str(step, "name");
    const struct json_at *const places[] = {step, all};

    for (struct json_at item = {0}; name && json_next(overrides, &item);) {
        const char *named = json_peek_str(&item, "name");
        struct json_at resources = json_member(&item, "computeResources");

        if (named && strcmp(named, name) == 0 && resources.val)
            return (struct json_at){.val = resources.val, .key = "computeResources"};
    }
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct json_at today = json_member(places[i], "computeResources");
        struct json_at before = json_member(places[i], "resources");

        if (today.val || before.val)
            return (struct json_at){.val = today.val ? today.val : before.val, .key = "computeResources"};
    }
    return (struct json_at){0};
}

/* Containers for the steps and for what runs beside them. What the run asks for as a whole is put on the first. */
static int put_steps(struct maker *maker, struct draft *draft, const struct json_at *run, const struct json_at *task,
                     struct err *err)
{
    struct json_at of_all = json_member(task, "stepTemplate");
    struct json_at overrides = json_member(run, "stepSpecs");
    struct json_at whole = json_member(run, "computeResources");
    struct json_at nothing = {0};
    struct json_at steps;
    struct json_at sidecars;
    size_t index = 0;

    TRY(json_member_array(task, "steps", JSON_REQUIRED, &steps, err));
    TRY(json_member_array(task, "sidecars", JSON_OPTIONAL, &sidecars, err));
    for (struct json_at step = {0}; json_next(&steps, &step); index++) {
        const char *name = json_peek_str(&step, "name");
        struct json_at own = resources_of(&step, &overrides, &of_all);

        (void)draft_container(draft,
                              name ? arena_printf(maker->arena, "step-%s", name)
                                   : arena_printf(maker->arena, "step-unnamed-%zu", index),
                              !whole.val   ? &own
                              : index == 0 ? &whole
                                           : &nothing);
    }
    index = 0;
    for (struct json_at sidecar = {0}; json_next(&sidecars, &sidecar); index++) {
        struct json_at own = resources_of(&sidecar, &nothing, &nothing);

        (void)draft_container(draft, arena_printf(maker->arena, "sidecar-%zu", index), &own);
    }
    return 0;
}

int make_task_run(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at meta = json_member(&owner->root, "metadata");
    struct json_at run;
    struct json_at pod;
    struct draft draft;
    struct child child = {
        .name = arena_printf(maker->arena, "%s-pod", owner->name),
        .metadata = &meta,
        .labels = {{"tekton.dev/taskRun", owner->name}},
    };

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &run, err));
    TRY(json_member_object(&run, "podTemplate", JSON_OPTIONAL, &pod, err));
    if (is_over(owner))
        return 0;
    struct json_at task = spec_of(maker, owner, &run, "taskSpec", "taskRef", "Task");
    if (!task.val)
        return 0;
    draft_init(&draft);
    draft_put_placement(&draft, &pod);
    int r = put_steps(maker, &draft, &run, &task, err);
    if (r < 0) {
        yyjson_mut_doc_free(draft.doc);
        return r;
    }
    return make_drafted(maker, owner, &child, &draft, err);
}

/* Whether a text below `val` refers to another task's result. Documents are not deeper than JSON_DEPTH_MAX. */
static bool needs_result(yyjson_val *val)
{
    yyjson_val *item;
    yyjson_val *key;
    size_t i;
    size_t max;

    if (yyjson_is_str(val))
        return strstr(yyjson_get_str(val), "$(tasks.") != NULL;
    yyjson_arr_foreach(val, i, max, item)
    {
        if (needs_result(item))
            return true;
    }
    yyjson_obj_foreach(val, i, max, key, item)
    {
        if (needs_result(item))
            return true;
    }
    return false;
}

/* Whether the task can start with the run. */
static bool is_ready(const struct json_at *task)
{
    static const char *const members[] = {"params", "when", "matrix"};
    struct json_at after = json_member(task, "runAfter");
    bool waits = json_len(&after) > 0;

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        struct json_at member = json_member(task, members[i]);

        waits |= needs_result(member.val);
    }
    return !waits;
}

/* How many runs a task becomes: one for each combination of its matrix's values, and those that it names. */
static int runs_of(const struct json_at *task, int64_t *ret_count, struct err *err)
{
    struct json_at matrix = json_member(task, "matrix");
    struct json_at params = json_member(&matrix, "params");
    struct json_at include = json_member(&matrix, "include");

    *ret_count = 1;
    for (struct json_at item = {0}; json_next(&params, &item);) {
        struct json_at value = json_member(&item, "value");

        *ret_count *= (int64_t)MAX(json_len(&value), (size_t)1);
        if (*ret_count > MATRIX_MAX)
            return json_fail(&matrix, err, -EINVAL, "expected at most %d combinations", MATRIX_MAX);
    }
    if (!params.val && json_len(&include) > 0)
        *ret_count = (int64_t)MIN(json_len(&include), (size_t)MATRIX_MAX);
    return 0;
}

/* What the run says of one of its tasks. */
static struct json_at task_run_spec(const struct json_at *run, const char *task)
{
    struct json_at specs = json_member(run, "taskRunSpecs");

    for (struct json_at item = {0}; json_next(&specs, &item);) {
        const char *name = json_peek_str(&item, "pipelineTaskName");

        if (name && strcmp(name, task) == 0)
            return (struct json_at){.val = item.val, .key = "taskRunSpecs"};
    }
    return (struct json_at){0};
}

static void put_task_run(struct draft *draft, const struct json_at *run, const struct json_at *task, const char *name)
{
    static const char *const of_task[] = {"taskSpec", "taskRef"};
    static const char *const of_run[] = {"podTemplate", "computeResources", "stepSpecs"};
    struct json_at own = task_run_spec(run, name);
    struct json_at template = json_member(run, "taskRunTemplate");
    const struct json_at *const places[] = {run, &template, &own};

    for (size_t i = 0; i < ARRAY_LEN(of_task); i++) {
        struct json_at member = json_member(task, of_task[i]);

        draft_put(draft, draft->spec, of_task[i], &member);
    }
    for (size_t i = 0; i < ARRAY_LEN(of_run); i++) {
        for (size_t j = 0; j < ARRAY_LEN(places); j++) {
            struct json_at member = json_member(places[j], of_run[i]);

            draft_put(draft, draft->spec, of_run[i], &member);
        }
    }
}

static int make_task(struct maker *maker, const struct object *owner, const struct json_at *run,
                     const struct json_at *task, struct err *err)
{
    struct json_at meta = json_member(&owner->root, "metadata");
    struct json_at reference = json_member(task, "taskRef");
    const char *api_version = json_peek_str(&reference, "apiVersion");
    const char *name = NULL;
    int64_t count = 1;

    TRY(json_member_str(task, "name", JSON_REQUIRED, &name, err));
    TRY(runs_of(task, &count, err));
    /* Tasks of other groups are run by controllers of their own. */
    if (!is_ready(task) || (api_version && strncmp(api_version, "tekton.dev/", strlen("tekton.dev/")) != 0))
        return 0;
    for (int64_t i = 0; i < count; i++) {
        struct child child = {
            .api_version = owner->api_version,
            .kind = "TaskRun",
            .name = count == 1 ? arena_printf(maker->arena, "%s-%s", owner->name, name)
                               : arena_printf(maker->arena, "%s-%s-%lld", owner->name, name, (long long)i),
            .metadata = &meta,
            .labels = {{"tekton.dev/pipelineRun", owner->name}, {"tekton.dev/pipelineTask", name}},
        };
        struct draft draft;

        draft_init(&draft);
        put_task_run(&draft, run, task, name);
        TRY(make_drafted(maker, owner, &child, &draft, err));
    }
    return 0;
}

int make_pipeline_run(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at run;
    struct json_at tasks;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &run, err));
    if (is_over(owner) || json_peek_str(&run, "status"))
        return 0;
    struct json_at pipeline = spec_of(maker, owner, &run, "pipelineSpec", "pipelineRef", "Pipeline");
    if (!pipeline.val)
        return 0;
    TRY(json_member_array(&pipeline, "tasks", JSON_REQUIRED, &tasks, err));
    for (struct json_at task = {0}; json_next(&tasks, &task);)
        TRY(make_task(maker, owner, &run, &task, err));
    return 0;
}
