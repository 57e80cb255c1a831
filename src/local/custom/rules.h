/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

/*
 * The rules in CEL that are checked: those of Topology, by code. A rule is known by its text, in which only spaces may
 * differ.
 */

/* The number of a rule; below 0 when it is not known. */
int rule_find(const char *text);

/* Whether the rule compares with the value before, and so is left out when there is none. */
bool rule_is_transition(int rule);

/* Whether `value` satisfies the rule. `old` is the value before; NULL when there was none. */
bool rule_holds(int rule, yyjson_mut_val *value, yyjson_mut_val *old);
