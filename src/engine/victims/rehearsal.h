/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/nodes/place.h"
#include "model/ids.h"

struct engine;

/*
 * Evicting and placing plain pods on a copy of what is free, without statements: for telling that a scenario fails at a
 * fraction of what simulating it costs. It does what a simulation does, for pods that have nothing of their own but their
 * requests, and says so when it meets anything else.
 */
struct replay;

struct replay *replay_new(void);
void replay_free(struct replay *replay);
size_t replay_bytes(const struct replay *replay);

/*
 * Starts from the books as they are; only `feasible` nodes, and those that pods are evicted from, are used. Rooms of nodes
 * must be fresh (gpu_room_refresh). False: the settings or one of the nodes are not plain.
 */
bool replay_begin(struct replay *replay, struct engine *engine, struct node_set feasible);

/* Nothing about the pod but its request weighs in where it may be placed. */
bool replay_takes(const struct engine *engine, pod_id pod);

/* Back to the books. Then pods are evicted, all of them first, and placed again or anew. */
void replay_reset(struct replay *replay);

enum replay_result { REPLAY_DONE, REPLAY_NO_ROOM, REPLAY_UNKNOWN };
enum replay_result replay_evict(struct replay *replay, pod_id pod);
enum replay_result replay_place(struct replay *replay, pod_id pod);
