/* SPDX-License-Identifier: Apache-2.0 */

/* Outcomes for people, as tables. */
#include "sim/scenario/scenario_print.h"

#include <string.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/books/books.h"
#include "model/state.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/scenario_why.h"
#include "text/table.h"

enum { CELL_MAX = 1024, NODES_SHOWN = 4, DEPTH_SHOWN = 8 };

static void add_gpus(struct table *t, enum text_style style, double amount)
{
    if (amount == UNLIMITED)
        table_cell(t, STYLE_DIM, "unlimited");
    else
        table_cell(t, style, "%.6g", amount);
}

static void add_queue_row(struct table *t, const struct scenario *s, const struct engine *engine, queue_id id)
{
    const struct queue *queue = &s->state->queues.items[id];
    struct queue_share share = engine_share(engine, id);
    double now = gpu_to_double(queue->allocated.v[SHARE_GPU]);
    bool is_over = share.fair[SHARE_GPU] != UNLIMITED && now > share.fair[SHARE_GPU];

    table_cell(t, STYLE_PLAIN, "%*s%s", (int)MIN(queue->depth, (uint32_t)DEPTH_SHOWN) * 2, "",
               state_name(s->state, queue->name));
    add_gpus(t, STYLE_PLAIN, queue->deserved[SHARE_GPU]);
    add_gpus(t, STYLE_PLAIN, queue->limit[SHARE_GPU]);
    add_gpus(t, STYLE_PLAIN, share.fair[SHARE_GPU]);
    add_gpus(t, STYLE_PLAIN, share.allocated[SHARE_GPU]);
    add_gpus(t, is_over ? STYLE_WARN : STYLE_PLAIN, now);
    add_gpus(t, STYLE_PLAIN, share.requested[SHARE_GPU]);
}

/* As a tree, each queue under its parent. Not by recursion, since the file decides how deep it is. */
static void add_queue_rows(struct table *t, const struct scenario *s, const struct engine *engine)
{
    VEC(queue_id) next = {0};

    for (uint32_t i = s->queues.len; i > 0; i--) {
        if (s->state->queues.items[s->queues.items[i - 1]].parent == NO_ID)
            vec_push(&next, s->queues.items[i - 1]);
    }
    while (next.len > 0) {
        queue_id id = vec_pop(&next);
        const struct queue *queue = &s->state->queues.items[id];

        add_queue_row(t, s, engine, id);
        for (uint32_t i = queue->children.len; i > 0; i--)
            vec_push(&next, queue->children.items[i - 1]);
    }
    vec_done(&next);
}

static void print_queues(FILE *out, const struct table_view *view, const struct scenario *s,
                         const struct engine *engine)
{
    static const struct table_column columns[] = {
        {"QUEUE", TABLE_LEFT, TABLE_CUT},        {"QUOTA", TABLE_RIGHT, TABLE_WHOLE},
        {"LIMIT", TABLE_RIGHT, TABLE_WHOLE},     {"FAIR SHARE", TABLE_RIGHT, TABLE_WHOLE},
        {"BEFORE", TABLE_RIGHT, TABLE_WHOLE},    {"ALLOCATED", TABLE_RIGHT, TABLE_WHOLE},
        {"REQUESTED", TABLE_RIGHT, TABLE_WHOLE},
    };
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    add_queue_rows(&t, s, engine);
    (void)fprintf(out, "Queues, in GPUs\n");
    table_print(&t, view, out);
    table_done(&t);
}

/* Statuses as a person would say them, in the order in which they are listed. */
static const struct {
    enum pod_status status;
    enum text_style style;
    const char *word;
} words[] = {
    {POD_RUNNING, STYLE_GOOD, "Running"},      {POD_BOUND, STYLE_GOOD, "Running"},
    {POD_BINDING, STYLE_GOOD, "Starting"},     {POD_ALLOCATED, STYLE_GOOD, "Starting"},
    {POD_PIPELINED, STYLE_WARN, "Preempting"}, {POD_RELEASING, STYLE_BAD, "Leaving"},
    {POD_STUCK, STYLE_BAD, "Stuck"},           {POD_PENDING, STYLE_DIM, "Pending"},
    {POD_GATED, STYLE_DIM, "Gated"},           {POD_SUCCEEDED, STYLE_DIM, "Completed"},
    {POD_FAILED, STYLE_DIM, "Failed"},         {POD_UNKNOWN, STYLE_DIM, "Unknown"},
    {POD_DELETED, STYLE_DIM, "Deleted"},
};
_Static_assert(ARRAY_LEN(words) == _POD_STATUS_MAX, "every status has a word");

static void add_node(struct strbuf *text, const char *name, uint32_t pods)
{
    strbuf_addf(text, "%s%s", text->len ? ", " : "", name);
    if (pods > 1)
        strbuf_addf(text, " x%u", pods);
}

/* "gpu-1 x3, gpu-2" of the job's pods with that status. */
static void add_nodes(struct strbuf *text, const struct scenario *s, const struct scenario_job *job, uint32_t status)
{
    node_id last = NO_ID;
    uint32_t run = 0;
    uint32_t shown = 0;

    for (uint32_t i = 0; i <= job->pod_count; i++) {
        const struct pod *pod = i < job->pod_count ? &s->state->pods.items[s->pods.items[job->first_pod + i]] : NULL;

        if (pod && (pod->status != status || pod->node == NO_ID))
            continue;
        if (pod && pod->node == last) {
            run++;
            continue;
        }
        if (last != NO_ID && shown++ < NODES_SHOWN)
            add_node(text, state_name(s->state, s->state->nodes.items[last].name), run);
        last = pod ? pod->node : NO_ID;
        run = 1;
    }
    if (shown > NODES_SHOWN)
        strbuf_addf(text, " and %u more", shown - NODES_SHOWN);
}

static void add_job_rows(struct table *t, const struct scenario *s, const struct scenario_job *job)
{
    const struct state *state = s->state;
    const struct gang *gang = &state->gangs.items[job->gang];
    struct strbuf where;

    strbuf_init(&where, CELL_MAX);
    for (size_t w = 0; w < ARRAY_LEN(words); w++) {
        uint32_t count = 0;
        double gpus = 0;

        for (uint32_t i = 0; i < job->pod_count; i++) {
            pod_id pod = s->pods.items[job->first_pod + i];

            if (state->pods.items[pod].status != words[w].status)
                continue;
            count++;
            gpus += gpu_to_double(pod_asked(state, pod).v[SHARE_GPU]);
        }
        if (count == 0)
            continue;
        strbuf_clear(&where);
        add_nodes(&where, s, job, words[w].status);
        table_cell(t, STYLE_PLAIN, "%s", state_name(state, gang->name));
        table_cell(t, STYLE_PLAIN, "%s", state_name(state, gang->queue_name));
        table_cell(t, STYLE_PLAIN, "%d", gang->priority);
        table_cell(t, words[w].style, "%s", words[w].word);
        table_cell(t, STYLE_PLAIN, "%u", count);
        table_cell(t, STYLE_PLAIN, "%.6g", gpus);
        table_cell(t, STYLE_PLAIN, "%s", where.text);
    }
    strbuf_done(&where);
}

static void print_jobs(FILE *out, const struct table_view *view, const struct scenario *s)
{
    static const struct table_column columns[] = {
        {"WORKLOAD", TABLE_LEFT, TABLE_CUT}, {"QUEUE", TABLE_LEFT, TABLE_CUT},   {"PRIORITY", TABLE_RIGHT, TABLE_WHOLE},
        {"STATE", TABLE_LEFT, TABLE_WHOLE},  {"PODS", TABLE_RIGHT, TABLE_WHOLE}, {"GPUS", TABLE_RIGHT, TABLE_WHOLE},
        {"NODES", TABLE_LEFT, TABLE_WRAP},
    };
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < s->jobs.len; i++)
        add_job_rows(&t, s, &s->jobs.items[i]);
    (void)fprintf(out, "\nWorkloads\n");
    table_print(&t, view, out);
    table_done(&t);
}

static void print_waiting(FILE *out, const struct table_view *view, const struct scenario *s,
                          const struct engine *engine)
{
    static const struct table_column columns[] = {
        {"WORKLOAD", TABLE_LEFT, TABLE_CUT},
        {"REASON", TABLE_LEFT, TABLE_WHOLE},
        {"OUTLOOK", TABLE_LEFT, TABLE_WHOLE},
        {"MESSAGE", TABLE_LEFT, TABLE_WRAP},
    };
    struct strbuf why;
    struct table t;

    strbuf_init(&why, CELL_MAX);
    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < s->jobs.len; i++) {
        gang_id id = s->jobs.items[i].gang;
        const struct gang *gang = &s->state->gangs.items[id];
        struct verdict verdict;

        if (gang->pending == 0)
            continue;
        verdict = engine_verdict(engine, id);
        strbuf_clear(&why);
        scenario_why(&why, s->state, engine, id);
        table_cell(&t, STYLE_PLAIN, "%s", state_name(s->state, gang->name));
        table_cell(&t, STYLE_WARN, "%s", verdict_code_name(verdict.code));
        table_cell(&t, STYLE_PLAIN, "%s", verdict_class_name(verdict_class(verdict.code)));
        table_cell(&t, STYLE_PLAIN, "%s", why.text);
    }
    if (t.cells.len > 0) {
        (void)fprintf(out, "\nPending workloads\n");
        table_print(&t, view, out);
    }
    table_done(&t);
    strbuf_done(&why);
}

static void print_heading(FILE *out, const struct scenario *s)
{
    bool has_both = *s->id && *s->name && strcmp(s->id, s->name) != 0;
    struct strbuf text;

    strbuf_init(&text, CELL_MAX);
    strbuf_addf(&text, "%s%s%s", *s->id ? s->id : s->name, has_both ? ": " : "", has_both ? s->name : "");
    (void)table_clean(text.text);
    (void)fprintf(out, "%s\n\n", text.text);
    strbuf_done(&text);
}

void scenario_print(FILE *out, const struct scenario *s, const struct engine *engine)
{
    struct table_view view = table_view_of(stdout);

    print_heading(out, s);
    print_queues(out, &view, s, engine);
    print_jobs(out, &view, s);
    print_waiting(out, &view, s, engine);
}
