/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "engine/action.h"
#include "engine/gangs/view.h"
#include "model/ids.h"

struct engine;

/*
 * Who is next: a tree of queues in which each inner queue has its children, and each leaf its gangs, in a binary heap.
 *
 * The order of queues depends on what their gangs would take, and changes while gangs come off. As in KAI, taking a
 * gang marks its queue and those above as dirty, and a dirty queue is sifted again when it comes to the top of its
 * heap. Orders live in an arena and die with it.
 */
struct order;

/* The gangs that wait, as the action may look at them: ready, with pending pods, and so on (engine.md 3.3's table). */
struct order *order_of_waiting(struct engine *engine, struct arena *arena, enum action action);

/*
 * Victims: of all gangs with active pods those for which `is_candidate` says yes, worst first. Leaves walk kept, sorted
 * lists, so that building it costs what the queues do, and taking a victim what the queues on its path do.
 */
typedef bool (*victim_fn)(void *context, gang_id gang);
typedef bool (*victim_queue_fn)(void *context, queue_id queue);  // false: none of this leaf's gangs is a candidate

struct order *order_of_victims(struct engine *engine, struct arena *arena, victim_queue_fn is_candidate_queue,
                               victim_fn is_candidate, void *context);

/*
 * A simulation, one at a time: every gang with pending pods, `victims` and `probe` (which stands for its own gang), all
 * as they are now. Only victims and the probe ever come off: the others are there because they weigh in the order of
 * their queues.
 */
struct order *order_of_simulation(struct engine *engine, struct arena *arena, const struct gang_view *probe,
                                  const gang_id *victims, uint32_t victim_count);

bool order_is_empty(const struct order *order);

/*
 * Takes off the next one. The view is good until the order's arena is emptied or the gang changes. The state must be as
 * it was when the order was built, but for what was committed since (waiting) or was placed for earlier ones
 * (simulations).
 */
const struct gang_view *order_pop(struct order *order);

/* Puts one in: a gang that still has pending pods, or the rest of a victim. Not into a simulation. */
void order_push(struct order *order, const struct gang_view *view);

/* What order.c keeps between cycles: the sorted lists of the leaves. */
struct kept_orders *kept_orders_new(void);
void kept_orders_free(struct kept_orders *kept);
size_t kept_orders_bytes(const struct kept_orders *kept);

/* Brings them up to date with the state's changes, when deltas were taken in and before state_changes_seen. */
void kept_orders_update(struct engine *engine);

/*
 * A commit touched the gang: to be called once for each such gang after the statement was committed, before any order
 * is used again. Cheap: the lists are put in order when the next order is built.
 */
void kept_orders_gang_changed(struct engine *engine, gang_id gang);

/* Does gang l come before gang r in their queue? A total order. */
bool gang_precedes(const struct engine *engine, const struct gang_view *l, const struct gang_view *r);
