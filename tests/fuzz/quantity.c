/* SPDX-License-Identifier: Apache-2.0 */

/* Any text is a quantity or an error; an amount is never negative, and thousandths of it never fewer than it. */
#include "text/quantity.h"

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct err err = {0};
    int64_t whole = 0;
    int64_t milli = 0;
    bool is_whole = quantity_parse(text, QUANTITY_ONE, &whole, &err) == 0;
    bool is_milli = quantity_parse(text, QUANTITY_MILLI, &milli, &err) == 0;

    BUG_ON(whole < 0 || milli < 0);
    BUG_ON(is_milli && !is_whole);
    BUG_ON(is_milli && milli < whole);
    return 0;
}
