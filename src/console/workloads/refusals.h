/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"

struct err;

/* What no workload may have, as tables. All take a whole spec. */

/* -ENOSYS for a member that has no effect yet. */
MUST_CHECK int refuse_unsupported(yyjson_val *spec, struct err *err);

/* -EINVAL for items of lists that lack a member. */
MUST_CHECK int refuse_incomplete(yyjson_val *spec, struct err *err);

/* -EINVAL for labels, annotations and resources that would change whose quota a workload uses, or evade a policy. */
MUST_CHECK int refuse_reserved(yyjson_val *spec, struct err *err);
