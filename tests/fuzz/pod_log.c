/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any bytes are a line of a log or none, and the parts of a line lie in it. Any parameters are options or refused with a
 * reason, and variables in any text are put in place within the limit.
 */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "fuzz.h"
#include "local/node/pod/expand.h"
#include "local/streams/log_lines.h"
#include "local/streams/log_options.h"

enum { EXPANDED_MAX = 4096 };

static const char *query(void *arg, const char *name)
{
    (void)name;
    return arg;
}

static const char *find(void *arg, const char *name, size_t len)
{
    (void)name;
    return len % 2 ? arg : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct log_options options;
    struct log_line line;
    struct strbuf expanded;
    struct err err = {0};

    if (log_line_parse((const char *)data, size, &line)) {
        BUG_ON(line.text + line.len != (const char *)data + size);
        BUG_ON(line.time_text != (const char *)data || line.time_len >= size);
    }
    if (log_options_read(&options, query, text, 0, &err) < 0)
        BUG_ON(err.text[0] == '\0');
    else
        BUG_ON(options.tail < -1 || options.limit == 0 || options.since < 0);
    strbuf_init(&expanded, EXPANDED_MAX);
    expand(&expanded, text, find, text);
    BUG_ON(expanded.len > EXPANDED_MAX);
    if (!strchr(text, '$') && strlen(text) <= EXPANDED_MAX)
        BUG_ON(strcmp(expanded.text, text) != 0);
    strbuf_done(&expanded);
    return 0;
}
