/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"

struct err;

/*
 * Output by formats: "%.18i %.9P %t" of squeue and sinfo, "JobID,State%20" of sacct. A column is a row of a table with its
 * letter, its name and a function that writes the cell.
 */
struct slurm_column {
    char letter;       // 0: none
    const char *name;  // as sacct calls it
    const char *title;
    uint32_t width;  // of sacct; 0: none
    const char *(*text)(const void *row, nsec_t now, struct arena *arena);
};

/* One piece of a format: literal text, and a column behind it. */
struct slurm_piece {
    const char *before;
    const struct slurm_column *column;  // NULL: only text
    uint32_t width;                     // 0: as long as it is
    bool is_right;
};

struct slurm_format VEC_OF(struct slurm_piece);

/* "%.18i %j": a dot aligns to the right, a number is the width. Returns 0, or -EINVAL with the letter. */
MUST_CHECK int slurm_format_parse(const char *text, const struct slurm_column *columns, size_t count,
                                  struct arena *arena, struct slurm_format *ret, struct err *err);

/* "JobID,State%20,Elapsed": negative widths align to the left. Returns 0, or -EINVAL with the name. */
MUST_CHECK int slurm_names_parse(const char *text, const struct slurm_column *columns, size_t count,
                                 struct arena *arena, struct slurm_format *ret, struct err *err);

/* Prints a line: that of the titles for NULL. */
void slurm_format_print(const struct slurm_format *format, const void *row, nsec_t now, struct arena *arena);
