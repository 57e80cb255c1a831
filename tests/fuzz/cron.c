/* SPDX-License-Identifier: Apache-2.0 */

/* Any text is a cron expression or an error; the time before a time is one, and nothing lies between them. */
#include "text/clock/cron.h"

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const nsec_t now = INT64_C(1763230000) * NSEC_PER_SEC;
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct err err = {0};
    struct cron cron;

    if (cron_parse(text, &cron, &err) < 0) {
        BUG_ON(err.text[0] == '\0');
        return 0;
    }
    nsec_t before = cron_before(&cron, now);
    BUG_ON(before >= now || before % NSEC_PER_MIN != 0);
    BUG_ON(before > 0 && cron_before(&cron, before + 1) != before);
    return 0;
}
