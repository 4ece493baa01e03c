/** A browser for the dashboard's API, over the framework's injection: it keeps cookies and sends its origin. */
import type { FastifyInstance } from 'fastify';
import { dashboardOrigin } from './http-fixture.js';

export interface CallOptions {
  headers?: Record<string, string | undefined>;
}

export class BrowserSession {
  readonly cookies = new Map<string, string>();

  constructor(private readonly app: FastifyInstance) {}

  async call(method: string, path: string, body?: unknown, { headers = {} }: CallOptions = {}) {
    const all: Record<string, string | undefined> = {
      'x-lodestone-dashboard': '1',
      origin: dashboardOrigin,
      'sec-fetch-site': 'same-origin',
      ...(this.cookies.size > 0 && { cookie: this.cookieHeader() }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const answer = await this.app.inject({
      method: method as 'GET',
      url: `/dashboard/api/${path}`,
      headers: sent as Record<string, string>,
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    this.keep(answer.headers['set-cookie']);
    return answer;
  }

  cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  private keep(header: string | string[] | undefined): void {
    for (const line of [header ?? []].flat()) {
      const [pair = '', ...attributes] = line.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      const gone = attributes.some((attribute) => /^\s*max-age=0$/i.test(attribute));
      if (gone) this.cookies.delete(name);
      else this.cookies.set(name, pair.slice(name.length + 1));
    }
  }
}
