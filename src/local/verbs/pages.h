/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/macros.h"
#include "base/strmap.h"
#include "base/time.h"
#include "base/vec.h"

struct store_object;

/*
 * The rests of lists that clients read page by page. All pages of a list show the objects as they were at one version, so
 * the objects that are still to come are held, for a few minutes.
 */
#define PAGE_LIFETIME (5 * NSEC_PER_MIN)
enum { PAGES_MAX = 256, PAGE_TOKEN_MAX = 1600 };

struct page_objects VEC_OF(const struct store_object *);

struct page {
    struct list_link in_pages;
    nsec_t expires;
    uint64_t version;  // of the list
    uint32_t kind;
    uint32_t at;                  // the next object to be shown
    struct page_objects objects;  // all that the list has, each held
    bool counts_rest;             // clients are told how many are left
    bool has_others;  // behind the last one, which the selectors do not match: a full page does not know that
    char id[40];
};

struct pages {
    struct strmap by_id;
    struct list oldest_first;
};

void pages_done(struct pages *pages);

/* Keeps a list, and takes over its objects. The oldest page makes room. */
struct page *pages_add(struct pages *pages, struct page_objects *objects, uint64_t version, uint32_t kind, nsec_t now);
void pages_drop(struct pages *pages, struct page *page);

/* What clients send back to get the next page; behind which object it begins is in it as well, in case the page is gone. */
void page_token(const struct page *page, char text[static PAGE_TOKEN_MAX]);

/* The same for a place in a list that nobody keeps. */
void page_place_token(const char *id, const char *namespace, const char *name, char text[static PAGE_TOKEN_MAX]);

/* What a token says. Texts are borrowed from it. */
struct page_place {
    char text[PAGE_TOKEN_MAX];
    const char *id;  // "": of no page
    const char *namespace;
    const char *name;
};

/* Reads a token. Returns 0, or -EINVAL for one that is none. */
MUST_CHECK int page_place_read(struct page_place *place, const char *token);

/* The page of a token; NULL when it is gone, or is of another kind. */
struct page *pages_find(struct pages *pages, const struct page_place *place, uint32_t kind, nsec_t now);
