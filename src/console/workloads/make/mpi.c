/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/make/mpi.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "console/data/items.h"
#include "console/org/wants.h"
#include "console/rest/context.h"
#include "kube/access/base64.h"
#include "kube/client/meta.h"

#define HOSTS_FOLDER "/etc/mpi"
#define HOSTS_FILE "hostfile"
#define KEY_TYPE "ecdsa-sha2-nistp256"
#define KEY_CURVE "nistp256"

enum { NAME_BYTES = 80, HOSTS_BYTES_MAX = 1 << 18, PUBLIC_BYTES = 65, BLOB_BYTES = 256, KEY_MODE = 0600 };

bool mpi_is_of(yyjson_val *item)
{
    return strcmp(kube_text(item, "spec", "distributedFramework"), "MPI") == 0;
}

static const char *file_name(yyjson_val *item, const char *suffix, char name[static NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "%s-%s", kube_text(item, "name"), suffix);
    return name;
}

/* --- the host file --- */

static void want_hosts(const struct sync_item *item, yyjson_val *root, struct wants *wants)
{
    int64_t workers = yyjson_get_sint(yyjson_ptr_get(root, "/spec/numWorkers"));
    yyjson_val *slots = yyjson_ptr_get(root, "/spec/slotsPerWorker");
    char name[NAME_BYTES];
    struct want *want =
        wants_add(wants, KUBE_CONFIG_MAPS, WANT_SAME, kube_text(root, "namespace"), file_name(root, "mpi", name));
    yyjson_mut_val *object = want_begin(want, item, ITEM_WORKLOAD);
    yyjson_mut_val *data = yyjson_mut_obj_add_obj(want->doc, object, "data");
    struct strbuf text;

    strbuf_init(&text, HOSTS_BYTES_MAX);
    for (int64_t i = 1; i <= workers; i++)
        strbuf_addf(&text, "%s-%lld.%s slots=%lld\n", kube_text(root, "name"), (long long)i, kube_text(root, "name"),
                    slots ? (long long)yyjson_get_sint(slots) : 1);
    put_text(want->doc, data, HOSTS_FILE, text.text);
    strbuf_done(&text);
}

/* --- the keys --- */

static size_t put_string(unsigned char *to, const void *data, size_t len)
{
    for (size_t i = 0; i < 4; i++)
        to[i] = (unsigned char)(len >> (8 * (3 - i)));
    memcpy(to + 4, data, len);
    return len + 4;
}

/* "ecdsa-sha2-nistp256 BASE64": the type, the curve and the point, each after its length. */
static char *public_text(EVP_PKEY *key)
{
    unsigned char point[PUBLIC_BYTES], blob[BLOB_BYTES];
    size_t len = 0, point_len = 0;
    struct strbuf text;

    BUG_ON(EVP_PKEY_get_octet_string_param(key, "pub", point, sizeof point, &point_len) != 1);
    len += put_string(blob + len, KEY_TYPE, strlen(KEY_TYPE));
    len += put_string(blob + len, KEY_CURVE, strlen(KEY_CURVE));
    len += put_string(blob + len, point, point_len);
    _cleanup_(freep) char *encoded = base64_encode(blob, len);
    strbuf_init(&text, BLOB_BYTES * 2);
    strbuf_addf(&text, KEY_TYPE " %s\n", encoded);
    return strbuf_take(&text);
}

static void put_secret(struct want *want, yyjson_mut_val *data, const char *key, const char *text, size_t len)
{
    _cleanup_(freep) char *encoded = base64_encode(text, len);

    put_text(want->doc, data, key, encoded);
}

/* Keys that are there stay: pods of the training may have them already. */
static int want_keys(const struct sync_item *item, yyjson_val *root, struct wants *wants, struct err *err)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    BIO *secret = BIO_new(BIO_s_mem());
    char name[NAME_BYTES];
    char *pem = NULL;

    BUG_ON(!key || !secret);
    bool is_good = PEM_write_bio_PrivateKey_traditional(secret, key, NULL, NULL, 0, NULL, NULL) == 1;
    long len = BIO_get_mem_data(secret, &pem);
    if (is_good) {
        struct want *want =
            wants_add(wants, KUBE_SECRETS, WANT_MADE, kube_text(root, "namespace"), file_name(root, "ssh", name));
        yyjson_mut_val *object = want_begin(want, item, ITEM_WORKLOAD);
        yyjson_mut_val *data = yyjson_mut_obj_add_obj(want->doc, object, "data");
        _cleanup_(freep) char *own = public_text(key);

        put_text(want->doc, object, "type", "kubernetes.io/ssh-auth");
        put_secret(want, data, "ssh-privatekey", pem, (size_t)len);
        put_secret(want, data, "ssh-publickey", own, strlen(own));
    }
    EVP_PKEY_free(key);
    BIO_free(secret);
    ERR_clear_error();
    return is_good ? 0 : err_set(err, -EIO, "a key for SSH cannot be generated");
}

int mpi_want_files(const struct sync_item *item, struct wants *wants, struct err *err)
{
    yyjson_val *root = yyjson_doc_get_root(item->doc);

    want_hosts(item, root, wants);
    return want_keys(item, root, wants, err);
}

/* --- pods --- */

static void put_file(yyjson_mut_doc *doc, yyjson_mut_val *items, const char *key, const char *path)
{
    yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, items);

    put_text(doc, one, "key", key);
    put_text(doc, one, "path", path);
}

static yyjson_mut_val *put_volume(yyjson_mut_doc *doc, yyjson_mut_val *pod, const char *name, const char *path)
{
    yyjson_mut_val *mount = yyjson_mut_arr_add_obj(doc, yyjson_mut_ptr_get(pod, "/containers/0/volumeMounts"));
    yyjson_mut_val *volume = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_get(pod, "volumes"));

    put_text(doc, mount, "name", name);
    put_text(doc, mount, "mountPath", path);
    put_text(doc, volume, "name", name);
    return volume;
}

static void put_files(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *pod)
{
    const char *folder = kube_text(item, "spec", "sshAuthMountPath");
    char name[NAME_BYTES];
    yyjson_mut_val *hosts = yyjson_mut_obj_add_obj(doc, put_volume(doc, pod, "mpi-hosts", HOSTS_FOLDER), "configMap");

    put_text(doc, hosts, "name", file_name(item, "mpi", name));
    yyjson_mut_val *keys = yyjson_mut_obj_add_obj(doc,
                                                  put_volume(doc, pod, "mpi-ssh",
                                                             *folder ? folder
                                                                     : "/root"
                                                                       "/.ssh"),
                                                  "secret");
    put_text(doc, keys, "secretName", file_name(item, "ssh", name));
    (void)yyjson_mut_obj_add_int(doc, keys, "defaultMode", KEY_MODE);
    yyjson_mut_val *items = yyjson_mut_obj_add_arr(doc, keys, "items");
    put_file(doc, items, "ssh-privatekey", "id_ecdsa");
    put_file(doc, items, "ssh-publickey", "id_ecdsa.pub");
    put_file(doc, items, "ssh-publickey", "authorized_keys");
}

void mpi_encode_pod(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *pod)
{
    static const char *const launcher[][2] = {
        {"OMPI_MCA_orte_keep_fqdn_hostnames", "true"},
        {"OMPI_MCA_orte_default_hostfile", HOSTS_FOLDER "/" HOSTS_FILE},
        {"OMPI_MCA_plm_rsh_args",
         "-o ConnectionAttempts=10 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"},
        {"HYDRA_HOST_FILE", HOSTS_FOLDER "/" HOSTS_FILE},
        {"I_MPI_HYDRA_HOST_FILE", HOSTS_FOLDER "/" HOSTS_FILE},
    };
    bool is_launcher = yyjson_get_sint(yyjson_obj_get(item, "rank")) == 0;
    yyjson_mut_val *container = yyjson_mut_ptr_get(pod, "/containers/0");
    yyjson_mut_val *list = yyjson_mut_obj_get(container, "env");

    put_files(doc, item, pod);
    for (size_t i = 0; is_launcher && i < ARRAY_LEN(launcher); i++) {
        yyjson_mut_val *variable = yyjson_mut_arr_add_obj(doc, list);

        put_text(doc, variable, "name", launcher[i][0]);
        put_text(doc, variable, "value", launcher[i][1]);
    }
    yyjson_mut_val *role = yyjson_mut_arr_add_obj(doc, list);
    put_text(doc, role, "name", "K_MPI_JOB_ROLE");
    put_text(doc, role, "value", is_launcher ? "launcher" : "worker");
    if (is_launcher || yyjson_mut_obj_get(container, "command") || yyjson_mut_obj_get(container, "args"))
        return;
    yyjson_mut_val *command = yyjson_mut_obj_add_arr(doc, container, "command");
    (void)yyjson_mut_arr_add_str(doc, command, "/usr/sbin/sshd");
    (void)yyjson_mut_arr_add_str(doc, command, "-De");
}
