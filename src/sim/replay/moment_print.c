/* SPDX-License-Identifier: Apache-2.0 */

/* A past cycle as tables: queues at its start, decisions, pending workloads with their reasons, running workloads. */
#include <inttypes.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/replay/player.h"
#include "sim/replay/replay.h"
#include "sim/report/reason.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario_why.h"
#include "text/table.h"

enum { ROWS_SHOWN = 200, CELL_MAX = 1024 };

/* Prints the table under a title if it has any rows; `more` were left out. */
static void print_table(struct table *t, const char *title, uint64_t more, const struct table_view *view, FILE *out)
{
    if (t->cells.len > 0) {
        (void)fprintf(out, "\n%s\n", title);
        table_print(t, view, out);
    }
    if (more > 0)
        (void)fprintf(out, "and %" PRIu64 " more\n", more);
    table_done(t);
}

static void add_gpus(struct table *t, double amount)
{
    if (amount < 0)
        table_cell(t, STYLE_DIM, "unlimited");
    else
        table_cell(t, amount > 0 ? STYLE_PLAIN : STYLE_DIM, "%.4g", amount);
}

static void print_queues(const struct replay_moment *moment, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"QUEUE", TABLE_LEFT, TABLE_CUT},         {"PARENT", TABLE_LEFT, TABLE_CUT},
        {"QUOTA", TABLE_RIGHT, TABLE_WHOLE},      {"LIMIT", TABLE_RIGHT, TABLE_WHOLE},
        {"FAIR SHARE", TABLE_RIGHT, TABLE_WHOLE}, {"ALLOCATED", TABLE_RIGHT, TABLE_WHOLE},
        {"REQUESTED", TABLE_RIGHT, TABLE_WHOLE},
    };
    const struct state *state = moment->state;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (queue_id id = 0; id < state->queues.len; id++) {
        const struct queue *queue = &state->queues.items[id];
        struct queue_share share;

        if (!queue->is_present)
            continue;
        share = engine_share(moment->engine, id);
        table_cell(&t, STYLE_PLAIN, "%s", state_name(state, queue->name));
        table_cell(&t, STYLE_PLAIN, "%s", state_name(state, queue->parent_name));
        add_gpus(&t, queue->deserved[SHARE_GPU]);
        add_gpus(&t, queue->limit[SHARE_GPU]);
        add_gpus(&t, share.fair[SHARE_GPU]);
        add_gpus(&t, share.allocated[SHARE_GPU]);
        add_gpus(&t, share.requested[SHARE_GPU]);
    }
    print_table(&t, "Queues at the start of the cycle, in GPUs", 0, view, out);
}

static void add_name(struct table *t, const struct state *state, gang_id gang)
{
    struct strbuf name;

    strbuf_init(&name, CELL_MAX);
    workload_add_name(&name, state, gang);
    table_cell(t, STYLE_PLAIN, "%s", name.text);
    strbuf_done(&name);
}

static void print_decisions(const struct replay_moment *moment, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {{"POD", TABLE_LEFT, TABLE_CUT}, {"DECISION", TABLE_LEFT, TABLE_WRAP}};
    size_t shown = MIN(moment->then_count, (size_t)ROWS_SHOWN);
    struct strbuf text;
    struct table t;

    strbuf_init(&text, CELL_MAX);
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < shown; i++) {
        const struct record_decision *at = &moment->then[i];

        strbuf_clear(&text);
        decision_text(&text, at);
        table_cell(&t, STYLE_PLAIN, "%s%s%s", at->namespace ? at->namespace : "",
                   at->namespace && *at->namespace ? "/" : "", at->pod ? at->pod : "");
        table_cell(&t, STYLE_PLAIN, "%s", text.text);
    }
    print_table(&t, "Decisions", moment->then_count - shown, view, out);
    strbuf_done(&text);
}

/* The gang's pods that have a node, and the first of these nodes. */
static uint32_t count_placed(const struct state *state, const struct gang *gang, node_id *ret_first)
{
    uint32_t placed = 0;

    *ret_first = NO_ID;
    for (uint32_t g = 0; g < gang->group_count; g++)
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++) {
            const struct pod *pod = &state->pods.items[gang->groups[g].pods.items[i]];

            if (pod->node == NO_ID || !status_in(pod->status, ALLOCATED_SET))
                continue;
            placed++;
            *ret_first = *ret_first == NO_ID ? pod->node : *ret_first;
        }
    return placed;
}

static void print_running(const struct replay_moment *moment, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {{"WORKLOAD", TABLE_LEFT, TABLE_CUT},
                                                  {"QUEUE", TABLE_LEFT, TABLE_CUT},
                                                  {"PODS", TABLE_RIGHT, TABLE_WHOLE},
                                                  {"NODES", TABLE_LEFT, TABLE_CUT}};
    const struct state *state = moment->state;
    uint64_t more = 0;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (gang_id id = 0; id < state->gangs.len; id++) {
        const struct gang *gang = &state->gangs.items[id];
        node_id first = NO_ID;
        uint32_t placed = gang->is_present ? count_placed(state, gang, &first) : 0;

        if (placed == 0)
            continue;
        if (t.cells.len / ARRAY_LEN(columns) == ROWS_SHOWN) {
            more++;
            continue;
        }
        add_name(&t, state, id);
        table_cell(&t, STYLE_PLAIN, "%s", state_name(state, gang->queue_name));
        table_cell(&t, STYLE_PLAIN, "%u", placed);
        table_cell(&t, STYLE_PLAIN, "%s%s", state_name(state, state->nodes.items[first].name),
                   placed > 1 ? ", ..." : "");
    }
    print_table(&t, "Running at the end of the cycle", more, view, out);
}

static void print_waiting(const struct replay_moment *moment, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"WORKLOAD", TABLE_LEFT, TABLE_CUT},
        {"OUTLOOK", TABLE_LEFT, TABLE_WHOLE},
        {"REASON", TABLE_LEFT, TABLE_WHOLE},
        {"MESSAGE", TABLE_LEFT, TABLE_WRAP},
    };
    const struct state *state = moment->state;
    uint64_t more = 0;
    struct strbuf why;
    struct table t;

    strbuf_init(&why, CELL_MAX);
    table_init(&t, columns, ARRAY_LEN(columns));
    for (gang_id id = 0; id < state->gangs.len; id++) {
        const struct gang *gang = &state->gangs.items[id];

        if (!gang->is_present || gang->pending == 0)
            continue;
        if (t.cells.len / ARRAY_LEN(columns) == ROWS_SHOWN) {
            more++;
            continue;
        }
        strbuf_clear(&why);
        scenario_why(&why, state, moment->engine, id);
        enum verdict_code code = engine_verdict(moment->engine, id).code;
        char words[REASON_TEXT_MAX];

        add_name(&t, state, id);
        table_cell(&t, verdict_class(code) == VERDICT_CLASS_NEVER ? STYLE_BAD : STYLE_WARN, "%s", reason_outlook(code));
        table_cell(&t, STYLE_PLAIN, "%s", reason_words(code, words));
        table_cell(&t, STYLE_PLAIN, "%s", why.text);
    }
    print_table(&t, "Pending", more, view, out);
    strbuf_done(&why);
}

void replay_moment_print(const struct replay_moment *moment, const struct table_view *view, FILE *out)
{
    char time[TIME_TEXT_MAX];

    (void)fprintf(out, "Cycle %" PRIu64 " at %s, segment %" PRIu64 "\n", moment->cycle, time_format(moment->now, time),
                  moment->segment);
    if (!moment->is_same)
        (void)fputs("This version decides differently: 'muster replay' without --at lists the differences.\n", out);
    print_queues(moment, view, out);
    print_decisions(moment, view, out);
    print_waiting(moment, view, out);
    print_running(moment, view, out);
}
