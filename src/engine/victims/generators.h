/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "engine/config.h"
#include "model/ids.h"

struct search;

/* A generator makes eviction plans of the victims so far. True: one of them worked; the statement then holds it. */
bool generator_local(struct search *search);
bool generator_gang(struct search *search);

/* The plan that the local generator makes of the victims so far on a node. */
void generator_local_fill(struct search *search, node_id node);

/* Is the local generator the one under way? */
bool generator_is_local(const struct search *search);
