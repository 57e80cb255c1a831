/* SPDX-License-Identifier: Apache-2.0 */

/* Any bytes are frames of SPDY or end the session with a reason, however they are cut. */
#include "net/spdy/spdy.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/macros.h"
#include "fuzz.h"

static struct spdy *session;

static void on_open(void *arg, uint32_t stream, const struct spdy_header *headers, size_t count, bool is_last)
{
    (void)arg;
    (void)is_last;
    BUG_ON(stream % 2 == 0 || count > SPDY_HEADERS_MAX);
    for (size_t i = 0; i < count; i++)
        BUG_ON(!headers[i].name || !headers[i].value);
    spdy_accept(session, stream);
}

static void on_data(void *arg, uint32_t stream, const char *bytes, size_t len, bool is_last)
{
    (void)arg;
    spdy_send(session, stream, bytes, len, is_last);
}

static void on_reset(void *arg, uint32_t stream)
{
    (void)arg;
    spdy_reset(session, stream);
}

static void on_write(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    (void)bytes;
    BUG_ON(len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct spdy_handler handler = {on_open, on_data, on_reset, on_write, NULL};
    size_t piece = size > 0 ? data[0] % 17u + 1 : 1;
    struct err err = {0};
    int r = 0;

    session = spdy_new(&handler);
    for (size_t at = 1; r == 0 && at < size; at += piece)
        r = spdy_read(session, (const char *)data + at, MIN(piece, size - at), &err);
    BUG_ON(r < 0 && err.text[0] == '\0');
    spdy_free(session);
    return 0;
}
