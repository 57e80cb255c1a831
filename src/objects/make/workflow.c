/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Argo Workflows: what the controller starts at first. From the entry point down, the first steps and the tasks that
 * wait for no other become pods; what comes after them depends on how they end, which only a run can tell.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/make/maker.h"
#include "objects/make/workflow_internal.h"
#include "objects/notes.h"

/* Templates that call each other, and steps that are looked at, at most. */
enum { DEPTH_MAX = 64, VISITS_MAX = 100000 };

static int start_template(struct flow *flow, const struct call *call, int depth, struct err *err);

void flow_warn(struct flow *flow, const char *what)
{
    object_notes_warn(flow->maker->notes, "Workflow %s/%s: %s", flow->owner->namespace, flow->owner->name, what);
}

static const struct json_at *find_named(const struct json_at *list, const char *name, struct json_at *item)
{
    *item = (struct json_at){0};
    while (json_next(list, item)) {
        const char *found = json_peek_str(item, "name");

        if (found && strcmp(found, name) == 0)
            return item;
    }
    return NULL;
}

/* Templates kept in an object of their own, of the namespace or of the whole cluster. */
static struct json_at shared_spec(struct flow *flow, const struct json_at *reference)
{
    const char *name = json_peek_str(reference, "name");
    struct json_at scope = json_member(reference, "clusterScope");
    bool is_cluster_wide = yyjson_get_bool(scope.val);
    const struct object_kind *kind =
        object_kind_of("argoproj.io", is_cluster_wide ? "ClusterWorkflowTemplate" : "WorkflowTemplate");
    const struct object *found =
        name ? object_set_find(flow->maker->set, kind, is_cluster_wide ? "" : flow->owner->namespace, name) : NULL;

    if (!found) {
        flow_warn(flow, arena_printf(flow->maker->arena, "%s %s is not in the input; its pods are left out", kind->kind,
                                     name ? name : "without a name"));
        return (struct json_at){0};
    }
    struct json_at spec = json_member(&found->root, "spec");
    return (struct json_at){.val = spec.val, .key = "spec"};
}

/*
 * The template that a step names, in the same place as the step, in another object, or written into the step. Returns
 * 1, or 0 when it is not there.
 */
static int template_of_step(struct flow *flow, const struct call *from, const struct json_at *step,
                            struct call *ret_call, struct err *err)
{
    struct json_at reference;
    struct json_at written;
    struct json_at item;
    const char *name = NULL;

    TRY(json_member_object(step, "inline", JSON_OPTIONAL, &written, err));
    TRY(json_member_object(step, "templateRef", JSON_OPTIONAL, &reference, err));
    *ret_call = (struct call){.templates = from->templates};
    if (written.val) {
        ret_call->template = written.val;
        return 1;
    }
    if (reference.val) {
        struct json_at spec = shared_spec(flow, &reference);

        if (!spec.val)
            return 0;
        ret_call->templates = json_member(&spec, "templates").val;
        TRY(json_member_str(&reference, "template", JSON_REQUIRED, &name, err));
    } else {
        TRY(json_member_str(step, "template", JSON_REQUIRED, &name, err));
    }
    struct json_at templates = {.val = ret_call->templates, .key = "templates"};
    if (!find_named(&templates, name, &item))
        return json_fail(step, err, -EINVAL, "there is no template called %s", name);
    ret_call->template = item.val;
    return 1;
}

/* Whether `when` lets the step run: "a == b" and "a != b" are worked out, whatever else is taken for true. */
static bool may_run(struct flow *flow, const struct scope *scope, const struct json_at *step)
{
    const char *when = json_peek_str(step, "when");
    const char *text = when ? scope_fill(flow, scope, when) : NULL;
    const char *equal = text ? strstr(text, "==") : NULL;
    const char *differs = text ? strstr(text, "!=") : NULL;
    const char *operator= equal ? equal : differs;

    if (!operator|| strstr(text, "{{") || strstr(text, "&&") || strstr(text, "||") || strchr(text, '('))
        return true;
    static const char blanks[] = " \t'\"";
    const char *left = text + strspn(text, blanks);
    const char *right = operator+ 2 + strspn(operator+ 2, blanks);
    size_t left_len = strcspn(left, " \t'\"!=");
    size_t right_len = strcspn(right, blanks);
    bool is_same = left_len == right_len && strncmp(left, right, left_len) == 0;

    return equal ? is_same : !is_same;
}

/* Starts the template of a step once, with `scope` for what its arguments name. */
static int start_once(struct flow *flow, const struct call *from, const struct json_at *step, const struct scope *scope,
                      int depth, struct err *err)
{
    struct call call;

    if (++flow->visits > VISITS_MAX || flow->kept > FLOW_KEPT_MAX)
        return json_fail(step, err, -EINVAL,
                         "the workflow grows too large, expected at most %d steps and %d MiB of text", VISITS_MAX,
                         FLOW_KEPT_MAX >> 20);
    int r = template_of_step(flow, from, step, &call, err);
    if (r <= 0)
        return r;
    call.scope = scope_inputs(flow, scope, step, call.template);
    return start_template(flow, &call, depth + 1, err);
}

/* Starts a step as often as it says. Returns 1 when it was started, 0 when `when` forbids it. */
static int start_step(struct flow *flow, const struct call *from, const struct json_at *step, int depth,
                      struct err *err)
{
    _cleanup_(fan_done) struct fan fan = {0};

    if (!may_run(flow, from->scope, step))
        return 0;
    TRY(fan_decode(flow, from->scope, step, &fan, err));
    for (int64_t i = 0; i < fan.count && !flow->is_full; i++)
        TRY(start_once(flow, from, step, fan_scope(flow, from->scope, &fan, i), depth, err));
    return 1;
}

/* The first group of which a step may run; those of a group run side by side. */
static int start_steps(struct flow *flow, const struct call *call, const struct json_at *groups, int depth,
                       struct err *err)
{
    for (struct json_at group = {0}; json_next(groups, &group);) {
        bool has_started = false;
        bool is_list = yyjson_is_arr(group.val);

        if (!is_list) {
            int r = start_step(flow, call, &group, depth, err);
            if (r != 0)
                return MIN(r, 0);
            continue;
        }
        for (struct json_at step = {0}; json_next(&group, &step);) {
            int r = start_step(flow, call, &step, depth, err);
            if (r < 0)
                return r;
            has_started |= r > 0;
        }
        if (has_started)
            return 0;
    }
    return 0;
}

static int start_tasks(struct flow *flow, const struct call *call, const struct json_at *dag, int depth,
                       struct err *err)
{
    struct json_at tasks;

    TRY(json_member_array(dag, "tasks", JSON_REQUIRED, &tasks, err));
    for (struct json_at task = {0}; json_next(&tasks, &task);) {
        struct json_at dependencies = json_member(&task, "dependencies");
        const char *depends = json_peek_str(&task, "depends");

        if (json_len(&dependencies) > 0 || (depends && *depends))
            continue;
        TRY(start_step(flow, call, &task, depth, err));
    }
    return 0;
}

static int start_template(struct flow *flow, const struct call *call, int depth, struct err *err)
{
    struct json_at template = {.val = call->template, .key = "template"};
    struct json_at steps;
    struct json_at dag;
    struct json_at suspend;

    if (depth > DEPTH_MAX)
        return err_set(err, -EINVAL, "spec.entrypoint: templates call each other, expected at most %d levels",
                       DEPTH_MAX);
    TRY(json_object(&template, err));
    TRY(json_member_array(&template, "steps", JSON_OPTIONAL, &steps, err));
    TRY(json_member_object(&template, "dag", JSON_OPTIONAL, &dag, err));
    TRY(json_member_object(&template, "suspend", JSON_OPTIONAL, &suspend, err));
    if (steps.val)
        return start_steps(flow, call, &steps, depth, err);
    if (dag.val)
        return start_tasks(flow, call, &dag, depth, err);
    return suspend.val ? 0 : flow_make_pod(flow, call, depth == 0, err);
}

/* A workflow that has been started is wherever its controller has come to. */
static bool has_started(const struct object *owner)
{
    struct json_at status = json_member(&owner->root, "status");
    const char *phase = json_peek_str(&status, "phase");

    return phase && *phase && strcmp(phase, "Pending") != 0;
}

int make_workflow(struct maker *maker, const struct object *owner, struct err *err)
{
    struct flow flow = {.maker = maker, .owner = owner, .limit = INT64_MAX};
    struct json_at reference;
    struct json_at own;
    const char *entry = NULL;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &own, err));
    TRY(json_member_object(&own, "workflowTemplateRef", JSON_OPTIONAL, &reference, err));
    if (has_started(owner) || workload_is_suspended(&own))
        return 0;
    flow.own = own;
    flow.spec = reference.val ? shared_spec(&flow, &reference) : own;
    if (!flow.spec.val)
        return 0;

    struct json_at entry_at = flow_member(&flow, "entrypoint");
    struct json_at limit_at = flow_member(&flow, "parallelism");
    struct json_at templates = json_member(&flow.spec, "templates");
    struct json_at item;
    if (!entry_at.val)
        return json_fail(&own, err, -EINVAL, "expected an entrypoint");
    TRY(json_str(&entry_at, &entry, err));
    if (limit_at.val)
        TRY(json_int64(&limit_at, 1, INT64_MAX, &flow.limit, err));
    if (!find_named(&templates, entry, &item))
        return json_fail(&entry_at, err, -EINVAL, "there is no template called %s", entry);
    struct call call = {.template = item.val, .templates = templates.val};
    call.scope = scope_workflow(&flow, item.val);
    int r = start_template(&flow, &call, 0, err);
    return MIN(r, 0);
}
