/* SPDX-License-Identifier: Apache-2.0 */

/* Of any text it is said whether it is an expression that only reads; what is allowed alone is allowed with more. */
#include "text/jq.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    const char *found = jq_forbidden(text);
    struct strbuf more;

    strbuf_init(&more, size + 64);
    strbuf_addf(&more, "%s\n| .a", text);
    BUG_ON(!found && jq_forbidden(more.text));
    strbuf_done(&more);
    return 0;
}
