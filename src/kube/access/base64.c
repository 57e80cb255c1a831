/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/access/base64.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_decode(const char *text, char **ret_data, size_t *ret_len)
{
    _cleanup_(freep) char *data = xmalloc(strlen(text) / 4 * 3 + 4);
    uint32_t bits = 0;
    int count = 0;
    size_t len = 0;

    for (; *text && *text != '='; text++) {
        const char *digit = strchr(digits, *text);

        if (*text == '\n' || *text == '\r' || *text == ' ')
            continue;
        if (!digit)
            return -EINVAL;
        bits = bits << 6 | (uint32_t)(digit - digits);
        count += 6;
        if (count >= 8) {
            count -= 8;
            data[len++] = (char)(bits >> count & 0xff);
        }
    }
    /* A lone last digit holds no byte. */
    if (text[strspn(text, "=\r\n ")] != '\0' || count >= 6)
        return -EINVAL;
    data[len] = '\0';
    *ret_len = len;
    *ret_data = TAKE_PTR(data);
    return 0;
}

char *base64_encode(const void *data, size_t len)
{
    const unsigned char *bytes = data;
    char *text = xmalloc((len + 2) / 3 * 4 + 1);
    char *to = text;

    for (size_t i = 0; i < len; i += 3) {
        uint32_t bits = (uint32_t)bytes[i] << 16 | (i + 1 < len ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (i + 2 < len ? bytes[i + 2] : 0U);

        *to++ = digits[bits >> 18];
        *to++ = digits[bits >> 12 & 63];
        *to++ = (char)(i + 1 < len ? digits[bits >> 6 & 63] : '=');
        *to++ = (char)(i + 2 < len ? digits[bits & 63] : '=');
    }
    *to = '\0';
    return text;
}
