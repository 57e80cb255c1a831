/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/intern.h"
#include "base/strmap.h"
#include "base/time.h"
#include "base/vec.h"

struct board;

/*
 * What lists of workloads are sorted, filtered and counted by: a few columns of each row of the board, kept up to date with it, so
 * that a list of a hundred thousand is a loop over numbers and no document is read.
 */

/* Texts that many rows share. */
enum work_text {
    WORK_NAMESPACE,
    WORK_KIND,
    WORK_QUEUE,
    WORK_USER,
    WORK_STATE,
    WORK_REASON,
    _WORK_TEXT_MAX,
};

struct work_row {
    char *id;                        // "namespace/kind/name"
    const char *name;                // its end
    char *nodes;                     // "/a/b/"; NULL: none
    uint32_t texts[_WORK_TEXT_MAX];  // in the index's `texts`
    uint32_t at;                     // place among the rows
    double gpus;
    int64_t pods;
    nsec_t created, started, finished;  // 0: not known, or not yet
};

struct work_index {
    struct intern texts;
    VEC(struct work_row *) rows;  // in no order
    struct strmap by_id;
    uint64_t sequence;  // of the board
};

void work_index_init(struct work_index *index);
void work_index_done(struct work_index *index);

/* Takes over what has changed in the board. */
void work_index_update(struct work_index *index, const struct board *board);

const char *work_text_name(enum work_text text);
const char *work_row_text(const struct work_index *index, const struct work_row *row, enum work_text text);

/* How long it has waited for its start, and how long it has run since. */
nsec_t work_row_waited(const struct work_row *row, nsec_t now);
nsec_t work_row_ran(const struct work_row *row, nsec_t now);
