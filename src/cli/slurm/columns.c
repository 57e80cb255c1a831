/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/slurm/columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "objects/fields.h"
#include "text/table.h"

enum { WIDTH_MAX = 1000, CELL_MAX = 2048 };

static const struct slurm_column *find_letter(const struct slurm_column *columns, size_t count, char letter)
{
    for (size_t i = 0; i < count; i++) {
        if (columns[i].letter == letter && letter)
            return &columns[i];
    }
    return NULL;
}

int slurm_format_parse(const char *text, const struct slurm_column *columns, size_t count, struct arena *arena,
                       struct slurm_format *ret, struct err *err)
{
    const char *at = text;

    while (*at) {
        size_t plain = strcspn(at, "%");
        int shown = plain < CELL_MAX ? (int)plain : CELL_MAX;
        struct slurm_piece piece = {.before = arena_printf(arena, "%.*s", shown, at)};

        at += plain;
        if (*at == '%') {
            at++;
            piece.is_right = *at == '.';
            at += piece.is_right;
            size_t digits = strspn(at, "0123456789");
            piece.width = digits > 4 ? WIDTH_MAX : (uint32_t)MIN(strtol(at, NULL, 10), (long)WIDTH_MAX);
            at += digits;
            piece.column = find_letter(columns, count, *at);
            if (!piece.column)
                return err_set(err, -EINVAL, "format '%s': '%%%c' is not known; see docs/slurm.md", text,
                               *at ? *at : ' ');
            at++;
        }
        vec_push(ret, piece);
    }
    return 0;
}

int slurm_names_parse(const char *text, const struct slurm_column *columns, size_t count, struct arena *arena,
                      struct slurm_format *ret, struct err *err)
{
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, ",");
        size_t name_len = MIN(strcspn(at, "%"), len);
        struct slurm_piece piece = {.before = "", .is_right = true};

        for (size_t i = 0; i < count && !piece.column; i++) {
            if (strlen(columns[i].name) == name_len && strncasecmp(columns[i].name, at, name_len) == 0)
                piece.column = &columns[i];
        }
        if (!piece.column)
            return err_set(err, -EINVAL, "there is no field '%.*s'; see docs/slurm.md", (int)MIN(name_len, (size_t)64),
                           at);
        piece.width = piece.column->width;
        if (name_len < len) {
            long width = strtol(at + name_len + 1, NULL, 10);

            piece.is_right = width >= 0;
            piece.width = (uint32_t)labs(CLAMP(width, (long)-WIDTH_MAX, (long)WIDTH_MAX));
        }
        vec_push(ret, piece);
        at += len + (at[len] == ',');
    }
    (void)arena;
    return 0;
}

void slurm_format_print(const struct slurm_format *format, const void *row, nsec_t now, struct arena *arena)
{
    vec_foreach (format, piece) {
        char cell[CELL_MAX];

        (void)fputs(piece->before, stdout);
        if (!piece->column)
            continue;
        (void)snprintf(cell, sizeof cell, "%s", row ? piece->column->text(row, now, arena) : piece->column->title);
        (void)table_clean(cell);
        if (piece->width == 0)
            (void)fputs(cell, stdout);
        else
            printf("%*.*s", piece->is_right ? (int)piece->width : -(int)piece->width, (int)piece->width, cell);
    }
    (void)putchar('\n');
}
