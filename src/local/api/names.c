/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/names.h"

#include <ctype.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

enum { GENERATED_PREFIX_MAX = 58, GENERATED_CHARS = 5 };

static bool is_plain(char c)
{
    return islower((unsigned char)c) || isdigit((unsigned char)c);
}

/* One part between two dots. */
static bool is_part(const char *part, size_t len)
{
    if (len == 0 || !is_plain(part[0]) || !is_plain(part[len - 1]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_plain(part[i]) && part[i] != '-')
            return false;
    return true;
}

bool name_is_subdomain(const char *name)
{
    if (strlen(name) > NAME_BYTES_MAX)
        return false;
    for (;;) {
        size_t len = strcspn(name, ".");
        if (!is_part(name, len))
            return false;
        if (!name[len])
            return true;
        name += len + 1;
    }
}

bool name_is_label(const char *name)
{
    size_t len = strlen(name);

    return len <= LABEL_NAME_BYTES_MAX && is_part(name, len);
}

bool name_is_path_segment(const char *name)
{
    return *name && strlen(name) <= NAME_BYTES_MAX && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           !strpbrk(name, "/%");
}

static void fill_random(unsigned char *bytes, int len)
{
    BUG_ON(RAND_bytes(bytes, len) != 1);
}

void name_generate(const char *prefix, char name[static NAME_BYTES_MAX + 1])
{
    /* Without vowels and what looks alike, as Kubernetes has it, so that no words come out. */
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    unsigned char bytes[GENERATED_CHARS];
    size_t len = MIN(strlen(prefix), (size_t)GENERATED_PREFIX_MAX);

    memcpy(name, prefix, len);
    fill_random(bytes, sizeof bytes);
    for (size_t i = 0; i < GENERATED_CHARS; i++)
        name[len + i] = letters[bytes[i] % (sizeof letters - 1)];
    name[len + GENERATED_CHARS] = '\0';
}

void uid_make(char uid[static UID_TEXT_MAX])
{
    unsigned char b[16];

    fill_random(b, sizeof b);
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    (void)snprintf(uid, UID_TEXT_MAX, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                   b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}
