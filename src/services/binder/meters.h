/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/time.h"

struct binder;

/* The binder's figures, beside those that all services have. */
struct binder_meters;

struct binder_meters *meters_new(struct binder *binder);
void meters_free(struct binder_meters *meters);

/* A request got into the queue; is taken out of it, after it has waited. */
void meters_added(struct binder_meters *meters);
void meters_started(struct binder_meters *meters, nsec_t waited);

/* An attempt has ended. */
void meters_observe(struct binder_meters *meters, bool is_bound, nsec_t duration);
