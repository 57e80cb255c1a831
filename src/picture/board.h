/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/macros.h"
#include "base/strmap.h"
#include "base/time.h"
#include "base/vec.h"

struct strbuf;

/*
 * What the page shows, as rows of JSON, and when each row changed last. A reader says what it has seen and is told what has
 * changed since: each row once, as it is now, however often it changed. Rows that have gone are remembered for a while.
 *
 * The rows are put anew, all of them between board_begin() and board_end(). Only those whose text differs count as
 * changed, so that what is sent follows from what changed and not from how often somebody looked.
 */
enum board_part { BOARD_SUMMARY, BOARD_NODES, BOARD_QUEUES, BOARD_WORKLOADS, _BOARD_PARTS };

enum { BOARD_GONE_MAX = 10000 };  // rows that are remembered after they have gone

#define BOARD_GONE_LIFETIME (5 * NSEC_PER_MIN)

struct board {
    struct strmap rows[_BOARD_PARTS];
    struct list by_change;  // the row that changed last is the last one
    struct list gone;       // of these, the ones that have gone; the one that went first is the first
    uint64_t sequence;      // of the last change
    uint64_t forgotten;     // changes up to this one can no longer be told
    uint64_t round;
};

/* The name of a part in JSON: "workloads". */
const char *board_part_name(enum board_part part);

void board_init(struct board *board);
void board_done(struct board *board);

/* All rows follow, each by board_put() with a name of its own in its part and its JSON text; the rest is gone at the end. */
void board_begin(struct board *board);
void board_put(struct board *board, enum board_part part, const char *name, const char *json, size_t len);

/* The rows of this part stay as they are. */
void board_keep(struct board *board, enum board_part part);
void board_end(struct board *board, nsec_t now);

/* Whether everything that changed after `sequence` can be told. */
bool board_knows(const struct board *board, uint64_t sequence);

/* Writes what changed after `sequence` as the members of a JSON object, without its braces:
 *
 *     "nodes":[...],"workloads":[...],"gone":{"workloads":["team-a/train"]}
 *
 * With `sequence` 0 that is everything. Parts without a change are left out. */
void board_write_since(const struct board *board, uint64_t sequence, struct strbuf *out);

/* Writes all rows of a part as a JSON array, in the order of their names. */
void board_write_part(const struct board *board, enum board_part part, struct strbuf *out);

/* A row as it is now; borrowed until the next board_put() or board_end(). */
struct board_item {
    enum board_part part;
    const char *name;
    const char *json;  // NULL: it has gone
    size_t len;
};
struct board_items VEC_OF(struct board_item);

/* Adds all rows of a part, in the order of their names. */
void board_list(const struct board *board, enum board_part part, struct board_items *items);

/* Adds the rows that changed after `sequence`, the newest change first; with 0 all that are there. */
void board_list_since(const struct board *board, uint64_t sequence, struct board_items *items);

/* The JSON text of a row; NULL when there is none. */
const char *board_row(const struct board *board, enum board_part part, const char *name);
