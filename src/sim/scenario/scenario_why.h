/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/verdict.h"

struct engine;
struct state;
struct strbuf;

/* Appends why the gang waits, in plain words with numbers: "it requests 4 GPUs; queue a has 6 GPUs allocated
 * and a limit of 8 GPUs". */
void scenario_why(struct strbuf *text, const struct state *state, const struct engine *engine, gang_id gang);

/* The numbers of a limit or quota that a gang would exceed, in the same words. */
void verdict_bound_words(struct strbuf *text, const struct state *state, const struct verdict *verdict);
