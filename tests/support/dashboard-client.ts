/** A browser for the dashboard's API of a running gateway: it keeps cookies and sends its origin and the required header. */
import { request } from 'undici';
import type { Reply } from './client.js';

export interface DashboardCall {
  /** Replace what a browser would send; undefined leaves a header out. */
  headers?: Record<string, string | undefined>;
}

export class DashboardClient {
  readonly cookies = new Map<string, string>();
  /** The `Set-Cookie` lines of the last answer. */
  setCookies: string[] = [];

  constructor(
    readonly url: string,
    private readonly origin = url,
  ) {}

  async call(method: string, path: string, body?: unknown, { headers = {} }: DashboardCall = {}): Promise<Reply> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const all = {
      origin: this.origin,
      'sec-fetch-site': 'same-origin',
      'x-lodestone-dashboard': '1',
      ...(cookie !== '' && { cookie }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    };
    const response = await request(`${this.url}/dashboard/api/${path}`, {
      method: method as 'GET',
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    this.keep(response.headers['set-cookie']);
    const text = await response.body.text();
    return { status: response.statusCode, headers: response.headers, text, json: parsed(text) };
  }

  private keep(header: string | string[] | undefined): void {
    this.setCookies = [header ?? []].flat();
    for (const line of this.setCookies) {
      const [pair = '', ...attributes] = line.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      if (attributes.some((attribute) => /^\s*max-age=0$/i.test(attribute))) this.cookies.delete(name);
      else this.cookies.set(name, pair.slice(name.length + 1));
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
