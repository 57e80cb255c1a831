/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "base/time.h"

struct err;

/*
 * X.509 certificates that Muster issues for its own servers: an authority that signs itself, and certificates of servers
 * that it signs. Keys are ECDSA P-256. Everything goes in and out as PEM text. Certificates count time in whole seconds.
 */
struct certificate {
    char *cert_pem;
    char *key_pem;
};

void certificate_done(struct certificate *certificate);

/* What a certificate is to say. */
struct certificate_request {
    const char *common_name;       // at most 64 bytes
    const char *const *dns_names;  // of a server, or its addresses; not used for an authority
    size_t dns_name_count;
    nsec_t not_before;
    nsec_t not_after;
};

/* Makes an authority, or a server's certificate that `authority` signs. Returns 0, or -EINVAL for names that are no names
 * and -EKEYREJECTED for an authority that cannot sign. `*ret_certificate` is to be given to certificate_done(). */
MUST_CHECK int certificate_make_authority(const struct certificate_request *request,
                                          struct certificate *ret_certificate, struct err *err);
MUST_CHECK int certificate_issue(const struct certificate *authority, const struct certificate_request *request,
                                 struct certificate *ret_certificate, struct err *err);

/*
 * The certificate of a client. Its key stays where it was made: there, certificate_make_request() makes the key and a
 * request (in `cert_pem`), which proves that its sender has the key and says nothing else. Whoever has the authority
 * decides on the name.
 */
struct certificate_client {
    const char *common_name;
    const char *const *organisations;  // at most 64 bytes each
    size_t organisation_count;
    nsec_t not_before;
    nsec_t not_after;
};

MUST_CHECK int certificate_make_request(struct certificate *ret_request, struct err *err);

/* Returns 0 and the certificate, to be freed by the caller; -EINVAL for a request that is none, or a name that is too long;
 * -EKEYREJECTED for an authority that cannot sign. */
MUST_CHECK int certificate_issue_client(const struct certificate *authority, const struct certificate_client *client,
                                        const char *request_pem, char **ret_cert_pem, struct err *err);

/* The SHA-256 of a certificate in hexadecimal digits. Returns 0, or -EINVAL when the text has none. */
enum { CERTIFICATE_FINGERPRINT_MAX = 65 };
MUST_CHECK int certificate_fingerprint(const char *cert_pem, char text[static CERTIFICATE_FINGERPRINT_MAX]);

/* What a certificate says; of several in one text, the first. */
enum { CERTIFICATE_NAME_MAX = 80 };
struct certificate_facts {
    char common_name[CERTIFICATE_NAME_MAX];
    nsec_t not_before;
    nsec_t not_after;
    bool is_authority;
};

/* Returns 0, or -EINVAL when there is no certificate in the text. */
MUST_CHECK int certificate_read(const char *cert_pem, struct certificate_facts *ret_facts, struct err *err);

/* Whether the key belongs to the certificate, the authority has signed it, a client that asks for `dns_name` takes it. */
bool certificate_has_key(const char *cert_pem, const char *key_pem);
bool certificate_is_signed_by(const char *cert_pem, const char *authority_pem);
bool certificate_is_for(const char *cert_pem, const char *dns_name);

/* Walks over the certificates in a text: the next one as a text of its own, to be freed by the caller; NULL at the end and
 * where no more can be read. `*at` starts at the beginning of the text. */
char *certificate_next(const char **at);
