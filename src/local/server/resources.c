/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/resources.h"

#include <stdio.h>

#include "base/macros.h"
#include "local/api/kinds.h"
#include "local/custom/definitions.h"
#include "local/server/server_parts.h"
#include "local/subresources/reviews.h"

const struct api_kind *resource_find(const struct server *server, const char *group, const char *version,
                                     const char *plural)
{
    const struct api_kind *kind = builtin_kind_find(group, version, plural);
    const struct custom_kind *custom;

    if (kind)
        return kind;
    custom = definitions_find(server->definitions, group, version, plural);
    return custom ? &custom->api : NULL;
}

static size_t count_of(const struct api_kind *(*at)(size_t index))
{
    size_t count = 0;

    while (at(count))
        count++;
    return count;
}

const struct api_kind *resource_at(const struct server *server, size_t index)
{
    size_t builtin = count_of(builtin_kind_at);
    size_t reviews = count_of(review_kind_at);
    const struct custom_kind *custom;

    if (index < builtin)
        return builtin_kind_at(index);
    if (index < builtin + reviews)
        return review_kind_at(index - builtin);
    custom = definitions_at(server->definitions, index - builtin - reviews);
    return custom ? &custom->api : NULL;
}

uint32_t resource_number(struct server *server, const struct api_kind *kind)
{
    char name[STORE_NAME_MAX];
    uint32_t number = 0;

    kind = api_kind_stored(kind);
    (void)snprintf(name, sizeof name, "%s%s%s", kind->group, *kind->group ? "/" : "", kind->plural);
    /* There are far fewer kinds than the store has room for. */
    BUG_ON(store_kind(server->store, name, &number, NULL) < 0);
    return number;
}
