/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/intern.h"
#include "base/strbuf.h"
#include "sim/replay/replay.h"

struct segment_reader;

/* Simulates one segment, record by record. */
struct player {
    struct replay *replay;
    uint64_t segment;  // its number
    struct segment_reader *reader;
    struct arena records;  // of the chunk that is being read
    struct wire_in in;
    struct state *state;
    struct engine *engine;
    struct config config;
    struct intern gangs;    // "namespace/name" of those with a verdict
    VEC(uint8_t) verdicts;  // by that: as recorded
    VEC(uint8_t) statuses;  // of pods by id, before the cycle
    const uint64_t *stops;  // of the cycle
    size_t stop_count;
    uint64_t asked;
};

MUST_CHECK int player_init(struct player *player, struct replay *replay, const char *path, uint64_t number,
                           struct err *err);
void player_done(struct player *player);

/* The next record. Returns 1, or 0 at the end; what is damaged is noted and ends it. */
int player_next(struct player *player, struct record *ret);

/* Takes in settings or a delta. Returns 0, or -EBADMSG when it makes no sense. */
MUST_CHECK int player_take(struct player *player, const struct record *record, struct err *err);

/* Runs the cycle up to its last action and compares; the engine stays open. Returns whether it is as it was. */
bool player_cycle(struct player *player, const struct record_cycle *cycle);

/* Closes the engine behind such a cycle, and puts pods where the record has them. */
void player_close(struct player *player, const struct record_cycle *cycle, bool is_same);

/* Notes damage as a line of the replay. */
void player_damaged(struct player *player, const struct err *err);

/* compare.c: adds what differs, and returns whether nothing does. */
bool compare_decisions(struct player *player, const struct record_cycle *cycle, const struct record_decision *again,
                       size_t count);
bool compare_verdicts(struct player *player, const struct record_cycle *cycle);

/* The decision in words: "bind to gpu-3 (allocate)". */
void decision_text(struct strbuf *out, const struct record_decision *decision);
