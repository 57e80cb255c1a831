/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

struct err;
struct rest_route;

/*
 * All rows of the console: those that do something, and a row for each operation of Run:ai's REST that does nothing yet, which
 * answers 501. To be freed. Returns -EINVAL when a row has no permission: such a table is not served.
 */
MUST_CHECK int routes_make(struct rest_route **ret_rows, size_t *ret_count, struct err *err);

/* -EINVAL when one of the rows has no permission, or one that there is not. */
MUST_CHECK int routes_check(const struct rest_route *table, size_t count, struct err *err);
