/* SPDX-License-Identifier: Apache-2.0 */

/* What a container sees at other paths than the machine. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/machine.h"
#include "local/node/pod/env.h"
#include "local/node/pod/plan_internal.h"
#include "local/node/pod/volumes.h"
#include "local/server/files.h"
#include "local/shim/shim.h"

enum { NAME_BYTES = 512, SUB_PATH_MAX = 4096, HOSTS_BYTES_MAX = 1 << 20 };

/* Where the message of a container's end is mounted by default; its name is known to programs. */
#define MESSAGE_PATH "/dev/termination-log"
#define HOSTS_FILE "hosts"

static yyjson_mut_val *add_row(struct planning *planning, const char *from, const char *to, bool is_read_only)
{
    yyjson_mut_val *row = yyjson_mut_arr_add_obj(planning->doc, planning->mounts);

    (void)yyjson_mut_obj_add_strcpy(planning->doc, row, "from", from);
    (void)yyjson_mut_obj_add_strcpy(planning->doc, row, "to", to);
    (void)yyjson_mut_obj_add_bool(planning->doc, row, "readOnly", is_read_only);
    return row;
}

/* --- volumes --- */

static size_t depth(const char *path)
{
    size_t count = 0;

    for (; *path; path++)
        count += *path == '/';
    return count;
}

struct mount_row {
    yyjson_val *mount;
    size_t depth;
};

static int compare_rows(const void *a, const void *b)
{
    const struct mount_row *one = a, *other = b;

    return one->depth < other->depth ? -1 : one->depth > other->depth;
}

/* MUSTER_VOLUME_<NAME>: the folder of a volume for programs that look for it there. */
static char *variable_of(const char *volume)
{
    struct strbuf text;

    strbuf_init(&text, NAME_BYTES);
    strbuf_addstr(&text, "MUSTER_VOLUME_");
    for (; *volume; volume++)
        strbuf_addch(&text, (char)(isalnum((unsigned char)*volume) ? toupper((unsigned char)*volume) : '_'));
    return strbuf_take(&text);
}

static bool has_dots(const char *path)
{
    for (size_t len; *path; path += len + (path[len] == '/')) {
        len = strcspn(path, "/");
        if (len == 2 && strncmp(path, "..", 2) == 0)
            return true;
    }
    return false;
}

/* The part of the volume that is mounted, with variables in place. */
static int sub_path(struct planning *planning, yyjson_val *mount, struct strbuf *sub, struct err *err)
{
    const char *expression = kube_text(mount, "subPathExpr"), *name = kube_text(mount, "name");
    int r = 0;

    if (*expression)
        r = env_expand(&(struct env_request){.pod = planning->request->pod,
                                             .container = planning->container,
                                             .sources = planning->request->sources,
                                             .user = &planning->user,
                                             .machine = planning->request->machine},
                       expression, sub, err);
    else
        strbuf_addstr(sub, kube_text(mount, "subPath"));
    if (r == 0 && (has_dots(sub->text) || sub->text[0] == '/' || sub->is_cut))
        r = err_set(err, -EINVAL, "subPath %s of volume %s: it must be a relative path without '..'", sub->text, name);
    return r;
}

/* Without root's rights nothing is mounted: the program finds the folder by a variable. */
static void tell_folder(struct planning *planning, const char *name, const char *volume, const char *sub, bool is_users)
{
    _cleanup_(freep) char *variable = variable_of(name);
    _cleanup_(freep) char *from = *sub ? file_path(volume, sub) : xstrdup(volume);

    /* A folder in an own volume is made; its parents have to be there. */
    if (*sub && !is_users && mkdir(from, 0777) == 0)
        (void)chmod(from, 0777);
    planning_tell(planning, variable, from);
}

static int add_volume(struct planning *planning, yyjson_val *mount, struct err *err)
{
    const struct plan_request *request = planning->request;
    _cleanup_(freep) char *volumes = file_path(request->folder, POD_VOLUMES);
    const char *name = kube_text(mount, "name"), *to = kube_text(mount, "mountPath");
    bool is_users = false;
    _cleanup_(freep) char *volume = volume_path(volumes, request->pod, name, &is_users);
    struct strbuf sub;

    if (!volume)
        return err_set(err, -EINVAL, "volume %s is not in the pod", name);
    if (*to != '/' || has_dots(to))
        return err_set(err, -EINVAL, "mountPath %s of volume %s: it must be an absolute path without '..'", to, name);
    strbuf_init(&sub, SUB_PATH_MAX);
    int r = sub_path(planning, mount, &sub, err);
    if (r == 0 && geteuid() != 0)
        tell_folder(planning, name, volume, sub.text, is_users);
    if (r == 0 && geteuid() == 0) {
        _cleanup_(freep) char *variable = variable_of(name);
        yyjson_mut_val *row = add_row(planning, volume, to, bool_at(mount, "readOnly"));

        planning_tell(planning, variable, to);
        (void)yyjson_mut_obj_add_bool(planning->doc, row, "isUsers", is_users);
        (void)yyjson_mut_obj_add_strcpy(planning->doc, row, "sub", sub.text);
    }
    strbuf_done(&sub);
    return r;
}

/* Outer ones come before those in them. */
static int add_volumes(struct planning *planning, struct err *err)
{
    VEC(struct mount_row) rows = {0};
    size_t i, max;
    yyjson_val *mount;
    int r = 0;

    yyjson_arr_foreach(value_at(planning->container, "volumeMounts"), i, max, mount)
    {
        vec_push(&rows, (struct mount_row){mount, depth(kube_text(mount, "mountPath"))});
    }
    if (rows.len > 0)
        qsort(rows.items, rows.len, sizeof *rows.items, compare_rows);
    vec_foreach (&rows, row) {
        if (r == 0)
            r = add_volume(planning, row->mount, err);
    }
    vec_done(&rows);
    return r;
}

/* --- the message of its end --- */

/* The place has to be there for a mount; what is there for all is empty, and nobody's. */
static void make_message_place(const char *path)
{
    if (strcmp(path, MESSAGE_PATH) == 0) {
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0000);

        if (fd >= 0)
            (void)close(fd);
    }
}

static int add_message(struct planning *planning, struct err *err)
{
    const char *to = kube_text(planning->container, "terminationMessagePath");
    char name[NAME_BYTES];

    (void)snprintf(name, sizeof name, "%s.message", kube_text(planning->container, "name"));
    _cleanup_(freep) char *path = file_path(planning->request->folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || (geteuid() == 0 && fchown(fd, planning->user.uid, planning->user.gid) < 0)) {
        int r = err_set(err, -errno, "%s: %s", path, strerror(errno));

        if (fd >= 0)
            (void)close(fd);
        return r;
    }
    (void)close(fd);
    (void)yyjson_mut_obj_add_strcpy(planning->doc, planning->plan, "messageFile", path);
    bool is_mounted = geteuid() == 0 && *to == '/' && !has_dots(to);
    planning_tell(planning, "MUSTER_TERMINATION_LOG", is_mounted ? to : path);
    if (!is_mounted)
        return 0;
    make_message_place(to);
    (void)add_row(planning, path, to, false);
    return 0;
}

/* --- names of hosts --- */

static int write_hosts(const struct plan_request *request, const char *path, struct err *err)
{
    const char *host = kube_text(request->pod, "spec", "hostname");
    size_t i, max, k, names;
    yyjson_val *alias, *name;
    struct strbuf text;

    strbuf_init(&text, HOSTS_BYTES_MAX);
    strbuf_addstr(&text, "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n");
    strbuf_addf(&text, "%s\t%s\n", request->machine->address,
                *host ? host : kube_text(request->pod, "metadata", "name"));
    yyjson_arr_foreach(value_at(request->pod, "spec", "hostAliases"), i, max, alias)
    {
        strbuf_addf(&text, "%s", kube_text(alias, "ip"));
        yyjson_arr_foreach(value_at(alias, "hostnames"), k, names, name)
        {
            strbuf_addf(&text, "\t%s", yyjson_is_str(name) ? yyjson_get_str(name) : "");
        }
        strbuf_addch(&text, '\n');
    }
    int r = file_replace(path, text.text, text.len, err);
    strbuf_done(&text);
    if (r == 0 && chmod(path, 0644) < 0)
        r = err_set(err, -errno, "%s: %s", path, strerror(errno));
    return r;
}

static int add_hosts(struct planning *planning, struct err *err)
{
    _cleanup_(freep) char *own = file_path(planning->request->folder, HOSTS_FILE);
    bool is_machines = bool_at(planning->request->pod, "spec", "hostNetwork");

    /* All containers of the pod have the same one. */
    if (!is_machines && access(own, F_OK) < 0) {
        int r = write_hosts(planning->request, own, err);

        if (r < 0)
            return r;
    }
    (void)add_row(planning, is_machines ? "/etc/hosts" : own, "/etc/hosts", is_machines);
    if (access("/etc/resolv.conf", R_OK) == 0)
        (void)add_row(planning, "/etc/resolv.conf", "/etc/resolv.conf", true);
    return 0;
}

int planning_mounts(struct planning *planning, struct err *err)
{
    /* Volumes come last: they may cover any of these. */
    int r = planning->image.folder ? add_hosts(planning, err) : 0;
    if (r == 0)
        r = add_message(planning, err);
    return r < 0 ? r : add_volumes(planning, err);
}
