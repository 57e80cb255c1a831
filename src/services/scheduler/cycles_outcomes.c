/* SPDX-License-Identifier: Apache-2.0 */

/* What becomes of the engine's decisions: each is executed, unless its pod has to be left alone for a while. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/delta.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/carry/evictions.h"
#include "services/scheduler/carry/setbacks.h"
#include "services/scheduler/cycles_internal.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"
#include "services/scheduler/setup.h"
#include "words/verdict_text.h"

enum { TEXT_MAX = 64 * 1024 };

/* A gang that is evicted for what it has lost hears so before its pods go. */
static void tell_stale(struct cycles *cycles, const struct decision *decision, gang_id *last, struct strbuf *text)
{
    gang_id gang = cycles->state->pods.items[decision->pod].gang;

    if (decision->kind != DECISION_EVICT || decision->action != ACTION_STALE_GANG || gang == NO_ID || gang == *last)
        return;
    *last = gang;
    strbuf_clear(text);
    verdict_text_stale(cycles->engine, gang, text);
    report_gang_event(cycles->report, gang, "StaleJob", text->text, NULL, 0);
}

void cycles_take_decisions(struct cycles *cycles, const struct scheduler_cycle *cycle, struct outcomes *outcomes)
{
    size_t count = 0;
    const struct decision *decisions = engine_decisions(cycles->engine, &count);
    gang_id last_stale = NO_ID;
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < count; i++) {
        OBSERVE(cycles->observers, on_decision, cycle, &decisions[i]);
        tell_stale(cycles, &decisions[i], &last_stale, &text);
        strbuf_clear(&text);
        verdict_text_decision(cycles->engine, &decisions[i], cycles->setup->pool_name, &text);
        vec_push(outcomes, (struct outcome){.decision = decisions[i], .text = xstrdup(text.text)});
    }
    strbuf_done(&text);
}

/* What decisions are looked up by while they are executed, one after the other. */
struct tally {
    struct map64 bound;    // pods that the decisions so far bind
    struct map64 evicted;  // pods that any decision evicts
    struct map64 leaving;  // by gang: how many of those leave
};

static void tally_init(struct tally *tally, const struct cycles *cycles, const struct outcomes *outcomes)
{
    *tally = (struct tally){0};
    vec_foreach (outcomes, outcome) {
        pod_id id = outcome->decision.pod;
        const struct pod *pod = &cycles->state->pods.items[id];
        uint64_t count = 0;

        if (outcome->decision.kind != DECISION_EVICT || pod->status != POD_RELEASING ||
            map64_get(&tally->evicted, id, NULL))
            continue;
        map64_put(&tally->evicted, id, 1);
        (void)map64_get(&tally->leaving, pod->gang, &count);
        map64_put(&tally->leaving, pod->gang, count + 1);
    }
}

static void tally_done(struct tally *tally)
{
    map64_done(&tally->bound);
    map64_done(&tally->evicted);
    map64_done(&tally->leaving);
}

/* Pods of the gang that leave in this cycle. */
static uint64_t tally_leaving(const struct tally *tally, gang_id gang)
{
    uint64_t count = 0;

    (void)map64_get(&tally->leaving, gang, &count);
    return count;
}

/* A pod of the gang does not leave after all. */
static void tally_stays(struct tally *tally, gang_id gang)
{
    map64_put(&tally->leaving, gang, tally_leaving(tally, gang) - 1);
}

static void let_wait(struct cycles *cycles, pod_id id)
{
    state_move_pod(cycles->state, id, POD_PENDING, NO_ID, (struct group_list){0});
    OBSERVE(cycles->observers, on_moved, id);
}

/* One whose bind or eviction has just failed is left alone for a while; the others had to be decided as if it were not. */
static bool hold(struct cycles *cycles, enum setback_kind kind, struct outcome *outcome)
{
    nsec_t wait = setback_wait(cycles->setbacks, kind, outcome->decision.pod, nsec_now_monotonic());

    outcome->is_held = wait > 0;
    if (wait > 0)
        cycles->held_for = cycles->held_for > 0 ? MIN(cycles->held_for, wait) : wait;
    return wait > 0;
}

static void bind(struct cycles *cycles, struct outcome *outcome)
{
    if (hold(cycles, SETBACK_BIND, outcome))
        let_wait(cycles, outcome->decision.pod);
    else
        carry_bind(cycles->carry, &outcome->decision, outcome->text);
}

static void evict(struct cycles *cycles, struct tally *tally, struct outcome *outcome)
{
    pod_id id = outcome->decision.pod;
    const struct pod *pod = &cycles->state->pods.items[id];

    if (pod->status != POD_RELEASING)
        return;
    /* A pod that an action of this cycle placed and a later one evicted has never left: it waits. */
    if (map64_get(&tally->bound, id, NULL)) {
        tally_stays(tally, pod->gang);
        let_wait(cycles, id);
        return;
    }
    if (pod->deleted == 0 && hold(cycles, SETBACK_EVICT, outcome)) {
        tally_stays(tally, pod->gang);
        state_move_pod(cycles->state, id, POD_RUNNING, pod->node, pod->groups);
        OBSERVE(cycles->observers, on_moved, id);
        return;
    }
    evictions_start(cycles->evictions, &outcome->decision, outcome->text, tally_leaving(tally, pod->gang));
}

static void annotate_times(struct cycles *cycles, const struct outcomes *outcomes)
{
    vec_foreach (outcomes, outcome) {
        gang_id gang = cycles->state->pods.items[outcome->decision.pod].gang;

        if (outcome->decision.kind != DECISION_PIPELINE && gang != NO_ID && !outcome->is_held)
            gang_times_write(cycles->gang_notes, gang);
    }
    vec_foreach (&cycles->state->stale_gangs.ids, gang)
        gang_times_write(cycles->gang_notes, *gang);
}

void cycles_execute(struct cycles *cycles, struct outcomes *outcomes)
{
    VEC(struct decision) decisions = {0};
    struct tally tally;

    vec_foreach (outcomes, outcome)
        vec_push(&decisions, outcome->decision);
    carry_name_groups(cycles->carry, decisions.items, decisions.len);
    vec_done(&decisions);
    tally_init(&tally, cycles, outcomes);
    vec_foreach (outcomes, outcome) {
        const struct decision *decision = &outcome->decision;
        const struct pod *pod = &cycles->state->pods.items[decision->pod];

        if (decision->kind == DECISION_BIND)
            map64_put(&tally.bound, decision->pod, 1);
        if (decision->kind == DECISION_BIND && pod->status == POD_BINDING && pod->node == decision->node)
            bind(cycles, outcome);
        else if (decision->kind == DECISION_EVICT)
            evict(cycles, &tally, outcome);
        else if (decision->kind == DECISION_PIPELINE && pod->status == POD_PENDING)
            report_promise(cycles->report, decision, outcome->text);
    }
    tally_done(&tally);
    annotate_times(cycles, outcomes);
}

/* What the cluster shows of the gang's times counts, not what we would have done. */
static void restore_times(struct cycles *cycles, gang_id id)
{
    const struct gang *gang = id == NO_ID ? NULL : &cycles->state->gangs.items[id];
    const struct gang_note *note =
        gang ? gang_note_find(cycles->gang_notes, key_of(gang->namespace, gang->name)) : NULL;

    if (gang)
        state_set_gang_times(cycles->state, id, note ? note->last_start : 0, note ? note->last_eviction : 0,
                             gang->stale_since);
}

void cycles_take_back(struct cycles *cycles, const struct outcomes *outcomes)
{
    vec_foreach (outcomes, outcome) {
        pod_id id = outcome->decision.pod;
        const struct pod *pod = &cycles->state->pods.items[id];

        if (pod->status == POD_BINDING && outcome->decision.kind == DECISION_BIND) {
            let_wait(cycles, id);
        } else if (pod->status == POD_RELEASING && pod->deleted == 0 && outcome->decision.kind == DECISION_EVICT) {
            state_move_pod(cycles->state, id, POD_RUNNING, pod->node, pod->groups);
            OBSERVE(cycles->observers, on_moved, id);
        }
        restore_times(cycles, pod->gang);
    }
}

void outcomes_done(struct outcomes *outcomes)
{
    vec_foreach (outcomes, outcome)
        free(outcome->text);
    vec_done(outcomes);
}
