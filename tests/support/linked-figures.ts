/**
 * Clicks the figures of a page and compares each with what the page shows that it leads to. A figure is a link that is a number, or the
 * numbers of a row whose name is a link. Where the other page has no figure of that name, a number that is a link is a fault, and a row is not.
 */
import { picoOf } from './shown-figures.js';
import { settled, type Visitor } from './visitor.js';

type Figures = Record<string, string>;

interface Lead {
  /** Among the links to the same place. */
  index: number;
  href: string;
  /** Leads of one kind are made by the same code: a column of a table, a headline. */
  kind: string;
  name: string;
  promised: Figures;
  /** The link is a number, so the other page must have it. */
  isNumber: boolean;
}

interface Read {
  leads: Lead[];
  /** Every figure by its label. */
  shown: Figures;
  /** Every table by its caption: the cells of each row by their labels. */
  tables: Record<string, Figures[]>;
  text: string;
  path: string;
}

/** Runs in the page. */
const readPage = `(() => {
  const main = document.querySelector('main');
  const number = /^(All )?[+\\u2212-]?[$]?\\d[\\d,.]*[KMBT]?( ms| s| g| ?%)?$/;
  const two = /^\\d[\\d,.]*( ms| s)? \\/ \\d/;
  // Exact where it is shortened, unless what is there explains the figure instead.
  const textOf = (at) => {
    const marked = at.matches('[data-exact]') ? at : at.querySelector('[data-exact]');
    const exact = marked?.dataset.exact ?? at.querySelector('span[title]')?.title;
    return (exact && /^[+\\u2212-]?[$\\d]/.test(exact) ? exact : at.textContent).trim();
  };
  const figuresOf = (cells) =>
    Object.fromEntries(cells.map((cell) => [cell.dataset.label, textOf(cell)]).filter(([, text]) => number.test(text) || two.test(text)));
  const links = [...main.querySelectorAll('a[href]')];
  const leads = links.flatMap((link, at) => {
    const { pathname, search } = new URL(link.href);
    if (!/^\\/dashboard\\/[^.]*$/.test(pathname) || !link.checkVisibility()) return [];
    const [cell, figure, item] = [link.closest('td'), link.closest('[data-figure]'), link.closest('li')];
    const table = link.closest('table')?.caption?.textContent ?? '';
    const row = link.closest('tr')?.querySelector('td.lead')?.textContent ?? '';
    const index = links.slice(0, at).filter((other) => other.href === link.href).length;
    const common = { index, href: pathname.slice('/dashboard'.length) + search };
    if (number.test(link.textContent.trim()) && !cell?.matches('.lead')) {
      const label = figure?.dataset.figure ?? cell?.dataset.label ?? (link.textContent.startsWith('All ') ? 'rows' : '');
      return [{ ...common, kind: table + ' ' + label, name: row || label, promised: { [label]: textOf(link) }, isNumber: true }];
    }
    if (cell) {
      const promised = figuresOf([...cell.parentElement.querySelectorAll('td[data-label]')].filter((one) => one !== cell));
      return [{ ...common, kind: table + ' by ' + cell.dataset.label, name: row, promised, isNumber: false }];
    }
    const count = item?.textContent.match(/(\\d[\\d,]*) \\u00b7/)?.[1];
    return count ? [{ ...common, kind: 'list', name: link.textContent, promised: { Requests: count }, isNumber: true }] : [];
  });
  const tables = Object.fromEntries([...main.querySelectorAll('table')].map((table) => [
    table.caption.textContent,
    [...table.tBodies[0].rows].map((row) => Object.fromEntries([...row.cells].map((cell) => [cell.dataset.label ?? '', textOf(cell)]))),
  ]));
  const shown = {};
  for (const name of main.querySelectorAll('dl dt')) {
    if (name.nextElementSibling) shown[name.textContent.trim()] = textOf(name.nextElementSibling);
  }
  for (const [caption, rows] of Object.entries(tables)) {
    if (caption.startsWith('By ')) shown.rows = String(rows.filter((row) => !Object.values(row).includes('Not served')).length);
    if (caption === 'API keys') shown['API keys'] = String(rows.length);
  }
  const keys = main.innerText.match(/^(\\d+) API keys?\\./m)?.[1];
  if (keys) shown['API keys'] = keys;
  const receipt = main.querySelector('[data-testid="receipt"]');
  if (receipt) {
    const paid = [...receipt.querySelectorAll('p')].find((line) => /^(Fee|Total)/.test(line.textContent));
    shown.Cost = paid?.textContent.match(/[$].*/)[0] ?? '$0';
    shown.Amount = '\\u2212' + shown.Cost;
    shown.Status = receipt.parentElement.firstElementChild.firstElementChild.textContent;
    shown.Tokens = shown['Prompt tokens'] + ' / ' + shown['Completion tokens'];
    shown['First byte / end'] = shown['First byte'] + ' / ' + shown['Total time'];
  }
  if (location.pathname === '/dashboard/keys') shown['API keys'] ??= '0';
  return { leads, shown, tables, text: main.innerText, path: location.pathname.slice('/dashboard'.length) };
})()`;

const pageOf = (path: string) => path.split('?', 1)[0];

const rowsMax = 12;
const pauseMs = 50;
const triesMax = 60;

/** Names of one figure in tables and in headlines. */
const sameAs: Readonly<Record<string, string>> = { Grid: 'Grid intensity' };

/** Amounts and counts compare as numbers, whatever they are written like; tokens as the sum of both kinds. */
function comparable(label: string, text: string): string {
  if (label === 'Tokens') return String(sumOf(text.match(/\d[\d,]*/g) ?? []));
  return text.includes('$') ? String(picoOf(text)) : text.replace(/^All /, '').replaceAll(',', '');
}

const sumOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0);

/** How many requests a list shows at once. */
const listMax = 100;

function differences({ promised, isNumber, href }: Lead, { shown, tables }: Read): string[] {
  const listed = tables.Requests?.length;
  return Object.entries(promised).flatMap(([label, text]) => {
    const other = shown[sameAs[label] ?? label];
    if (other === undefined) return isNumber ? [`${label} ${text} is not there`] : [];
    const value = comparable(label, text);
    const isListed = label === 'Requests' || (label === 'Errors' && href.includes('status=error'));
    if (value !== comparable(label, other)) return [`${label} is ${text} here and ${other} there`];
    if (!isListed || listed === undefined || listed === Math.min(Number(value), listMax)) return [];
    return [`${label} is ${text}, and ${listed} requests are listed there`];
  });
}

/** Totals of a page that are not those of what they count. */
function wrongTotals(path: string, { shown, tables, text }: Read): string[] {
  const faults: string[] = [];
  const expectSame = (what: string, total: string | number | bigint | undefined, parts: string | number | bigint) => {
    if (String(total) !== String(parts))
      faults.push(`${path}: ${what}: the total is ${total}, the parts make ${parts}`);
  };
  const counted = (pattern: RegExp) => Number(pattern.exec(text)?.[1]?.replaceAll(',', ''));
  for (const [caption, rows] of Object.entries(tables)) {
    if (!caption.startsWith('By ') || shown.Requests === undefined) continue;
    for (const label of ['Requests', 'Errors']) {
      expectSame(`${caption}, ${label}`, comparable(label, shown[label]!), sumOf(rows.map((row) => row[label]!)));
    }
    expectSame(`${caption}, tokens`, comparable('Tokens', shown.Tokens!), sumOf(rows.map((row) => row.Tokens!)));
    const spend = rows.reduce((sum, row) => sum + picoOf(row.Spend!), 0n);
    expectSame(`${caption}, Spend`, picoOf(shown.Spend!), spend);
  }
  const { Models: models, Ledger: ledger, Aliases: aliases, Invitations: invitations } = tables;
  if (path === '/models' && models) {
    expectSame('models', counted(/(\d[\d,]*) models?, /), models.length);
    const routes = models.map((row) => /(\d+) routes?/.exec(row['Served by']!)![1]!);
    expectSame('routes', counted(/models?, (\d[\d,]*) routes?/), sumOf(routes));
  }
  if (aliases) expectSame('aliases', counted(/(\d+) of \d+ used/), aliases.length);
  if (invitations) expectSame('invitations', counted(/(\d+) invitations? not accepted/), invitations.length);
  if (path === '/credits' && ledger) {
    const adjusted = /adjusted by (\S+)/.exec(text)?.[1] ?? '0';
    const left = picoOf(shown['Credit added']!) + picoOf(adjusted) - picoOf(shown.Spend!);
    expectSame('balance', picoOf(shown.Balance!), left);
    expectSame('balance after the latest entry', picoOf(shown.Balance!), picoOf(ledger[0]!.Balance!));
    for (const [index, { Balance: after, Amount: amount }] of ledger.slice(0, -1).entries()) {
      expectSame(`entry ${index}`, picoOf(after!), picoOf(ledger[index + 1]!.Balance!) + picoOf(amount!));
    }
  }
  return faults;
}

export interface Compared {
  clicked: number;
  faults: string[];
  /** Where the links of the page lead. */
  leads: string[];
}

/**
 * Clicks figures as a visitor does: all, or of each kind that no page before had the ones that speak for the others. The name of a row
 * promises all of its figures, so more of these are clicked.
 */
export class FigureClicks {
  private readonly onTheWay = new Set<object>();

  constructor(
    private readonly visitor: Visitor,
    private readonly all: boolean,
    private readonly known: Set<string>,
  ) {
    visitor.page.on('request', (request) => this.onTheWay.add(request));
    visitor.page.on('requestfinished', (request) => this.onTheWay.delete(request));
    visitor.page.on('requestfailed', (request) => this.onTheWay.delete(request));
  }

  async compare(path: string): Promise<Compared> {
    const { page } = this.visitor;
    await this.visitor.follow(path);
    await this.quiet();
    let read = await this.read();
    let faults = wrongTotals(path, read);
    // A long table shows its other rows a moment later.
    for (let tries = 0; faults.length > 0 && tries < triesMax; tries++) {
      await page.waitForTimeout(pauseMs);
      read = await this.read();
      faults = wrongTotals(path, read);
    }
    const leads = this.chosen(path, read.leads);
    for (const [count, lead] of leads.entries()) {
      if (count > 0) await this.visitor.follow(path);
      const links = page.getByRole('main').locator(`a[href=${JSON.stringify(`/dashboard${lead.href}`)}]`);
      await links.nth(lead.index).click();
      const wrong = await this.differences(lead, path);
      const from = `${path}: ${lead.kind.trim()} of "${lead.name}"`;
      faults.push(...wrong.map((difference) => `${from} leads to ${lead.href}: ${difference}`));
    }
    return { clicked: leads.length, faults, leads: read.leads.map(({ href }) => href) };
  }

  private chosen(path: string, leads: Lead[]): Lead[] {
    const kinds = new Map<string, Lead[]>();
    for (const lead of leads) {
      if (Object.keys(lead.promised).length > 0) kinds.set(lead.kind, [...(kinds.get(lead.kind) ?? []), lead]);
    }
    return [...kinds].flatMap(([kind, some]) => {
      // One piece of code makes the tables of groups of every page.
      const name = kind.startsWith('By ') ? kind : `${pageOf(path)} ${kind}`;
      const isKnown = this.known.has(name);
      this.known.add(name);
      if (this.all) return some;
      if (isKnown) return [];
      const between = some[some.length >> 1]!;
      return some[0]!.isNumber ? [between] : some.slice(0, rowsMax);
    });
  }

  /** What is shown at first may be a part of it; on the same page, it may be what was there before. */
  private async differences(lead: Lead, path: string): Promise<string[]> {
    if (pageOf(lead.href) === pageOf(path)) await this.quiet();
    for (let tries = 0; ; tries++) {
      const read = await this.read();
      const found = pageOf(read.path) === pageOf(lead.href) ? differences(lead, read) : ['the page does not open'];
      if (found.length === 0 || tries === triesMax) return found;
      await this.visitor.page.waitForTimeout(pauseMs);
    }
  }

  private read(): Promise<Read> {
    return this.visitor.page.evaluate(readPage) as Promise<Read>;
  }

  private async quiet(): Promise<void> {
    const { page } = this.visitor;
    const frames = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))';
    // What takes longer is waited for where it is compared.
    for (let tries = 0; tries < 100; tries++) {
      await page.evaluate(frames);
      if (this.onTheWay.size === 0) break;
    }
    await settled(page);
  }
}
