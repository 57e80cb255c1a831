/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/expand.h"

#include <string.h>

#include "base/strbuf.h"

void expand(struct strbuf *to, const char *text, expand_fn find, void *arg)
{
    for (const char *at = text; *at;) {
        const char *dollar = strchr(at, '$');

        if (!dollar) {
            strbuf_addstr(to, at);
            return;
        }
        strbuf_add(to, at, (size_t)(dollar - at));
        const char *end = dollar[1] == '(' ? strchr(dollar, ')') : NULL;
        const char *value = end ? find(arg, dollar + 2, (size_t)(end - dollar) - 2) : NULL;
        if (dollar[1] == '$') {
            strbuf_addch(to, '$');
            at = dollar + 2;
        } else if (value) {
            strbuf_addstr(to, value);
            at = end + 1;
        } else if (end) {
            strbuf_add(to, dollar, (size_t)(end - dollar) + 1);
            at = end + 1;
        } else {
            strbuf_addch(to, '$');
            at = dollar + 1;
        }
    }
}
