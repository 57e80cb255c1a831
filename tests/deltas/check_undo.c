/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Statements that are taken back, in parts and as a whole: pods of preemptible gangs are evicted, and gangs are placed,
 * in turn and at random. Every byte must be as it was.
 */
#include "check.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/nodes/place.h"
#include "engine/nodes/statement.h"
#include "engine/queues/order.h"
#include "image.h"
#include "model/state.h"

enum { MOVES = 12 };

static void evict_some(struct play *play, struct chance *chance)
{
    const struct state *state = play->state;
    pod_id id = draw(chance, state->pods.len);
    const struct pod *pod = &state->pods.items[id];

    if (!pod->is_present || pod->gang == NO_ID || pod->pod_set == NO_ID || pod->node == NO_ID ||
        !status_in(pod->status, ACTIVE_ALLOCATED) || !state->nodes.items[pod->node].is_present)
        return;
    statement_evict(play->engine, id);
    play->tally->simulations++;
}

static void place_some(struct play *play, struct chance *chance, bool is_simulation)
{
    struct state *state = play->state;
    gang_id id = draw(chance, state->gangs.len);
    const struct gang *gang = &state->gangs.items[id];

    if (!gang->is_present || gang->queue == NO_ID || !gang_is_ready(gang) || state->queues.items[gang->queue].is_orphan)
        return;
    struct verdict verdict = *engine_verdict_slot(play->engine, id);
    const struct gang_view *view = view_of(play->engine, id);
    if (view->chunk_count > 0)
        play->tally->simulations += place_gang(play->engine, view, node_set_all(play->engine), is_simulation);
    *engine_verdict_slot(play->engine, id) = verdict;
}

void check_image(const struct play *play, struct image *before, const char *what)
{
    struct image after;
    uint32_t id;

    image_take(&after, play->state);
    const char *part = images_differ(before, &after, &id);
    if (part)
        play_fail(play, "undo", "%s left a trace in %s %u", what, part, id);
    image_done(&after);
}

void check_undo(struct play *play, struct chance *chance)
{
    bool is_simulation = draw(chance, 4);
    struct image start;
    struct image middle;

    if (play->state->pods.len == 0 || play->state->gangs.len == 0)
        return;
    engine_take_in(play->engine);
    engine_open(play->engine, play->world.now);
    image_take(&start, play->state);
    statement_begin(play->engine);
    for (uint32_t n = 0; n < MOVES; n++)
        draw(chance, 3) ? evict_some(play, chance) : place_some(play, chance, is_simulation);
    uint32_t half = statement_checkpoint(play->engine);
    image_take(&middle, play->state);
    for (uint32_t n = 0; n < MOVES; n++)
        draw(chance, 3) ? place_some(play, chance, is_simulation) : evict_some(play, chance);
    statement_rollback(play->engine, half);
    check_image(play, &middle, "half of a statement");
    statement_discard(play->engine);
    check_image(play, &start, "a statement");
    engine_close(play->engine);
    image_done(&start);
    image_done(&middle);
}
