/* SPDX-License-Identifier: Apache-2.0 */

/* Any text is a time or duration or an error; what was read and written again reads as the same. */
#include "base/time.h"

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    char written[TIME_TEXT_MAX + DURATION_TEXT_MAX];
    struct err err = {0};
    nsec_t value = 0;
    nsec_t again = 0;

    if (time_parse(text, &value, &err) == 0)
        BUG_ON(time_parse(time_format(value, written), &again, &err) < 0 || again != value);
    if (duration_parse(text, &value, &err) == 0)
        BUG_ON(duration_parse(duration_format(value, written), &again, &err) < 0 || again != value);
    return 0;
}
