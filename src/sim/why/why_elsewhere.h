/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct table_view;
struct why_input;
struct why_target;

/*
 * The answer for work that is left to another scheduler, in the same form as that of why_print() and why_write(). Its
 * reason is "other_scheduler".
 */
void why_answer_elsewhere(const struct why_input *input, const struct why_target *target, bool as_json,
                          const struct table_view *view, FILE *out);
