/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A JSON patch as a strategic merge patch, for the manifest of an object that is to be replaced. What the API server shows
 * of an object has more members than its manifest: defaults, and what admission and controllers added. A JSON patch fails
 * where the member above its path is missing; a merge patch makes it, and finds containers by their names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "sim/why/why_patch_internal.h"
#include "text/json.h"

enum { STEP_MAX = 256 };

struct merge {
    yyjson_mut_doc *doc;
    yyjson_mut_val *at;  // in the patch
    yyjson_val *object;  // at the same place of the object
};

/* The next member of a JSON pointer, with its escapes undone; false at its end, or when it is too long. */
static bool next_step(const char **path, char step[static STEP_MAX])
{
    size_t len = 0;
    const char *at = *path;

    if (*at != '/')
        return false;
    for (at++; *at && *at != '/'; at++) {
        if (len + 1 == STEP_MAX)
            return false;
        if (*at == '~' && (at[1] == '0' || at[1] == '1'))
            step[len++] = *++at == '0' ? '~' : '/';
        else
            step[len++] = *at;
    }
    step[len] = '\0';
    *path = at;
    return true;
}

/* The element of the patch's list with the name that the object's element has; NULL when it has none. */
static yyjson_mut_val *enter_element(struct merge *m, const char *index)
{
    yyjson_mut_val *element;
    size_t i;
    size_t max;

    m->object = yyjson_arr_get(m->object, strtoul(index, NULL, 10));
    const char *name = yyjson_get_str(yyjson_obj_get(m->object, "name"));
    if (!name)
        return NULL;
    yyjson_mut_arr_foreach(m->at, i, max, element)
    {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(element, "name"), name))
            return element;
    }
    element = yyjson_mut_arr_add_obj(m->doc, m->at);
    (void)yyjson_mut_obj_add_strcpy(m->doc, element, "name", name);
    return element;
}

static yyjson_mut_val *enter_member(struct merge *m, const char *key)
{
    yyjson_mut_val *member = yyjson_mut_obj_get(m->at, key);

    m->object = yyjson_obj_get(m->object, key);
    if (member)
        return member;
    member = yyjson_is_arr(m->object) ? yyjson_mut_arr(m->doc) : yyjson_mut_obj(m->doc);
    (void)yyjson_mut_obj_add(m->at, yyjson_mut_strcpy(m->doc, key), member);
    return member;
}

static bool add_operation(yyjson_mut_doc *doc, yyjson_val *object, yyjson_val *operation)
{
    struct merge m = {doc, yyjson_mut_doc_get_root(doc), object};
    const char *path = yyjson_get_str(yyjson_obj_get(operation, "path"));
    yyjson_val *value = yyjson_obj_get(operation, "value");
    char step[STEP_MAX];

    while (path && next_step(&path, step)) {
        if (!*path) {
            (void)yyjson_mut_obj_put(m.at, yyjson_mut_strcpy(doc, step),
                                     value ? yyjson_val_mut_copy(doc, value) : yyjson_mut_null(doc));
            return yyjson_mut_is_obj(m.at);
        }
        m.at = yyjson_mut_is_arr(m.at) ? enter_element(&m, step) : enter_member(&m, step);
        if (!m.at)
            return false;
    }
    return false;
}

bool patch_as_merge(const char *operations, yyjson_val *object, struct strbuf *out)
{
    _cleanup_(json_doc_freep) yyjson_doc *patch = yyjson_read(operations, strlen(operations), 0);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_val *operation;
    size_t i;
    size_t max;
    bool is_whole = patch != NULL;
    char *text = NULL;

    yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
    yyjson_arr_foreach(yyjson_doc_get_root(patch), i, max, operation)
    {
        is_whole &= add_operation(doc, object, operation);
    }
    if (is_whole)
        text = yyjson_mut_write(doc, 0, NULL);
    if (text)
        strbuf_addstr(out, text);
    yyjson_mut_doc_free(doc);
    is_whole = text != NULL;
    free(text);
    return is_whole;
}
