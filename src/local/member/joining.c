/* SPDX-License-Identifier: Apache-2.0 */
#include "local/member/joining.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/member/member.h"
#include "net/certificates/authority.h"
#include "net/certificates/certificate.h"
#include "net/http.h"
#include "text/json.h"

enum { HOST_MAX = 256, PORT_MAX = 8, SECRET_MAX = 256, BODY_MAX = 64 << 10 };

#define TIMEOUT (15 * NSEC_PER_SEC)

/* Takes "HOST", "HOST:PORT", "[v6]" and "[v6]:PORT" apart. */
static int read_server(const char *text, char host[static HOST_MAX], char port[static PORT_MAX], struct err *err)
{
    const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
    const char *start = end ? text + 1 : text;
    const char *colon = end ? (end[1] == ':' ? end + 1 : NULL) : strrchr(text, ':');
    size_t len = end ? (size_t)(end - start) : colon ? (size_t)(colon - text) : strlen(text);
    const char *number = colon ? colon + 1 : JOINING_PORT;
    long value = strtol(number, NULL, 10);

    if (len == 0 || len >= HOST_MAX || number[strspn(number, "0123456789")] != '\0' || value < 1 || value > 65535)
        return err_set(err, -EINVAL, "'%.100s' is not HOST or HOST:PORT", text);
    memcpy(host, start, len);
    host[len] = '\0';
    (void)snprintf(port, PORT_MAX, "%ld", value);
    return 0;
}

static int read_token(const char *token, char secret[static SECRET_MAX],
                      char fingerprint[static CERTIFICATE_FINGERPRINT_MAX], struct err *err)
{
    const char *dot = strchr(token, '.');
    size_t len = dot ? (size_t)(dot - token) : 0;

    if (len == 0 || len >= SECRET_MAX || strlen(dot + 1) != CERTIFICATE_FINGERPRINT_MAX - 1)
        return err_set(err, -EINVAL, "this is not a token of 'muster node token'");
    memcpy(secret, token, len);
    secret[len] = '\0';
    memcpy(fingerprint, dot + 1, CERTIFICATE_FINGERPRINT_MAX);
    return 0;
}

static void post(struct http_answer *ret_answer, const char *url, const char *authority_pem, const struct strbuf *body)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    struct http_tls *tls =
        http_tls_new(&(struct http_tls_options){.ca_pem = authority_pem, .server_name = MEMBER_SERVER_NAME});

    http_ask(&(struct http_request){.method = "POST",
                                    .url = url,
                                    .headers = headers,
                                    .body = body->text,
                                    .body_len = body->len,
                                    .tls = tls,
                                    .proxy = "",
                                    .timeout = TIMEOUT,
                                    .body_max = BODY_MAX},
             ret_answer);
    http_tls_unref(tls);
}

/* The answer of the server, to be freed; or its own words. */
static int ask(const char *url, const char *authority_pem, const struct strbuf *body, yyjson_doc **ret_doc,
               struct err *err)
{
    struct http_answer answer;

    post(&answer, url, authority_pem, body);
    yyjson_doc *doc = yyjson_read(answer.body, answer.body_len, 0);
    const char *message = kube_text(yyjson_doc_get_root(doc), "message");
    int r = 0;

    if (answer.err.code < 0)
        r = err_set(err, answer.err.code, "%s", answer.err.text);
    else if (answer.status != 200 || !doc)
        r = err_set(err, -EACCES, "%s", *message ? message : "the control machine refused the request");
    free(answer.body);
    if (r < 0)
        yyjson_doc_free(doc);
    else
        *ret_doc = doc;
    return r;
}

static int join(const struct joining_request *request, struct member *member, const char *secret,
                const char *authority_pem, struct err *err)
{
    _cleanup_(certificate_done) struct certificate keys = {0};
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct strbuf body, url;
    int r = certificate_make_request(&keys, err);

    if (r < 0)
        return r;
    strbuf_init(&url, BODY_MAX);
    strbuf_addf(&url, "https://%s/muster/join", member->server);
    strbuf_init(&body, BODY_MAX);
    strbuf_addstr(&body, "{\"token\":");
    json_add_string(&body, secret);
    strbuf_addstr(&body, ",\"name\":");
    json_add_string(&body, request->name);
    strbuf_addstr(&body, ",\"request\":");
    json_add_string(&body, keys.cert_pem);
    strbuf_addch(&body, '}');
    r = ask(url.text, authority_pem, &body, &doc, err);
    explicit_bzero(body.text, body.len);
    strbuf_done(&body);
    strbuf_done(&url);
    if (r < 0)
        return r;
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *cert_pem = kube_text(root, "certificate");

    if (!certificate_has_key(cert_pem, keys.key_pem))
        return err_set(err, -EBADMSG, "the answer of the control machine has no certificate for this machine's key");
    member->owner = (uint32_t)number_at(root, 0, "owner", "uid");
    member->owner_name = xstrdup(kube_text(root, "owner", "name"));
    return member_write(member, authority_pem, cert_pem, keys.key_pem, err);
}

int joining_run(const struct joining_request *request, struct err *err)
{
    char host[HOST_MAX], port[PORT_MAX], secret[SECRET_MAX], fingerprint[CERTIFICATE_FINGERPRINT_MAX];
    _cleanup_(freep) char *authority_pem = NULL;
    struct member member = {0};
    struct strbuf server;
    int r = read_server(request->server, host, port, err);

    if (r == 0)
        r = read_token(request->token, secret, fingerprint, err);
    if (r == 0)
        r = authority_find(host, port, fingerprint, TIMEOUT, &authority_pem, err);
    if (r < 0)
        return r;
    strbuf_init(&server, HOST_MAX + PORT_MAX + 4);
    strbuf_addf(&server, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
    member.folder = xstrdup(request->folder);
    member.name = xstrdup(request->name);
    member.server = strbuf_take(&server);
    r = join(request, &member, secret, authority_pem, err);
    explicit_bzero(secret, sizeof secret);
    member_done(&member);
    return r;
}
