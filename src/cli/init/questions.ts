/** The five questions of `lodestone init`: what each accepts, and what stands where nothing is answered. */

import { httpAddress } from '../../base/yaml-fields.js';
import { databaseUrl, redisUrl } from '../../config/field-types.js';

export interface Question {
  /** The option of the command that answers it. */
  readonly option: 'address' | 'data-dir' | 'database-url' | 'redis-url' | 'providers';
  readonly text: string;
  readonly otherwise: string;
  /** What is wrong with an answer; undefined where nothing is. */
  faultOf(answer: string): string | undefined;
}

export type Answers = Record<Question['option'], string>;

export const noDatabase = 'embedded';
export const nothing = 'none';

/** `${NAME}`: the value arrives with the environment, so it cannot be checked here. */
export const isReference = (answer: string): boolean => /^\$\{\w+\}$/.test(answer);

export function questionsFor(providerIds: readonly string[]): readonly Question[] {
  return [
    {
      option: 'address',
      text: 'Which address do clients use?',
      otherwise: 'http://127.0.0.1:8787',
      faultOf: (answer) => faultBy(httpAddress, answer),
    },
    {
      option: 'data-dir',
      text: 'Which directory keeps the data?',
      otherwise: './data',
      faultOf: (answer) => (/\p{Cc}/u.test(answer) ? 'expected a path without control characters' : undefined),
    },
    {
      option: 'database-url',
      text: `Which PostgreSQL (postgres://…), or "${noDatabase}" for Lodestone's own?`,
      otherwise: noDatabase,
      faultOf: (answer) => (answer === noDatabase ? undefined : faultBy(databaseUrl, answer)),
    },
    {
      option: 'redis-url',
      text: `Which Redis (redis://…), or "${nothing}" for a single process?`,
      otherwise: nothing,
      faultOf: (answer) => (answer === nothing ? undefined : faultBy(redisUrl, answer)),
    },
    {
      option: 'providers',
      text: `Which providers, with commas between them, or "${nothing}" for the sandbox alone?`,
      otherwise: nothing,
      faultOf: (answer) => {
        const unknown = providersOf(answer).filter((id) => !providerIds.includes(id));
        if (unknown.length === 0) return undefined;
        return `"${unknown[0]}" is not built in, expected some of ${providerIds.join(', ')}`;
      },
    },
  ];
}

export function providersOf(answer: string): string[] {
  if (answer === nothing) return [];
  return [...new Set(answer.split(/[\s,]+/).filter(Boolean))];
}

interface Checks {
  safeParse(value: unknown): { success: boolean; error?: { issues: { message: string }[] } | undefined };
}

function faultBy(type: Checks, answer: string): string | undefined {
  if (isReference(answer)) return undefined;
  const { success, error } = type.safeParse(answer);
  return success ? undefined : `expected ${error?.issues[0]?.message}`;
}
