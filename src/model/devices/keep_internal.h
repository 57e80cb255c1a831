/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "model/delta.h"
#include "model/devices/offer.h"

/*
 * What devices and claims are described by, into memory of the state's own: one block of the heap for each object, which
 * state_discard() or free() gives back. NULL when there is nothing to keep.
 */
void *offers_keep(struct state *state, const struct slice_spec *spec, struct device_offer **ret_offers,
                  struct counter_set **ret_counters, struct node_reach *ret_reach);
void *claim_ask_keep(struct state *state, const struct claim_ask *from, struct claim_ask *ret_ask);
void *class_keep(struct state *state, const struct device_class_spec *spec, const char *const **ret_selectors,
                 const struct device_config **ret_configs);
