/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The causes of waiting, one line each. A verdict has one code, that of the test which ended the attempt; whoever mends
 * that alone may find the workload waiting for the next. What the nodes are comes first, since no amount of room helps.
 */
#include <string.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "objects/keys.h"
#include "objects/object.h"
#include "objects/owner.h"
#include "sim/scenario/scenario_why.h"
#include "sim/why/why_internal.h"

enum { MESSAGE_MAX = 2048 };

static void add_cause(struct why *why, const char *reason, struct strbuf *message)
{
    vec_push(&why->causes, (struct why_cause){reason, arena_strdup(&why->arena, message->text)});
    strbuf_clear(message);
}

/* "0 of 4 nodes are eligible: taint not tolerated: dedicated=infra:NoSchedule (2 nodes); ..." */
static void add_static_causes(struct why *why, struct strbuf *message)
{
    const struct explanation *e = &why->explanation;
    const char *separator = ": ";

    if (e->all_nodes == 0 || e->eligible_nodes > 0)
        return;
    strbuf_addf(message, "0 of %u nodes are eligible", e->all_nodes);
    for (uint32_t i = 0; i < e->cause_count; i++) {
        const struct explained_cause *cause = &e->causes[i];

        if (!cause->is_static)
            continue;
        strbuf_addf(message, "%s%s%s%s (%u node%s)", separator, cause->text, *cause->detail ? ": " : "", cause->detail,
                    cause->nodes, cause->nodes == 1 ? "" : "s");
        separator = "; ";
    }
    add_cause(why, verdict_code_name(VERDICT_NO_NODE_ALLOWED), message);
}

/* A limit of the queue may have ended the attempt before the nodes were looked at. */
static void add_size_cause(struct why *why, struct strbuf *message)
{
    const struct explanation *e = &why->explanation;

    if (e->verdict.code == VERDICT_TOO_LARGE || e->pod == NO_ID || e->all_nodes == 0 ||
        !verdict_too_large_words(message, why->settled, e->pod))
        return;
    add_cause(why, verdict_code_name(VERDICT_TOO_LARGE), message);
}

uint32_t why_nodes_without_level(const struct why *why, uint32_t *ret_nodes)
{
    const struct state *state = why->settled;
    name_id level = why->explanation.level;
    uint32_t lacking = 0;

    *ret_nodes = state->nodes_by_rank.len;
    for (uint32_t i = 0; level != 0 && i < state->nodes_by_rank.len; i++) {
        const struct node *node = &state->nodes.items[state->nodes_by_rank.items[i]];

        lacking += labels_get(state_labels(state, node->labels), level) == NO_ID;
    }
    return lacking;
}

static void add_level_cause(struct why *why, struct strbuf *message)
{
    const struct explanation *e = &why->explanation;
    uint32_t nodes = 0;
    uint32_t lacking = why_nodes_without_level(why, &nodes);

    if (e->topology == 0 || lacking == 0 || state_find_topology(why->settled, e->topology) == NO_ID)
        return;
    strbuf_addf(message, "%u of %u nodes lack label %s, which topology %s needs", lacking, nodes,
                state_name(why->settled, e->level), state_name(why->settled, e->topology));
    add_cause(why, verdict_code_name(VERDICT_TOPOLOGY_FULL), message);
}

static bool has_cause(const struct why *why, const char *reason)
{
    for (uint32_t i = 0; i < why->causes.len; i++) {
        if (strcmp(why->causes.items[i].reason, reason) == 0)
            return true;
    }
    return false;
}

/* Whether the workload is kept from having pods by its own user, which is then said. */
static bool add_suspension(const struct why *why, struct strbuf *message)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];
    struct owner owner;

    if (!why->objects ||
        !owner_find(why->objects, state_name(why->state, gang->namespace), state_name(why->state, gang->name),
                    &owner) ||
        !owner.object)
        return false;
    yyjson_val *object = owner.object->root.val;

    if (!yyjson_is_true(yyjson_obj_get(yyjson_obj_get(object, "spec"), "suspend")))
        return false;
    if (yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(object, "metadata"), "annotations"), KEY_CANCELLED))
        strbuf_addf(message, "the %s was cancelled; submit it again", owner.kind);
    else
        strbuf_addf(message, "the %s is suspended; it gets pods when it is resumed", owner.kind);
    return true;
}

/* A gang without pods is never tried. */
static void add_hollow_cause(struct why *why, struct strbuf *message)
{
    if (add_suspension(why, message)) {
        add_cause(why, verdict_code_name(VERDICT_NOT_READY), message);
        return;
    }
    scenario_missing_pods(message, why->settled, why->settled_gang);
    strbuf_addf(message, "; pods join by the annotation pod-group-name: %s",
                state_name(why->settled, why->settled->gangs.items[why->settled_gang].name));
    add_cause(why, verdict_code_name(VERDICT_NOT_READY), message);
}

/* What the verdict itself says, unless a list of nodes has said it already. */
static void add_verdict_cause(struct why *why, struct strbuf *message)
{
    enum verdict_code code = why->explanation.verdict.code;

    if ((code == VERDICT_NO_NODE_ALLOWED || code == VERDICT_TOPOLOGY_FULL) && has_cause(why, verdict_code_name(code)))
        return;
    scenario_why(message, why->settled, why->run.engine, why->settled_gang);
    add_cause(why, verdict_code_name(code), message);
}

static void add_queue_cause(struct why *why, struct strbuf *message)
{
    const struct verdict *over = &why->explanation.over_queue;

    if (over->code == VERDICT_NONE || over->code == why->explanation.verdict.code)
        return;
    verdict_bound_words(message, why->settled, over);
    add_cause(why, verdict_code_name(over->code), message);
}

void why_find_causes(struct why *why)
{
    struct strbuf message;

    strbuf_init(&message, MESSAGE_MAX);
    if (why->has_no_pods) {
        add_hollow_cause(why, &message);
        strbuf_done(&message);
        return;
    }
    add_static_causes(why, &message);
    add_size_cause(why, &message);
    add_level_cause(why, &message);
    add_verdict_cause(why, &message);
    add_queue_cause(why, &message);
    strbuf_done(&message);
}
