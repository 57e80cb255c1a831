/* SPDX-License-Identifier: Apache-2.0 */

/* The answer for people: the verdict, what lies behind it as a tree, and what would help. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "model/state.h"
#include "sim/why/why_amount.h"
#include "sim/why/why_find.h"
#include "sim/why/why_internal.h"
#include "sim/why/why_tree.h"
#include "text/wrap.h"

enum { LINE_MAX_BYTES = 4096, PATCH_MAX_BYTES = 64 * 1024, HOLDERS_SHOWN = 8, DOMAINS_SHOWN = 12 };
#define COMMAND_LEAD "       "

static void add_asked(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;
    const struct state *state = why->settled;
    const char *separator = ": ";

    if (e->chunk_count == 0)
        return;
    strbuf_addf(&tree->line, "%u pod%s to place%s", e->chunk_count, e->chunk_count == 1 ? "" : "s",
                e->chunk_count == 1 ? "" : " together");
    for (int r = SHARE_COUNT; r-- > 0;) {
        if (e->asked[r] <= 0)
            continue;
        strbuf_addstr(&tree->line, separator);
        amount_add_share(&tree->line, r, e->asked[r]);
        strbuf_addstr(&tree->line, r == SHARE_MEMORY ? " of memory" : "");
        separator = ", ";
    }
    tree_end_line(tree, 0);
    if (e->tried.pod == NO_ID)
        return;
    strbuf_addf(&tree->line, "pod %s finds no node", state_name(state, state->pods.items[e->pod].name));
    if (e->placed_before > 0)
        strbuf_addf(&tree->line, ", after %u that do", e->placed_before);
    tree_end_line(tree, 1);
}

/* "4 of 4 nodes: insufficient free GPUs; a pod requests 8 GPUs, gpu-1 comes closest and lacks 2 GPUs" */
static void add_lacks(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;

    for (uint32_t i = 0; i < e->lack_count; i++) {
        const struct explained_lack *lack = &e->lacks[i];

        strbuf_addf(&tree->line, "%u of %u nodes: insufficient free %s; a pod requests ", lack->nodes, e->all_nodes,
                    amount_resource(why->settled, lack->dim));
        amount_add(&tree->line, why->settled, lack->dim, lack->needed);
        strbuf_addf(&tree->line, ", %s comes closest and lacks ",
                    state_name(why->settled, why->settled->nodes.items[lack->best].name));
        amount_add(&tree->line, why->settled, lack->dim, lack->least);
        tree_end_line(tree, 1);
    }
}

static void add_nodes(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;

    if (e->all_nodes == 0)
        return;
    strbuf_addf(&tree->line, "nodes: %u of %u %s eligible", e->eligible_nodes, e->all_nodes,
                e->all_nodes == 1 ? "is" : "are");
    tree_end_line(tree, 0);
    for (uint32_t i = 0; i < e->cause_count; i++) {
        const struct explained_cause *cause = &e->causes[i];

        strbuf_addf(&tree->line, "%u of %u nodes: %s%s%s", cause->nodes, e->all_nodes, cause->text,
                    *cause->detail ? ": " : "", cause->detail);
        tree_end_line(tree, 1);
    }
    add_lacks(tree, why);
}

static void add_queue_line(struct tree *tree, const struct why *why, const struct explained_queue *queue, int r)
{
    strbuf_addf(&tree->line, "%s: quota ", state_name(why->settled, why->settled->queues.items[queue->queue].name));
    amount_add_share(&tree->line, r, queue->quota[r]);
    strbuf_addstr(&tree->line, ", limit ");
    amount_add_share(&tree->line, r, queue->limit[r]);
    strbuf_addstr(&tree->line, ", fair share ");
    amount_add_share(&tree->line, r, queue->fair[r]);
    strbuf_addstr(&tree->line, "; allocated ");
    amount_add_share(&tree->line, r, queue->allocated[r]);
    if (queue->fixed[r] > 0) {
        strbuf_addstr(&tree->line, " (");
        amount_add_share(&tree->line, r, queue->fixed[r]);
        strbuf_addstr(&tree->line, " of it to non-preemptible workloads)");
    }
    strbuf_addstr(&tree->line, ", this workload requests ");
    amount_add_share(&tree->line, r, queue->asked[r]);
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

    if (e->queue_count == 0 || (e->asked[SHARE_GPU] <= 0 && e->asked[SHARE_CPU] <= 0))
        return;
    strbuf_addstr(&tree->line, "queues, from its own to the root");
    tree_end_line(tree, 0);
    for (uint32_t i = 0; i < e->queue_count; i++) {
        add_queue_line(tree, why, &e->queues[i], telling_resource(e));
        if (e->tried.queue == e->queues[i].queue && e->tried.queue != NO_ID)
            strbuf_addstr(&tree->line, e->tried.code == VERDICT_OVER_LIMIT ? ", which is over its limit"
                                                                           : ", which is over its quota");
        tree_end_line(tree, 1);
    }
}

static void add_refusal(struct tree *tree, const struct why *why, const struct explained_holder *holder)
{
    static const char *const words[] = {
        [REFUSAL_NONE] = "can be preempted, but that does not free enough",
        [REFUSAL_FIXED] = "is not preemptible",
        [REFUSAL_PRIORITY] = "has the same or a higher priority",
        [REFUSAL_OWN_SHARE] = "is protected: this workload's queue would exceed its fair share",
        [REFUSAL_IN_QUOTA] = "is protected: its queue is within its quota or fair share",
        [REFUSAL_MIN_RUNTIME] = "is protected by its minimum runtime",
        [REFUSAL_DELAY] = "is protected: this workload may not preempt others yet",
        [REFUSAL_ACTION] = "is protected: no action that preempts is enabled",
        [REFUSAL_FOREIGN] = "belong to other schedulers",
    };
    char text[DURATION_TEXT_MAX];
    const char *separator = "; ";

    _Static_assert(ARRAY_LEN(words) == _EXPLAINED_REFUSAL_MAX, "every refusal has words");
    strbuf_addf(&tree->line, "%s%s", separator, words[holder->refusal]);
    if (holder->refusal == REFUSAL_MIN_RUNTIME || holder->refusal == REFUSAL_DELAY)
        strbuf_addf(&tree->line, " for another %s", duration_format(holder->until - why->now, text));
}

static void add_holder_name(struct tree *tree, const struct why *why, gang_id gang)
{
    why_workload_name(why->settled, why->objects, gang, &tree->line);
    strbuf_addf(&tree->line, " of queue %s: ", state_name(why->settled, why->settled->gangs.items[gang].queue_name));
}

static bool is_anything_held(const struct explanation *e, int resource)
{
    for (uint32_t i = 0; i < e->holder_count; i++) {
        if (e->holders[i].held[resource] > 0)
            return true;
    }
    return false;
}

static void add_holders(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;
    int r = telling_resource(e);
    uint32_t shown = 0;
    uint32_t more = 0;
    double rest = 0;

    if (!is_anything_held(e, r))
        return;
    strbuf_addstr(&tree->line, "workloads on the eligible nodes");
    tree_end_line(tree, 0);
    for (uint32_t i = 0; i < e->holder_count; i++) {
        const struct explained_holder *holder = &e->holders[i];

        if (holder->held[r] <= 0)
            continue;
        if (shown == HOLDERS_SHOWN) {
            rest += holder->held[r];
            more++;
            continue;
        }
        shown++;
        if (holder->gang == NO_ID)
            strbuf_addstr(&tree->line, "other pods: ");
        else
            add_holder_name(tree, why, holder->gang);
        amount_add_share(&tree->line, r, holder->held[r]);
        add_refusal(tree, why, holder);
        tree_end_line(tree, 1);
    }
    if (more > 0) {
        strbuf_addf(&tree->line, "%u more: ", more);
        amount_add_share(&tree->line, r, rest);
        tree_end_line(tree, 1);
    }
}

static void add_domains(struct tree *tree, const struct why *why)
{
    const struct explanation *e = &why->explanation;
    uint32_t nodes = 0;
    uint32_t lacking = why_nodes_without_level(why, &nodes);

    if (e->topology == 0)
        return;
    strbuf_addf(&tree->line, "topology %s: %u pod%s to be in one domain of level %s",
                state_name(why->settled, e->topology), e->domain_need, e->domain_need == 1 ? " has" : "s have",
                e->level ? state_name(why->settled, e->level) : "none");
    if (e->domain_count == 0 && state_find_topology(why->settled, e->topology) == NO_ID)
        strbuf_addstr(&tree->line, ", but there is no such topology");
    tree_end_line(tree, 0);
    if (lacking > 0 && e->level != 0) {
        strbuf_addf(&tree->line, "%u of %u nodes lack label %s", lacking, nodes, state_name(why->settled, e->level));
        tree_end_line(tree, 1);
    }
    for (uint32_t i = 0; i < e->domain_count && i < DOMAINS_SHOWN; i++) {
        const struct explained_domain *domain = &e->domains[i];

        strbuf_addf(&tree->line, "%s, %u node%s: ", domain->name, domain->nodes, domain->nodes == 1 ? "" : "s");
        if (domain->pods >= 0)
            strbuf_addf(&tree->line, "room for %lld of %u pods", (long long)domain->pods, e->domain_need);
        else
            strbuf_addstr(&tree->line,
                          domain->lacks ? "insufficient free resources" : "enough free resources in total");
        tree_end_line(tree, 1);
    }
    if (e->domain_count > DOMAINS_SHOWN) {
        strbuf_addf(&tree->line, "%u more", e->domain_count - DOMAINS_SHOWN);
        tree_end_line(tree, 1);
    }
}

/* "WORKLOAD  team-a/train" */
static void print_field(const struct table_view *view, const char *title, enum text_style style, const char *text,
                        FILE *out)
{
    char lead[16];

    (void)snprintf(lead, sizeof lead, "%-10s", title);
    wrap_print(out, view, lead, "          ", style, text);
}

static enum text_style style_of(const char *outlook)
{
    if (strcmp(outlook, "never") == 0)
        return STYLE_BAD;
    return strcmp(outlook, "fine") == 0 || strcmp(outlook, "soon") == 0 ? STYLE_GOOD : STYLE_WARN;
}

static void print_workload(const struct why *why, const struct table_view *view, struct strbuf *text, FILE *out)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];

    why_workload_name(why->state, why->objects, why->gang, text);
    strbuf_addf(text, " (queue %s, priority %d, %s)", state_name(why->state, gang->queue_name), gang->priority,
                gang->is_preemptible ? "preemptible" : "non-preemptible");
    print_field(view, "WORKLOAD", STYLE_BOLD, text->text, out);
    strbuf_clear(text);
}

static void print_head(const struct why *why, const struct table_view *view, FILE *out)
{
    const char *outlook = why_outlook(why);
    struct strbuf text;

    strbuf_init(&text, LINE_MAX_BYTES);
    print_workload(why, view, &text, out);
    strbuf_addstr(&text, why_state(why));
    if (why->more_than > 0 && !why->runs)
        strbuf_addf(&text, " (%u pod%s run; this is about the next one)", why->more_than,
                    why->more_than == 1 ? "" : "s");
    print_field(view, "STATE", STYLE_PLAIN, text.text, out);
    for (uint32_t i = 0; i < why->causes.len; i++) {
        strbuf_clear(&text);
        strbuf_addf(&text, "%s: %s", why->causes.items[i].reason, why->causes.items[i].message);
        print_field(view, i == 0 ? "REASON" : "", STYLE_PLAIN, text.text, out);
    }
    strbuf_clear(&text);
    strbuf_addstr(&text, outlook);
    if (why->is_never)
        strbuf_addstr(&text, ": not even on an empty cluster without quotas and limits");
    print_field(view, "OUTLOOK", style_of(outlook), text.text, out);
    if (!why->run.is_settled)
        (void)fprintf(out, "The cluster does not settle: after %u cycles, pods are still being placed and evicted.\n",
                      why->run.cycles);
    strbuf_done(&text);
}

/* Commands are there to be copied, so that they are broken where a shell and JSON allow it: between the operations of a
 * patch, inside the quotes. */
static void print_command(const struct table_view *view, char *command, FILE *out)
{
    const struct table_view unlimited = {.has_colour = view->has_colour};
    bool is_long = view->width > 0 && table_columns(command) + strlen(COMMAND_LEAD) > view->width;
    const char *lead = COMMAND_LEAD;

    for (char *end; is_long && (end = strstr(command, "},{")); command = end + 2) {
        char kept = end[2];

        end[2] = '\0';
        wrap_print(out, &unlimited, lead, lead, STYLE_DIM, command);
        end[2] = kept;
        lead = COMMAND_LEAD "  ";
    }
    wrap_print(out, &unlimited, lead, lead, STYLE_DIM, command);
}

static void print_patch(const struct why *why, const struct table_view *view, const struct why_remedy *remedy,
                        FILE *out)
{
    struct strbuf commands;

    strbuf_init(&commands, PATCH_MAX_BYTES);
    why_remedy_patch(why, remedy, &commands);
    for (char *line = commands.text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        print_command(view, line, out);
    }
    strbuf_done(&commands);
}

/* Why there is no list of remedies. */
static void print_nothing(const struct why *why, const struct table_view *view, FILE *out)
{
    struct strbuf text;

    strbuf_init(&text, LINE_MAX_BYTES);
    if (why->line.first == NO_ID) {
        strbuf_addf(&text, "Nothing helps: none of %u changes that were tried, alone or in pairs, lets it run.",
                    why->tries);
    } else {
        strbuf_addstr(&text, "It waits in line: other workloads wait for the same room and come first. If ");
        why_workload_name(why->state, why->objects, why->line.ended, &text);
        strbuf_addstr(&text, " ended, ");
        why_workload_name(why->state, why->objects, why->line.first, &text);
        strbuf_addf(&text, " would start. None of %u changes that were tried lets this one run now.", why->tries);
    }
    (void)fputc('\n', out);
    wrap_print(out, view, "", "", STYLE_PLAIN, text.text);
    strbuf_done(&text);
}

static void print_remedies(const struct why *why, const struct table_view *view, FILE *out)
{
    struct strbuf text;
    char number[16];

    if (why->has_no_pods)
        return;
    if (why->remedies.len == 0) {
        print_nothing(why, view, out);
        return;
    }
    strbuf_init(&text, LINE_MAX_BYTES);
    strbuf_addf(&text, "What would help; each was tried on a copy of the cluster (%u tries)", why->tries);
    (void)fputc('\n', out);
    wrap_print(out, view, "", "", STYLE_BOLD, text.text);
    for (uint32_t i = 0; i < why->remedies.len; i++) {
        strbuf_clear(&text);
        why_remedy_text(why, &why->remedies.items[i], &text);
        (void)snprintf(number, sizeof number, "%3u. ", i + 1);
        wrap_print(out, view, number, "     ", STYLE_PLAIN, text.text);
        print_patch(why, view, &why->remedies.items[i], out);
    }
    strbuf_done(&text);
}

void why_print(const struct why *why, const struct table_view *view, FILE *out)
{
    struct tree tree;

    print_head(why, view, out);
    if (why->runs)
        return;
    tree_init(&tree);
    add_asked(&tree, why);
    add_nodes(&tree, why);
    add_domains(&tree, why);
    add_queues(&tree, why);
    add_holders(&tree, why);
    if (tree.lines.len > 0)
        (void)fputc('\n', out);
    tree_print(&tree, view, out);
    print_remedies(why, view, out);
}
