/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/images.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/pod/accounts.h"
#include "text/file.h"
#include "text/json.h"

enum { CONFIG_BYTES_MAX = 1 << 20, NAME_MAX_BYTES = 1024, FOLDER_MAX_BYTES = 1024 };

struct row {
    char *name, *folder;
};

struct image_map {
    VEC(struct row) rows;
};

void image_map_free(struct image_map *map)
{
    if (!map)
        return;
    vec_foreach (&map->rows, row) {
        free(row->name);
        free(row->folder);
    }
    vec_done(&map->rows);
    free(map);
}

static const char *trim(const char *text, size_t *len)
{
    while (*len > 0 && isspace((unsigned char)text[0])) {
        text++;
        (*len)--;
    }
    while (*len > 0 && isspace((unsigned char)text[*len - 1]))
        (*len)--;
    return text;
}

static bool has_space(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (isspace((unsigned char)text[i]) || iscntrl((unsigned char)text[i]))
            return true;
    }
    return false;
}

/* A folder is an option of a mount, where these characters have a meaning. */
static bool is_folder(const char *text, size_t len)
{
    return len > 0 && len < FOLDER_MAX_BYTES && text[0] == '/' && !memchr(text, ',', len) && !memchr(text, ':', len) &&
           !memchr(text, '\\', len) && !has_space(text, len);
}

/* What is wrong with a line; NULL: nothing. */
static const char *add_line(struct image_map *map, const char *line, size_t len)
{
    line = trim(line, &len);
    if (len == 0 || *line == '#')
        return NULL;
    const char *equal = memchr(line, '=', len);
    if (!equal)
        return "expected NAME = FOLDER";
    size_t name_len = (size_t)(equal - line), folder_len = len - name_len - 1;
    const char *name = trim(line, &name_len), *folder = trim(equal + 1, &folder_len);
    if (name_len == 0 || name_len >= NAME_MAX_BYTES || has_space(name, name_len))
        return "the name of the image is missing, too long, or has spaces in it";
    if (!is_folder(folder, folder_len))
        return "the folder has to be an absolute path without spaces, commas, colons and backslashes";
    if (map->rows.len >= IMAGE_MAP_ROWS_MAX)
        return "there are too many images";
    vec_push(&map->rows, (struct row){xstrndup(name, name_len), xstrndup(folder, folder_len)});
    return NULL;
}

int image_map_parse(const char *text, const char *name, struct image_map **ret_map, struct err *err)
{
    struct image_map *map = xcalloc(1, sizeof *map);
    size_t number = 0;

    while (*text) {
        size_t len = strcspn(text, "\n");
        const char *problem = add_line(map, text, len);

        number++;
        if (problem) {
            image_map_free(map);
            return err_set(err, -EINVAL, "%s:%zu: %s", name, number, problem);
        }
        text += len + (text[len] == '\n');
    }
    *ret_map = map;
    return 0;
}

int image_map_read(const char *path, struct image_map **ret_map, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    struct image_map *map = NULL;
    size_t len = 0;
    int r = file_read(path, IMAGE_MAP_BYTES_MAX, &text, &len, err);

    if (r < 0)
        return r;
    if (strlen(text) != len)
        return err_set(err, -EINVAL, "%s is not a text file", path);
    r = image_map_parse(text, path, &map, err);
    if (r < 0)
        return r;
    BUG_ON(!map);
    vec_foreach (&map->rows, row) {
        struct stat found;

        if (r == 0 && (stat(row->folder, &found) < 0 || !S_ISDIR(found.st_mode)))
            r = err_set(err, -ENOTDIR, "%s: image %s: there is no folder %s", path, row->name, row->folder);
    }
    if (r < 0)
        image_map_free(map);
    else
        *ret_map = map;
    return r;
}

static const char *find(const struct image_map *map, const char *name, size_t len)
{
    vec_foreach (&map->rows, row) {
        if (strlen(row->name) == len && memcmp(row->name, name, len) == 0)
            return row->folder;
    }
    return NULL;
}

const char *image_map_folder(const struct image_map *map, const char *image)
{
    const char *slash = strrchr(image, '/'), *last = slash ? slash : image;
    const char *folder = map ? find(map, image, strlen(image)) : NULL;

    if (!map || folder)
        return folder;
    size_t len = strcspn(image, "@");
    folder = find(map, image, len);
    /* The port of a registry is no tag. */
    return folder ? folder : find(map, image, (size_t)(last - image) + strcspn(last, "@:"));
}

/* The name that registries know it by, or its number; a folder of the map has neither. */
static const char *id_of(const struct image *image)
{
    yyjson_val *root = yyjson_doc_get_root(image->doc);
    yyjson_val *digest = yyjson_arr_get_first(value_at(root, "digests"));

    if (yyjson_is_str(digest))
        return yyjson_get_str(digest);
    return *kube_text(root, "id") ? kube_text(root, "id") : image->folder;
}

int image_open(struct image *image, const char *folder, struct err *err)
{
    struct strbuf path;

    *image = (struct image){.folder = folder};
    strbuf_init(&path, PATH_MAX);
    strbuf_addf(&path, "%s.json", folder);
    int r = access(path.text, F_OK) == 0 ? json_read_file(path.text, CONFIG_BYTES_MAX, &image->doc, err) : 0;
    strbuf_done(&path);
    image->config = value_at(yyjson_doc_get_root(image->doc), "config");
    image->id = id_of(image);
    return r;
}

void image_done(struct image *image)
{
    yyjson_doc_free(image->doc);
    *image = (struct image){0};
}

int image_user(const struct image *image, int64_t *ret_uid, int64_t *ret_gid, struct err *err)
{
    const char *text = kube_text(image->config, "User");

    *ret_uid = *ret_gid = -1;
    return *text ? account_find(image->folder, text, ret_uid, ret_gid, err) : 0;
}
