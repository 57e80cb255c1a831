/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "net/rest/errors.h"

struct http_exchange;

/* The form of errors of the exchange's server. */
enum rest_error_form rest_error_form(const struct http_exchange *exchange);
