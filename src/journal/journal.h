/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "engine/engine.h"

struct config;
struct err;
struct state;

/*
 * The journal of a scheduler: every delta that its state is told, and every cycle with its time and its decisions, in
 * files that sim/replay/replay.h plays again.
 *
 * A journal is a folder of segments. Each begins with the whole state, so that it can be replayed alone, and the oldest
 * are removed to keep the folder within its bound. What was written when a cycle ends is in the file by then: a process
 * that is killed loses nothing of it.
 *
 * A journal that cannot be written, because the disk is full or gone, is no reason to stop scheduling: it says so once,
 * writes nothing, tries again every minute, and says so when it goes on.
 */
struct journal;

enum { JOURNAL_SIZE_MIN = 64 * 1024 };
#define JOURNAL_SIZE_DEFAULT (UINT64_C(1) << 30)

/* `err` is NULL when the journal is written again. */
typedef void (*journal_trouble_fn)(void *arg, const struct err *err);

struct journal_options {
    const char *folder;          // is made if it is not there
    uint64_t size_max;           // bytes of all segments together; 0: JOURNAL_SIZE_DEFAULT
    uint64_t segment_size;       // bytes from which on a new one begins; 0: by size_max and the size of the state
    journal_trouble_fn trouble;  // may be NULL
    void *arg;
};

/*
 * Begins to follow the state, whose tap is the journal's from now on. `config` is copied. Returns 0 or a negative errno:
 * the folder cannot be made or written to, or somebody else writes there.
 */
MUST_CHECK int journal_open(const struct journal_options *options, struct state *state, const struct config *config,
                            struct journal **ret, struct err *err);
void journal_close(struct journal *journal);  // may be NULL

/*
 * A cycle at `now`: called between engine_open and the first action, and after the last one, before engine_close.
 * `number` is the caller's own count. Actions are those that ran, in order.
 */
void journal_cycle_begin(struct journal *journal, uint64_t number, nsec_t now);
void journal_cycle_end(struct journal *journal, const struct engine *engine, const enum action *actions,
                       uint32_t action_count);

/*
 * Searches that a clock may end are replayed as they were if the journal stands in between: it hands each question on to
 * the clock that the engine has, and keeps the answer. The engine must not be asked to decide after journal_close.
 */
void journal_follow_clock(struct journal *journal, struct engine *engine);

/* For metrics and messages: bytes of all segments, cycles written, and whether they are being written. */
uint64_t journal_bytes(const struct journal *journal);
uint64_t journal_cycles(const struct journal *journal);
bool journal_is_well(const struct journal *journal);
