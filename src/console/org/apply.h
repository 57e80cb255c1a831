/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

struct err;
struct request;

/* Things of the organisation by their names, for documents that say how everything should be. */
enum apply_kind { APPLY_POOL, APPLY_DEPARTMENT, APPLY_PROJECT };

/*
 * Creates or changes the thing that the request's body describes, as the requests of its kind do, in the transaction that is
 * under way. Afterwards the request has its identifier, and an `action` when something has changed.
 */
MUST_CHECK int pool_apply(struct request *request, struct err *err);
MUST_CHECK int unit_apply(struct request *request, bool is_project, struct err *err);
