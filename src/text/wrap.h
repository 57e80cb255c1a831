/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

#include "text/table.h"
#include "text/terminal.h"

/*
 * Prints `text` as one paragraph, broken at spaces where the view is too narrow for it. `lead` stands before its first
 * line and `rest` before the others; both take the same columns. Whatever must not reach a terminal is shown as '?', since
 * names come from outside, and the style covers the text alone.
 */
void wrap_print(FILE *out, const struct table_view *view, const char *lead, const char *rest, enum text_style style,
                const char *text);
