/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/victims/marks.h"
#include "model/ids.h"

struct gang_view;
struct search;

/*
 * Refutations: what cannot succeed is not simulated. Each is a condition that success implies, so that decisions stay
 * the same; refute.c has the proofs.
 */
struct refutation *refutation_new(void);
void refutation_free(struct refutation *refutation);

/* A search begins. */
void refute_begin(struct search *search);
bool refute_search(struct search *search, const struct gang_view *view);

/* A generator begins. */
void refute_begin_round(struct search *search);

/* A probe of `count` pods begins. */
void refute_begin_probe(struct search *search, uint32_t count);
bool refute_probe(struct search *search, uint32_t count);

/* All plans that could be made of the victims so far. */
bool refute_state(struct search *search);
bool refute_plan(struct search *search);

/* The probe took in all victims, and none of its plans worked. */
void refute_learn_exhausted(struct search *search, uint32_t count, bool is_local);
