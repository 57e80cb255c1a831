/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/families.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/strmap.h"

struct families {
    struct strmap by_owner;
    struct strmap children;
};

struct families *families_new(void)
{
    return xcalloc(1, sizeof(struct families));
}

void families_free(struct families *families)
{
    if (!families)
        return;
    strmap_done(&families->by_owner);
    strmap_done(&families->children);
    free(families);
}

struct family *families_find(const struct families *families, const char *uid)
{
    return strmap_get(&families->by_owner, "", uid);
}

struct family *families_get(struct families *families, const char *uid)
{
    struct family *family = families_find(families, uid);

    if (family)
        return family;
    family = xcalloc(1, sizeof *family);
    family->uid = xstrdup(uid);
    (void)strmap_put(&families->by_owner, "", family->uid, family);
    return family;
}

void families_release(struct families *families, struct family *family)
{
    if (family->owner || family->children.len > 0)
        return;
    (void)strmap_remove(&families->by_owner, "", family->uid);
    free(family->uid);
    free(family->name);
    free(family);
}

struct child *families_child(const struct families *families, const char *uid)
{
    return strmap_get(&families->children, "", uid);
}

void families_add_child(struct families *families, struct family *family, struct child *child)
{
    child->family = family;
    list_push(&family->children, &child->in_family);
    (void)strmap_put(&families->children, "", child->uid, child);
}

void families_drop_child(struct families *families, struct child *child)
{
    struct family *family = child->family;

    list_remove(&family->children, &child->in_family);
    (void)strmap_remove(&families->children, "", child->uid);
    families_release(families, family);
    free(child->namespace);
    free(child->name);
    free(child->uid);
    free(child->mark);
    yyjson_doc_free(child->doc);
    free(child);
}

struct family *families_next(const struct families *families, size_t *cursor)
{
    return strmap_next(&families->by_owner, cursor);
}

struct child *family_first(const struct family *family)
{
    return list_first(&family->children, struct child, in_family);
}

struct child *family_next(const struct child *child)
{
    return child ? list_item(child->in_family.next, struct child, in_family) : NULL;
}
