/* SPDX-License-Identifier: Apache-2.0 */

/* Any bytes unpack or fail with a message, and never to more than the bound. */
#include "text/zip/zip.h"

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"

enum { BOUND = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = NULL;
    struct err err = {0};
    size_t len = 0;

    if (zip_read_member(data, size, "fuzz", "snapshot.json", BOUND, &text, &len, &err) == 0)
        BUG_ON(len > BOUND || text[len] != '\0');
    else
        BUG_ON(text || err.text[0] == '\0');
    return 0;
}
