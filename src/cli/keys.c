/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/keys.h"

#include <string.h>

#include "base/macros.h"

int key_read(const char *bytes, size_t len, size_t *ret_len)
{
    static const struct {
        const char *bytes;
        int key;
    } known[] = {
        {"\033[A", KEY_UP},       {"\033OA", KEY_UP},         {"\033[B", KEY_DOWN}, {"\033OB", KEY_DOWN},
        {"\033[5~", KEY_PAGE_UP}, {"\033[6~", KEY_PAGE_DOWN}, {"\033[H", KEY_HOME}, {"\033OH", KEY_HOME},
        {"\033[1~", KEY_HOME},    {"\033[F", KEY_END},        {"\033OF", KEY_END},  {"\033[4~", KEY_END},
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

bool key_scroll(int key, uint32_t page, uint32_t *first)
{
    switch (key) {
    case 'k':
    case KEY_UP:
        *first -= MIN(*first, 1u);
        return true;
    case 'j':
    case KEY_DOWN:
        *first += *first < UINT32_MAX / 2;
        return true;
    case KEY_PAGE_UP:
        *first -= MIN(*first, page);
        return true;
    case KEY_PAGE_DOWN:
        *first += MIN(page, UINT32_MAX / 2 - MIN(*first, UINT32_MAX / 2));
        return true;
    case KEY_HOME:
        *first = 0;
        return true;
    case KEY_END:
        *first = UINT32_MAX / 2;
        return true;
    default:
        return false;
    }
}
