/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "engine/action.h"

struct engine;
struct gang_view;
struct search;

/*
 * The search for victims: which pods have to leave so that a waiting gang can be placed, and whether the rules of an
 * action allow it. It decides as KAI does, in this order:
 *
 *   solve      a gang's chunk is tried in part: 1, 2, 4, ... pods, then by halves, then all of it (search.c)
 *   probe      for so many pods a generator offers eviction plans until one works (generator_*.c)
 *   accumulate victims come one batch after the other, worst first; pre-filters say when there may be enough
 *              (accumulate.c, prefilters.c)
 *   simulate   a plan's victims are evicted, then they and the probe are placed in the order of queues
 *              (eviction_plan.c)
 *   validate   the action's rules on who was really evicted (validate_*.c)
 *
 * Beside that, what cannot succeed is refuted without being simulated (refute.c, search_rehearsal.c); each refutation is a
 * condition that success implies, so that decisions stay the same.
 *
 * Memory: three arenas (of a gang's search, of a probe, of a plan), and marks by pod, node and gang, which numbers
 * make stale at once.
 */

/* A search's memory, for one run of an action. */
struct search *search_new(struct engine *engine, enum action action);
void search_free(struct search *search);

/*
 * Looks for victims for the gang whose view is given. True: the statement holds the solution. False: the statement is
 * empty.
 */
bool search_solve(struct search *search, const struct gang_view *view);

/* About the last solution: some victim was moved, so that it has a promise elsewhere. */
bool search_moves_victims(const struct search *search);

/* About the last gang: a limit ended its search, or even the whole action. */
bool search_is_over(const struct search *search);
bool search_ends_action(const struct search *search);
