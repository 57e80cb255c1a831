/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/time.h"
#include "base/vec.h"
#include "cli/work/api.h"

/* Events as people read them: the newest last. */
struct event_row {
    nsec_t last;
    int64_t count;
    const char *type, *reason, *namespace, *kind, *name, *message;
};

struct event_rows VEC_OF(struct event_row);

/* Reads events into rows that borrow from the documents, ordered by time. */
void event_rows_make(const struct api_objects *events, struct event_rows *ret);

/* Makes one row of those that say the same, as the events of a gang's pods do. What is left is in the same order. */
void event_rows_join(struct event_rows *rows);

/* Prints rows as a table; `shows_object`: with the object that each is about. */
void event_rows_print(const struct event_rows *rows, bool shows_object, nsec_t now);

yyjson_mut_val *event_row_encode(const struct event_row *row, yyjson_mut_doc *doc);

/* Whether the event is about the workload: its object, its PodGroup or one of its pods. */
struct workload_row;
bool event_is_about(const struct event_row *event, const struct workload_row *row);
