/* SPDX-License-Identifier: Apache-2.0 */

/* The answer for people: the verdict, what lies behind it as a tree, and what would help. */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/scenario/scenario_why.h"
#include "sim/why/why_internal.h"
#include "text/table.h"

enum { LINE_MAX_BYTES = 2048, HOLDERS_SHOWN = 8, DOMAINS_SHOWN = 12 };

/* Lines with their depth; which strokes stand in front of one depends on those that follow. */
struct tree_line {
    uint32_t depth;
    char *text;  // owned
};

struct tree {
    VEC(struct tree_line) lines;
    struct strbuf line;  // being written
};

static void end_line(struct tree *tree, uint32_t depth)
{
    vec_push(&tree->lines, (struct tree_line){depth, xstrdup(tree->line.text)});
    strbuf_clear(&tree->line);
}

static bool has_sibling(const struct tree *tree, uint32_t at, uint32_t depth)
{
    for (uint32_t i = at + 1; i < tree->lines.len && tree->lines.items[i].depth >= depth; i++) {
        if (tree->lines.items[i].depth == depth)
            return true;
    }
    return false;
}

static void print_tree(struct tree *tree, FILE *out)
{
    for (uint32_t i = 0; i < tree->lines.len; i++) {
        const struct tree_line *line = &tree->lines.items[i];

        for (uint32_t depth = 0; depth < line->depth; depth++)
            (void)fputs(has_sibling(tree, i, depth) ? "│  " : "   ", out);
        (void)fprintf(out, "%s%s\n", has_sibling(tree, i, line->depth) ? "├─ " : "└─ ", line->text);
        free(line->text);
    }
    vec_done(&tree->lines);
    strbuf_done(&tree->line);
}

static void add_asked(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;
    const struct state *state = why->settled;

    if (e->chunk_count == 0)
        return;
    strbuf_addf(&tree->line, "%u pod%s to place%s, ", e->chunk_count, e->chunk_count == 1 ? "" : "s",
                e->chunk_count == 1 ? "" : " together");
    for (int r = SHARE_COUNT; r-- > 0;) {
        why_share(&tree->line, r, e->asked[r]);
        strbuf_addstr(&tree->line, r > 0 ? ", " : "");
    }
    end_line(tree, 0);
    if (e->tried.pod == NO_ID)
        return;
    strbuf_addf(&tree->line, "pod %s finds no place", state_name(state, state->pods.items[e->pod].name));
    if (e->placed_before > 0)
        strbuf_addf(&tree->line, ", after %u that do", e->placed_before);
    end_line(tree, 1);
}

static void add_lacks(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;

    for (uint32_t i = 0; i < e->lack_count; i++) {
        const struct explained_lack *lack = &e->lacks[i];

        strbuf_addf(&tree->line, "%u lack%s %s: ", lack->nodes, lack->nodes == 1 ? "s" : "",
                    why_resource_name(why->settled, lack->dim));
        strbuf_addstr(&tree->line, "a pod needs ");
        why_amount(&tree->line, why->settled, lack->dim, lack->needed);
        strbuf_addf(&tree->line, ", %s comes closest and lacks ",
                    state_name(why->settled, why->settled->nodes.items[lack->best].name));
        why_amount(&tree->line, why->settled, lack->dim, lack->least);
        end_line(tree, 2);
    }
}

static void add_nodes(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;

    if (e->node_count == 0)
        return;
    strbuf_addf(&tree->line, "nodes: %u of %u may take it by what they are", e->allowed_count, e->node_count);
    end_line(tree, 0);
    for (uint32_t i = 0; i < e->test_count; i++) {
        const struct explained_test *test = &e->tests[i];

        if (test->nodes == 0)
            continue;
        if (i == EXPLAINED_NO_ROOM)
            strbuf_addf(&tree->line, "%u %s not have enough free", test->nodes, test->nodes == 1 ? "does" : "do");
        else
            strbuf_addf(&tree->line, "%u fail%s %s: %s", test->nodes, test->nodes == 1 ? "s" : "", test->name,
                        test->text);
        end_line(tree, 1);
        if (i == EXPLAINED_NO_ROOM)
            add_lacks(tree, why);
    }
}

static void add_queue_line(struct tree *tree, const struct why *why, const struct explained_queue *queue, int r)
{
    strbuf_addf(&tree->line, "%s: quota ", state_name(why->settled, why->settled->queues.items[queue->queue].name));
    why_share(&tree->line, r, queue->quota[r]);
    strbuf_addstr(&tree->line, ", limit ");
    why_share(&tree->line, r, queue->limit[r]);
    strbuf_addstr(&tree->line, ", fair share ");
    why_share(&tree->line, r, queue->fair[r]);
    strbuf_addstr(&tree->line, "; holds ");
    why_share(&tree->line, r, queue->allocated[r]);
    if (queue->fixed[r] > 0) {
        strbuf_addstr(&tree->line, " (");
        why_share(&tree->line, r, queue->fixed[r]);
        strbuf_addstr(&tree->line, " of it not preemptible)");
    }
    strbuf_addstr(&tree->line, ", this asks for ");
    why_share(&tree->line, r, queue->asked[r]);
}

/* Of the resources, the one that a bound is about; else GPUs, or CPU for those that need none. */
static int telling_resource(const struct explanation *e)
{
    if (e->tried.code == VERDICT_OVER_LIMIT || e->tried.code == VERDICT_OVER_QUOTA)
        return e->tried.resource;
    return e->asked[SHARE_GPU] > 0 ? SHARE_GPU : SHARE_CPU;
}

static void add_queues(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;

    if (e->queue_count == 0)
        return;
    strbuf_addstr(&tree->line, "queues, from its own to the root");
    end_line(tree, 0);
    for (uint32_t i = 0; i < e->queue_count; i++) {
        add_queue_line(tree, why, &e->queues[i], telling_resource(e));
        if (e->tried.queue == e->queues[i].queue && e->tried.queue != NO_ID)
            strbuf_addstr(&tree->line,
                          e->tried.code == VERDICT_OVER_LIMIT ? "  <- over its limit" : "  <- over its quota");
        end_line(tree, 1);
    }
}

static void add_refusal(struct tree *tree, const struct why *why, const struct explained_holder *holder)
{
    static const char *const words[] = {
        [REFUSAL_NONE] = "may be evicted, but that does not make room enough",
        [REFUSAL_FIXED] = "may not be preempted",
        [REFUSAL_PRIORITY] = "has no lower priority",
        [REFUSAL_OWN_SHARE] = "stays: this workload's queue would go beyond its fair share",
        [REFUSAL_IN_QUOTA] = "stays: its queue has no more than it may keep",
        [REFUSAL_MIN_RUNTIME] = "may run on for its minimum runtime",
        [REFUSAL_DELAY] = "stays: this workload may not evict others yet",
        [REFUSAL_ACTION] = "stays: no action that evicts is switched on",
        [REFUSAL_FOREIGN] = "belongs to other schedulers",
    };
    char text[DURATION_TEXT_MAX];
    const char *separator = "; ";

    _Static_assert(ARRAY_LEN(words) == _EXPLAINED_REFUSAL_MAX, "every refusal has words");
    strbuf_addf(&tree->line, "%s%s", separator, words[holder->refusal]);
    if (holder->refusal == REFUSAL_MIN_RUNTIME || holder->refusal == REFUSAL_DELAY)
        strbuf_addf(&tree->line, ", %s more", duration_format(holder->until - why->now, text));
}

static void add_holders(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;
    const struct state *state = why->settled;
    int r = telling_resource(e);
    uint32_t shown = 0;
    double rest = 0;

    if (e->holder_count == 0)
        return;
    strbuf_addstr(&tree->line, "held on those nodes by");
    end_line(tree, 0);
    for (uint32_t i = 0; i < e->holder_count; i++) {
        const struct explained_holder *holder = &e->holders[i];

        if (shown == HOLDERS_SHOWN) {
            rest += holder->held[r];
            continue;
        }
        shown++;
        if (holder->gang == NO_ID)
            strbuf_addstr(&tree->line, "other pods: ");
        else
            strbuf_addf(&tree->line, "%s of queue %s: ", state_name(state, state->gangs.items[holder->gang].name),
                        state_name(state, state->gangs.items[holder->gang].queue_name));
        why_share(&tree->line, r, holder->held[r]);
        add_refusal(tree, why, holder);
        end_line(tree, 1);
    }
    if (e->holder_count > shown) {
        strbuf_addf(&tree->line, "%u more: ", e->holder_count - shown);
        why_share(&tree->line, r, rest);
        end_line(tree, 1);
    }
}

static void add_domains(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;

    if (e->topology == 0)
        return;
    strbuf_addf(&tree->line, "topology %s: %u pods have to be in one %s", state_name(why->settled, e->topology),
                e->domain_need, e->level ? state_name(why->settled, e->level) : "domain");
    if (e->domain_count == 0 && state_find_topology(why->settled, e->topology) == NO_ID)
        strbuf_addstr(&tree->line, ", but there is no such topology");
    end_line(tree, 0);
    for (uint32_t i = 0; i < e->domain_count && i < DOMAINS_SHOWN; i++) {
        const struct explained_domain *domain = &e->domains[i];

        strbuf_addf(&tree->line, "%s, %u node%s: ", domain->name, domain->nodes, domain->nodes == 1 ? "" : "s");
        if (domain->pods >= 0)
            strbuf_addf(&tree->line, "room for %lld", (long long)domain->pods);
        else
            strbuf_addstr(&tree->line, domain->lacks ? "too little room" : "room enough in sum");
        end_line(tree, 1);
    }
    if (e->domain_count > DOMAINS_SHOWN) {
        strbuf_addf(&tree->line, "%u more", e->domain_count - DOMAINS_SHOWN);
        end_line(tree, 1);
    }
}

static void print_head(const struct why *why, FILE *out)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];
    const char *namespace = state_name(why->state, gang->namespace);
    const struct verdict *verdict = &why->explanation.verdict;
    struct strbuf words;

    (void)fprintf(out, "%s%s%s of queue %s, priority %d, ", namespace, *namespace ? "/" : "",
                  state_name(why->state, gang->name), state_name(why->state, gang->queue_name), gang->priority);
    if (why->runs) {
        (void)fprintf(out, "runs: %s.\n", gang->pending == 0 ? "all of its pods have a place" : "it gets a place");
        return;
    }
    strbuf_init(&words, LINE_MAX_BYTES);
    scenario_why(&words, why->settled, why->run.engine, why->settled_gang);
    (void)fprintf(out, "waits: %s (%s)\n%s.\n", verdict_code_name(verdict->code),
                  verdict_class_name(verdict_class(verdict->code)), words.text);
    strbuf_done(&words);
    if (why->more_than > 0)
        (void)fprintf(out, "It runs with %u pods; this is about the next one.\n", why->more_than);
    if (!why->run.is_settled)
        (void)fprintf(out, "The cluster does not come to rest: after %u cycles pods still come and go.\n",
                      why->run.cycles);
}

static void print_remedies(const struct why *why, FILE *out)
{
    struct strbuf text;

    if (why->is_never)
        (void)fputs("\nNever as it is: not even on the empty cluster, with neither quotas nor limits.\n", out);
    if (why->remedies.len == 0) {
        (void)fprintf(out, "\nNothing helps: of %u changes that were tried, none lets it run.\n", why->tries);
        return;
    }
    (void)fprintf(out, "\nWhat would help, each found by trying it on a copy (%u tries)\n", why->tries);
    strbuf_init(&text, LINE_MAX_BYTES);
    for (uint32_t i = 0; i < why->remedies.len; i++) {
        strbuf_clear(&text);
        why_remedy_text(why, &why->remedies.items[i], &text);
        (void)fprintf(out, "%3u. %s\n", i + 1, text.text);
    }
    strbuf_done(&text);
}

void why_print(const struct why *why, FILE *out)
{
    struct tree tree = {0};

    print_head(why, out);
    if (why->runs)
        return;
    strbuf_init(&tree.line, LINE_MAX_BYTES);
    add_asked(&tree, why);
    add_nodes(&tree, why);
    add_domains(&tree, why);
    add_queues(&tree, why);
    add_holders(&tree, why);
    (void)fputc('\n', out);
    print_tree(&tree, out);
    print_remedies(why, out);
}
