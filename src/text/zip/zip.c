/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The sizes that an archive states are its own word, so that they only serve to refuse early: what counts is how much
 * comes out, which is bounded while it does.
 */
#include "text/zip/zip.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <zip.h>

#include "base/err.h"
#include "base/mem.h"

enum { CHUNK = 1 << 20 };

/* What the archive and the file in it are called in messages, and how much may come out of it. */
struct unpacking {
    const char *name;
    const char *member;
    size_t limit;
    struct err *err;
};

bool zip_is_archive(const void *data, size_t len)
{
    return len >= 4 && (memcmp(data, "PK\3\4", 4) == 0 || memcmp(data, "PK\5\6", 4) == 0);
}

static int fail_damaged(const struct unpacking *u, const char *what)
{
    return err_set(u->err, -EBADMSG, "%s: the archive is truncated or damaged: %s", u->name, what);
}

static int fail_too_large(const struct unpacking *u)
{
    return err_set(u->err, -EFBIG, "%s: %s unpacks to more than %zu MiB", u->name, u->member, u->limit >> 20);
}

/* The archive over the bytes, which stay the caller's. */
static int open_archive(const struct unpacking *u, const void *data, size_t len, zip_t **ret_zip)
{
    zip_error_t error;
    zip_t *zip = NULL;

    /* libzip takes nothing at all for an archive without files. */
    if (!zip_is_archive(data, len))
        return fail_damaged(u, "the signature of a zip archive is missing");
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(data, len, 0, &error);
    BUG_ON(!source);
    zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    if (!zip) {
        int r = fail_damaged(u, zip_error_strerror(&error));

        zip_source_free(source);
        zip_error_fini(&error);
        return r;
    }
    zip_error_fini(&error);
    *ret_zip = zip;
    return 0;
}

/* Reads all there is, in growing pieces, up to the limit. */
static int read_all(const struct unpacking *u, zip_file_t *file, char **ret_data, size_t *ret_len)
{
    _cleanup_(freep) char *data = NULL;
    size_t len = 0;
    size_t cap = 0;

    for (;;) {
        if (cap - len < CHUNK) {
            cap = cap ? cap * 2 : 2 * CHUNK;
            data = xrealloc(data, cap + 1);
        }
        zip_int64_t got = zip_fread(file, data + len, CHUNK);
        if (got < 0)
            return fail_damaged(u, zip_file_strerror(file));
        if (got == 0)
            break;
        len += (size_t)got;
        if (len > u->limit)
            return fail_too_large(u);
    }
    data[len] = '\0';
    *ret_data = TAKE_PTR(data);
    *ret_len = len;
    return 0;
}

static int unpack(struct unpacking *u, zip_t *zip, zip_uint64_t packed_max, char **ret_data, size_t *ret_len)
{
    zip_stat_t stat;

    if (zip_get_num_entries(zip, 0) > ZIP_ENTRIES_MAX)
        return err_set(u->err, -EFBIG, "%s: contains more than %d files", u->name, ZIP_ENTRIES_MAX);

    zip_int64_t index = zip_name_locate(zip, u->member, 0);
    if (index < 0)
        return err_set(u->err, -ENOENT, "%s: contains no file %s", u->name, u->member);
    if (zip_stat_index(zip, (zip_uint64_t)index, 0, &stat) < 0)
        return fail_damaged(u, zip_strerror(zip));

    zip_uint64_t packed = stat.valid & ZIP_STAT_COMP_SIZE && stat.comp_size < packed_max ? stat.comp_size : packed_max;
    uint64_t by_ratio = packed > SIZE_MAX / ZIP_RATIO_MAX ? SIZE_MAX : packed * ZIP_RATIO_MAX;
    if (by_ratio < ZIP_RATIO_FREE)
        by_ratio = ZIP_RATIO_FREE;
    if (u->limit > by_ratio)
        u->limit = (size_t)by_ratio;
    if (stat.valid & ZIP_STAT_SIZE && stat.size > u->limit)
        return fail_too_large(u);

    zip_file_t *file = zip_fopen_index(zip, (zip_uint64_t)index, 0);
    if (!file)
        return fail_damaged(u, zip_strerror(zip));
    int r = read_all(u, file, ret_data, ret_len);
    (void)zip_fclose(file);
    return r;
}

int zip_read_member(const void *data, size_t len, const char *name, const char *member, size_t max_bytes,
                    char **ret_data, size_t *ret_len, struct err *err)
{
    struct unpacking u = {name, member, max_bytes, err};
    zip_t *zip = NULL;

    int r = open_archive(&u, data, len, &zip);
    if (r < 0)
        return r;
    r = unpack(&u, zip, len, ret_data, ret_len);
    zip_discard(zip);
    return r;
}
