/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "base/time.h"

struct err;

/*
 * Connects to a TLS server and looks for the certificate with the fingerprint (certificate_fingerprint()) in the chain that
 * the server presents, and checks that it has signed the server's own. Nothing but the handshake is sent. For programs that
 * have nothing else to do meanwhile. Returns 0 and the authority's certificate, to be freed by the caller; -EKEYREJECTED
 * when the server is another one; or why it cannot be reached.
 */
MUST_CHECK int authority_find(const char *host, const char *port, const char *fingerprint, nsec_t timeout,
                              char **ret_pem, struct err *err);
