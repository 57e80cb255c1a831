/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/config.h"
#include "journal/record.h"

struct engine;
struct err;
struct state;
struct table_view;

/*
 * A journal simulated again: each segment begins with a new state and a new engine, takes in what the scheduler was told,
 * and runs each cycle at the time at which it ran. What comes out is held against what came out then.
 *
 * After a cycle that differs, pods are put where they were put then, so that the next one is judged by itself.
 */
struct replay_difference {
    uint64_t segment;
    uint64_t cycle;
    nsec_t now;
    bool is_verdict;        // of a gang; else decisions about a pod
    const char *namespace;  // "" where there is none
    const char *name;       // "": the order in which things were decided
    const char *then;       // "bind to gpu-3 (allocate)"; "nothing"
    const char *again;
};

enum { REPLAY_DIFFERENCES_KEPT = 1000 };

struct replay {
    uint64_t segments;
    uint64_t cycles;
    uint64_t deltas;
    uint64_t decisions[3];   // by enum decision_kind
    uint64_t verdicts;       // that were compared
    uint64_t cycles_differ;  // cycles with a difference
    uint64_t differences;
    VEC(struct replay_difference) kept;  // the first REPLAY_DIFFERENCES_KEPT of them
    VEC(const char *) damage;            // what could not be read, a line each
    uint64_t cut;                        // segments whose last chunk was not written to its end
    nsec_t first;                        // times of the first and the last cycle
    nsec_t last;
    struct arena arena;
};

void replay_init(struct replay *replay);
void replay_done(struct replay *replay);

/* Simulates all segments of a folder, or one that is named. Fails with -ENOENT, -EINVAL, or what the system says; damage is
 * no failure. */
MUST_CHECK int replay_run(struct replay *replay, const char *path, struct err *err);

/*
 * Walks over all cycles up to `until` without deciding anything again: calls `fn` with the state that each of them found,
 * and with what it decided. Each segment has a state of its own, with other ids.
 * Fails as replay_run does.
 */
typedef void (*replay_state_fn)(void *context, uint64_t segment, const struct state *state,
                                const struct record_cycle *cycle);
MUST_CHECK int replay_walk(const char *path, nsec_t until, replay_state_fn fn, void *context, struct err *err);

/* The same as it was and nothing damaged? */
bool replay_is_same(const struct replay *replay);

void replay_print(const struct replay *replay, const struct table_view *view, FILE *out);
void replay_write(const struct replay *replay, FILE *out);

/* One cycle of the past, with the engine open behind its last action: shares, verdicts and explanations can be read. */
struct replay_moment {
    uint64_t segment;
    uint64_t cycle;
    nsec_t now;
    struct config config;
    struct state *state;
    struct engine *engine;               // NULL: nothing was decided again
    const struct record_decision *then;  // what was decided
    size_t then_count;
    bool is_same;  // is decided again
    struct replay replay;
};

/* The last cycle at or before `at`. Fails as replay_run does; -ENOENT when the journal begins later. replay_moment_done
 * is called in any case. */
MUST_CHECK int replay_find(struct replay_moment *moment, const char *path, nsec_t at, struct err *err);

/* The same without deciding anything again, which takes a fraction of the time: the state that the cycle found, and no
 * engine. */
MUST_CHECK int replay_find_state(struct replay_moment *moment, const char *path, nsec_t at, struct err *err);
void replay_moment_done(struct replay_moment *moment);

void replay_moment_print(const struct replay_moment *moment, const struct table_view *view, FILE *out);
void replay_moment_write(const struct replay_moment *moment, FILE *out);
