/* SPDX-License-Identifier: Apache-2.0 */

/* The answer for programs; docs/why.md describes its members. */
#include <stdlib.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/why/why_internal.h"
#include "text/json.h"
#include "words/verdict_text.h"

enum { TEXT_MAX = 64 * 1024 };

struct writer {
    const struct why *why;
    yyjson_mut_doc *doc;
};

static const char *const share_names[] = {
    [SHARE_CPU] = "cpu_milli", [SHARE_MEMORY] = "memory_bytes", [SHARE_GPU] = "gpus"};

/* All texts are copied: what they are made from goes away before the document is written. */
static void put_str(struct writer *w, yyjson_mut_val *to, const char *key, const char *text)
{
    (void)yyjson_mut_obj_add_strcpy(w->doc, to, key, text);
}

static void put_name(struct writer *w, yyjson_mut_val *to, const char *key, name_id name)
{
    put_str(w, to, key, state_name(w->why->settled, name));
}

static void put_int(struct writer *w, yyjson_mut_val *to, const char *key, int64_t value)
{
    (void)yyjson_mut_obj_add_sint(w->doc, to, key, value);
}

/* Whole numbers are written as such. */
static void put_real(struct writer *w, yyjson_mut_val *to, const char *key, double value)
{
    if (value == (double)(int64_t)value && value < 9e15 && value > -9e15)
        put_int(w, to, key, (int64_t)value);
    else
        (void)yyjson_mut_obj_add_real(w->doc, to, key, value);
}

static void put_bool(struct writer *w, yyjson_mut_val *to, const char *key, bool value)
{
    (void)yyjson_mut_obj_add_bool(w->doc, to, key, value);
}

static yyjson_mut_val *put_object(struct writer *w, yyjson_mut_val *to, const char *key)
{
    return yyjson_mut_obj_add_obj(w->doc, to, key);
}

static yyjson_mut_val *put_array(struct writer *w, yyjson_mut_val *to, const char *key)
{
    return yyjson_mut_obj_add_arr(w->doc, to, key);
}

static yyjson_mut_val *put_item(struct writer *w, yyjson_mut_val *array)
{
    return yyjson_mut_arr_add_obj(w->doc, array);
}

static void put_shares(struct writer *w, yyjson_mut_val *to, const char *key, const double shares[SHARE_COUNT])
{
    yyjson_mut_val *object = put_object(w, to, key);

    for (int r = 0; r < SHARE_COUNT; r++)
        put_real(w, object, share_names[r], shares[r]);
}

static void put_time(struct writer *w, yyjson_mut_val *to, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    put_str(w, to, key, time_format(time, text));
}

static void write_verdict(struct writer *w, yyjson_mut_val *to, const char *key, const struct verdict *verdict)
{
    const struct state *state = w->why->settled;
    yyjson_mut_val *object = put_object(w, to, key);

    put_str(w, object, "code", verdict_code_name(verdict->code));
    put_str(w, object, "class", verdict_class_name(verdict_class(verdict->code)));
    if (verdict->pod != NO_ID)
        put_name(w, object, "pod", state->pods.items[verdict->pod].name);
    if (verdict->queue == NO_ID || verdict->code == VERDICT_NONE)
        return;
    put_name(w, object, "queue", state->queues.items[verdict->queue].name);
    put_str(w, object, "resource", share_names[verdict->resource]);
    put_real(w, object, "requested", verdict->requested);
    put_real(w, object, "allocated", verdict->allocated);
    put_real(w, object, "bound", verdict->bound);
}

static void write_nodes(struct writer *w, yyjson_mut_val *to)
{
    const struct explanation *e = &w->why->explanation;
    const struct state *state = w->why->settled;
    yyjson_mut_val *nodes = put_object(w, to, "nodes");
    yyjson_mut_val *tests = put_array(w, nodes, "tests");
    yyjson_mut_val *lacks = put_array(w, nodes, "lacks");

    put_int(w, nodes, "looked_at", e->node_count);
    put_int(w, nodes, "allowed", e->allowed_count);
    for (uint32_t i = 0; i < e->test_count; i++) {
        if (e->tests[i].nodes == 0)
            continue;
        yyjson_mut_val *test = put_item(w, tests);
        put_str(w, test, "test", e->tests[i].name);
        put_int(w, test, "nodes", e->tests[i].nodes);
        put_str(w, test, "text", e->tests[i].text);
    }
    for (uint32_t i = 0; i < e->lack_count; i++) {
        const struct explained_lack *lack = &e->lacks[i];
        double unit = lack->dim == RES_GPU                                            ? (double)GPU_ONE
                      : lack->dim < RES_FIXED || state->res.mig_slices[lack->dim] > 0 ? 1
                                                                                      : 1000;
        yyjson_mut_val *item = put_item(w, lacks);
        put_name(w, item, "resource", state->res.name[lack->dim]);
        put_int(w, item, "nodes", lack->nodes);
        put_real(w, item, "needed", (double)lack->needed / unit);
        put_real(w, item, "least", (double)lack->least / unit);
        put_name(w, item, "node", state->nodes.items[lack->best].name);
    }
}

static void write_queues(struct writer *w, yyjson_mut_val *to)
{
    const struct explanation *e = &w->why->explanation;
    yyjson_mut_val *queues = put_array(w, to, "queues");

    for (uint32_t i = 0; i < e->queue_count; i++) {
        const struct explained_queue *queue = &e->queues[i];
        yyjson_mut_val *item = put_item(w, queues);
        put_name(w, item, "name", w->why->settled->queues.items[queue->queue].name);
        put_shares(w, item, "quota", queue->quota);
        put_shares(w, item, "limit", queue->limit);
        put_shares(w, item, "fair_share", queue->fair);
        put_shares(w, item, "allocated", queue->allocated);
        put_shares(w, item, "not_preemptible", queue->fixed);
        put_shares(w, item, "asked", queue->asked);
    }
}

static void write_holders(struct writer *w, yyjson_mut_val *to)
{
    const struct explanation *e = &w->why->explanation;
    const struct state *state = w->why->settled;
    yyjson_mut_val *holders = put_array(w, to, "holders");

    for (uint32_t i = 0; i < e->holder_count; i++) {
        const struct explained_holder *holder = &e->holders[i];
        yyjson_mut_val *item = put_item(w, holders);
        if (holder->gang != NO_ID) {
            put_name(w, item, "namespace", state->gangs.items[holder->gang].namespace);
            put_name(w, item, "name", state->gangs.items[holder->gang].name);
            put_name(w, item, "queue", state->gangs.items[holder->gang].queue_name);
        }
        put_int(w, item, "pods", holder->pods);
        put_shares(w, item, "held", holder->held);
        put_str(w, item, "stays", explained_refusal_name(holder->refusal));
        if (holder->until > 0)
            put_time(w, item, "until", holder->until);
    }
}

static void write_topology(struct writer *w, yyjson_mut_val *to)
{
    const struct explanation *e = &w->why->explanation;

    if (e->topology == 0)
        return;
    yyjson_mut_val *topology = put_object(w, to, "topology");
    yyjson_mut_val *domains = put_array(w, topology, "domains");
    put_name(w, topology, "name", e->topology);
    put_name(w, topology, "required_level", e->level);
    put_int(w, topology, "pods", e->domain_need);
    for (uint32_t i = 0; i < e->domain_count; i++) {
        yyjson_mut_val *item = put_item(w, domains);
        put_str(w, item, "name", e->domains[i].name);
        put_int(w, item, "nodes", e->domains[i].nodes);
        if (e->domains[i].pods >= 0)
            put_int(w, item, "pods", e->domains[i].pods);
    }
}

/* KAI's words, as its events and conditions would say them. */
static void write_texts(struct writer *w, yyjson_mut_val *to)
{
    const struct explanation *e = &w->why->explanation;
    struct verdict_text text = {.engine = w->why->run.engine, .explanation = e};
    yyjson_mut_val *texts = put_object(w, to, "texts");
    struct strbuf words;

    strbuf_init(&words, TEXT_MAX);
    if (e->verdict.code == VERDICT_NOT_READY)
        verdict_text_not_ready(text.engine, e->gang, &words);
    else
        verdict_text_gang(&text, &words);
    put_str(w, texts, "pod_group", words.text);
    if (e->pod != NO_ID) {
        strbuf_clear(&words);
        verdict_text_pod(&text, e->pod, &words);
        put_str(w, texts, "pod", words.text);
    }
    strbuf_done(&words);
}

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
        put_str(w, item, "what", change->is_limit ? "limit" : "quota");
        put_str(w, item, "resource", share_names[change->resource]);
        write_step(w, item, &remedy->steps[i]);
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

static void write_details(struct writer *w, yyjson_mut_val *to, const struct why_remedy *remedy)
{
    const struct state *state = w->why->state;
    const struct retell_change *change = &remedy->change;

    switch (remedy->kind) {
    case WHY_AMOUNT:
        put_str(w, to, "resource", state_name(state, state->res.name[change->dim]));
        __attribute__((fallthrough));
    case WHY_GPUS:
    case WHY_FRACTION:
    case WHY_GPU_MEMORY:
    case WHY_DEVICES:
        write_pods(w, to, change);
        write_step(w, to, &remedy->step);
        break;
    case WHY_PODS:
        put_str(w, to, "pod_set", state_name(state, state->gangs.items[w->why->gang].groups[change->min_group].name));
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
        put_str(w, to, "namespace", state_name(state, state->gangs.items[change->without].namespace));
        put_str(w, to, "name", state_name(state, state->gangs.items[change->without].name));
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

static void write_remedies(struct writer *w, yyjson_mut_val *to)
{
    yyjson_mut_val *remedies = put_array(w, to, "remedies");
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    for (uint32_t i = 0; i < w->why->remedies.len; i++) {
        const struct why_remedy *remedy = &w->why->remedies.items[i];
        yyjson_mut_val *item = put_item(w, remedies);

        strbuf_clear(&text);
        why_remedy_text(w->why, remedy, &text);
        put_str(w, item, "kind", why_remedy_name(remedy->kind));
        put_str(w, item, "text", text.text);
        write_details(w, item, remedy);
    }
    strbuf_done(&text);
    put_int(w, to, "tries", w->why->tries);
}

static void write_answer(struct writer *w, yyjson_mut_val *root)
{
    const struct why *why = w->why;
    const struct gang *gang = &why->settled->gangs.items[why->settled_gang];

    put_name(w, root, "namespace", gang->namespace);
    put_name(w, root, "name", gang->name);
    put_name(w, root, "queue", gang->queue_name);
    put_int(w, root, "priority", gang->priority);
    put_bool(w, root, "preemptible", gang->is_preemptible);
    put_bool(w, root, "runs", why->runs);
    put_bool(w, root, "never", why->is_never);
    put_int(w, root, "pods_running", why->more_than);
    put_int(w, root, "cycles", why->run.cycles);
    put_bool(w, root, "settled", why->run.is_settled);
    write_verdict(w, root, "verdict", &why->explanation.verdict);
    if (why->runs)
        return;
    write_verdict(w, root, "placing", &why->explanation.tried);
    put_int(w, root, "pods_to_place", why->explanation.chunk_count);
    put_shares(w, root, "asked", why->explanation.asked);
    write_nodes(w, root);
    write_topology(w, root);
    write_queues(w, root);
    write_holders(w, root);
    write_texts(w, root);
    write_remedies(w, root);
}

void why_write(const struct why *why, FILE *out)
{
    struct writer w = {why, yyjson_mut_doc_new(NULL)};
    yyjson_mut_val *root = yyjson_mut_obj(w.doc);
    char *text;

    yyjson_mut_doc_set_root(w.doc, root);
    write_answer(&w, root);
    text = yyjson_mut_write(w.doc, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);
    if (text)
        (void)fprintf(out, "%s\n", text);
    free(text);
    yyjson_mut_doc_free(w.doc);
}
