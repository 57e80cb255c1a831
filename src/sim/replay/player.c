/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/player.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "journal/segment.h"
#include "model/delta.h"
#include "model/state.h"

/* What the records of one chunk may take in memory. */
#define RECORD_MEMORY_MAX ((size_t)1 << 30)

int player_init(struct player *player, struct replay *replay, const char *path, uint64_t number, struct err *err)
{
    *player = (struct player){.replay = replay, .segment = number};
    arena_init(&player->records);
    intern_init(&player->gangs);
    player->state = state_new();
    return segment_open(path, &player->reader, err);
}

void player_done(struct player *player)
{
    engine_free(player->engine);
    state_free(player->state);
    segment_reader_free(player->reader);
    intern_done(&player->gangs);
    vec_done(&player->verdicts);
    vec_done(&player->statuses);
    arena_done(&player->records);
}

void player_damaged(struct player *player, const struct err *err)
{
    vec_push(&player->replay->damage, arena_strdup(&player->replay->arena, err->text));
}

/* The next chunk with something in it. */
static bool next_chunk(struct player *player)
{
    const uint8_t *bytes = NULL;
    size_t len = 0;
    struct err err;
    int r;

    do {
        r = segment_read(player->reader, &bytes, &len, &err);
    } while (r > 0 && len == 0);
    if (r < 0)
        player_damaged(player, &err);
    if (r == 0 && segment_is_cut(player->reader))
        player->replay->cut++;
    arena_clear(&player->records);
    player->in = (struct wire_in){
        .at = bytes,
        .end = bytes + len,
        .arena = &player->records,
        .budget = RECORD_MEMORY_MAX,
        .form = segment_form(player->reader),
    };
    return r > 0;
}

int player_next(struct player *player, struct record *ret)
{
    struct err err;

    if (player->in.at == player->in.end && !next_chunk(player))
        return 0;
    if (record_get(&player->in, ret))
        return 1;
    (void)err_set(&err, -EBADMSG, "segment %llu: holds an invalid record; the rest of the segment is ignored",
                  (unsigned long long)player->segment);
    player_damaged(player, &err);
    return 0;
}

int player_take(struct player *player, const struct record *record, struct err *err)
{
    if (record->kind == RECORD_CONFIG) {
        if (player->engine)
            return err_set(err, -EBADMSG, "holds settings twice");
        player->config = record->config;
        player->engine = engine_new(player->state, &player->config);
        return 0;
    }
    player->replay->deltas++;
    int r = state_apply(player->state, &record->delta, err);

    return r < 0 ? -EBADMSG : 0;
}

static bool answer(void *context, enum search_stage stage, uint32_t which)
{
    struct player *player = context;
    uint64_t question = player->asked++;

    (void)stage;
    (void)which;
    for (size_t i = 0; i < player->stop_count; i++)
        if (player->stops[i] == question)
            return true;
    return false;
}

static void keep_statuses(struct player *player)
{
    vec_resize(&player->statuses, player->state->pods.len);
    for (uint32_t i = 0; i < player->statuses.len; i++)
        player->statuses.items[i] = player->state->pods.items[i].status;
}

bool player_cycle(struct player *player, const struct record_cycle *cycle)
{
    struct replay *replay = player->replay;
    size_t count;

    engine_take_in(player->engine);
    keep_statuses(player);
    player->state->fresh_groups = cycle->fresh_groups;
    player->stops = cycle->stops;
    player->stop_count = cycle->stop_count;
    player->asked = 0;
    engine_set_clock(player->engine, cycle->stop_count > 0 ? answer : NULL, player);
    engine_open(player->engine, cycle->now);
    for (size_t i = 0; i < cycle->action_count; i++)
        engine_run(player->engine, (enum action)cycle->actions[i]);

    const struct record_decision *again = record_decisions(player->engine, player->state, &player->records, &count);
    bool is_same = compare_decisions(player, cycle, again, count);

    if (record_has_verdicts(cycle))
        is_same &= compare_verdicts(player, cycle);
    replay->first = replay->cycles == 0 ? cycle->now : replay->first;
    replay->last = cycle->now;
    replay->cycles++;
    replay->cycles_differ += !is_same;
    for (size_t i = 0; i < cycle->decision_count; i++)
        replay->decisions[cycle->decisions[i].kind]++;
    return is_same;
}

static void move(struct state *state, pod_id id, enum pod_status status, node_id node)
{
    static const struct group_list none = {0};
    const struct pod *pod = &state->pods.items[id];

    state_move_pod(state, id, status, node, node == pod->node ? pod->groups : none);
}

/* What was decided again is undone: it may have been decided otherwise. */
static void undo_again(struct player *player)
{
    struct state *state = player->state;
    size_t count;
    const struct decision *decisions = engine_decisions(player->engine, &count);

    for (size_t i = 0; i < count; i++) {
        pod_id pod = decisions[i].pod;
        enum pod_status before = player->statuses.items[pod];

        if (decisions[i].kind == DECISION_BIND)
            move(state, pod, POD_PENDING, NO_ID);
        else if (decisions[i].kind == DECISION_EVICT && before != POD_PENDING)
            move(state, pod, before, state->pods.items[pod].node);
    }
}

static void do_then(struct player *player, const struct record_cycle *cycle)
{
    struct state *state = player->state;

    for (size_t i = 0; i < cycle->decision_count; i++) {
        const struct record_decision *decision = &cycle->decisions[i];
        pod_id pod = state_find_pod(state, decision->namespace, decision->pod);
        node_id node = decision->node ? state_find_node(state, decision->node) : NO_ID;

        if (pod == NO_ID || !state->pods.items[pod].is_present)
            continue;
        if (decision->kind == DECISION_BIND && node != NO_ID)
            move(state, pod, POD_BINDING, node);
        else if (decision->kind == DECISION_EVICT && state->pods.items[pod].node != NO_ID)
            move(state, pod, POD_RELEASING, state->pods.items[pod].node);
    }
}

void player_close(struct player *player, const struct record_cycle *cycle, bool is_same)
{
    engine_close(player->engine);
    if (is_same)
        return;
    undo_again(player);
    do_then(player, cycle);
}
