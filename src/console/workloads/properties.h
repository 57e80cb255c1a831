/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"

struct db;
struct err;
struct workload_kind;

/*
 * Types of workloads, their categories and priorities as the REST shows them. Categories and priorities are fixed; the default
 * priority and category of a type can be changed, and hold for workloads that are submitted from then on.
 */
struct workload_defaults {
    char priority[32];
    char category[32];
};

MUST_CHECK int workload_defaults_load(struct db *db, const struct workload_kind *kind, struct workload_defaults *ret,
                                      struct err *err);
