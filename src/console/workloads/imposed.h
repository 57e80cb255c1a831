/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"

struct err;
struct request;

/* Adds the data sources that a policy imposes, by their identifiers, to the member `storage` of a spec. -ENOSYS for a kind of
 * data source that workloads cannot have yet. */
MUST_CHECK int imposed_add(struct request *request, yyjson_mut_val *ids, yyjson_mut_val *spec, struct err *err);
