/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "local/apply/fields.h"
#include "local/apply/owners_internal.h"

enum { CONFLICTS_MAX = 1000, MESSAGE_BYTES_MAX = 256 << 10 };

void apply_conflicts_done(struct apply_conflicts *conflicts)
{
    for (size_t i = 0; i < conflicts->count; i++) {
        free(conflicts->list[i].field);
        free(conflicts->list[i].message);
    }
    free(conflicts->list);
    free(conflicts->message);
    *conflicts = (struct apply_conflicts){0};
}

struct collector {
    struct apply_conflicts *conflicts;
    const char *with;
    struct strbuf *paths;
};

static void add_conflict(void *context, const char *path)
{
    struct collector *collector = context;
    struct apply_conflicts *conflicts = collector->conflicts;

    if (conflicts->count >= CONFLICTS_MAX)
        return;
    struct strbuf message;
    strbuf_init(&message, MESSAGE_BYTES_MAX);
    strbuf_addf(&message, "conflict with %s", collector->with);
    conflicts->list = xreallocarray(conflicts->list, conflicts->count + 1, sizeof *conflicts->list);
    conflicts->list[conflicts->count++] =
        (struct apply_conflict){.field = xstrdup(path), .message = strbuf_take(&message)};
    strbuf_addf(collector->paths, "\n- %s", path);
    strbuf_done(&message);
}

/* "kubectl" with subresource "scale" using apps/v1 */
static void describe(const struct manager *manager, struct strbuf *text)
{
    strbuf_addf(text, "\"%s\"", manager->name);
    if (*manager->subresource)
        strbuf_addf(text, " with subresource \"%s\"", manager->subresource);
    if (!manager->is_applier)
        strbuf_addf(text, " using %s", manager->api_version);
}

static int compare_names(const void *a, const void *b)
{
    const struct manager *left = *(const struct manager *const *)a, *right = *(const struct manager *const *)b;
    int order = strcmp(left->name, right->name);

    order = order ? order : (int)right->is_applier - (int)left->is_applier;
    order = order ? order : strcmp(left->api_version, right->api_version);
    /* The API server compares identifiers in JSON, where a comma stands before the brace at the end. */
    order = order ? order : (*right->subresource != '\0') - (*left->subresource != '\0');
    return order ? order : strcmp(left->subresource, right->subresource);
}

static char *summarize(const struct apply_conflicts *conflicts, const char *paths)
{
    struct strbuf message;

    strbuf_init(&message, MESSAGE_BYTES_MAX);
    if (conflicts->count == 1)
        strbuf_addf(&message, "Apply failed with 1 conflict: %s: %s", conflicts->list[0].message,
                    conflicts->list[0].field);
    else
        strbuf_addf(&message, "Apply failed with %zu conflicts: %s", conflicts->count, paths);
    char *text = strbuf_take(&message);
    strbuf_done(&message);
    return text;
}

bool owners_conflict(struct owners *owners, const struct manager *self, const struct tree_changes *changes,
                     struct fields *allowed, struct apply_conflicts *conflicts)
{
    struct arena *arena = &owners->arena;
    struct fields *changed = fields_union(changes->added, changes->modified, arena);
    const struct manager **sorted = arena_calloc(arena, owners->managers.len + 1, sizeof *sorted);
    struct strbuf with, paths;
    size_t count = 0;

    vec_foreach (&owners->managers, manager)
        if (manager != self)
            sorted[count++] = manager;
    qsort(sorted, count, sizeof *sorted, compare_names);
    strbuf_init(&with, MESSAGE_BYTES_MAX);
    strbuf_init(&paths, MESSAGE_BYTES_MAX);
    for (size_t i = 0; i < count; i++) {
        struct fields *lost = fields_intersection(sorted[i]->fields, changed, arena);
        lost = fields_difference(lost, allowed, arena);
        if (fields_is_empty(lost))
            continue;
        strbuf_clear(&with);
        describe(sorted[i], &with);
        strbuf_addf(&paths, "%sconflicts with %s:", paths.len ? "\n" : "", with.text);
        struct collector collector = {.conflicts = conflicts, .with = with.text, .paths = &paths};
        fields_each(lost, add_conflict, &collector);
    }

    if (conflicts->count)
        conflicts->message = summarize(conflicts, paths.text);
    strbuf_done(&with);
    strbuf_done(&paths);
    return conflicts->count > 0;
}
