/* SPDX-License-Identifier: Apache-2.0 */

/* Files, folders and whatever else is named as a part of a cluster. */
#include "cluster/cluster_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "cluster/cluster_reading.h"
#include "cluster/cluster_survey.h"
#include "objects/snapshot.h"
#include "text/file.h"
#include "text/json.h"
#include "text/yaml.h"
#include "text/zip/zip.h"

/* Bounds on what is read: bytes of one file, unpacked; files; folders in folders. */
#define FILE_BYTES_MAX ((size_t)1 << 30)
enum { FILES_MAX = 100000, FOLDERS_DEPTH_MAX = 32 };

struct walk {
    struct cluster_reading *reading;
    const struct cluster_options *options;
    bool is_in_folder;  // the file that is being read was found, not named
    uint32_t file_count;
};

void cluster_notes_init(struct cluster_notes *notes)
{
    *notes = (struct cluster_notes){0};
    object_notes_init(&notes->found);
}

void cluster_notes_done(struct cluster_notes *notes)
{
    object_notes_done(&notes->found);
}

bool cluster_path_is_live(const char *path)
{
    return strncmp(path, CLUSTER_LIVE, strlen(CLUSTER_LIVE)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text);
    size_t end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static int add_json(struct walk *walk, const char *path, const char *text, size_t len, struct err *err)
{
    yyjson_doc *doc = NULL;
    int r = json_parse(text, len, file_name(path), &doc, err);

    return r < 0 ? r : cluster_reading_add_json(walk->reading, doc, file_name(path), walk->is_in_folder, err);
}

static int add_yaml(struct walk *walk, const char *path, const char *text, size_t len, struct err *err)
{
    _cleanup_(yaml_docs_done) struct yaml_docs docs = {0};
    int r = yaml_parse(text, len, file_name(path), &docs, err);

    return r < 0 ? r : cluster_reading_add_yaml(walk->reading, &docs, file_name(path), walk->is_in_folder, err);
}

/* JSON is YAML too, but is read faster as itself; a name that says YAML is believed. */
static bool looks_like_json(const char *path, const char *text, size_t len)
{
    size_t start = 0;

    while (start < len && isspace((unsigned char)text[start]))
        start++;
    if (ends_with(path, ".yaml") || ends_with(path, ".yml"))
        return false;
    return ends_with(path, ".json") || (start < len && (text[start] == '{' || text[start] == '['));
}

static int add_file(struct walk *walk, const char *path, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    _cleanup_(freep) char *unpacked = NULL;
    size_t len = 0;
    size_t unpacked_len = 0;

    if (walk->file_count++ == FILES_MAX)
        return err_set(err, -EFBIG, "%s: expected at most %d files", path, FILES_MAX);
    int r = file_read(path, FILE_BYTES_MAX, &text, &len, err);
    if (r < 0)
        return r;
    if (zip_is_archive(text, len) || ends_with(path, ".zip")) {
        r = zip_read_member(text, len, file_name(path), SNAPSHOT_MEMBER, FILE_BYTES_MAX, &unpacked, &unpacked_len, err);
        return r < 0 ? r : add_json(walk, path, unpacked, unpacked_len, err);
    }
    if (looks_like_json(path, text, len))
        return add_json(walk, path, text, len, err);
    return add_yaml(walk, path, text, len, err);
}

/* Files in folders are taken by their names; others are somebody else's. */
static bool is_cluster_file(const char *name)
{
    static const char *const endings[] = {".yaml", ".yml", ".json", ".zip", ".yaml.gz", ".yml.gz", ".json.gz"};

    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        if (ends_with(name, endings[i]))
            return true;
    }
    return false;
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static int add_folder(struct walk *walk, const char *path, int depth, struct err *err);

static int add_entry(struct walk *walk, const char *path, int depth, struct err *err)
{
    struct stat stat_buf;

    /* Links to folders are not followed, so that none is walked twice. */
    if (lstat(path, &stat_buf) == 0 && S_ISDIR(stat_buf.st_mode))
        return add_folder(walk, path, depth + 1, err);
    if (stat(path, &stat_buf) < 0)
        return is_cluster_file(path) ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
    return S_ISREG(stat_buf.st_mode) && is_cluster_file(path) ? add_file(walk, path, err) : 0;
}

static int add_folder(struct walk *walk, const char *path, int depth, struct err *err)
{
    struct dirent **entries = NULL;
    int r = 0;

    if (depth > FOLDERS_DEPTH_MAX)
        return err_set(err, -ELOOP, "%s: folders are nested too deeply", path);
    int count = scandir(path, &entries, NULL, by_name);
    if (count < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        _cleanup_(freep) char *entry = NULL;

        if (r >= 0 && entries[i]->d_name[0] != '.') {
            BUG_ON(asprintf(&entry, "%s/%s", path, entries[i]->d_name) < 0);
            r = add_entry(walk, entry, depth, err);
        }
        free(entries[i]);
    }
    free(entries);
    return r;
}

static int add_path(struct walk *walk, const char *path, struct err *err)
{
    uint32_t had = walk->file_count;
    struct stat stat_buf;

    if (walk->options->read_live && cluster_path_is_live(path))
        return walk->options->read_live(walk->options->live_arg, path + strlen(CLUSTER_LIVE), walk->reading, err);
    if (strcmp(path, "-") == 0 || stat(path, &stat_buf) < 0 || !S_ISDIR(stat_buf.st_mode))
        return add_file(walk, path, err);
    walk->is_in_folder = true;
    int r = add_folder(walk, path, 0, err);
    walk->is_in_folder = false;
    if (r >= 0 && walk->file_count == had)
        return err_set(err, -ENOENT, "%s: holds no .yaml, .yml, .json or .zip files", path);
    return r;
}

static int add_paths(struct walk *walk, const char *const *paths, size_t path_count, struct err *err)
{
    int r = 0;

    for (size_t i = 0; r >= 0 && i < path_count; i++)
        r = add_path(walk, paths[i], err);
    if (r >= 0 && cluster_reading_objects(walk->reading) == 0)
        r = err_set(err, -EINVAL, "%s: holds no Kubernetes object of a known kind",
                    path_count ? file_name(paths[0]) : "the input");
    return r;
}

int cluster_survey(const struct cluster_options *options, const char *const *paths, size_t path_count,
                   struct cluster_notes *notes, struct cluster_reading **ret_reading, struct err *err)
{
    struct walk walk = {.reading = cluster_reading_new(&notes->found, options->undated_from), .options = options};
    int r = add_paths(&walk, paths, path_count, err);

    notes->files = walk.file_count;
    notes->objects = cluster_reading_objects(walk.reading);
    if (r < 0)
        cluster_reading_free(walk.reading);
    else
        *ret_reading = walk.reading;
    return r < 0 ? r : 0;
}

int cluster_read(const struct cluster_options *options, struct state *state, struct config *config,
                 const char *const *paths, size_t path_count, struct cluster_notes *notes, struct err *err)
{
    _cleanup_(cluster_reading_freep) struct cluster_reading *reading =
        cluster_reading_new(notes ? &notes->found : NULL, options->undated_from);
    struct walk walk = {.reading = reading, .options = options};
    int r = add_paths(&walk, paths, path_count, err);

    if (r >= 0)
        r = cluster_reading_build(reading, options, state, config, err);
    if (notes) {
        notes->files = walk.file_count;
        notes->objects = cluster_reading_objects(reading);
        notes->made = cluster_reading_made(reading);
        notes->usage = cluster_reading_usage(reading);
    }
    if (r >= 0 && options->ret_reading) {
        *options->ret_reading = reading;
        reading = NULL;
    }
    return r < 0 ? r : 0;
}
