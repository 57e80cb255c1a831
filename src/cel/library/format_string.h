/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cel/core.h"

/* string.format(list). */
struct cel_value format_call(struct run *run, const struct cel_value *args, int count);

/* Whether the arguments of a format string that is a literal can be formatted at all. */
MUST_CHECK int check_format(const char *text, const struct expr *call, struct err *err);
