/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

struct arena;
struct engine;
struct signatures;

/*
 * Scheduling signatures: a gang that is alike one that failed, and asks for no less, is not tried again in this action.
 */
struct signatures *signatures_new(struct engine *engine, struct arena *arena);
void signatures_free(struct signatures *signatures);

/* The signature of the gang within `scope`, a queue or NO_ID. */
uint64_t signature_of(struct signatures *signatures, gang_id gang, queue_id scope);

/* Is a gang with this signature worth a try? And: it failed. */
bool signatures_may_try(struct signatures *signatures, uint64_t signature, gang_id gang);
void signatures_failed(struct signatures *signatures, uint64_t signature, gang_id gang);
