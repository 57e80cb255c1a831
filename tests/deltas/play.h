/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "chance.h"
#include "engine/config.h"
#include "engine/engine.h"
#include "world.h"
#include "world_make.h"

struct eviction {
    uint32_t cycle;
    enum action action;
    uint8_t pod;
    uint8_t taker;  // the gang that it made room for, NOWHERE: none
    bool is_moved;  // it was promised another place
};

/* Why some clusters never come to rest, by KAI's own rules; see settle.c. */
enum unrest { UNREST_STALE, UNREST_RETURN, UNREST_PRIORITY, UNREST_COMPANY, UNREST_SLOTS, UNREST_TURN, _UNREST_MAX };

struct play;

/* Whoever looks on while a play goes on, such as a journal. */
struct play_watch {
    void *arg;
    void (*on_begin)(void *arg, struct play *play);
    void (*on_cycle_begin)(void *arg, struct play *play);
    void (*on_cycle_end)(void *arg, struct play *play, const enum action *actions, uint32_t count);
    void (*on_end)(void *arg, struct play *play);
};

/*
 * A play: one world, the state and the engine that are kept beside it through all its changes, and what is checked on
 * the way. A check that fails ends the program, with the world on stderr.
 */
struct play {
    struct world world;
    struct config config;
    struct state *state;
    struct engine *engine;
    uint64_t seed;
    uint32_t step;
    uint32_t cycles;
    bool is_loud;      // every step is told
    bool is_aborting;  // a failure aborts, for a fuzzer
    uint64_t outcome;  // what was decided and said so far, as one number
    struct tally *tally;
    const struct play_watch *watch;  // NULL: nobody
    VEC(struct eviction) evictions;  // of all cycles
};

/* What was seen, to tell whether the worlds are of any use. */
struct tally {
    uint64_t cycles;
    uint64_t kinds[_ACTION_MAX][3];  // decisions by action and kind
    uint64_t quiet;                  // settled worlds
    uint64_t restless[_UNREST_MAX];
    uint64_t longest;  // cycles until a world was quiet
    uint64_t simulations;
};

_Noreturn void play_fail(const struct play *play, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void play_say(const struct play *play, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says what changed to the state. */
void play_tell(struct play *play, enum world_kind kind, uint32_t i);
void play_tell_all(struct play *play, const struct world_changes *changes);

/* One random change of the world, said to the state. */
void play_change(struct play *play, struct chance *chance);

/* A pod ends in `status`: it has no node any more, its claims are free. One that is gone takes its own claims along. */
void play_pod_leaves(struct play *play, uint32_t pod, enum pod_status status);
void play_pod_is_gone(struct play *play, uint32_t pod);

/* What was decided happens: bound pods run, evicted ones wait again. */
void play_carry_out(struct play *play);

/* Shared GPUs that the engine opened get names. */
void play_name_groups(struct play *play);

/* A cycle of the actions, with all checks; the number of its decisions. */
size_t play_cycle(struct play *play, struct chance *chance, const enum action *actions, uint32_t count);

/* Cycles without any change but what they decide: they must come to an end. */
void play_settle(struct play *play, struct chance *chance);
const char *unrest_name(enum unrest unrest);

/* The whole of it. */
struct play_mask {
    uint64_t banned[_WORLD_KIND_MAX][8];
    uint64_t steps[8];  // bits of steps that are left out
    uint32_t theme;
};

enum { PLAY_STEPS = 70 };

/* Returns all that was decided and said, as one number. */
uint64_t play_seed(uint64_t seed, const struct play_mask *mask, bool is_loud, struct tally *tally);

/* The same with nothing left out, watched. */
void play_watched(uint64_t seed, const struct play_watch *watch, struct tally *tally);
void play_bytes(const uint8_t *bytes, size_t count);
