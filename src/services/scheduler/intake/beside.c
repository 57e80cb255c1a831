/* SPDX-License-Identifier: Apache-2.0 */

/* The table of kinds says what counts of each; the rest of an object is gone when its event is over. */
#include "services/scheduler/intake/beside.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/map.h"
#include "base/mem.h"
#include "text/json.h"

struct beside {
    struct map64 texts[_WATCH_MAX];  // key -> char *
};

struct beside *beside_new(void)
{
    return xcalloc(1, sizeof(struct beside));
}

void beside_free(struct beside *beside)
{
    if (!beside)
        return;
    for (int kind = 0; kind < _WATCH_MAX; kind++) {
        uint64_t key, text;

        for (size_t cursor = 0; map64_next(&beside->texts[kind], &cursor, &key, &text);)
            free((char *)(uintptr_t)text);
        map64_done(&beside->texts[kind]);
    }
    free(beside);
}

static void keep_member(yyjson_mut_doc *doc, yyjson_mut_val *root, yyjson_val *object, const char *path)
{
    const char *dot = strchr(path, '.');
    yyjson_val *from = dot ? yyjson_obj_getn(object, path, (size_t)(dot - path)) : object;
    const char *member = dot ? dot + 1 : path;
    yyjson_val *val = yyjson_obj_get(from, member);
    yyjson_mut_val *to = root;

    if (!val)
        return;
    if (dot) {
        to = yyjson_mut_obj_getn(root, path, (size_t)(dot - path));
        if (!to) {
            to = yyjson_mut_obj(doc);
            (void)yyjson_mut_obj_add(root, yyjson_mut_strncpy(doc, path, (size_t)(dot - path)), to);
        }
    }
    (void)yyjson_mut_obj_add(to, yyjson_mut_str(doc, member), yyjson_val_mut_copy(doc, val));
}

static char *text_of(enum watch_kind kind, yyjson_val *object)
{
    const char *const *kept = watch_row(kind)->kept;
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    for (int i = 0; i < KEPT_PATHS_MAX && kept[i]; i++)
        keep_member(doc, root, object, kept[i]);
    char *text = yyjson_mut_write(doc, 0, NULL);
    BUG_ON(!text);
    yyjson_mut_doc_free(doc);
    return text;
}

bool beside_put(struct beside *beside, enum watch_kind kind, object_key key, yyjson_val *object)
{
    char *text = text_of(kind, object);
    uint64_t old = 0;

    if (map64_get(&beside->texts[kind], key, &old)) {
        if (strcmp((const char *)(uintptr_t)old, text) == 0) {
            free(text);
            return false;
        }
        free((char *)(uintptr_t)old);
    }
    map64_put(&beside->texts[kind], key, (uint64_t)(uintptr_t)text);
    return true;
}

bool beside_drop(struct beside *beside, enum watch_kind kind, object_key key)
{
    uint64_t old = 0;

    if (!map64_get(&beside->texts[kind], key, &old))
        return false;
    free((char *)(uintptr_t)old);
    return map64_remove(&beside->texts[kind], key);
}

static yyjson_doc *parse(uint64_t text)
{
    const char *at = (const char *)(uintptr_t)text;
    yyjson_doc *doc = yyjson_read(at, strlen(at), 0);

    BUG_ON(!doc);
    return doc;
}

yyjson_doc *beside_get(const struct beside *beside, enum watch_kind kind, object_key key)
{
    uint64_t text = 0;

    return map64_get(&beside->texts[kind], key, &text) ? parse(text) : NULL;
}

bool beside_next(const struct beside *beside, enum watch_kind kind, size_t *cursor, object_key *ret_key,
                 yyjson_doc **ret_doc)
{
    uint64_t text = 0;

    if (!map64_next(&beside->texts[kind], cursor, ret_key, &text))
        return false;
    *ret_doc = parse(text);
    return true;
}

size_t beside_len(const struct beside *beside, enum watch_kind kind)
{
    return map64_len(&beside->texts[kind]);
}
