/* SPDX-License-Identifier: Apache-2.0 */
#include "net/rest/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "net/rest/rest.h"

static void serve(struct http_exchange *exchange, const struct rest_file *file)
{
    const char *known = http_exchange_header(exchange, "If-None-Match");
    char tag[24];

    (void)snprintf(tag, sizeof tag, "\"%016" PRIx64 "\"", hash_bytes(file->text, *file->len, 0));
    http_reply_header(exchange, "ETag", tag);
    /* A list of tags, each in quotes, where a proxy may have made one weak: the tag itself is in it. */
    if (known && strstr(known, tag))
        http_reply(exchange, 304, NULL, NULL, 0);
    else
        http_reply(exchange, 200, file->type, file->text, *file->len);
}

const struct rest_file *rest_find_file(const struct rest_file *files, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    }
    return NULL;
}

void rest_serve_file(struct http_exchange *exchange, const struct rest_file *files, size_t count, const char *name)
{
    const struct rest_file *file = rest_find_file(files, count, name);

    if (file)
        serve(exchange, file);
    else
        rest_fail(exchange, -ENOENT, "there is no file '%.100s'", name);
}
