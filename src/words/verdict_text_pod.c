/* SPDX-License-Identifier: Apache-2.0 */

/* Why a pod found no place: what makes it unplaceable everywhere, or the reasons of all nodes, counted. */
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "words/verdict_text_internal.h"

static const char no_nodes[] = "no nodes with enough resources were found";

void add_pod_name(struct strbuf *out, const struct state *state, pod_id pod)
{
    const struct pod *p = &state->pods.items[pod];

    strbuf_addf(out, "%s/%s", state_name(state, p->namespace), state_name(state, p->name));
}

static void count_reason(void *lines, const char *reason)
{
    lines_add(lines, reason);
}

void add_pod_reasons(const struct verdict_text *text, struct strbuf *out)
{
    const struct explanation *e = text->explanation;
    struct lines lines = {0};
    struct strbuf reason;

    if (add_without_nodes(text, out))
        return;
    strbuf_init(&reason, REASON_MAX);
    for (uint32_t i = 0; i < e->node_count; i++) {
        struct reasons r = {text, &e->nodes[i], &reason, count_reason, &lines};
        if (e->nodes[i].test >= 0)
            give_reasons(&r);
    }
    strbuf_addstr(out, no_nodes);
    lines_number(&lines, true);
    lines_sort(&lines);
    vec_foreach (&lines, line)
        strbuf_addf(out, "%s%s", line == lines.items ? ": " : ". \n", line->text);
    if (lines.len > 0)
        strbuf_addch(out, '.');
    strbuf_done(&reason);
    lines_done(&lines);
}

struct node_line {
    struct strbuf *line;
    bool is_begun;
};

static void join_reason(void *context, const char *reason)
{
    struct node_line *to = context;

    strbuf_addf(to->line, "%s%s", to->is_begun ? ", " : "", reason);
    to->is_begun = true;
}

void add_pod_details(const struct verdict_text *text, struct strbuf *out)
{
    const struct explanation *e = text->explanation;
    struct lines lines = {0};
    struct strbuf reason;
    struct strbuf line;

    if (add_without_nodes(text, out))
        return;
    strbuf_init(&reason, REASON_MAX);
    strbuf_init(&line, REASON_MAX);
    strbuf_addf(&line, "%s.", no_nodes);
    lines_add(&lines, line.text);
    for (uint32_t i = 0; i < e->node_count; i++) {
        struct node_line to = {.line = &line};
        struct reasons r = {text, &e->nodes[i], &reason, join_reason, &to};

        if (e->nodes[i].test < 0)
            continue;
        strbuf_clear(&line);
        strbuf_addf(&line, "<%s>: ", reasons_node(&r));
        if (e->nodes[i].test == EXPLAINED_NO_ROOM)
            give_lack_details(&r);
        else
            give_reasons(&r);
        strbuf_addch(&line, '.');
        lines_add(&lines, line.text);
    }
    lines_sort(&lines);
    vec_foreach (&lines, at)
        strbuf_addf(out, "\n%s", at->text);
    strbuf_done(&line);
    strbuf_done(&reason);
    lines_done(&lines);
}
