/* SPDX-License-Identifier: Apache-2.0 */

/*
 * libcurl speaks SMTP. Subject and body are encoded in base64, so that nothing in them is a line of the protocol or a header,
 * whatever characters the names of a workload or a project have.
 */
#include "net/mail/mail.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

enum { MAIL_MAX = 64 << 10, TEXT_MAX = 32 << 10, LINE_BYTES = 54, WORD_BYTES = 42, CONNECT_S = 10 };

struct sending {
    const struct mail_server *server;
    struct strbuf text;
    size_t sent;
    bool is_refused;
    char curl_text[CURL_ERROR_SIZE];
};

/* Base64 of `len` bytes in pieces of `each`, with a text before and after each piece. */
static void add_base64(struct strbuf *to, const char *bytes, size_t len, size_t each, const char *before,
                       const char *after)
{
    unsigned char word[LINE_BYTES / 3 * 4 + 1];

    _Static_assert(WORD_BYTES <= LINE_BYTES && LINE_BYTES % 3 == 0 && WORD_BYTES % 3 == 0, "only the last is padded");
    for (size_t at = 0; at < len; at += each) {
        (void)EVP_EncodeBlock(word, (const unsigned char *)bytes + at, (int)MIN(each, len - at));
        strbuf_addf(to, "%s%s%s", before, (const char *)word, after);
    }
}

/* A piece of an encoded word ends between characters: no byte that continues one begins the next. */
static void add_subject(struct strbuf *to, const char *subject)
{
    size_t len = strlen(subject);

    strbuf_addstr(to, "Subject:");
    for (size_t at = 0; at < len;) {
        size_t piece = MIN((size_t)WORD_BYTES, len - at);

        while (piece > 1 && at + piece < len && ((unsigned char)subject[at + piece] & 0xc0) == 0x80)
            piece--;
        add_base64(to, subject + at, piece, WORD_BYTES, " =?UTF-8?B?", "?=\r\n");
        at += piece;
    }
    if (len == 0)
        strbuf_addstr(to, "\r\n");
}

static void write_mail(const struct mail *mail, struct strbuf *to)
{
    char date[64];
    struct tm tm;
    time_t now = time(NULL);
    const char *host = strchr(mail->from, '@');

    (void)gmtime_r(&now, &tm);
    (void)strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S +0000", &tm);
    strbuf_addf(to, "Date: %s\r\nFrom: <%s>\r\n", date, mail->from);
    for (const char *const *at = mail->to; *at; at++)
        strbuf_addf(to, "%s<%s>%s", at == mail->to ? "To: " : " ", *at, at[1] ? ",\r\n" : "\r\n");
    strbuf_addf(to, "Message-ID: <%s%s>\r\n", mail->id, host ? host : "@localhost");
    add_subject(to, mail->subject);
    strbuf_addstr(to,
                  "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
                  "Content-Transfer-Encoding: base64\r\n\r\n");
    add_base64(to, mail->body, strlen(mail->body), LINE_BYTES, "", "\r\n");
}

static size_t on_read(char *to, size_t size, size_t count, void *arg)
{
    struct sending *sending = arg;
    size_t len = MIN(size * count, sending->text.len - sending->sent);

    memcpy(to, sending->text.text + sending->sent, len);
    sending->sent += len;
    return len;
}

/* What counts is the address that is connected to, whatever the name said before. */
static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct sending *sending = arg;

    (void)purpose;
    if (!sending->server->may_connect(sending->server->may_connect_arg, &address->addr)) {
        sending->is_refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int set_options(CURL *easy, struct sending *sending, const struct mail *mail, struct curl_slist *to)
{
    const struct mail_server *server = sending->server;
    bool is_v6 = strchr(server->host, ':') != NULL;
    char url[300];
    char from[300];

    int len = snprintf(url, sizeof url, "%s://%s%s%s:%u", server->tls == MAIL_TLS ? "smtps" : "smtp", is_v6 ? "[" : "",
                       server->host, is_v6 ? "]" : "", (unsigned)server->port);
    if (len < 0 || (size_t)len >= sizeof url)
        return -EINVAL;
    (void)snprintf(from, sizeof from, "<%s>", mail->from);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(easy, CURLOPT_USE_SSL, (long)(server->tls == MAIL_PLAIN ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(server->timeout / NSEC_PER_MSEC));
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, sending->curl_text);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, sending);
    if (server->user && *server->user) {
        (void)curl_easy_setopt(easy, CURLOPT_USERNAME, server->user);
        (void)curl_easy_setopt(easy, CURLOPT_PASSWORD, server->password);
    }
    (void)curl_easy_setopt(easy, CURLOPT_MAIL_FROM, from);
    (void)curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, to);
    (void)curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
    (void)curl_easy_setopt(easy, CURLOPT_READDATA, sending);
    (void)curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    return 0;
}

static int perform(CURL *easy, const struct sending *sending, struct err *err)
{
    CURLcode result = curl_easy_perform(easy);

    if (result == CURLE_OK)
        return 0;
    if (sending->is_refused)
        return err_set(err, -EACCES, "'%.100s' is at an address that is not allowed", sending->server->host);
    return err_set(err, result == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EIO, "%s",
                   *sending->curl_text ? sending->curl_text : curl_easy_strerror(result));
}

int mail_send(const struct mail_server *server, const struct mail *mail, struct err *err)
{
    struct sending sending = {.server = server};
    struct curl_slist *to = NULL;
    CURL *easy = curl_easy_init();
    int r = 0;

    BUG_ON(!easy);
    if (strlen(mail->subject) + strlen(mail->body) > TEXT_MAX)
        r = err_set(err, -EFBIG, "the mail is longer than %d bytes", TEXT_MAX);
    for (const char *const *at = mail->to; r == 0 && *at; at++) {
        char address[300];

        (void)snprintf(address, sizeof address, "<%s>", *at);
        to = curl_slist_append(to, address);
        BUG_ON(!to);
    }
    strbuf_init(&sending.text, MAIL_MAX);
    if (r == 0) {
        write_mail(mail, &sending.text);
        r = set_options(easy, &sending, mail, to) < 0 ? err_set(err, -EINVAL, "the host's name is too long") : 0;
    }
    if (r == 0)
        r = perform(easy, &sending, err);
    curl_slist_free_all(to);
    curl_easy_cleanup(easy);
    strbuf_done(&sending.text);
    return r;
}
