/* SPDX-License-Identifier: Apache-2.0 */

/* Remedies for programs: their numbers, and the commands that apply them. */
#include <string.h>

#include "base/strbuf.h"
#include "model/state.h"
#include "sim/why/why_json_internal.h"

/* The names of the waiting pods whose request the remedy changes. */
static void write_pods(struct writer *w, yyjson_mut_val *to, const struct retell_change *change)
{
    const struct state *state = w->why->state;
    yyjson_mut_val *pods = put_array(w, to, "pods");

    for (pod_id id = 0; id < state->pods.len; id++) {
        const struct pod *pod = &state->pods.items[id];
        if (pod->is_present && pod->gang == change->gang && pod->status == POD_PENDING &&
            pod->request == change->request)
            (void)yyjson_mut_arr_add_strcpy(w->doc, pods, state_name(state, pod->name));
    }
}

static void write_step(struct writer *w, yyjson_mut_val *to, const struct why_step *step)
{
    put_real(w, to, "from", step->from);
    put_real(w, to, "to", step->to);
    put_real(w, to, "less", step->less);
}

static void write_quota(struct writer *w, yyjson_mut_val *to, const struct why_remedy *remedy)
{
    const struct state *state = w->why->state;
    yyjson_mut_val *queues = put_array(w, to, "queues");

    for (size_t i = 0; i < remedy->change.queue_count; i++) {
        const struct queue_change *change = &remedy->change.queues[i];
        yyjson_mut_val *item = put_item(w, queues);
        put_str(w, item, "queue", state_name(state, state->queues.items[change->queue].name));
        put_str(w, item, "bound", change->is_limit ? "limit" : "quota");
        put_str(w, item, "resource", share_names[change->resource]);
        put_share(w, item, "from", change->resource, remedy->steps[i].from);
        put_share(w, item, "to", change->resource, remedy->steps[i].to);
        put_share(w, item, "less", change->resource, remedy->steps[i].less);
    }
}

static void write_level(struct writer *w, yyjson_mut_val *to, const struct why_remedy *remedy)
{
    const struct gang *gang = &w->why->state->gangs.items[w->why->gang];

    put_str(w, to, "group", state_name(w->why->state, gang->groups[remedy->change.level_group].name));
    put_str(w, to, "from", remedy->level_from);
    if (remedy->change.level)
        put_str(w, to, "to", remedy->change.level);
    else
        (void)yyjson_mut_obj_add_null(w->doc, to, "to");
    put_str(w, to, "less", remedy->level_less);
}

/* Less of a resource: CPU and memory as quantities, others as numbers. */
static void write_amount(struct writer *w, yyjson_mut_val *to, const struct why_remedy *remedy)
{
    const struct state *state = w->why->state;
    uint32_t dim = remedy->change.dim;
    int r = dim == RES_CPU ? SHARE_CPU : SHARE_MEMORY;

    put_str(w, to, "resource", state_name(state, state->res.name[dim]));
    if (dim != RES_CPU && dim != RES_MEMORY) {
        write_step(w, to, &remedy->step);
        return;
    }
    put_share(w, to, "from", r, remedy->step.from);
    put_share(w, to, "to", r, remedy->step.to);
    put_share(w, to, "less", r, remedy->step.less);
}

static void write_details(struct writer *w, yyjson_mut_val *to, const struct why_remedy *remedy)
{
    const struct state *state = w->why->state;
    const struct retell_change *change = &remedy->change;

    switch (remedy->kind) {
    case WHY_AMOUNT:
        write_pods(w, to, change);
        write_amount(w, to, remedy);
        break;
    case WHY_GPUS:
    case WHY_FRACTION:
    case WHY_GPU_MEMORY:
    case WHY_DEVICES:
        write_pods(w, to, change);
        write_step(w, to, &remedy->step);
        break;
    case WHY_CLAIM_DEVICES:
        put_str(w, to, "request", change->claim_request);
        write_step(w, to, &remedy->step);
        break;
    case WHY_CLAIM_CLASS:
        put_str(w, to, "request", change->claim_request);
        put_str(w, to, "from", remedy->class_from);
        put_str(w, to, "to", change->claim_class);
        break;
    case WHY_PODS:
        put_str(w, to, "podSet", state_name(state, state->gangs.items[w->why->gang].groups[change->min_group].name));
        write_step(w, to, &remedy->step);
        break;
    case WHY_QUEUE:
        put_str(w, to, "queue", change->queue);
        break;
    case WHY_QUOTA:
        write_quota(w, to, remedy);
        break;
    case WHY_LEVEL:
        write_level(w, to, remedy);
        break;
    case WHY_WITHOUT:
        put_workload(w, to, state, change->without);
        break;
    case WHY_WAIT:
        put_real(w, to, "seconds", remedy->step.to);
        put_real(w, to, "less", remedy->step.less);
        put_time(w, to, "until", remedy->until);
        break;
    case WHY_PREEMPTIBLE:
    case WHY_NODES:
    case WHY_TAINTS:
    case _WHY_REMEDY_MAX:
        break;
    }
}

static void write_remedy(struct writer *w, yyjson_mut_val *item, const struct why_remedy *remedy)
{
    struct why_remedy alone = *remedy;
    struct strbuf text;

    alone.with = NULL;
    strbuf_init(&text, TEXT_MAX);
    why_remedy_text(w->why, &alone, &text);
    put_str(w, item, "kind", why_remedy_name(remedy->kind));
    put_str(w, item, "text", text.text);
    write_details(w, item, remedy);
    strbuf_clear(&text);
    why_remedy_patch(w->why, &alone, &text);
    if (*text.text) {
        yyjson_mut_val *commands = put_array(w, item, "commands");
        char *next = text.text;

        for (char *line; (line = strsep(&next, "\n")) && *line;)
            (void)yyjson_mut_arr_add_strcpy(w->doc, commands, line);
    }
    strbuf_done(&text);
    if (remedy->with)
        write_remedy(w, put_object(w, item, "with"), remedy->with);
}

void json_write_remedies(struct writer *w, yyjson_mut_val *to)
{
    yyjson_mut_val *remedies = put_array(w, to, "remedies");

    for (uint32_t i = 0; i < w->why->remedies.len; i++)
        write_remedy(w, put_item(w, remedies), &w->why->remedies.items[i]);
    put_int(w, to, "tries", w->why->tries);
}
