/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/verdict.h"

struct engine;
struct state;
struct strbuf;

/* Appends why the gang waits, in plain words with numbers: "needs 4 GPUs; queue a has 6 GPUs, its limit is 8 GPUs". */
void scenario_why(struct strbuf *text, const struct state *state, const struct engine *engine, gang_id gang);
