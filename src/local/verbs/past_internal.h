/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

struct page_objects;
struct request;
struct selection;

/*
 * The objects that a selection had at an older version, in their order, each of which the caller keeps a reference to.
 * `ret_has_others`: behind the last of them there are objects that the selectors do not match.
 *
 * Returns 0; -ESTALE when the changes since then are no longer known; -ERANGE for a version that has not come yet.
 */
MUST_CHECK int past_collect(const struct selection *selection, const struct request *request, uint64_t version,
                            struct page_objects *objects, bool *ret_has_others);
