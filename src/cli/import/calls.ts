/** The calls of an import: many, so they wait where the gateway takes no more for a while. */
import { setTimeout } from 'node:timers/promises';
import type { AdminClient } from '../admin-client.js';
import { TooManyCalls } from '../io.js';

/** Each with the pause that the gateway asks for. */
const attemptsMax = 20;

export class PatientCalls {
  constructor(private readonly client: AdminClient) {}

  async call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.client.call<T>(method, path, body);
      } catch (error) {
        if (!(error instanceof TooManyCalls) || attempt === attemptsMax) throw error;
        await setTimeout(error.retryAfterSeconds * 1000);
      }
    }
  }

  /** A whole list, page by page where it has pages. */
  async all<T extends { id: string }>(path: string, pageSize?: number): Promise<T[]> {
    if (pageSize === undefined) return (await this.call<{ data: T[] }>('GET', path)).data;
    const found: T[] = [];
    for (let after = ''; ; ) {
      const { data } = await this.call<{ data: T[] }>('GET', `${path}?limit=${pageSize}${after}`);
      found.push(...data);
      if (data.length < pageSize) return found;
      after = `&after=${encodeURIComponent(data.at(-1)!.id)}`;
    }
  }
}
