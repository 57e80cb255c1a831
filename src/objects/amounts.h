/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/macros.h"
#include "model/delta.h"
#include "text/json.h"

struct err;

/*
 * Resource lists ("cpu": "500m", "nvidia.com/gpu": 1) in the units of the model: thousandths of cores, bytes,
 * billionths of devices, counts of pods and MIG slices, thousandths of everything else. Kept in the order in which they
 * were given.
 */
struct amounts_list {
    struct arena *arena;
    struct amount_spec *items;
    size_t count;
    size_t cap;
};

void amounts_init(struct amounts_list *list, struct arena *arena);

/* Adds each resource of the list at `at` to what is in `list`. Amounts that are no quantity are refused. */
MUST_CHECK int amounts_decode(struct amounts_list *list, const struct json_at *at, struct err *err);

/* Adds the resource; -ERANGE when it does not fit any more. */
MUST_CHECK int amounts_add(struct amounts_list *list, const char *resource, int64_t amount, struct err *err);

/* Adds all of `other`; or raises each resource to what `other` has of it. */
MUST_CHECK int amounts_add_all(struct amounts_list *list, const struct amounts_list *other, struct err *err);
void amounts_max_all(struct amounts_list *list, const struct amounts_list *other);

/* The resource's amount, 0 when it is not there. */
int64_t amounts_get(const struct amounts_list *list, const char *resource);

/* A resource that counts as GPUs, and one that is a MIG profile. */
bool resource_is_gpu(const char *name);
bool resource_is_mig(const char *name);

/* One quantity, written as a string or a number, in the unit of `resource`. */
MUST_CHECK int amount_decode(const struct json_at *at, const char *resource, int64_t *ret_amount, struct err *err);
