/** As much of a browser as the pages of identity providers need: cookies by host and port, redirects, and forms. */

export interface Page {
  url: URL;
  status: number;
  text: string;
}

export class SmallBrowser {
  private readonly jars = new Map<string, Map<string, string>>();

  /** Goes there, and follows redirects to the end. */
  async visit(address: string | URL, form?: Record<string, string>): Promise<Page> {
    let url = new URL(address);
    let body = form && new URLSearchParams(form);
    for (let hops = 0; hops < 20; hops++) {
      const jar = this.jars.get(url.host) ?? new Map<string, string>();
      this.jars.set(url.host, jar);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, {
        ...{ method: body ? 'POST' : 'GET', redirect: 'manual', headers: cookie ? { cookie } : {} },
        ...(body && { body }),
      });
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        const name = pair.slice(0, pair.indexOf('='));
        if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
        else jar.set(name, pair.slice(name.length + 1));
      }
      const location = response.headers.get('location');
      const text = await response.text();
      if (response.status < 300 || response.status >= 400 || !location) return { url, status: response.status, text };
      url = new URL(location, url);
      body = undefined;
    }
    throw new Error(`too many redirects, the last to ${url}`);
  }

  /** Sends the form of a page, with its hidden fields. */
  submit(page: Page, fields: Record<string, string>): Promise<Page> {
    const action = /<form[^>]*action="([^"]*)"/i.exec(page.text)?.[1] ?? '';
    const hidden = [...page.text.matchAll(/<input[^>]*type="hidden"[^>]*>/gi)].map(([input]) => [
      /name="([^"]*)"/.exec(input)?.[1] ?? '',
      /value="([^"]*)"/.exec(input)?.[1] ?? '',
    ]);
    const target = new URL(action.replaceAll('&amp;', '&'), page.url);
    return this.visit(target, { ...Object.fromEntries(hidden), ...fields });
  }

  async session(base: string): Promise<{ signed_in: boolean; role?: string; person?: { email: string } }> {
    return JSON.parse((await this.visit(`${base}/dashboard/api/session`)).text);
  }
}
