/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/action.h"

struct engine;

/* The actions; each runs on the state as the ones before it left it. */
void action_allocate(struct engine *engine);
void action_search(struct engine *engine, enum action action);  // consolidation, reclaim, preempt
void action_stale_gangs(struct engine *engine);
