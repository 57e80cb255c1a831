/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

struct allocator;
struct claim;
struct engine;

/* Devices of dynamic resource allocation, as all claims hold them now. */

/* The allocator, with all that is held noted in it. */
struct allocator *devices_allocator(struct engine *engine);

/* Can pods on the node use all devices that the claim has, or had last? Could it have them now, were it to have none? */
bool devices_reach(struct engine *engine, const struct claim *claim, node_id node);
bool devices_are_free(struct engine *engine, const struct claim *claim, node_id node);

/* Must pods that have the claim leave, since one of its devices has a taint NoExecute that it does not tolerate? */
bool devices_evict(struct engine *engine, const struct claim *claim);

/* The claim is about to be given its devices, or to lose them. */
void devices_change(struct engine *engine, const struct claim *claim);

/* Charges claims by the parts of GPUs that they take, where something has changed. True: the state has to be settled. */
bool devices_charge(struct engine *engine);

/* The cycle ends, and promises with it. */
void devices_close(struct engine *engine);
