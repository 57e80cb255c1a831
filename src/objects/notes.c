/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "objects/fields.h"

/* Kinds that are told apart; an input that names more is not worth the memory. */
enum { SKIPPED_MAX = 1000 };

void object_notes_init(struct object_notes *notes)
{
    *notes = (struct object_notes){0};
    arena_init(&notes->texts);
}

void object_notes_done(struct object_notes *notes)
{
    vec_done(&notes->skipped);
    vec_done(&notes->warnings);
    vec_done(&notes->left_out);
    strmap_done(&notes->replicas);
    arena_done(&notes->texts);
}

void object_notes_skip(struct object_notes *notes, const char *group, const char *kind)
{
    char name[128];

    if (!notes)
        return;
    (void)snprintf(name, sizeof name, "%s%s%s", kind, *group ? "." : "", group);
    vec_foreach (&notes->skipped, skipped) {
        if (strcmp(skipped->kind, name) == 0) {
            skipped->count++;
            return;
        }
    }
    if (notes->skipped.len < SKIPPED_MAX)
        vec_push(&notes->skipped, (struct skipped_kind){arena_strdup(&notes->texts, name), 1});
}

void object_notes_warn(struct object_notes *notes, const char *format, ...)
{
    char line[512];
    va_list args;

    if (!notes)
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_flatten(line);
    /* Equal pods of a workload have the same to tell. */
    for (uint32_t i = 0; i < notes->warnings.len; i++)
        if (strcmp(notes->warnings.items[i], line) == 0)
            return;
    if (notes->warnings.len == NOTES_WARNINGS_MAX) {
        notes->more_warnings++;
        return;
    }
    vec_push(&notes->warnings, arena_strdup(&notes->texts, line));
}

void object_notes_leave_out(struct object_notes *notes, const struct left_out *left_out)
{
    if (!notes || notes->left_out.len == NOTES_LEFT_OUT_MAX)
        return;
    vec_push(&notes->left_out, (struct left_out){
                                   arena_strdup(&notes->texts, left_out->kind),
                                   arena_strdup(&notes->texts, left_out->namespace),
                                   arena_strdup(&notes->texts, left_out->name),
                                   arena_strdup(&notes->texts, left_out->scheduler),
                                   arena_strdup(&notes->texts, left_out->ours),
                               });
}

void object_notes_add_replica(struct object_notes *notes, const struct replica *replica)
{
    if (!notes)
        return;
    struct replica *copy = arena_alloc(&notes->texts, sizeof *copy);

    *copy = (struct replica){
        .namespace = arena_strdup(&notes->texts, replica->namespace),
        .pod_group = arena_strdup(&notes->texts, replica->pod_group),
        .kind = arena_strdup(&notes->texts, replica->kind),
        .owner = arena_strdup(&notes->texts, replica->owner),
    };
    (void)strmap_put(&notes->replicas, copy->namespace, copy->pod_group, copy);
}
