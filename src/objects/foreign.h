/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct object_kind;

/*
 * Kinds of other schedulers, Kueue's ClusterQueue for example. They are in the table of kinds for those who survey a
 * cluster (sim/migrate); for all others they are left out, and noted as such.
 */
bool object_kind_is_foreign(const struct object_kind *kind);
