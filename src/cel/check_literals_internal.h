/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cel/core.h"

/* Gives each expression below `root` its final type: what is still open is dyn. */
void settle_types(struct arena *arena, const struct bindings *bindings, struct expr *root);

/* Literals that can be seen to be wrong before anything is evaluated: regular expressions, durations and times that are
 * none, items of different types in one list, and format strings that do not fit their arguments. */
MUST_CHECK int check_literals(const char *text, const struct expr *root, struct err *err);
