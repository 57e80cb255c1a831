/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reads a journal from cycle to cycle without deciding anything again. What a cycle decides counts from that cycle on: a pod
 * that is bound runs, one that is evicted does not. A workload is known by its names and its creation, since a name may
 * be used again and ids are those of a segment.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "model/state.h"
#include "sim/replay/replay.h"
#include "sim/run/run.h"
#include "sim/why/past/account.h"

enum { LABEL_MAX_BYTES = 1024 };

/* What is known of a workload while it is there. */
struct sighting {
    uint64_t cycle;             // that saw it last
    enum verdict_code written;  // by the cycles of this segment
    enum verdict_code code;     // of the span that is open, while it is pending
    nsec_t since;
    bool is_evicted;  // and has not started again
};

/* By id of a gang: whose it is in this segment, and how a cycle changes its running pods. */
struct slot {
    name_id namespace;
    name_id name;
    nsec_t created;
    name_id queue;
    uint32_t index;  // of the workload, NO_ID: none
    uint64_t cycle;  // that has decided about its pods
    uint32_t first_change;
    bool loses_pods;
};

struct reading {
    struct account *account;
    struct map64 known;              // by names and creation: index of the workload
    VEC(struct sighting) sightings;  // by index
    VEC(uint32_t) present;           // workloads that have not ended
    VEC(struct slot) slots;
    VEC(int32_t) changes;  // of running pods by group, of the gangs that the cycle decides about
    VEC(uint64_t) moved;   // by pod: 2 x the cycle that last decided about it, + 1 when it runs behind that
    uint64_t segment;
    uint64_t cycle;
    nsec_t now;
};

static uint64_t key_of(const struct state *state, const struct gang *gang)
{
    uint64_t names = hash_str(state_name(state, gang->name), hash_str(state_name(state, gang->namespace), 0));

    return hash_bytes(&gang->created, sizeof gang->created, names);
}

static bool has_pods(const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++)
        if (gang->groups[g].pods.len > 0)
            return true;
    return false;
}

static const char *label_of(struct arena *arena, const struct state *state, gang_id id)
{
    struct strbuf text;

    strbuf_init(&text, LABEL_MAX_BYTES);
    workload_add_name(&text, state, id);
    const char *label = arena_strdup(arena, text.text);

    strbuf_done(&text);
    return label;
}

/* It waits from its submission on, or from where the journal begins. */
static uint32_t add_workload(struct reading *reading, const struct state *state, gang_id id)
{
    const struct gang *gang = &state->gangs.items[id];
    struct account *account = reading->account;
    nsec_t created = gang->created > 0 ? gang->created : reading->now;
    struct account_workload workload = {
        .namespace = arena_strdup(&account->arena, state_name(state, gang->namespace)),
        .name = arena_strdup(&account->arena, state_name(state, gang->name)),
        .label = label_of(&account->arena, state, id),
        .queue = "",
        .submitted = created < reading->now ? created : reading->now,
        .state = ACCOUNT_PENDING,
        .first_span = NO_ID,
        .last_span = NO_ID,
    };

    workload.is_older = reading->cycle == 1 && workload.submitted < reading->now;
    vec_push(&account->workloads, workload);
    vec_push(&reading->sightings, (struct sighting){.since = workload.is_older ? reading->now : workload.submitted});
    return account->workloads.len - 1;
}

static void keep_queue(struct account *account, struct slot *slot, const struct state *state, const struct gang *gang)
{
    struct account_workload *workload = &account->workloads.items[slot->index];
    const char *queue = state_name(state, gang->queue_name);

    slot->queue = gang->queue_name;
    if (strcmp(workload->queue, queue) != 0)
        workload->queue = arena_strdup(&account->arena, queue);
}

/* The workload of a gang, NO_ID: one that nobody has created any pods for. */
static uint32_t index_of(struct reading *reading, const struct state *state, gang_id id)
{
    const struct gang *gang = &state->gangs.items[id];
    struct slot *slot;
    uint64_t index;

    while (reading->slots.len <= id)
        vec_push(&reading->slots, (struct slot){.index = NO_ID});
    slot = &reading->slots.items[id];
    if (slot->index == NO_ID || slot->name != gang->name || slot->namespace != gang->namespace ||
        slot->created != gang->created) {
        *slot = (struct slot){gang->namespace, gang->name, .created = gang->created, .index = NO_ID};
        if (!map64_get(&reading->known, key_of(state, gang), &index)) {
            if (!has_pods(gang))
                return NO_ID;
            index = add_workload(reading, state, id);
            map64_put(&reading->known, key_of(state, gang), index);
        }
        slot->index = (uint32_t)index;
        keep_queue(reading->account, slot, state, gang);
    } else if (slot->queue != gang->queue_name) {
        keep_queue(reading->account, slot, state, gang);
    }
    return slot->index;
}

static void close_span(struct reading *reading, uint32_t index)
{
    struct account *account = reading->account;
    struct account_workload *workload = &account->workloads.items[index];
    struct sighting *sighting = &reading->sightings.items[index];
    uint32_t at = account->spans.len;

    if (reading->now > sighting->since) {
        vec_push(&account->spans, (struct account_span){NO_ID, sighting->code, sighting->since, reading->now});
        if (workload->last_span == NO_ID)
            workload->first_span = at;
        else
            account->spans.items[workload->last_span].next = at;
        workload->last_span = at;
    }
    sighting->since = reading->now;
}

static void set_pending(struct reading *reading, uint32_t index, enum verdict_code code)
{
    struct account_workload *workload = &reading->account->workloads.items[index];
    struct sighting *sighting = &reading->sightings.items[index];

    if (workload->state == ACCOUNT_PENDING && code != sighting->code)
        close_span(reading, index);
    if (workload->state != ACCOUNT_PENDING)
        sighting->since = reading->now;
    sighting->code = code;
    workload->state = ACCOUNT_PENDING;
    workload->ended = 0;
}

/* `is_decided`: by this cycle. Else it ran before; one that was not seen before has a past that is not known. */
static void set_running(struct reading *reading, uint32_t index, bool is_decided)
{
    struct account_workload *workload = &reading->account->workloads.items[index];
    struct sighting *sighting = &reading->sightings.items[index];
    bool is_unknown = !is_decided && sighting->cycle == 0;

    if (workload->state == ACCOUNT_RUNNING)
        return;
    if (is_unknown)
        workload->is_older = true;
    else if (workload->state == ACCOUNT_PENDING)
        close_span(reading, index);
    if (!is_unknown && workload->first_start == 0)
        workload->first_start = reading->now;
    workload->starts += !is_unknown;
    workload->state = ACCOUNT_RUNNING;
    workload->ended = 0;
    sighting->is_evicted = false;
}

/* Does each pod set of the gang have its minimum behind this cycle? */
static bool runs_after(const struct reading *reading, const struct gang *gang, const struct slot *slot)
{
    const int32_t *changes = slot->cycle == reading->cycle ? &reading->changes.items[slot->first_change] : NULL;
    int64_t all = 0;

    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *set = &gang->groups[g];
        int64_t count = (int64_t)set->active_allocated - set->pipelined + (changes ? changes[g] : 0);

        if (set->is_pod_set && count < set->min)
            return false;
        all += set->is_pod_set ? count : 0;
    }
    return all > 0;
}

/* Its pods are done, or it is being taken down: it does not wait, though it is still there. */
static bool is_over(const struct account_workload *workload, const struct sighting *sighting, const struct gang *gang)
{
    bool has_started = workload->starts > 0 || workload->is_older || gang->last_start > 0 || gang->succeeded > 0;

    return gang->pending == 0 && gang->gated == 0 && !sighting->is_evicted && (has_started || !has_pods(gang));
}

/* The verdict of pods that wait; one that has just lost its pods has still that by which it was placed. */
static enum verdict_code code_behind(const struct account_workload *workload, const struct sighting *sighting,
                                     const struct gang *gang, bool has_verdicts)
{
    if (gang->pending > 0 && has_verdicts)
        return sighting->written;
    return workload->state == ACCOUNT_PENDING ? sighting->code : VERDICT_PLACED;
}

/* How the cycle leaves the gang. */
static void judge(struct reading *reading, const struct gang *gang, gang_id id, bool has_verdicts)
{
    const struct slot *slot = &reading->slots.items[id];
    struct account_workload *workload = &reading->account->workloads.items[slot->index];
    struct sighting *sighting = &reading->sightings.items[slot->index];
    bool is_decided = slot->cycle == reading->cycle;
    bool runs = runs_after(reading, gang, slot);

    if (is_decided && slot->loses_pods) {
        sighting->is_evicted |= !runs;
        workload->evictions++;
    }
    if (!runs && is_over(workload, sighting, gang))
        return;
    if (runs)
        set_running(reading, slot->index, is_decided);
    else
        set_pending(reading, slot->index, code_behind(workload, sighting, gang, has_verdicts));
    if (sighting->cycle == 0 || sighting->cycle + 1 < reading->cycle)
        vec_push(&reading->present, slot->index);
    sighting->cycle = reading->cycle;
}

static void take_verdicts(struct reading *reading, const struct state *state, const struct record_cycle *cycle)
{
    for (size_t i = 0; i < cycle->verdict_count; i++) {
        gang_id id = state_find_gang(state, cycle->verdicts[i].namespace, cycle->verdicts[i].gang);
        uint32_t index = id == NO_ID ? NO_ID : index_of(reading, state, id);

        if (index != NO_ID)
            reading->sightings.items[index].written = cycle->verdicts[i].code;
    }
}

static void take_decision(struct reading *reading, const struct state *state, const struct record_decision *decision)
{
    pod_id id = state_find_pod(state, decision->namespace, decision->pod);
    const struct pod *pod = id == NO_ID ? NULL : &state->pods.items[id];
    bool runs = decision->kind == DECISION_BIND;

    if (decision->kind == DECISION_PIPELINE || !pod || pod->gang == NO_ID || pod->pod_set == NO_ID ||
        index_of(reading, state, pod->gang) == NO_ID)
        return;
    if (reading->moved.len <= id)
        vec_resize(&reading->moved, id + 1);
    bool is_moved = reading->moved.items[id] / 2 == reading->cycle;
    bool ran = is_moved ? reading->moved.items[id] % 2 == 1 : status_in(pod->status, ALLOCATED_SET);
    struct slot *slot = &reading->slots.items[pod->gang];

    reading->moved.items[id] = 2 * reading->cycle + runs;
    if (slot->cycle != reading->cycle) {
        slot->cycle = reading->cycle;
        slot->loses_pods = false;
        slot->first_change = reading->changes.len;
        vec_resize(&reading->changes, reading->changes.len + state->gangs.items[pod->gang].group_count);
    }
    reading->changes.items[slot->first_change + pod->pod_set] += runs - ran;
    slot->loses_pods |= ran && !runs;
}

/* Its verdicts are written anew, and its ids are its own. */
static void begin_segment(struct reading *reading, uint64_t segment)
{
    reading->segment = segment;
    vec_clear(&reading->slots);
    vec_clear(&reading->moved);
    vec_foreach (&reading->sightings, sighting)
        sighting->written = VERDICT_NONE;
}

static void end_missing(struct reading *reading)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < reading->present.len; i++) {
        uint32_t index = reading->present.items[i];
        struct account_workload *workload = &reading->account->workloads.items[index];

        if (reading->sightings.items[index].cycle == reading->cycle) {
            reading->present.items[kept++] = index;
            continue;
        }
        if (workload->state == ACCOUNT_PENDING)
            close_span(reading, index);
        workload->state = ACCOUNT_ENDED;
        workload->ended = reading->now;
    }
    reading->present.len = kept;
}

static void read_cycle(void *context, uint64_t segment, const struct state *state, const struct record_cycle *cycle)
{
    struct reading *reading = context;
    struct account *account = reading->account;

    if (reading->cycle == 0 || segment != reading->segment)
        begin_segment(reading, segment);
    reading->cycle = ++account->cycles;
    reading->now = account->last = cycle->now;
    if (account->cycles == 1)
        account->first = cycle->now;
    vec_clear(&reading->changes);
    take_verdicts(reading, state, cycle);
    for (size_t i = 0; i < cycle->decision_count; i++)
        take_decision(reading, state, &cycle->decisions[i]);
    for (gang_id id = 0; id < state->gangs.len; id++) {
        const struct gang *gang = &state->gangs.items[id];

        if (gang->is_present && index_of(reading, state, id) != NO_ID)
            judge(reading, gang, id, record_has_verdicts(cycle));
    }
    end_missing(reading);
}

int account_read(struct account *account, const char *path, nsec_t until, struct err *err)
{
    struct reading reading = {.account = account};

    map64_init(&reading.known);
    int r = replay_walk(path, until, read_cycle, &reading, err);
    for (uint32_t i = 0; i < reading.present.len; i++)
        if (account->workloads.items[reading.present.items[i]].state == ACCOUNT_PENDING)
            close_span(&reading, reading.present.items[i]);
    map64_done(&reading.known);
    vec_done(&reading.sightings);
    vec_done(&reading.present);
    vec_done(&reading.slots);
    vec_done(&reading.changes);
    vec_done(&reading.moved);
    if (r >= 0 && account->cycles == 0)
        return err_set(err, -ENOENT, "%s: has no cycle%s", path, until == NSEC_MAX ? "" : " at or before that time");
    return r;
}
