/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gpu/screen.h"

#include <string.h>

int gpu_key_read(const char *bytes, size_t len, size_t *ret_len)
{
    static const struct {
        const char *bytes;
        int key;
    } known[] = {
        {"\033[A", GPU_KEY_UP},   {"\033OA", GPU_KEY_UP},       {"\033[B", GPU_KEY_DOWN},
        {"\033OB", GPU_KEY_DOWN}, {"\033[5~", GPU_KEY_PAGE_UP}, {"\033[6~", GPU_KEY_PAGE_DOWN},
        {"\033[H", GPU_KEY_HOME}, {"\033OH", GPU_KEY_HOME},     {"\033[1~", GPU_KEY_HOME},
        {"\033[F", GPU_KEY_END},  {"\033OF", GPU_KEY_END},      {"\033[4~", GPU_KEY_END},
    };

    *ret_len = 1;
    if (bytes[0] != '\033')
        return (unsigned char)bytes[0];
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        size_t size = strlen(known[i].bytes);

        if (len >= size && memcmp(bytes, known[i].bytes, size) == 0) {
            *ret_len = size;
            return known[i].key;
        }
    }
    /* A key that nobody knows: all of it is passed over, or its rest would be taken for letters. */
    if (len > 1 && (bytes[1] == '[' || bytes[1] == 'O')) {
        size_t at = 2;

        while (at < len && !(bytes[at] >= '@' && bytes[at] <= '~'))
            at++;
        *ret_len = MIN(at + 1, len);
    }
    return -1;
}
