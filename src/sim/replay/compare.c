/* SPDX-License-Identifier: Apache-2.0 */

/* What was decided then and what is decided again, pod by pod. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/state.h"
#include "sim/replay/player.h"

enum { TEXT_MAX = 4096, NAME_MAX_BYTES = 1024 };

static const char *text_of(const char *text)
{
    return text ? text : "";
}

void decision_text(struct strbuf *out, const struct record_decision *decision)
{
    strbuf_addf(out, "%s", decision_kind_name(decision->kind));
    if (decision->node)
        strbuf_addf(out, " %s %s", decision->kind == DECISION_EVICT ? "from" : "to", decision->node);
    if (decision->for_gang)
        strbuf_addf(out, " for %s%s%s", text_of(decision->for_namespace), *text_of(decision->for_namespace) ? "/" : "",
                    decision->for_gang);
    strbuf_addf(out, " (%s)", action_name(decision->action));
}

static bool is_equal(const struct record_decision *a, const struct record_decision *b)
{
    return a->action == b->action && a->kind == b->kind && strcmp(text_of(a->namespace), text_of(b->namespace)) == 0 &&
           strcmp(text_of(a->pod), text_of(b->pod)) == 0 && strcmp(text_of(a->node), text_of(b->node)) == 0 &&
           strcmp(text_of(a->for_namespace), text_of(b->for_namespace)) == 0 &&
           strcmp(text_of(a->for_gang), text_of(b->for_gang)) == 0;
}

static int by_pod(const struct record_decision *a, const struct record_decision *b)
{
    int order = strcmp(text_of(a->namespace), text_of(b->namespace));

    return order ? order : strcmp(text_of(a->pod), text_of(b->pod));
}

/* Decisions about the same pod stay in their order, which is that of their places in memory. */
static int by_pod_and_place(const void *left, const void *right)
{
    const struct record_decision *a = *(const struct record_decision *const *)left;
    const struct record_decision *b = *(const struct record_decision *const *)right;
    int order = by_pod(a, b);

    return order ? order : (a > b) - (a < b);
}

static const struct record_decision **sort(const struct record_decision *decisions, size_t count)
{
    const struct record_decision **sorted = xcalloc(count + 1, sizeof *sorted);

    for (size_t i = 0; i < count; i++)
        sorted[i] = &decisions[i];
    qsort(sorted, count, sizeof *sorted, by_pod_and_place);
    return sorted;
}

static struct replay_difference *add(struct player *player, const struct record_cycle *cycle, const char *namespace,
                                     const char *name)
{
    struct replay *replay = player->replay;
    struct arena *arena = &replay->arena;

    if (replay->differences++ >= REPLAY_DIFFERENCES_KEPT)
        return NULL;
    vec_push(&replay->kept, (struct replay_difference){
                                .segment = player->segment,
                                .cycle = cycle->number,
                                .now = cycle->now,
                                .namespace = arena_strdup(arena, text_of(namespace)),
                                .name = arena_strdup(arena, text_of(name)),
                            });
    return &vec_last(&replay->kept);
}

static const char *texts_of(struct player *player, const struct record_decision *const *decisions, size_t count)
{
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < count; i++) {
        strbuf_addstr(&text, i ? ", " : "");
        decision_text(&text, decisions[i]);
    }
    const char *kept = arena_strdup(&player->replay->arena, count ? text.text : "nothing");

    strbuf_done(&text);
    return kept;
}

/* How many of the sorted decisions from `at` on are about `pod`. */
static size_t count_of(const struct record_decision *const *sorted, size_t at, size_t count,
                       const struct record_decision *pod)
{
    size_t end = at;

    while (end < count && by_pod(sorted[end], pod) == 0)
        end++;
    return end - at;
}

static bool compare_pods(struct player *player, const struct record_cycle *cycle,
                         const struct record_decision *const *then, size_t then_count,
                         const struct record_decision *const *again, size_t again_count)
{
    bool is_same = true;

    for (size_t t = 0, a = 0; t < then_count || a < again_count;) {
        const struct record_decision *pod = t == then_count ? again[a] : then[t];

        if (t < then_count && a < again_count && by_pod(again[a], pod) < 0)
            pod = again[a];
        size_t then_here = count_of(then, t, then_count, pod);
        size_t again_here = count_of(again, a, again_count, pod);
        bool is_equal_here = then_here == again_here;

        for (size_t i = 0; is_equal_here && i < then_here; i++)
            is_equal_here = is_equal(then[t + i], again[a + i]);
        if (!is_equal_here) {
            struct replay_difference *found = add(player, cycle, pod->namespace, pod->pod);

            is_same = false;
            if (found) {
                found->then = texts_of(player, then + t, then_here);
                found->again = texts_of(player, again + a, again_here);
            }
        }
        t += then_here;
        a += again_here;
    }
    return is_same;
}

bool compare_decisions(struct player *player, const struct record_cycle *cycle, const struct record_decision *again,
                       size_t count)
{
    bool is_same = count == cycle->decision_count;
    struct replay_difference *found;

    for (size_t i = 0; is_same && i < count; i++)
        is_same = is_equal(&cycle->decisions[i], &again[i]);
    if (is_same)
        return true;
    const struct record_decision **then_sorted = sort(cycle->decisions, cycle->decision_count);
    const struct record_decision **again_sorted = sort(again, count);

    if (compare_pods(player, cycle, then_sorted, cycle->decision_count, again_sorted, count) &&
        (found = add(player, cycle, "", "")) != NULL) {
        found->then = "the same";
        found->again = "in another order";
    }
    free((void *)then_sorted);
    free((void *)again_sorted);
    return false;
}

/* The place of a gang's verdict, by its name. */
static uint8_t *verdict_at(struct player *player, const char *namespace, const char *name)
{
    char key[NAME_MAX_BYTES];

    (void)snprintf(key, sizeof key, "%s/%s", text_of(namespace), text_of(name));
    uint32_t id = intern_id(&player->gangs, key, strlen(key));

    if (id >= player->verdicts.len)
        vec_resize(&player->verdicts, id + 1);
    return &player->verdicts.items[id];
}

bool compare_verdicts(struct player *player, const struct record_cycle *cycle)
{
    const struct state *state = player->state;
    bool is_same = true;

    for (size_t i = 0; i < cycle->verdict_count; i++)
        *verdict_at(player, cycle->verdicts[i].namespace, cycle->verdicts[i].gang) = (uint8_t)cycle->verdicts[i].code;
    for (uint32_t i = 0; i < state->pending_gangs.ids.len; i++) {
        gang_id id = state->pending_gangs.ids.items[i];
        const char *namespace = state_name(state, state->gangs.items[id].namespace);
        const char *name = state_name(state, state->gangs.items[id].name);
        enum verdict_code then = (enum verdict_code) * verdict_at(player, namespace, name);
        enum verdict_code again = engine_verdict(player->engine, id).code;

        player->replay->verdicts++;
        if (then == again)
            continue;
        struct replay_difference *found = add(player, cycle, namespace, name);

        is_same = false;
        if (found) {
            found->is_verdict = true;
            found->then = verdict_code_name(then);
            found->again = verdict_code_name(again);
        }
    }
    return is_same;
}
