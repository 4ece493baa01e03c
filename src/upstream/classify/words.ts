/** The words by which failures tell their meaning, most telling first. A rule may be limited to some statuses. */
import type { Meaning } from '../failure.js';

export interface WordRule {
  meaning: Meaning;
  words: RegExp;
  statuses?: (status: number) => boolean;
}

const notOk = (status: number): boolean => status >= 400 || status < 300;

export const wordRules: readonly WordRule[] = [
  // The region of our own egress, not of the caller.
  {
    meaning: 'auth',
    words: /unsupported_country|country, region, or territory not supported|location is not supported/i,
  },
  // Money: a wallet or a spending cap is no daily quota (ruling 5).
  {
    meaning: 'auth',
    words:
      /insufficient_quota|billing|insufficient (?:balance|funds|credits?)|exceeded your current quota|payment required|spend(?:ing)? limit|monthly/i,
  },
  { meaning: 'quota', words: /\b(?:RPD|TPD)\b|per[\s_-]?day|daily|PerDay/i },
  {
    meaning: 'auth',
    words:
      /invalid[\s_-]?(?:api[\s_-]?)?key|incorrect api key|api[\s_-]?key[\s_-](?:is )?(?:not valid|invalid|expired)|unauthori[sz]ed|permission[\s_-]?denied|access[\s_-]?denied|\bforbidden\b|must be verified|authentication/i,
  },
  {
    meaning: 'rate_limit',
    words: /rate[\s_-]?limit|too many requests|throttl|\b(?:RPM|TPM)\b|per[\s_-]?minute|per[\s_-]?second/i,
  },
  {
    meaning: 'capacity',
    words:
      /overload|at capacity|capacity|queue|concurren|high demand|high traffic|too busy|\bbusy\b|is loading|not ready|try again later|no (?:healthy|available) /i,
    statuses: notOk,
  },
  { meaning: 'server_error', words: /tool_use_failed|DEGRADED|internal server error/i },
  {
    meaning: 'unknown_model',
    words:
      /model[\s_]not[\s_]found|deploymentnotfound|(?:model|deployment)\b.{0,120}\b(?:does not exist|not exist|not found|unknown)|no such model|unknown model/i,
  },
  {
    meaning: 'rejected',
    words:
      /context[\s_]length|context window|maximum context|too many tokens|unsupported|not supported|not implemented|unrecognized|extra (?:inputs|fields)|extra_forbidden|content[\s_]?(?:filter|policy|management)|invalid_request_error|invalid value|must be (?:one of|less|greater|between)/i,
    statuses: (status) => status !== 429,
  },
];
