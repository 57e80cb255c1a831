/* SPDX-License-Identifier: Apache-2.0 */

/* A past cycle as JSON. */
#include <stdlib.h>
#include <yyjson.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/replay/replay.h"
#include "sim/report/amount.h"
#include "sim/report/reason.h"
#include "sim/report/workload.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario_why.h"

enum { WHY_MAX = 4096 };

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const char *text)
{
    if (text && *text)
        (void)yyjson_mut_obj_add_strcpy(doc, object, key, text);
}

static void add_shares(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const double amounts[SHARE_COUNT])
{
    yyjson_mut_val *item = yyjson_mut_obj_add_obj(doc, object, key);

    char text[QUANTITY_TEXT_MAX];

    for (int share = 0; share < SHARE_COUNT; share++)
        add_text(doc, item, amount_key(share), amount_format(share, amounts[share], text));
}

static void add_queues(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct replay_moment *moment)
{
    const struct state *state = moment->state;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "queues");

    for (queue_id id = 0; id < state->queues.len; id++) {
        const struct queue *queue = &state->queues.items[id];

        if (!queue->is_present)
            continue;
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        struct queue_share share = engine_share(moment->engine, id);

        add_text(doc, item, "name", state_name(state, queue->name));
        add_text(doc, item, "parent", state_name(state, queue->parent_name));
        add_shares(doc, item, "quota", queue->deserved);
        add_shares(doc, item, "limit", queue->limit);
        add_shares(doc, item, "fairShare", share.fair);
        add_shares(doc, item, "allocated", share.allocated);
        add_shares(doc, item, "requested", share.requested);
    }
}

static void add_pods(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct replay_moment *moment)
{
    const struct state *state = moment->state;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "pods");

    for (pod_id id = 0; id < state->pods.len; id++) {
        const struct pod *pod = &state->pods.items[id];

        if (!pod->is_present)
            continue;
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        char phase[PHASE_TEXT_MAX];

        add_text(doc, item, "namespace", state_name(state, pod->namespace));
        add_text(doc, item, "name", state_name(state, pod->name));
        add_text(doc, item, "state", pod_status_phase((enum pod_status)pod->status, phase));
        if (pod->node != NO_ID)
            add_text(doc, item, "node", state_name(state, state->nodes.items[pod->node].name));
    }
}

static void add_decisions(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct replay_moment *moment)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "decisions");

    for (size_t i = 0; i < moment->then_count; i++) {
        const struct record_decision *at = &moment->then[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);

        add_text(doc, item, "action", action_name(at->action));
        add_text(doc, item, "kind", decision_kind_name(at->kind));
        add_text(doc, item, "namespace", at->namespace);
        add_text(doc, item, "pod", at->pod);
        add_text(doc, item, "node", at->node);
        add_text(doc, item, "forNamespace", at->for_namespace);
        add_text(doc, item, "for", at->for_gang);
    }
}

static void add_waiting(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct replay_moment *moment)
{
    const struct state *state = moment->state;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "pending");
    struct strbuf name;
    struct strbuf why;

    strbuf_init(&name, WHY_MAX);
    strbuf_init(&why, WHY_MAX);
    for (gang_id id = 0; id < state->gangs.len; id++) {
        const struct gang *gang = &state->gangs.items[id];

        if (!gang->is_present || gang->pending == 0)
            continue;
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        enum verdict_code code = engine_verdict(moment->engine, id).code;

        strbuf_clear(&name);
        workload_add_name(&name, state, id);
        strbuf_clear(&why);
        scenario_why(&why, state, moment->engine, id);
        add_text(doc, item, "workload", name.text);
        add_text(doc, item, "queue", state_name(state, gang->queue_name));
        add_text(doc, item, "reason", verdict_code_name(code));
        add_text(doc, item, "outlook", reason_outlook(code));
        add_text(doc, item, "message", why.text);
    }
    strbuf_done(&why);
    strbuf_done(&name);
}

void replay_moment_write(const struct replay_moment *moment, FILE *out)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    char time[TIME_TEXT_MAX];

    yyjson_mut_doc_set_root(doc, root);
    (void)yyjson_mut_obj_add_uint(doc, root, "segment", moment->segment);
    (void)yyjson_mut_obj_add_uint(doc, root, "cycle", moment->cycle);
    add_text(doc, root, "time", time_format(moment->now, time));
    (void)yyjson_mut_obj_add_bool(doc, root, "same", moment->is_same);
    add_queues(doc, root, moment);
    add_decisions(doc, root, moment);
    add_pods(doc, root, moment);
    add_waiting(doc, root, moment);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);

    (void)fprintf(out, "%s\n", text);
    free(text);
    yyjson_mut_doc_free(doc);
}
