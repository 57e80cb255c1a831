/* SPDX-License-Identifier: Apache-2.0 */

/* Any bytes are rows or an error with a message; rows have as many fields as there are titles. */
#include "text/csv.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = xmalloc(size + 1);
    struct csv_column columns[] = {{"arrival", true, 0}, {"queue", false, 0}};
    struct err err = {0};
    struct csv csv;
    int r;

    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (csv_init(&csv, text, size, "fuzz", &err) < 0) {
        BUG_ON(err.text[0] == '\0');
        return 0;
    }
    (void)!csv_find_all(&csv, columns, ARRAY_LEN(columns), &err);
    while ((r = csv_next(&csv, &err)) > 0) {
        BUG_ON(csv.fields.len != csv.titles.len);
        for (uint32_t i = 0; i < csv.fields.len; i++)
            BUG_ON(strlen(csv_field(&csv, i)) > size);
        (void)csv_field(&csv, columns[1].index);
    }
    BUG_ON(r < 0 && err.text[0] == '\0');
    csv_done(&csv);
    return 0;
}
