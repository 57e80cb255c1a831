/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/image/podman.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "text/json.h"

enum { WORDS_MAX = 6, NAME_BYTES = 2048, INSPECT_BYTES_MAX = 1 << 20, LINE_BYTES_MAX = 64 << 10, COMPLAINT_MAX = 400 };

/* podman waits for locks of its storage that a pull can hold for long. */
#define QUICK (2 * 60 * NSEC_PER_SEC)
#define PULL_TIME (60 * 60 * NSEC_PER_SEC)

#define INSPECT_FORMAT \
    "{\"id\":{{json .ID}},\"digests\":{{json .RepoDigests}},\"size\":{{.Size}},\"config\":{{json .Config}}}"

static const struct {
    const char *words[WORDS_MAX];
    const char *prefix;  // of the object
    size_t output_max;
    nsec_t timeout;
} commands[] = {
    [PODMAN_INSPECT] = {{"podman", "image", "inspect", "--format", INSPECT_FORMAT}, "", INSPECT_BYTES_MAX, QUICK},
    /* A registry and nothing else: files and other transports are not for users to name. */
    [PODMAN_PULL] = {{"podman", "pull", "--quiet"}, "docker://", LINE_BYTES_MAX, PULL_TIME},
    [PODMAN_MOUNT] = {{"podman", "image", "mount"}, "", LINE_BYTES_MAX, QUICK},
    [PODMAN_UNMOUNT] = {{"podman", "image", "unmount"}, "", LINE_BYTES_MAX, QUICK},
};

bool podman_is_installed(void)
{
    const char *path = getenv("PATH");

    for (size_t len; path && *path; path += len + (path[len] == ':')) {
        char file[PATH_MAX];

        len = strcspn(path, ":");
        if ((size_t)snprintf(file, sizeof file, "%.*s/podman", (int)len, path) < sizeof file && access(file, X_OK) == 0)
            return true;
    }
    return false;
}

int podman_start(struct loop *loop, enum podman_verb verb, const char *object, process_done_fn on_done, void *arg,
                 struct process **ret_process, struct err *err)
{
    const char *argv[WORDS_MAX + 2] = {0};
    char text[NAME_BYTES];
    size_t count = 0;

    if ((size_t)snprintf(text, sizeof text, "%s%s", commands[verb].prefix, object) >= sizeof text)
        return err_set(err, -ENAMETOOLONG, "the name of the image is too long");
    while (count < WORDS_MAX && commands[verb].words[count]) {
        argv[count] = commands[verb].words[count];
        count++;
    }
    argv[count] = text;
    return process_start(loop,
                         &(struct process_request){
                             .argv = argv,
                             .output_max = commands[verb].output_max,
                             .timeout = commands[verb].timeout,
                             .on_done = on_done,
                             .arg = arg,
                         },
                         ret_process, err);
}

bool podman_is_id(const char *text)
{
    return strlen(text) == PODMAN_ID_MAX - 1 && strspn(text, "0123456789abcdef") == PODMAN_ID_MAX - 1;
}

/* The last line that begins with "Error:", without that word; warnings come before it. */
static void complaint(const char *text, char *ret_line, size_t size)
{
    static const char mark[] = "Error: ";
    const char *line = text;

    for (const char *next = text; (next = strstr(next, mark)); next++) {
        if (next == text || next[-1] == '\n')
            line = next + strlen(mark);
    }
    size_t len = strcspn(line, "\n");
    (void)snprintf(ret_line, size, "%.*s", (int)len, line);
    for (char *c = ret_line; *c; c++) {
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    }
}

int podman_read_nothing(const struct process_result *result, struct err *err)
{
    char line[COMPLAINT_MAX];

    if (result->err.code < 0)
        return err_set(err, result->err.code, "podman: %s", result->err.text);
    if (result->exit_status == 0)
        return 0;
    complaint(result->complaints, line, sizeof line);
    if (!*line)
        return err_set(err, -EIO, "podman ended with status %d", result->exit_status);
    bool is_absent = strstr(line, "image not known") || strstr(line, "no such image");
    return err_set(err, is_absent ? -ENOENT : -EIO, "%s", line);
}

int podman_read_image(const struct process_result *result, struct podman_image *ret_image, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = podman_read_nothing(result, err);

    if (r == 0)
        r = json_parse(result->output, result->output_len, "podman image inspect", &doc, err);
    if (r < 0)
        return r;
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *id = kube_text(root, "id");
    if (!podman_is_id(id) || !yyjson_is_obj(value_at(root, "config")))
        return err_set(err, -EPROTO, "podman image inspect: the id or the configuration is missing");
    (void)snprintf(ret_image->id, sizeof ret_image->id, "%s", id);
    ret_image->bytes = number_at(root, 0, "size");
    return 0;
}

/* The last line of the output. */
static void last_line(const struct process_result *result, const char **ret_line, size_t *ret_len)
{
    size_t end = result->output_len;

    while (end > 0 && isspace((unsigned char)result->output[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && result->output[begin - 1] != '\n')
        begin--;
    *ret_line = result->output + begin;
    *ret_len = end - begin;
}

int podman_read_pulled(const struct process_result *result, char ret_id[PODMAN_ID_MAX], struct err *err)
{
    const char *line;
    size_t len;
    int r = podman_read_nothing(result, err);

    if (r < 0)
        return r;
    last_line(result, &line, &len);
    (void)snprintf(ret_id, PODMAN_ID_MAX, "%.*s", (int)MIN(len, (size_t)PODMAN_ID_MAX), line);
    return podman_is_id(ret_id) && len == PODMAN_ID_MAX - 1
               ? 0
               : err_set(err, -EPROTO, "podman pull printed no id of an image");
}

int podman_read_mount(const struct process_result *result, char ret_path[PATH_MAX], struct err *err)
{
    const char *line;
    size_t len;
    int r = podman_read_nothing(result, err);

    if (r < 0)
        return r;
    last_line(result, &line, &len);
    if (len == 0 || len >= PATH_MAX || line[0] != '/' || memchr(line, '\0', len))
        return err_set(err, -EPROTO, "podman image mount printed no folder");
    (void)snprintf(ret_path, PATH_MAX, "%.*s", (int)len, line);
    return 0;
}
