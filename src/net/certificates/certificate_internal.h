/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <openssl/x509.h>
#include <stdbool.h>

#include "net/certificates/certificate.h"

/* What the files that make certificates share. */

/* The first certificate or key of a text, to be freed; NULL when there is none. */
X509 *certificate_x509(const char *pem);
EVP_PKEY *certificate_key(const char *pem);

/* The text in a memory BIO, which is freed. */
char *certificate_text(BIO *bio);

/* Adds an extension in the syntax of OpenSSL's configuration. */
bool certificate_extend(X509 *x509, X509 *issuer, int nid, const char *value);

/* The parts that all certificates have; `issuer` is NULL for one that signs itself. */
MUST_CHECK int certificate_begin(X509 *x509, EVP_PKEY *key, X509 *issuer, const struct certificate_request *request,
                                 struct err *err);
