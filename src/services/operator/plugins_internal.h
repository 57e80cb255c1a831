/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "services/operator/draft_internal.h"

/* The binder's plugins as its flag --plugins takes them: the defaults with what the Config changes. */
yyjson_mut_val *binder_plugins(struct draft *draft, yyjson_val *section);
