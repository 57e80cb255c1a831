/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Files and folders into one set of objects, which then becomes deltas. Documents stay in memory until the state is
 * built, since objects borrow from them and refer to each other across files.
 */
#include "sim/cluster_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "objects/object.h"
#include "objects/reader.h"
#include "objects/settings.h"
#include "objects/snapshot.h"
#include "sim/cluster_config.h"
#include "text/file.h"
#include "text/json.h"
#include "text/yaml.h"
#include "text/zip.h"

/* Bounds on what is read: bytes of one file, unpacked; files; folders in folders. */
#define FILE_BYTES_MAX ((size_t)2 << 30)
enum { FILES_MAX = 100000, FOLDERS_DEPTH_MAX = 32 };

/* One file that was read. */
struct input {
    struct yaml_docs yaml;
    yyjson_doc *json;
};

struct reading {
    struct arena arena;  // inputs, sources and names
    VEC(struct input *) inputs;
    struct object_set set;
    struct settings settings;
    bool has_snapshot;
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

static void reading_init(struct reading *reading, struct object_notes *notes)
{
    *reading = (struct reading){0};
    arena_init(&reading->arena);
    object_set_init(&reading->set, notes);
    settings_init(&reading->settings);
}

static void reading_done(struct reading *reading)
{
    settings_done(&reading->settings);
    object_set_done(&reading->set);
    vec_foreach (&reading->inputs, input) {
        yaml_docs_done(&(*input)->yaml);
        yyjson_doc_free((*input)->json);
    }
    vec_done(&reading->inputs);
    arena_done(&reading->arena);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text);
    size_t end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static struct object_source *new_source(struct reading *reading, const char *path, const struct yaml_doc *yaml)
{
    struct object_source *source = ARENA_NEW(&reading->arena, struct object_source);

    source->name = arena_strdup(&reading->arena, file_name(path));
    source->yaml = yaml;
    source->is_from_folder = reading->is_in_folder;
    return source;
}

static int add_document(struct reading *reading, yyjson_val *root, struct object_source *source, struct err *err)
{
    if (!snapshot_is(root))
        return object_set_add(&reading->set, root, source, err);
    source->is_snapshot = true;
    reading->has_snapshot = true;
    return snapshot_add(&reading->set, &reading->settings, root, source, err);
}

static int add_json(struct reading *reading, struct input *input, const char *path, const char *text, size_t len,
                    struct err *err)
{
    int r = json_parse(text, len, file_name(path), &input->json, err);

    if (r < 0)
        return r;
    return add_document(reading, yyjson_doc_get_root(input->json), new_source(reading, path, NULL), err);
}

static int add_yaml(struct reading *reading, struct input *input, const char *path, const char *text, size_t len,
                    struct err *err)
{
    int r = yaml_parse(text, len, file_name(path), &input->yaml, err);

    for (uint32_t i = 0; r >= 0 && i < input->yaml.len; i++) {
        const struct yaml_doc *doc = &input->yaml.items[i];
        r = add_document(reading, yyjson_doc_get_root(doc->json), new_source(reading, path, doc), err);
    }
    return r;
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

static int add_file(struct reading *reading, const char *path, struct err *err)
{
    struct input *input = ARENA_NEW(&reading->arena, struct input);
    _cleanup_(freep) char *text = NULL;
    _cleanup_(freep) char *unpacked = NULL;
    size_t len = 0;
    size_t unpacked_len = 0;

    if (reading->file_count++ == FILES_MAX)
        return err_set(err, -EFBIG, "%s: expected at most %d files", path, FILES_MAX);
    vec_push(&reading->inputs, input);
    int r = file_read(path, FILE_BYTES_MAX, &text, &len, err);
    if (r < 0)
        return r;
    if (zip_is_archive(text, len) || ends_with(path, ".zip")) {
        r = zip_read_member(text, len, file_name(path), SNAPSHOT_MEMBER, FILE_BYTES_MAX, &unpacked, &unpacked_len, err);
        return r < 0 ? r : add_json(reading, input, path, unpacked, unpacked_len, err);
    }
    if (looks_like_json(path, text, len))
        return add_json(reading, input, path, text, len, err);
    return add_yaml(reading, input, path, text, len, err);
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

static int add_folder(struct reading *reading, const char *path, int depth, struct err *err);

static int add_entry(struct reading *reading, const char *path, int depth, struct err *err)
{
    struct stat stat_buf;

    /* Links to folders are not followed, so that none is walked twice. */
    if (lstat(path, &stat_buf) == 0 && S_ISDIR(stat_buf.st_mode))
        return add_folder(reading, path, depth + 1, err);
    if (stat(path, &stat_buf) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    return S_ISREG(stat_buf.st_mode) && is_cluster_file(path) ? add_file(reading, path, err) : 0;
}

static int add_folder(struct reading *reading, const char *path, int depth, struct err *err)
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
            r = add_entry(reading, entry, depth, err);
        }
        free(entries[i]);
    }
    free(entries);
    return r;
}

static int add_path(struct reading *reading, const char *path, struct err *err)
{
    uint32_t had = reading->file_count;
    struct stat stat_buf;

    if (strcmp(path, "-") == 0 || stat(path, &stat_buf) < 0 || !S_ISDIR(stat_buf.st_mode))
        return add_file(reading, path, err);
    reading->is_in_folder = true;
    int r = add_folder(reading, path, 0, err);
    reading->is_in_folder = false;
    if (r >= 0 && reading->file_count == had)
        return err_set(err, -ENOENT, "%s: holds no .yaml, .yml, .json or .zip files", path);
    return r;
}

/* Everything is read: settings first, for they say how to read the rest. */
static int build(struct reading *reading, const struct cluster_options *options, struct state *state,
                 struct config *config, struct object_notes *notes, struct err *err)
{
    struct object_options how;
    struct object_reader reader;

    int r = settings_decode_set(&reading->settings, &reading->set, options->shard, err);
    if (r < 0)
        return r;
    settings_sort(&reading->settings);
    r = cluster_config(&reading->settings, config, notes, err);
    if (r < 0)
        return r;

    object_options_init(&how);
    settings_to_options(&reading->settings, &how);
    how.is_whole = reading->has_snapshot;
    how.now = options->now;
    if (options->has_partition) {
        how.has_partition = true;
        how.partition = options->partition;
    }
    object_reader_init(&reader, state, &how, &reading->set, notes);
    r = object_set_decode(&reading->set, &reader, err);
    object_reader_done(&reader);
    return r;
}

int cluster_read_with(const struct cluster_options *options, struct state *state, struct config *config,
                      const char *const *paths, size_t path_count, struct cluster_notes *notes, struct err *err)
{
    struct object_notes *found = notes ? &notes->found : NULL;
    struct reading reading;
    int r = 0;

    reading_init(&reading, found);
    reading.set.undated_from = options->undated_from;
    for (size_t i = 0; r >= 0 && i < path_count; i++)
        r = add_path(&reading, paths[i], err);
    if (r >= 0 && reading.set.objects.len == 0)
        r = err_set(err, -EINVAL, "%s: holds no Kubernetes object of a known kind",
                    path_count ? file_name(paths[0]) : "the input");
    if (r >= 0)
        r = build(&reading, options, state, config, found, err);
    if (notes) {
        notes->files = reading.file_count;
        notes->objects = reading.set.read_count;
        notes->made = reading.set.made_count;
    }
    reading_done(&reading);
    return r < 0 ? r : 0;
}

int cluster_read(struct state *state, struct config *config, const char *const *paths, size_t path_count,
                 struct cluster_notes *notes, struct err *err)
{
    return cluster_read_with(&(struct cluster_options){0}, state, config, paths, path_count, notes, err);
}
