/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/queue_doubts.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"

static const char *const resources[] = {"cpu", "memory", "gpu"};

/* A queue without any `gpu` is one for CPU work; each of the other two is requested by nearly every pod. */
static bool lacks_limit(yyjson_val *shares, const char *resource)
{
    yyjson_val *share = yyjson_obj_get(shares, resource);

    if (!share && strcmp(resource, "gpu") == 0)
        return false;
    return !yyjson_is_num(yyjson_obj_get(share, "limit"));
}

bool queue_doubt(yyjson_val *root, char text[static QUEUE_DOUBT_MAX])
{
    yyjson_val *shares = yyjson_obj_get(yyjson_obj_get(root, "spec"), "resources");
    char lacking[64] = "";
    char remedy[128] = "";
    size_t count = 0;

    /* Without any resources at all it is a queue that may use nothing, of which its decoder warns. */
    if (!yyjson_is_obj(shares) || yyjson_obj_size(shares) == 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        size_t len = strlen(lacking);
        size_t remedy_len = strlen(remedy);

        if (!lacks_limit(shares, resources[i]))
            continue;
        (void)snprintf(lacking + len, sizeof lacking - len, "%s%s", count > 0 ? " or " : "", resources[i]);
        (void)snprintf(remedy + remedy_len, sizeof remedy - remedy_len, "%s%s: {quota: -1, limit: -1}",
                       count > 0 ? ", " : "", resources[i]);
        count++;
    }
    if (count == 0)
        return false;
    (void)snprintf(text, QUEUE_DOUBT_MAX,
                   "it sets no limit for %s, which means a limit of 0: pods that request any cannot run; for no limit, "
                   "add %s to spec.resources",
                   lacking, remedy);
    return true;
}
