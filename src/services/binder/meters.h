/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/time.h"

struct binder;

/* The binder's figures, beside those that all services have. */
struct binder_meters;

struct binder_meters *meters_new(struct binder *binder);
void meters_free(struct binder_meters *meters);

/* An attempt has ended. */
void meters_observe(struct binder_meters *meters, bool is_bound, nsec_t duration);
