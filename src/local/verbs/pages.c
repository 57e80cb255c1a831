/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/access/base64.h"
#include "local/api/names.h"
#include "store/object.h"

void pages_drop(struct pages *pages, struct page *page)
{
    list_remove(&pages->oldest_first, &page->in_pages);
    (void)strmap_remove(&pages->by_id, "", page->id);
    vec_foreach (&page->objects, object)
        store_object_unref(*object);
    vec_done(&page->objects);
    free(page);
}

static struct page *oldest(const struct pages *pages)
{
    return list_first(&pages->oldest_first, struct page, in_pages);
}

void pages_done(struct pages *pages)
{
    while (oldest(pages))
        pages_drop(pages, oldest(pages));
    strmap_done(&pages->by_id);
}

struct page *pages_add(struct pages *pages, struct page_objects *objects, uint64_t version, uint32_t kind, nsec_t now)
{
    struct page *page = xcalloc(1, sizeof *page);

    while (oldest(pages) && (oldest(pages)->expires <= now || pages->oldest_first.len >= PAGES_MAX))
        pages_drop(pages, oldest(pages));
    *page = (struct page){.expires = now + PAGE_LIFETIME, .version = version, .kind = kind, .objects = *objects};
    *objects = (struct page_objects){0};
    uid_make(page->id);
    list_push(&pages->oldest_first, &page->in_pages);
    (void)strmap_put(&pages->by_id, "", page->id, page);
    return page;
}

void page_place_token(const char *id, const char *namespace, const char *name, char text[static PAGE_TOKEN_MAX])
{
    char plain[PAGE_TOKEN_MAX];
    /* Neither identifiers nor names have a line end. */
    int len = snprintf(plain, sizeof plain, "%s\n%s\n%s", id, namespace, name);
    _cleanup_(freep) char *encoded = base64_encode(plain, (size_t)len);

    (void)snprintf(text, PAGE_TOKEN_MAX, "%s", encoded);
}

void page_token(const struct page *page, char text[static PAGE_TOKEN_MAX])
{
    const struct store_object *last = page->objects.items[page->at - 1];

    page_place_token(page->id, last->namespace, last->name, text);
}

int page_place_read(struct page_place *place, const char *token)
{
    _cleanup_(freep) char *plain = NULL;
    size_t len = 0;

    if (base64_decode(token, &plain, &len) < 0 || len >= sizeof place->text || strlen(plain) != len)
        return -EINVAL;
    memcpy(place->text, plain, len + 1);
    char *namespace = strchr(place->text, '\n');
    char *name = namespace ? strchr(namespace + 1, '\n') : NULL;

    if (!name)
        return -EINVAL;
    *namespace = *name = '\0';
    place->id = place->text;
    place->namespace = namespace + 1;
    place->name = name + 1;
    return 0;
}

struct page *pages_find(struct pages *pages, const struct page_place *place, uint32_t kind, nsec_t now)
{
    struct page *page = strmap_get(&pages->by_id, "", place->id);

    /* A token of a page that has been shown already begins elsewhere: a client may ask again for one that got lost. */
    if (!page || page->kind != kind || page->expires <= now)
        return NULL;
    for (uint32_t i = 0; i < page->objects.len; i++) {
        const struct store_object *object = page->objects.items[i];
        if (strcmp(object->namespace, place->namespace) == 0 && strcmp(object->name, place->name) == 0) {
            page->at = i + 1;
            return page;
        }
    }
    return NULL;
}
