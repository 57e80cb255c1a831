/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "net/http.h"

struct err;

/* Mail by SMTP. */

enum mail_tls {
    MAIL_STARTTLS,  // begins without TLS and ends where the server has none
    MAIL_TLS,       // from the first byte
    MAIL_PLAIN,     // without; for servers that the caller trusts the way to
};

enum { MAIL_RECIPIENTS_MAX = 32 };

struct mail_server {
    const char *host;
    uint16_t port;
    enum mail_tls tls;
    const char *user;  // NULL: none
    const char *password;
    http_address_fn may_connect;  // asked for each address of the host; called where mail_send() is
    void *may_connect_arg;
    nsec_t timeout;
};

struct mail {
    const char *from;
    const char *const *to;  // up to a NULL
    const char *id;         // of this mail, to recognise one that comes twice: letters, digits and '-'
    const char *subject;    // any text: it is encoded, and so is the body
    const char *body;
};

/* Waits until the server has taken the mail, or refused it: for a loop_work_fn. Addresses have been checked by the caller: nothing
 * in them is quoted. Returns 0, or a negative errno with the server's answer. */
MUST_CHECK int mail_send(const struct mail_server *server, const struct mail *mail, struct err *err);
