/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/ids.h"
#include "model/pod.h"

struct engine;

/* Could the pod join a GPU that is shared already? A pod without any need of GPU memory can join any. */
bool fits_some_shared_gpu(const struct engine *engine, pod_id pod, node_id node);

/*
 * The shared GPUs that a fractional pod would get on the node: fullest first or emptiest first, as configured, then whole
 * ones opened for it. False when there are too few. `ret_waits`: some of it is still being released. With `ret_groups`
 * NULL nothing is opened, and only the answer and `ret_only_numbered` (all of them exist and are known by plain numbers)
 * count.
 */
bool gpu_pick(struct engine *engine, pod_id pod, node_id node, bool is_simulation, struct group_list *ret_groups,
              bool *ret_waits, bool *ret_only_numbered);

/* Named GPUs by name, then those without one by age: some fixed order, where KAI has none. */
bool gpu_group_precedes(const struct state *state, gpu_group a, gpu_group b);
