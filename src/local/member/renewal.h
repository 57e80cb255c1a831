/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/* Renews the certificate of a joined machine when two thirds of its time are over, each time with a new key. */
extern const struct service_kind renewal_service;
