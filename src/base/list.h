/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A list of things in the order in which they came, each of which can leave from anywhere. The link is a member of the
 * thing, so that nothing is allocated; a thing is in as many lists at a time as it has links.
 *
 *     struct pod {
 *         struct list_link in_lane;
 *     };
 *     struct list lane = {0};
 *     list_push(&lane, &pod->in_lane);
 *     struct pod *first = list_first(&lane, struct pod, in_lane);  // NULL: it is empty
 *
 * All zeros is an empty list. `len` may be read directly.
 */
struct list_link {
    struct list_link *prev, *next;
};

struct list {
    struct list_link *first, *last;
    size_t len;
};

/* At the end. The link is in no list. */
static inline void list_push(struct list *list, struct list_link *link)
{
    *link = (struct list_link){.prev = list->last};
    *(list->last ? &list->last->next : &list->first) = link;
    list->last = link;
    list->len++;
}

/* The link is in this list. */
static inline void list_remove(struct list *list, struct list_link *link)
{
    *(link != list->first ? &link->prev->next : &list->first) = link->next;
    *(link->next ? &link->next->prev : &list->last) = link->prev;
    *link = (struct list_link){0};
    list->len--;
}

/* The thing that a link is a member of, NULL for NULL. */
#define list_item(link, type, member) ((type *)list_item_(link, offsetof(type, member)))
#define list_first(list, type, member) list_item((list)->first, type, member)

static inline void *list_item_(struct list_link *link, size_t offset)
{
    return link ? (char *)link - offset : NULL;
}
