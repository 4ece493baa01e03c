/** What a Claude model takes, by the version in its name, whatever the platform writes around it. */

export interface ClaudeTraits {
  /** Takes a budget of tokens for thinking; later models take an effort. Neither understands the other's. */
  readonly takesBudget: boolean;
  /** Refuses `temperature` and `top_p` in one request. */
  readonly samplesByOne: boolean;
  /** What it refuses altogether, for routes of which the catalogue does not say it. */
  readonly unsupported: readonly string[];
}

const unknown: ClaudeTraits = { takesBudget: false, samplesByOne: false, unsupported: [] };
const known = new Map<string, ClaudeTraits>();

/** `claude-3-7-sonnet-…`, `claude-sonnet-4-…`, `claude-opus-4.5`, `eu.anthropic.claude-fable-5-v1:0`. */
export function claudeTraits(model: string): ClaudeTraits {
  let traits = known.get(model);
  if (traits === undefined) {
    traits = traitsOf(model);
    known.set(model, traits);
  }
  return traits;
}

const sampling = ['temperature', 'top_p', 'top_k'];

function traitsOf(model: string): ClaudeTraits {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?/i.exec(model);
  if (!match) return unknown;
  const version = Number(match[1]) * 100 + Number(match[2] ?? 0);
  return { takesBudget: version < 406, samplesByOne: version >= 401, unsupported: version >= 407 ? sampling : [] };
}
