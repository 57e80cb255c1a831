/* SPDX-License-Identifier: Apache-2.0 */
#include "local/member/member.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/base64.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/server/files.h"
#include "text/json.h"

#define MEMBER_FILE "member.json"

enum { FILE_MAX = 64 << 10 };

char *member_folder(const char *flag)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");

    if (flag && *flag)
        return xstrdup(flag);
    if (geteuid() == 0)
        return xstrdup("/var/lib/muster-node");
    if (state && *state)
        return file_path(state, "muster-node");
    return file_path(home && *home ? home : ".", ".local/state/muster-node");
}

int member_read(const char *folder, struct member *ret_member, struct err *err)
{
    _cleanup_(freep) char *path = file_path(folder, MEMBER_FILE);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r;

    if (access(path, F_OK) < 0)
        return err_set(err, -ENOENT, "this machine has not joined another one: no %s", path);
    r = json_read_file(path, FILE_MAX, &doc, err);
    if (r < 0)
        return r;
    yyjson_val *root = yyjson_doc_get_root(doc);

    *ret_member = (struct member){
        .folder = xstrdup(folder),
        .server = xstrdup(kube_text(root, "server")),
        .name = xstrdup(kube_text(root, "name")),
        .owner_name = xstrdup(kube_text(root, "owner")),
        .owner = (uint32_t)number_at(root, 0, "ownerUid"),
    };
    return 0;
}

void member_done(struct member *member)
{
    free(member->folder);
    free(member->server);
    free(member->name);
    free(member->owner_name);
    *member = (struct member){0};
}

static int replace(const char *folder, const char *name, struct strbuf *text, struct err *err)
{
    _cleanup_(freep) char *path = file_path(folder, name);
    int r = text->is_cut ? err_set(err, -EFBIG, "%s: too long", path) : file_replace(path, text->text, text->len, err);

    explicit_bzero(text->text, text->len);
    strbuf_done(text);
    return r;
}

int member_write_keys(const char *folder, const char *cert_pem, const char *key_pem, struct err *err)
{
    struct strbuf text;

    strbuf_init(&text, FILE_MAX);
    strbuf_addstr(&text, cert_pem);
    strbuf_addstr(&text, key_pem);
    return replace(folder, MEMBER_KEYS, &text, err);
}

/* JSON is YAML, and needs no rules for quotes of its own. */
static int write_kubeconfig(const struct member *member, const char *authority_pem, struct err *err)
{
    _cleanup_(freep) char *authority = base64_encode(authority_pem, strlen(authority_pem));
    _cleanup_(freep) char *keys = file_path(member->folder, MEMBER_KEYS);
    _cleanup_(freep) char *url = NULL;
    struct strbuf text;

    strbuf_init(&text, FILE_MAX);
    strbuf_addf(&text, "https://%s", member->server);
    url = strbuf_take(&text);
    strbuf_init(&text, FILE_MAX);
    strbuf_addstr(&text,
                  "{\"apiVersion\":\"v1\",\"kind\":\"Config\",\"current-context\":\"muster\",\"contexts\":[{\"name\":"
                  "\"muster\",\"context\":{\"cluster\":\"muster\",\"user\":\"node\"}}],\"clusters\":[{\"name\":"
                  "\"muster\",\"cluster\":{\"server\":");
    json_add_string(&text, url);
    strbuf_addf(&text, ",\"tls-server-name\":\"" MEMBER_SERVER_NAME "\",\"certificate-authority-data\":\"%s\"}}],",
                authority);
    strbuf_addstr(&text, "\"users\":[{\"name\":\"node\",\"user\":{\"client-certificate\":");
    json_add_string(&text, keys);
    strbuf_addstr(&text, ",\"client-key\":");
    json_add_string(&text, keys);
    strbuf_addstr(&text, "}}]}\n");
    return replace(member->folder, MEMBER_KUBECONFIG, &text, err);
}

/* The file that says that the machine has joined comes last. */
int member_write(const struct member *member, const char *authority_pem, const char *cert_pem, const char *key_pem,
                 struct err *err)
{
    struct strbuf text;
    int r;

    if (mkdir(member->folder, 0700) < 0 && errno != EEXIST)
        return err_set(err, -errno, "%s: %s", member->folder, strerror(errno));
    r = member_write_keys(member->folder, cert_pem, key_pem, err);
    if (r == 0)
        r = write_kubeconfig(member, authority_pem, err);
    if (r < 0)
        return r;
    strbuf_init(&text, FILE_MAX);
    strbuf_addstr(&text, "{\"server\":");
    json_add_string(&text, member->server);
    strbuf_addstr(&text, ",\"name\":");
    json_add_string(&text, member->name);
    strbuf_addstr(&text, ",\"owner\":");
    json_add_string(&text, member->owner_name);
    strbuf_addf(&text, ",\"ownerUid\":%u}\n", (unsigned)member->owner);
    return replace(member->folder, MEMBER_FILE, &text, err);
}

void member_forget(const char *folder)
{
    static const char *const names[] = {MEMBER_FILE, MEMBER_KEYS, MEMBER_KUBECONFIG};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        _cleanup_(freep) char *path = file_path(folder, names[i]);

        (void)unlink(path);
    }
}
