/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct gang_view;
struct order;

/* The order of a simulation comes off in a way of its own: what is not placed comes off inside. */
const struct gang_view *simulation_pop(struct order *order);
bool simulation_is_empty(const struct order *order);
