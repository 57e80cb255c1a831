/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "local/custom/definitions.h"

/* Whether a definition of the group, other than `self`, has accepted this name: as a kind, or as a resource. */
bool definitions_has_name(const struct definitions *definitions, const char *self, const char *group, const char *name,
                          bool is_kind);

/* Whether the condition Established is true. */
bool definition_is_established(yyjson_mut_doc *doc);
