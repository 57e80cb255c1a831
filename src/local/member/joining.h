/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"

struct err;

/* What a person says to join: the address of the control machine, its token, and what to be called there. */
struct joining_request {
    const char *folder;  // of the membership
    const char *server;  // "HOST" or "HOST:PORT"; "[v6]:PORT"
    const char *token;   // "SECRET.FINGERPRINT"
    const char *name;    // of the node
};

#define JOINING_PORT "6443"  // where none is said

/*
 * Checks that the server is the one whose fingerprint the token has, before anything is sent to it; then shows the token with
 * a request for a certificate, whose key is made here; and writes the membership. Returns 0; -EINVAL for words that are none;
 * -EKEYREJECTED for another server; or what the server says. For a program that has nothing else to do meanwhile.
 */
MUST_CHECK int joining_run(const struct joining_request *request, struct err *err);
