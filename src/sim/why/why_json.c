/* SPDX-License-Identifier: Apache-2.0 */

/* The answer for programs; docs/why.md describes its members. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/why/why_find.h"
#include "sim/why/why_json_internal.h"
#include "text/json.h"
#include "text/quantity.h"
#include "words/verdict_text.h"

const char *const share_names[] = {[SHARE_CPU] = "cpu", [SHARE_MEMORY] = "memory", [SHARE_GPU] = "gpu"};

/* All texts are copied: what they are made from goes away before the document is written. */
void put_str(struct writer *w, yyjson_mut_val *to, const char *key, const char *text)
{
    (void)yyjson_mut_obj_add_strcpy(w->doc, to, key, text);
}

void put_name(struct writer *w, yyjson_mut_val *to, const char *key, name_id name)
{
    put_str(w, to, key, state_name(w->why->settled, name));
}

void put_int(struct writer *w, yyjson_mut_val *to, const char *key, int64_t value)
{
    (void)yyjson_mut_obj_add_sint(w->doc, to, key, value);
}

/* Whole numbers are written as such. */
void put_real(struct writer *w, yyjson_mut_val *to, const char *key, double value)
{
    if (value == (double)(int64_t)value && value < 9e15 && value > -9e15)
        put_int(w, to, key, (int64_t)value);
    else
        (void)yyjson_mut_obj_add_real(w->doc, to, key, value);
}

void put_bool(struct writer *w, yyjson_mut_val *to, const char *key, bool value)
{
    (void)yyjson_mut_obj_add_bool(w->doc, to, key, value);
}

yyjson_mut_val *put_object(struct writer *w, yyjson_mut_val *to, const char *key)
{
    return yyjson_mut_obj_add_obj(w->doc, to, key);
}

yyjson_mut_val *put_array(struct writer *w, yyjson_mut_val *to, const char *key)
{
    return yyjson_mut_obj_add_arr(w->doc, to, key);
}

yyjson_mut_val *put_item(struct writer *w, yyjson_mut_val *array)
{
    return yyjson_mut_arr_add_obj(w->doc, array);
}

/* As a manifest has it: "1500m" and "16Gi"; GPUs are a number, and -1 is unlimited. */
void put_share(struct writer *w, yyjson_mut_val *to, const char *key, int resource, double amount)
{
    char text[QUANTITY_TEXT_MAX];

    if (resource == SHARE_GPU || amount == UNLIMITED)
        put_real(w, to, key, amount);
    else
        put_str(w, to, key,
                quantity_format((int64_t)amount, resource == SHARE_CPU ? QUANTITY_MILLI : QUANTITY_ONE, text));
}

static void put_shares(struct writer *w, yyjson_mut_val *to, const char *key, const double shares[SHARE_COUNT])
{
    yyjson_mut_val *object = put_object(w, to, key);

    for (int r = 0; r < SHARE_COUNT; r++)
        put_share(w, object, share_names[r], r, shares[r]);
}

/* "namespace/name" of the workload as it was written. */
void put_workload(struct writer *w, yyjson_mut_val *to, const struct state *state, gang_id gang)
{
    struct strbuf name;

    strbuf_init(&name, TEXT_MAX);
    why_workload_name(state, w->why->objects, gang, &name);
    put_str(w, to, "workload", name.text);
    strbuf_done(&name);
}

void put_time(struct writer *w, yyjson_mut_val *to, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    put_str(w, to, key, time_format(time, text));
}

static void write_verdict(struct writer *w, yyjson_mut_val *to, const char *key, const struct verdict *verdict)
{
    const struct state *state = w->why->settled;
    yyjson_mut_val *object = put_object(w, to, key);

    put_str(w, object, "reason", verdict_code_name(verdict->code));
    put_str(w, object, "outlook", verdict_class_name(verdict_class(verdict->code)));
    if (verdict->pod != NO_ID)
        put_name(w, object, "pod", state->pods.items[verdict->pod].name);
    if (verdict->queue == NO_ID || verdict->code == VERDICT_NONE)
        return;
    put_name(w, object, "queue", state->queues.items[verdict->queue].name);
    put_str(w, object, "resource", share_names[verdict->resource]);
    put_share(w, object, "requested", verdict->resource, verdict->requested);
    put_share(w, object, "allocated", verdict->resource, verdict->allocated);
    put_share(w, object, "bound", verdict->resource, verdict->bound);
}

static void write_causes(struct writer *w, yyjson_mut_val *to)
{
    yyjson_mut_val *causes = put_array(w, to, "causes");

    for (uint32_t i = 0; i < w->why->causes.len; i++) {
        yyjson_mut_val *item = put_item(w, causes);

        put_str(w, item, "reason", w->why->causes.items[i].reason);
        put_str(w, item, "message", w->why->causes.items[i].message);
    }
}

static void write_lacks(struct writer *w, yyjson_mut_val *to)
{
    const struct explanation *e = &w->why->explanation;
    const struct state *state = w->why->settled;
    static const int shares[] = {[RES_CPU] = SHARE_CPU, [RES_MEMORY] = SHARE_MEMORY, [RES_GPU] = SHARE_GPU};
    yyjson_mut_val *lacks = put_array(w, to, "insufficient");

    for (uint32_t i = 0; i < e->lack_count; i++) {
        const struct explained_lack *lack = &e->lacks[i];
        double unit = lack->dim < RES_FIXED || state->res.mig_slices[lack->dim] > 0 ? 1 : 1000;
        yyjson_mut_val *item = put_item(w, lacks);

        put_name(w, item, "resource", state->res.name[lack->dim]);
        put_int(w, item, "nodes", lack->nodes);
        if (lack->dim < ARRAY_LEN(shares)) {
            int r = shares[lack->dim];
            put_share(w, item, "requested", r, share_to_double(r, lack->needed));
            put_share(w, item, "lacking", r, share_to_double(r, lack->least));
        } else {
            put_real(w, item, "requested", (double)lack->needed / unit);
            put_real(w, item, "lacking", (double)lack->least / unit);
        }
        put_name(w, item, "node", state->nodes.items[lack->best].name);
    }
}

static void write_nodes(struct writer *w, yyjson_mut_val *to)
{
    const struct explanation *e = &w->why->explanation;
    yyjson_mut_val *nodes = put_object(w, to, "nodes");
    yyjson_mut_val *failed;

    put_int(w, nodes, "total", e->all_nodes);
    put_int(w, nodes, "eligible", e->eligible_nodes);
    failed = put_array(w, nodes, "failed");
    for (uint32_t i = 0; i < e->cause_count; i++) {
        const struct explained_cause *cause = &e->causes[i];
        yyjson_mut_val *item = put_item(w, failed);

        put_str(w, item, "test", cause->test);
        put_int(w, item, "nodes", cause->nodes);
        put_str(w, item, "message", cause->text);
        if (*cause->detail)
            put_str(w, item, "detail", cause->detail);
    }
    write_lacks(w, nodes);
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
        put_shares(w, item, "fairShare", queue->fair);
        put_shares(w, item, "allocated", queue->allocated);
        put_shares(w, item, "nonPreemptible", queue->fixed);
        put_shares(w, item, "requested", queue->asked);
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
            put_workload(w, item, state, holder->gang);
            put_name(w, item, "queue", state->gangs.items[holder->gang].queue_name);
        }
        put_int(w, item, "pods", holder->pods);
        put_shares(w, item, "allocated", holder->held);
        put_str(w, item, "protection", explained_refusal_name(holder->refusal));
        if (holder->until > 0)
            put_time(w, item, "until", holder->until);
    }
}

static void write_topology(struct writer *w, yyjson_mut_val *to)
{
    const struct explanation *e = &w->why->explanation;
    uint32_t nodes = 0;

    if (e->topology == 0)
        return;
    yyjson_mut_val *topology = put_object(w, to, "topology");
    yyjson_mut_val *domains = put_array(w, topology, "domains");
    put_name(w, topology, "name", e->topology);
    put_name(w, topology, "requiredLevel", e->level);
    put_int(w, topology, "pods", e->domain_need);
    put_int(w, topology, "nodesWithoutLabel", why_nodes_without_level(w->why, &nodes));
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
    yyjson_mut_val *texts = put_object(w, to, "kaiTexts");
    struct strbuf words;

    strbuf_init(&words, TEXT_MAX);
    if (e->verdict.code == VERDICT_NOT_READY)
        verdict_text_not_ready(text.engine, e->gang, &words);
    else
        verdict_text_gang(&text, &words);
    put_str(w, texts, "podGroup", words.text);
    if (e->pod != NO_ID) {
        strbuf_clear(&words);
        verdict_text_pod(&text, e->pod, &words);
        put_str(w, texts, "pod", words.text);
    }
    strbuf_done(&words);
}

static void write_line(struct writer *w, yyjson_mut_val *to)
{
    const struct why_line *line = &w->why->line;

    if (line->first == NO_ID)
        return;
    yyjson_mut_val *object = put_object(w, to, "line");
    put_workload(w, put_object(w, object, "ended"), w->why->state, line->ended);
    put_workload(w, put_object(w, object, "first"), w->why->state, line->first);
}

static void write_answer(struct writer *w, yyjson_mut_val *root)
{
    const struct why *why = w->why;
    const struct gang *gang = &why->settled->gangs.items[why->settled_gang];

    put_workload(w, root, why->settled, why->settled_gang);
    put_name(w, root, "podGroup", gang->name);
    put_name(w, root, "queue", gang->queue_name);
    put_int(w, root, "priority", gang->priority);
    put_bool(w, root, "preemptible", gang->is_preemptible);
    put_str(w, root, "state", why_state(why));
    put_str(w, root, "reason", why->causes.items[0].reason);
    put_str(w, root, "message", why->causes.items[0].message);
    put_str(w, root, "outlook", why_outlook(why));
    put_bool(w, root, "runs", why->runs);
    put_bool(w, root, "never", why->is_never);
    put_int(w, root, "podsRunning", why->more_than);
    put_int(w, root, "cycles", why->run.cycles);
    put_bool(w, root, "settled", why->run.is_settled);
    write_verdict(w, root, "verdict", &why->explanation.verdict);
    if (why->runs)
        return;
    write_causes(w, root);
    write_verdict(w, root, "placing", &why->explanation.tried);
    put_int(w, root, "podsToPlace", why->explanation.chunk_count);
    put_shares(w, root, "requested", why->explanation.asked);
    write_nodes(w, root);
    write_topology(w, root);
    write_queues(w, root);
    write_holders(w, root);
    write_texts(w, root);
    json_write_remedies(w, root);
    write_line(w, root);
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
