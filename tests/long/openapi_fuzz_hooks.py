"""Schemathesis loads this file. It replaces one check, so that refusals which no schema can foresee are counted and are no findings."""

import json
import os
import re

import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

# Each depends on what is stored, on the clock or on a secret: why, the error's code, and its message.
REFUSALS = [
    (
        "the target of an alias must be in the catalogue, and its region served",
        "invalid_alias_target",
        r"is not known|does not offer|is not served in|no region-less endpoint|has no routes",
    ),
    ("an account has a limited number of aliases", "alias_limit_reached", r"."),
    ("an account has a limited number of keys", "key_limit_reached", r"."),
    (
        "an entry of a chain must be in the catalogue and served",
        "invalid_fallback_model",
        r"(?i)has no (provider|model|alias)|no alias|not served|cannot be priced|not configured|not available|is disabled|does not|none of its",
    ),
    ("the route must be able to apply the parameter", None, r"Lodestone rejected the request before it reached the provider"),
    ("a model must be of the kind that the API serves", "invalid_request_error", r" is an? (chat|embedding|rerank) model, which is served at "),
    ("a key expires in the future, at most 12 months ahead", "invalid_request_error", r"^`expires` .* must be (in the future|at most 12 months ahead)"),
    ("a password must not be easy to guess", "invalid_request_error", r"^`password` (has no more than two|is the email address|is one of the most common)"),
    ("only an account with a password can be an operator", "invalid_request_error", r"^`operator` cannot be set"),
    ("a limit of a key is not above its account's", "invalid_request_error", r"must not be above the account.s limit"),
    ("a provider that a request names must be in the catalogue", "invalid_request_error", r"^`provider\.\w+` has .* which is not a provider of the catalogue"),
    ("a period begins before it ends", "invalid_request_error", r"^`(from|since)` must (not be later than|be at most 366 days before)"),
    ("an account that an export is of must be there", "invalid_request_error", r"^`account` is .* but there is no such account"),
    ("a list goes on after a row that is there", "invalid_request_error", r"^`after` is "),
    ("a date must be one of the calendar", "invalid_request_error", r" must be an RFC 3339 time or a date"),
    ("only the payment processor can sign a webhook call", "webhook_signature_invalid", r"."),
]


def refusal_of(response):
    try:
        error = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        return None
    for why, code, message in REFUSALS:
        if error.get("code") == code and re.search(message, error["message"], re.DOTALL):
            return why
    return None


@schemathesis.check
def answers_without_a_server_error(ctx, response, case):
    """The gateway under test has no credentials of real providers, and says so with a 503."""
    try:
        return not_a_server_error(ctx, response, case)
    except AssertionError:
        if response.status_code != 503 or '"provider_not_configured"' not in response.text:
            raise
        keep("a provider that a request names must be configured", case)
        return None


@schemathesis.check
def accepts_what_the_schema_allows(ctx, response, case):
    try:
        return positive_data_acceptance(ctx, response, case)
    except AssertionError:
        why = refusal_of(response)
        if why is None:
            raise
        keep(why, case)
        return None


@schemathesis.check
def asks_for_authentication(ctx, response, case):
    """Many wrong admin tokens in a minute are refused with a 429 before they are read; that is a refusal too."""
    try:
        return ignored_auth(ctx, response, case)
    except AssertionError as error:
        if "got `429 " not in str(error):
            raise
        keep("wrong admin tokens are limited", case)
        return None


def keep(why, case):
    with open(os.environ["LODESTONE_FUZZ_REFUSALS"], "a") as file:
        file.write(json.dumps({"why": why, "operation": case.operation.label}) + "\n")
