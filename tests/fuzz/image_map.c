/* SPDX-License-Identifier: Apache-2.0 */

/* Any text is a map of images or is refused with the line that is wrong, and any name can be looked up in it. */
#include "local/node/pod/images.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"busybox", "host:5000/a/b:1", "a@sha256:0", ""};
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct image_map *map = NULL;
    struct err err = {0};

    if (image_map_parse(text, "map", &map, &err) < 0) {
        BUG_ON(err.text[0] == '\0');
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *folder = image_map_folder(map, names[i]);

        BUG_ON(folder && folder[0] != '/');
    }
    BUG_ON(image_map_folder(map, "") != NULL);
    (void)image_map_folder(map, text);
    image_map_free(map);
    return 0;
}
