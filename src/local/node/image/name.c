/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/image/name.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"

enum { PATH_BYTES_MAX = 255, TAG_BYTES_MAX = 128, PORT_DIGITS_MAX = 5 };

bool image_name_is_process(const char *name)
{
    /* `muster submit` writes the first one; people write the second. */
    return strcmp(name, "process") == 0 || strcmp(name, "none") == 0;
}

static bool is_lower(char c)
{
    return islower((unsigned char)c) || isdigit((unsigned char)c);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Letters and digits, with '.', '_', '__' or any number of '-' between them. */
static bool is_component(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t run = i;

        while (i < len && is_lower(text[i]))
            i++;
        if (i == run || i == len)
            return i == len && i > run;
        char between = text[i];
        run = i;
        while (i < len && text[i] == between)
            i++;
        size_t most = between == '.' ? 1 : between == '_' ? 2 : between == '-' ? len : 0;
        if (i - run > most)
            return false;
    }
    return false;
}

static bool is_path(const char *text, size_t len)
{
    if (len > PATH_BYTES_MAX)
        return false;
    for (;;) {
        const char *slash = memchr(text, '/', len);
        size_t part = slash ? (size_t)(slash - text) : len;

        if (!is_component(text, part))
            return false;
        if (!slash)
            return true;
        text += part + 1;
        len -= part + 1;
    }
}

/* HOST or HOST:PORT. */
static bool is_host(const char *text, size_t len)
{
    const char *colon = memchr(text, ':', len);
    size_t name = colon ? (size_t)(colon - text) : len, digits = len - name - (colon != NULL);

    if (name == 0 || !isalnum((unsigned char)text[0]) || !isalnum((unsigned char)text[name - 1]))
        return false;
    for (size_t i = 0; i < name; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '.' && text[i] != '-')
            return false;
    }
    for (size_t i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)colon[1 + i]))
            return false;
    }
    return !colon || (digits > 0 && digits <= PORT_DIGITS_MAX);
}

/* The part before the first slash is a host if it looks like one: others begin the path. */
static bool is_repository(const char *text, size_t len)
{
    const char *slash = memchr(text, '/', len);
    size_t first = slash ? (size_t)(slash - text) : 0;
    bool has_host =
        slash && (memchr(text, '.', first) || memchr(text, ':', first) || strncmp(text, "localhost/", 10) == 0);

    if (!has_host)
        return is_path(text, len);
    return is_host(text, first) && is_path(slash + 1, len - first - 1);
}

static bool is_tag(const char *text, size_t len)
{
    if (len == 0 || len > TAG_BYTES_MAX || !is_word(text[0]))
        return false;
    for (size_t i = 1; i < len; i++) {
        if (!is_word(text[i]) && text[i] != '.' && text[i] != '-')
            return false;
    }
    return true;
}

static bool is_digest(const char *text)
{
    static const struct {
        const char *prefix;
        size_t digits;
    } kinds[] = {{"sha256:", 64}, {"sha512:", 128}};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t len = strlen(kinds[i].prefix);

        if (strncmp(text, kinds[i].prefix, len) == 0)
            return strlen(text + len) == kinds[i].digits && strspn(text + len, "0123456789abcdef") == kinds[i].digits;
    }
    return false;
}

int image_name_full(const char *name, char **ret_full, struct err *err)
{
    size_t len = strlen(name), before = strcspn(name, "@");
    const char *digest = name[before] ? name + before + 1 : NULL, *slash = NULL;

    if (len == 0 || len >= IMAGE_NAME_MAX)
        return err_set(err, -EINVAL, "the name of the image is empty or too long");
    for (size_t i = 0; i < before; i++)
        slash = name[i] == '/' ? name + i : slash;
    /* The port of a registry is no tag. */
    const char *last = slash ? slash + 1 : name;
    const char *colon = memchr(last, ':', before - (size_t)(last - name));
    size_t repository = colon ? (size_t)(colon - name) : before;
    size_t tag_len = colon ? before - repository - 1 : 0;
    if (!is_repository(name, repository) || (colon && !is_tag(colon + 1, tag_len)) || (digest && !is_digest(digest)))
        return err_set(err, -EINVAL, "couldn't parse image name \"%.200s\": expected [HOST/]PATH[:TAG][@DIGEST]", name);
    struct strbuf full;
    strbuf_init(&full, IMAGE_NAME_MAX + sizeof ":latest");
    strbuf_add(&full, name, repository);
    if (digest)
        strbuf_addf(&full, "@%s", digest);
    else
        strbuf_addf(&full, ":%.*s", colon ? (int)tag_len : (int)strlen("latest"), colon ? colon + 1 : "latest");
    *ret_full = strbuf_take(&full);
    return 0;
}

enum pull_policy pull_policy_of(yyjson_val *container)
{
    const char *policy = kube_text(container, "imagePullPolicy");

    if (strcmp(policy, "Always") == 0)
        return PULL_ALWAYS;
    return strcmp(policy, "Never") == 0 ? PULL_NEVER : PULL_IF_NOT_PRESENT;
}
