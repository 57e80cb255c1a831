/* SPDX-License-Identifier: Apache-2.0 */

/* Any text is a selector or is refused with a reason, and a selector can be matched against any object. */
#include "local/api/selector.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"
#include "store/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct store_tag tags[] = {
        {.name = "label:app", .value = "web"},
        {.name = "label:size", .value = "7"},
        {.name = "field:metadata.name", .value = "a"},
    };
    static const struct store_object object = {.tags = tags, .tag_count = ARRAY_LEN(tags)};
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct selector labels = {0};
    struct selector fields = {0};
    struct err err = {0};

    if (selector_add_labels(&labels, text, &err) < 0)
        BUG_ON(err.text[0] == '\0');
    else
        (void)selector_matches_object(&labels, &object);
    if (selector_add_fields(&fields, text, &err) < 0)
        BUG_ON(err.text[0] == '\0');
    else
        (void)selector_matches_object(&fields, &object);
    selector_done(&labels);
    selector_done(&fields);
    return 0;
}
