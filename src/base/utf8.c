/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

size_t utf8_len(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t len = at[0] < 0x80 ? 1 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2 : at[0] >= 0xe0 && at[0] < 0xf0 ? 3 : 4;

    if (at[0] >= 0x80 && at[0] < 0xc2)
        return 0;
    if (at[0] > 0xf4 || (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    return len;
}

bool utf8_is_valid(const char *text)
{
    while (*text) {
        size_t len = utf8_len(text);

        if (len == 0)
            return false;
        text += len;
    }
    return true;
}
