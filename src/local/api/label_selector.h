/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct strbuf;

/*
 * The label selectors in objects: {"matchLabels": {...}, "matchExpressions": [...]}. An empty one, and NULL, select
 * everything; a caller whose kind means otherwise has to look for that itself. Unknown operators select nothing.
 */
bool label_selector_matches(yyjson_val *selector, yyjson_val *labels);

/* The older form, without a level of its own: {"app": "web"}. */
bool label_map_matches(yyjson_val *map, yyjson_val *labels);

/* Appends the selector as the query of a list has it: "app=web,tier in (a,b)". Nothing for one that selects everything. */
void label_selector_format(yyjson_val *selector, struct strbuf *to);
void label_map_format(yyjson_val *map, struct strbuf *to);
