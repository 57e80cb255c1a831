/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct engine;
struct state;

/*
 * A state in words, by names and sorted, so that two states of one content read the same however they came about. The
 * caller frees it.
 */
char *dump_state(const struct state *state);

/* What the engine decided so far, in order; and what it says about gangs that wait. */
char *dump_decisions(const struct engine *engine, const struct state *state);
char *dump_verdicts(const struct engine *engine, const struct state *state);
char *dump_shares(const struct engine *engine, const struct state *state);

/* The first lines in which two texts differ, in `ret` (512 bytes); false when they are the same. */
bool texts_differ(const char *a, const char *b, char ret[static 2048]);
