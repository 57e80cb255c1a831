/* SPDX-License-Identifier: Apache-2.0 */

/* The kubeconfig of the state folder. It has no secret: clients run `muster credential`, which asks the socket. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/base64.h"
#include "kube/access/config.h"
#include "local/server/files.h"
#include "local/server/server_parts.h"

enum { KUBECONFIG_MAX = 64 << 10 };

/* A string of YAML, whatever is in it. */
static void add_quoted(struct strbuf *text, const char *value)
{
    strbuf_addch(text, '\'');
    for (; *value; value++) {
        if (*value == '\'')
            strbuf_addch(text, '\'');
        strbuf_addch(text, *value);
    }
    strbuf_addch(text, '\'');
}

static void write_cluster(struct strbuf *text, const struct server *server, const char *authority_pem)
{
    _cleanup_(freep) char *authority = base64_encode(authority_pem, strlen(authority_pem));
    bool is_v6 = strchr(server->address, ':') != NULL;

    strbuf_addf(text,
                "clusters:\n- name: muster\n  cluster:\n    server: https://%s%s%s:%u\n"
                "    certificate-authority-data: %s\n",
                is_v6 ? "[" : "", server->address, is_v6 ? "]" : "", (unsigned)server->port, authority);
}

static int write_user(struct strbuf *text, const struct server *server, struct err *err)
{
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);

    if (len < 0)
        return err_set(err, -errno, "/proc/self/exe: %s", strerror(errno));
    program[len] = '\0';
    strbuf_addstr(text, "users:\n- name: muster\n  user:\n    exec:\n"
                        "      apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n"
                        "      command: ");
    add_quoted(text, program);
    strbuf_addstr(text, "\n      args: [credential, --state, ");
    add_quoted(text, server->folder);
    strbuf_addstr(text, "]\n");
    return 0;
}

int kubeconfig_write(const struct server *server, const char *authority_pem, struct err *err)
{
    _cleanup_(freep) char *path = file_path(server->folder, SERVER_KUBECONFIG);
    struct strbuf text;
    int r;

    strbuf_init(&text, KUBECONFIG_MAX);
    strbuf_addstr(&text, "apiVersion: v1\nkind: Config\ncurrent-context: muster\ncontexts:\n- name: muster\n"
                         "  context: {cluster: muster, user: muster, namespace: default}\n");
    write_cluster(&text, server, authority_pem);
    r = write_user(&text, server, err);
    if (r == 0)
        r = file_replace(path, text.text, text.len, err);
    strbuf_done(&text);
    return r;
}

uint16_t kubeconfig_port(const char *folder)
{
    _cleanup_(freep) char *path = file_path(folder, SERVER_KUBECONFIG);
    _cleanup_(kube_config_freep) struct kube_config *config = NULL;

    if (kube_config_load(path, NULL, &config, NULL) < 0)
        return 0;
    const char *colon = strrchr(config->server, ':');
    long port = colon ? strtol(colon + 1, NULL, 10) : 0;

    return port > 0 && port <= UINT16_MAX ? (uint16_t)port : 0;
}
