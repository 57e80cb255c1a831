/* SPDX-License-Identifier: Apache-2.0 */

/* Certificates are handed to curl from memory: those of a kubeconfig are in no file, and none has to be written. */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "net/http_internal.h"

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct http_tls *http_tls_new(const struct http_tls_options *options)
{
    struct http_tls *tls = xcalloc(1, sizeof *tls);

    *tls = (struct http_tls){
        .refs = 1,
        .ca_pem = copy(options->ca_pem),
        .cert_pem = copy(options->cert_pem),
        .key_pem = copy(options->key_pem),
        .server_name = copy(options->server_name),
        .skips_verify = options->skips_verify,
    };
    return tls;
}

struct http_tls *http_tls_ref(struct http_tls *tls)
{
    if (tls)
        tls->refs++;
    return tls;
}

void http_tls_unref(struct http_tls *tls)
{
    if (!tls || --tls->refs > 0)
        return;
    free(tls->ca_pem);
    free(tls->cert_pem);
    if (tls->key_pem)
        explicit_bzero(tls->key_pem, strlen(tls->key_pem));
    free(tls->key_pem);
    free(tls->server_name);
    free(tls);
}

/* The call holds a reference, so that curl need not copy. */
static void set_blob(CURL *easy, CURLoption option, char *pem)
{
    struct curl_blob blob = {.data = pem, .len = strlen(pem), .flags = CURL_BLOB_NOCOPY};

    (void)curl_easy_setopt(easy, option, &blob);
}

/* curl verifies the name that is in the URL: the URL gets the wanted name, and the connection goes where it said. */
static void set_server_name(struct http_call *call, const char *url, const char *name)
{
    _cleanup_(freep) char *to = NULL;
    CURLU *parts = curl_url();
    char *host = NULL;
    char *port = NULL;
    char *renamed = NULL;

    BUG_ON(!parts);
    if (curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
        curl_url_set(parts, CURLUPART_HOST, name, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_URL, &renamed, 0) == CURLUE_OK) {
        struct strbuf rule;

        strbuf_init(&rule, strlen(host) + strlen(port) + 8);
        strbuf_addf(&rule, "::%s:%s", host, port);
        to = strbuf_take(&rule);
        call->connect_to = curl_slist_append(NULL, to);
        (void)curl_easy_setopt(call->easy, CURLOPT_CONNECT_TO, call->connect_to);
        (void)curl_easy_setopt(call->easy, CURLOPT_URL, renamed);
    }
    curl_free(host);
    curl_free(port);
    curl_free(renamed);
    curl_url_cleanup(parts);
}

void http_tls_apply(struct http_call *call, const char *url)
{
    const struct http_tls *tls = call->tls;
    CURL *easy = call->easy;

    (void)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (!tls)
        return;
    if (tls->ca_pem) {
        set_blob(easy, CURLOPT_CAINFO_BLOB, tls->ca_pem);
        /* Or the certificates of the system would be trusted as well. */
        (void)curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (tls->cert_pem && tls->key_pem) {
        set_blob(easy, CURLOPT_SSLCERT_BLOB, tls->cert_pem);
        set_blob(easy, CURLOPT_SSLKEY_BLOB, tls->key_pem);
        /* OpenSSL would ask for the password of a locked key on the terminal. */
        (void)curl_easy_setopt(easy, CURLOPT_KEYPASSWD, "");
    }
    if (tls->skips_verify) {
        (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (tls->server_name)
        set_server_name(call, url, tls->server_name);
}
