/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report/reason.h"

#include <stdio.h>

const char *reason_words(enum verdict_code code, char text[static REASON_TEXT_MAX])
{
    /* Codes that say little to whoever waits. A workload that has been placed and waits has lost its place again. */
    static const char *const better[_VERDICT_CODE_MAX] = {
        [VERDICT_NONE] = "not tried yet",
        [VERDICT_PLACED] = "just evicted",
        [VERDICT_PROMISED] = "preempting",
    };

    (void)snprintf(text, REASON_TEXT_MAX, "%s", better[code] ? better[code] : verdict_code_name(code));
    for (char *at = text; *at; at++)
        if (*at == '_')
            *at = ' ';
    return text;
}

const char *reason_outlook(enum verdict_code code)
{
    enum verdict_class class = verdict_class(code);

    return class == VERDICT_CLASS_FINE ? "" : verdict_class_name(class);
}
