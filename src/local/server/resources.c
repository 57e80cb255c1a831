/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/resources_internal.h"

#include <stdio.h>

#include "base/macros.h"
#include "local/api/kinds.h"
#include "local/server/server_internal.h"

const struct api_kind *resource_find(const struct server *server, const char *group, const char *version,
                                     const char *plural)
{
    (void)server;
    return builtin_kind_find(group, version, plural);
}

const struct api_kind *resource_at(const struct server *server, size_t index)
{
    (void)server;
    return builtin_kind_at(index);
}

uint32_t resource_number(struct server *server, const struct api_kind *kind)
{
    char name[STORE_NAME_MAX];
    uint32_t number = 0;

    (void)snprintf(name, sizeof name, "%s%s%s", kind->group, *kind->group ? "/" : "", kind->plural);
    /* There are far fewer kinds than the store has room for. */
    BUG_ON(store_kind(server->store, name, &number, NULL) < 0);
    return number;
}
