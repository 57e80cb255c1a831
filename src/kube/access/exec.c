/* SPDX-License-Identifier: Apache-2.0 */

/* What is said to a credential plugin and what it says: client.authentication.k8s.io, v1 and v1beta1. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/access/base64.h"
#include "kube/access/credentials.h"
#include "text/json.h"

void kube_exec_answer_done(struct kube_exec_answer *answer)
{
    free(answer->token);
    free(answer->cert);
    free(answer->key);
    *answer = (struct kube_exec_answer){0};
}

static int read_status(const struct json_at *status, struct kube_exec_answer *answer, struct err *err)
{
    const char *token = NULL;
    const char *cert = NULL;
    const char *key = NULL;
    const char *expires = NULL;
    int r;

    if ((r = json_member_str(status, "token", JSON_OPTIONAL, &token, err)) < 0 ||
        (r = json_member_str(status, "clientCertificateData", JSON_OPTIONAL, &cert, err)) < 0 ||
        (r = json_member_str(status, "clientKeyData", JSON_OPTIONAL, &key, err)) < 0 ||
        (r = json_member_str(status, "expirationTimestamp", JSON_OPTIONAL, &expires, err)) < 0)
        return r;
    if (!cert != !key)
        return json_fail(status, err, -EINVAL, "has a certificate without a key, or a key without a certificate");
    if ((!token || !token[0]) && !cert)
        return json_fail(status, err, -EINVAL, "has neither a token nor a certificate");
    if (expires && (r = time_parse(expires, &answer->expires, err)) < 0)
        return err_wrap(err, r, "status.expirationTimestamp");
    answer->token = token && token[0] ? xstrdup(token) : NULL;
    answer->cert = cert ? xstrdup(cert) : NULL;
    answer->key = key ? xstrdup(key) : NULL;
    return 0;
}

int kube_exec_parse(const struct kube_exec *exec, const char *text, size_t len, struct kube_exec_answer *ret_answer,
                    struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *kind = NULL;
    const char *version = NULL;
    struct json_at status;
    int r = json_parse(text, len, "its output", &doc, err);

    if (r < 0)
        return r;
    struct json_at root = json_root(doc);

    if ((r = json_member_str(&root, "kind", JSON_REQUIRED, &kind, err)) < 0 ||
        (r = json_member_str(&root, "apiVersion", JSON_REQUIRED, &version, err)) < 0 ||
        (r = json_member_object(&root, "status", JSON_REQUIRED, &status, err)) < 0)
        return r;
    if (strcmp(kind, "ExecCredential") != 0)
        return err_set(err, -EINVAL, "kind: expected ExecCredential");
    if (strcmp(version, exec->api_version) != 0)
        return err_set(err, -EINVAL, "apiVersion: expected %s", exec->api_version);
    struct kube_exec_answer answer = {0};

    r = read_status(&status, &answer, err);
    if (r < 0)
        kube_exec_answer_done(&answer);
    else
        *ret_answer = answer;
    return r;
}

static void add_cluster(yyjson_mut_doc *doc, yyjson_mut_val *spec, const struct kube_config *config, const char *ca)
{
    yyjson_mut_val *cluster = yyjson_mut_obj_add_obj(doc, spec, "cluster");

    (void)yyjson_mut_obj_add_str(doc, cluster, "server", config->server);
    if (config->tls_server_name)
        (void)yyjson_mut_obj_add_str(doc, cluster, "tls-server-name", config->tls_server_name);
    if (config->skips_verify)
        (void)yyjson_mut_obj_add_bool(doc, cluster, "insecure-skip-tls-verify", true);
    if (config->proxy)
        (void)yyjson_mut_obj_add_str(doc, cluster, "proxy-url", config->proxy);
    if (ca) {
        _cleanup_(freep) char *encoded = base64_encode(ca, strlen(ca));

        (void)yyjson_mut_obj_add_strcpy(doc, cluster, "certificate-authority-data", encoded);
    }
}

char *kube_exec_question(const struct kube_config *config, const char *ca)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, root, "kind", "ExecCredential");
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", config->exec.api_version);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");

    (void)yyjson_mut_obj_add_bool(doc, spec, "interactive", false);
    if (config->exec.wants_cluster)
        add_cluster(doc, spec, config, ca);
    char *text = yyjson_mut_write(doc, 0, NULL);

    BUG_ON(!text);
    yyjson_mut_doc_free(doc);
    return text;
}
