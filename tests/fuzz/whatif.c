/* SPDX-License-Identifier: Apache-2.0 */

/* Any text is a change or an error; amounts are never negative but for unlimited, names are never empty. */
#include "sim/whatif/whatif_change.h"

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"
#include "model/queue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct whatif_change change;
    struct err err = {0};

    if (whatif_change_parse(&change, text, &err) < 0) {
        BUG_ON(err.text[0] == '\0');
        return 0;
    }
    BUG_ON(!whatif_is_change(text) || change.name[0] == '\0');
    BUG_ON(change.kind <= WHATIF_QUEUE_WEIGHT && change.value < 0 && change.value != UNLIMITED);
    BUG_ON(change.kind == WHATIF_NODE_ADDED && (change.value < 1 || change.value > WHATIF_NODES_MAX));
    return 0;
}
