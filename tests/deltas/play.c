/* SPDX-License-Identifier: Apache-2.0 */

/* Plays from beginning to end. */
#include "play.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "check.h"
#include "engine/context.h"
#include "model/state.h"

void play_fail(const struct play *play, const char *what, const char *format, ...)
{
    va_list arguments;

    printf("# seed %llu, step %u, cycle %u: %s: ", (unsigned long long)play->seed, play->step, play->cycles, what);
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    if (play->is_loud) {
        struct strbuf out;
        strbuf_init(&out, 1 << 20);
        world_print(&play->world, &out);
        printf("%s", out.text);
        strbuf_done(&out);
    }
    (void)fflush(stdout);
    if (play->is_aborting)
        abort();
    _exit(1);
}

void play_say(const struct play *play, const char *format, ...)
{
    va_list arguments;

    if (!play->is_loud)
        return;
    printf("step %u: ", play->step);
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    (void)fflush(stdout);
}

static void begin(struct play *play, struct chance *chance)
{
    world_make(&play->world, chance);
    make_config(&play->world, chance, &play->config);
    play->state = world_load(&play->world, chance, 0);
    play->engine = engine_new(play->state, &play->config);
    play->engine->checks_rehearsals = true;
    if (play->watch)
        play->watch->on_begin(play->watch->arg, play);
}

static void say_config(const struct play *play)
{
    const struct config *config = &play->config;

    play_say(play, "signatures=%d consolidates=%lld/%d saturation=%g k=%g spread=%d/%u/%u placements=%llu method=%u",
             config->uses_signatures, (long long)config->max_consolidation_preemptees,
             config->allows_consolidating_reclaim, config->saturation_multiplier, config->k_value,
             config->has[PLUGIN_GPU_SPREAD], config->gpu_placement, config->cpu_placement,
             (unsigned long long)config->max_placements, config->reclaim_runtime_method);
    for (int a = 0; a < ACTION_STALE_GANG; a++)
        if (config->queue_depth[a] >= 0)
            play_say(play, "depth of %s=%lld", action_name(a), (long long)config->queue_depth[a]);
}

static void end(struct play *play)
{
    BUG_ON(state_bytes(play->state) == 0 || engine_bytes(play->engine) == 0);
    if (play->watch)
        play->watch->on_end(play->watch->arg, play);
    engine_free(play->engine);
    state_free(play->state);
    vec_done(&play->evictions);
}

/* All actions in their order most of the time, else some of them in any order. */
static void run_cycle(struct play *play, struct chance *chance)
{
    enum action actions[_ACTION_MAX] = {ACTION_ALLOCATE, ACTION_CONSOLIDATION, ACTION_RECLAIM, ACTION_PREEMPT,
                                        ACTION_STALE_GANG};
    uint32_t count = _ACTION_MAX;

    if (one_in(chance, 4)) {
        count = draw_from(chance, 1, _ACTION_MAX);
        for (uint32_t i = 0; i < _ACTION_MAX; i++) {
            uint32_t other = draw(chance, _ACTION_MAX);
            enum action moved = actions[i];
            actions[i] = actions[other];
            actions[other] = moved;
        }
    }
    play_say(play, "cycle");
    (void)play_cycle(play, chance, actions, count);
}

static void take_step(struct play *play, struct chance *chance)
{
    uint32_t what = draw(chance, 10);

    if (what < 6) {
        play_change(play, chance);
    } else if (what < 9) {
        run_cycle(play, chance);
    } else {
        play_say(play, "statement taken back");
        check_undo(play, chance);
    }
}

static uint64_t play_all(struct play play, const struct play_mask *mask)
{
    uint64_t seed = play.seed;
    struct chance chance = chance_of_seed(seed, 0);

    play.world.theme = mask->theme;
    memcpy(play.world.banned, mask->banned, sizeof play.world.banned);
    begin(&play, &chance);
    say_config(&play);
    for (play.step = 1; play.step <= PLAY_STEPS; play.step++) {
        chance = chance_of_seed(seed, play.step);
        if (!(mask->steps[play.step / 64] >> play.step % 64 & 1))
            take_step(&play, &chance);
    }
    chance = chance_of_seed(seed, play.step);
    if (!(mask->steps[play.step / 64] >> play.step % 64 & 1))
        play_settle(&play, &chance);
    end(&play);
    return play.outcome;
}

uint64_t play_seed(uint64_t seed, const struct play_mask *mask, bool is_loud, struct tally *tally)
{
    return play_all((struct play){.seed = seed, .is_loud = is_loud, .tally = tally}, mask);
}

void play_watched(uint64_t seed, const struct play_watch *watch, struct tally *tally)
{
    static const struct play_mask nothing_left_out = {.theme = THEME_ALL};

    (void)play_all((struct play){.seed = seed, .watch = watch, .tally = tally}, &nothing_left_out);
}

void play_bytes(const uint8_t *bytes, size_t count)
{
    struct tally tally = {0};
    struct play play = {.is_aborting = true, .tally = &tally};
    struct chance chance = chance_of_bytes(bytes, count);

    play.world.theme = THEME_ALL;
    begin(&play, &chance);
    for (play.step = 1; play.step <= PLAY_STEPS && chance.left > 0; play.step++)
        take_step(&play, &chance);
    run_cycle(&play, &chance);
    end(&play);
}
