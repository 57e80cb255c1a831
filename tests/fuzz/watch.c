/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A stream of JSON is cut in the same places however it is torn into pieces, no object is larger than allowed, and any
 * object can be read as an event, as a lease and as metadata.
 */
#include "kube/follow/watch.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "fuzz.h"
#include "kube/client/meta.h"
#include "kube/client/split.h"
#include "kube/lease/lease.h"

enum { OBJECT_MAX = 300, ENVELOPE_MAX = 1000 };

static int on_object(void *arg, const char *text, size_t len)
{
    struct strbuf *log = arg;
    struct kube_event event = {0};
    yyjson_doc *doc = NULL;
    struct err err = {0};

    strbuf_addf(log, "%zu|", text ? len : 0);
    if (!text)
        return 0;
    BUG_ON(len > OBJECT_MAX || text[0] != '{');
    strbuf_add(log, text, len);
    if (kube_event_parse(text, len, &doc, &event, &err) < 0) {
        BUG_ON(err.text[0] == '\0');
        return 0;
    }
    struct lease_record record;
    struct kube_meta meta;

    (void)kube_meta_read(event.object, &meta);
    lease_record_read(event.object, &record);
    BUG_ON(!meta.uid || !event.resource_version || record.duration < 0);
    yyjson_doc_free(doc);
    return 0;
}

/* Feeds the bytes in pieces and returns what came of it. */
static char *feed(enum split_mode mode, const uint8_t *data, size_t size, size_t piece)
{
    struct split split;
    struct strbuf log;
    int r = 0;

    strbuf_init(&log, 1 << 20);
    split_init(&split, mode, OBJECT_MAX, ENVELOPE_MAX);
    for (size_t at = 0; at < size && r == 0; at += piece) {
        size_t len = MIN(piece, size - at);
        /* Exactly as large as the piece, so that the sanitizer sees a read behind its end. */
        char *copy = xmalloc(len);

        memcpy(copy, data + at, len);
        r = split_feed(&split, copy, len, on_object, &log, NULL);
        free(copy);
    }
    if (r == 0)
        r = split_end(&split, NULL);
    strbuf_addf(&log, "%d %s", r, split.envelope.text);
    split_done(&split);
    return strbuf_take(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int mode = SPLIT_STREAM; mode <= SPLIT_LIST; mode++) {
        _cleanup_(freep) char *whole = feed((enum split_mode)mode, data, size, size ? size : 1);
        _cleanup_(freep) char *torn = feed((enum split_mode)mode, data, size, 1 + (size ? data[0] % 7 : 0));

        BUG_ON(strcmp(whole, torn) != 0);
    }
    return 0;
}
