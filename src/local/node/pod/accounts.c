/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/accounts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

enum { FILE_BYTES_MAX = 1 << 20, ID_MAX = 0x7fffffff, ID_FIELD = 2, PASSWD_GROUP_FIELD = 3 };

/* A regular file of the folder; an image could have anything in its place. NULL: there is none, or it is too large. */
static char *read_file(const char *folder, const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = root < 0 ? -1 : (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    struct stat found;
    char *text = NULL;

    if (root >= 0)
        (void)close(root);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_size <= FILE_BYTES_MAX) {
        size_t len = 0, size = (size_t)found.st_size;
        ssize_t n;

        text = xcalloc(size + 1, 1);
        while (len < size && (n = read(fd, text + len, size - len)) > 0)
            len += (size_t)n;
        text[len] = '\0';
    }
    (void)close(fd);
    return text;
}

/* The beginning and the length of a line's field. */
static const char *field(const char *line, size_t index, size_t *ret_len)
{
    const char *end = line + strcspn(line, "\n");

    for (; index > 0 && line < end; index--) {
        line += strcspn(line, ":\n");
        line += line < end;
    }
    *ret_len = MIN(strcspn(line, ":\n"), (size_t)(end - line));
    return line;
}

/* -1: it is no number that an id can have. */
static int64_t number_in(const char *text, size_t len)
{
    int64_t value = 0;

    for (size_t i = 0; i < len; i++) {
        if (!isdigit((unsigned char)text[i]) || value > ID_MAX)
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return len > 0 && value <= ID_MAX ? value : -1;
}

/* The line of a name, or else of a number; NULL: none. */
static const char *find_line(const char *text, const char *name, size_t name_len)
{
    int64_t number = number_in(name, name_len);
    const char *by_number = NULL;

    for (const char *line = text; line && *line;) {
        size_t len, id_len;
        const char *own = field(line, 0, &len), *id = field(line, ID_FIELD, &id_len);

        if (len == name_len && memcmp(own, name, len) == 0)
            return line;
        if (!by_number && number >= 0 && number_in(id, id_len) == number)
            by_number = line;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return by_number;
}

static int64_t id_in(const char *line, size_t index)
{
    size_t len = 0;
    const char *text = line ? field(line, index, &len) : NULL;

    return text ? number_in(text, len) : -1;
}

int account_find(const char *folder, const char *text, int64_t *ret_uid, int64_t *ret_gid, struct err *err)
{
    size_t len = strcspn(text, ":");
    const char *group = text[len] ? text + len + 1 : NULL;
    _cleanup_(freep) char *users = folder ? read_file(folder, "etc/passwd") : NULL;
    const char *line = find_line(users, text, len);
    int64_t number = number_in(text, len);

    *ret_uid = line ? id_in(line, ID_FIELD) : number;
    *ret_gid = id_in(line, PASSWD_GROUP_FIELD);
    if (*ret_uid < 0)
        return err_set(err, -EINVAL,
                       "the image's user '%.100s' is neither a number nor in its /etc/passwd: set runAsUser", text);
    if (!group)
        return 0;
    _cleanup_(freep) char *groups = folder ? read_file(folder, "etc/group") : NULL;
    line = find_line(groups, group, strlen(group));
    *ret_gid = line ? id_in(line, ID_FIELD) : number_in(group, strlen(group));
    if (*ret_gid < 0)
        return err_set(err, -EINVAL,
                       "the image's group '%.100s' is neither a number nor in its /etc/group: set runAsGroup", group);
    return 0;
}
