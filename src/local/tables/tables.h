/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/time.h"

struct api_kind;
struct strbuf;

/*
 * The columns of `kubectl get`, for each kind, and their cells for an object. Kinds without columns of their own have a
 * name and an age. Pure.
 */

/* Whether a built-in kind has no columns of its own, but its name and when it was created. */
bool tables_is_plain(const struct api_kind *kind);

/* The column definitions, as a JSON array. */
void tables_write_columns(const struct api_kind *kind, struct strbuf *text);

/* The cells of one object, as a JSON array in the order of the columns. `now` is what ages are counted from. */
void tables_write_cells(const struct api_kind *kind, const char *body, size_t len, nsec_t now, struct strbuf *text);

/* What a row says about an object beside its cells, as a member with a comma before it: that a pod has finished. Nothing for
 * most objects. */
void tables_write_conditions(const struct api_kind *kind, const char *body, size_t len, struct strbuf *text);

/* A duration as kubectl prints ages: "119s", "9m59s", "7h59m", "47h", "7d23h", "729d", "3y1d". */
enum { AGE_TEXT_MAX = 40 };
const char *table_age(nsec_t duration, char text[static AGE_TEXT_MAX]);
