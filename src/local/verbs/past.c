/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A list as it was: the objects that have not changed since the version, and the state before its first change of each
 * that has. Changes are in the history with the state before them, so that nothing has to be kept for it.
 */
#include "local/verbs/past_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/strmap.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/pages.h"
#include "local/verbs/selection_internal.h"

/* The first change of each object since the version, by namespace and name. All is read in one turn of the loop. */
static int read_changes(const struct request *request, uint64_t version, struct strmap *changes)
{
    const struct store *store = request->server->store;
    const struct store_change *change = NULL;
    uint64_t position = 0;
    int r = store_position(store, version, &position);

    if (r < 0)
        return r;
    while ((r = store_next_change(store, request->number, &position, &change)) > 0) {
        const char *namespace = change->after->namespace;
        const char *name = change->after->name;
        if (!strmap_get(changes, namespace, name))
            (void)strmap_put(changes, namespace, name, (void *)(uintptr_t)change);
    }
    return r;
}

static int compare_places(const void *a, const void *b)
{
    const struct store_object *const *first = a;
    const struct store_object *const *second = b;
    int order = strcmp((*first)->namespace, (*second)->namespace);

    return order ? order : strcmp((*first)->name, (*second)->name);
}

/* All objects of the selection's namespace, whatever the selectors say. They are borrowed. */
static void collect_all(const struct selection *selection, const struct request *request, const struct strmap *changes,
                        struct page_objects *all)
{
    const struct selection place = {.namespace = selection->namespace};
    const struct store_change *change;
    const struct store_object *object;
    struct store_cursor cursor;

    store_cursor_init(&cursor, request->server->store, request->number, "", "");
    while ((object = store_cursor_next(&cursor)))
        if (selection_has(&place, object) && !strmap_get(changes, object->namespace, object->name))
            vec_push(all, object);
    store_cursor_done(&cursor);
    for (size_t at = 0; (change = strmap_next(changes, &at));)
        if (change->before && selection_has(&place, change->before))
            vec_push(all, change->before);
    if (all->len > 0)
        qsort(all->items, all->len, sizeof *all->items, compare_places);
}

int past_collect(const struct selection *selection, const struct request *request, uint64_t version,
                 struct page_objects *objects, bool *ret_has_others)
{
    struct strmap changes = {0};
    struct page_objects all = {0};
    bool has_others = false;
    int r = read_changes(request, version, &changes);

    if (r == 0) {
        collect_all(selection, request, &changes, &all);
        vec_foreach (&all, object) {
            bool is_selected = selection_has(selection, *object);
            has_others = !is_selected;
            if (is_selected)
                vec_push(objects, store_object_ref(*object));
        }
        *ret_has_others = has_others;
    }
    vec_done(&all);
    strmap_done(&changes);
    return r;
}
