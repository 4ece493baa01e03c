/** Renders `/status` into the layout of the documentation, without scripts of its own. */
import { existsSync, readFileSync } from 'node:fs';
import type { DailyAvailability } from '../../health/route-days.js';
import { type WindowName, windowNames } from '../../storage/store.js';
import { dayBars, gradeOf } from './status-days.js';
import type { RouteStatusJson } from './status-json.js';

/** Made by scripts/docs. The path is the same from src/ and from dist/. */
const templateFile = new URL('../../../dist/docs/status.html', import.meta.url);
const placeholder = '<!--status-->';

/** null where only the compiler has run, not the whole build. */
export function readStatusTemplate(): string | null {
  return existsSync(templateFile) ? readFileSync(templateFile, 'utf8') : null;
}

const windowTitles: Record<WindowName, string> = { '24h': '24 hours', '7d': '7 days', '90d': '90 days' };
const incidentsShown = 5;

/** A route as the page shows it. The sandbox fails on purpose, so that what it does is no incident. */
export interface ShownRoute extends RouteStatusJson {
  readonly isSandbox: boolean;
  /** null where no day has a figure. */
  readonly days: DailyAvailability | null;
}

export function statusPage(
  template: string | null,
  shown: readonly ShownRoute[],
  providerNames: ReadonlyMap<string, string>,
  nowMs: number,
): string {
  const routes = shown.map((route) => (route.isSandbox ? { ...route, incidents: [] } : route));
  const byProvider = new Map<string, ShownRoute[]>();
  for (const route of routes) {
    const known = byProvider.get(route.provider);
    if (known) known.push(route);
    else byProvider.set(route.provider, [route]);
  }
  const sections = [...byProvider].map(([id, own]) => providerSection(id, providerNames.get(id) ?? id, own, nowMs));
  const text = [
    `<h1 id="status">Status</h1>`,
    `<p>How each route answered, from real requests. As of ${timeText(nowMs)}. The same as JSON: <a href="/v1/status">/v1/status</a>. ` +
      `<a href="/docs/status-page">How it is measured</a>.</p>`,
    summary(routes),
    routes.length === 0 ? '<p>This gateway offers no route at the moment.</p>' : sections.join('\n'),
  ].join('\n');
  // A function, because a replacement text may contain `$&`.
  return (template ?? `<!doctype html><html lang="en"><title>Status</title><body>${placeholder}</body></html>`).replace(
    placeholder,
    () => text,
  );
}

/** The sentence that most readers come for. */
function summary(routes: readonly ShownRoute[]): string {
  const affected = routes.filter(({ incidents }) => incidents.some(({ to }) => to === null)).length;
  if (affected === 0) return '<p class="state good"><strong>No incident at the moment.</strong></p>';
  const what = affected === 1 ? '1 route has' : `${affected} routes have`;
  return `<p class="state bad"><strong>${what} an incident at the moment.</strong></p>`;
}

function providerSection(id: string, name: string, routes: readonly ShownRoute[], nowMs: number): string {
  const title = escapeHtml(name);
  const note = routes.some(({ isSandbox }) => isSandbox)
    ? '<p class="quiet">For tests: its models fail on purpose, so nothing here is an incident.</p>'
    : '';
  return `<section class="provider"><h2 id="provider-${escapeHtml(id)}">${title}</h2>${note}
${routes
  .filter(hasData)
  .map((route) => routeCard(route, nowMs))
  .join('\n')}${quietRoutes(routes.filter((route) => !hasData(route)))}
</section>`;
}

function hasData({ windows, incidents, days }: ShownRoute): boolean {
  const hasFigure = windowNames.some((name) => windows[name] !== null);
  return hasFigure || incidents.length > 0 || (days?.some((share) => share !== null) ?? false);
}

/** Routes that there is nothing to say about yet, in a line each instead of a table without a figure. */
function quietRoutes(routes: readonly ShownRoute[]): string {
  if (routes.length === 0) return '';
  const names = routes.map(({ model, locode }) => `<li>${routeName(model, locode)}</li>`);
  return `<div class="route"><p class="too-few">Too little traffic for a figure in 90 days, and no incident:</p>
<ul class="quiet-routes">${names.join('')}</ul></div>`;
}

const routeName = (model: string, locode: string): string =>
  `${escapeHtml(model)} <span class="quiet">${escapeHtml(locode)}</span>`;

function routeCard({ model, locode, windows, incidents, days }: ShownRoute, nowMs: number): string {
  const rows = windowNames.map((name) => windowRow(windowTitles[name], windows[name]));
  const label = escapeHtml(`${model}, ${locode}`);
  return `<div class="route"><h3>${routeName(model, locode)}</h3>
${days === null ? '' : dayBars(days, label, nowMs)}<table class="windows" aria-label="${label}"><thead><tr><th scope="col">Window</th><th scope="col">Availability</th><th scope="col">Errors</th><th scope="col">First byte, median</th><th scope="col">First byte, 95 %</th><th scope="col">Tokens a second</th></tr></thead>
<tbody>${rows.join('')}</tbody></table>${incidentList(incidents)}</div>`;
}

function windowRow(title: string, figures: RouteStatusJson['windows'][WindowName]): string {
  const head = `<th scope="row">${title}</th>`;
  if (figures === null) return `<tr>${head}<td colspan="5" class="too-few">Too little traffic for a figure</td></tr>`;
  const { availability, error_rate, first_byte_ms, tokens_per_second } = figures;
  const cell = (label: string, text: string, more = '') => `<td data-label="${label}"${more}>${text}</td>`;
  return `<tr>${head}${[
    cell('Availability', shareText(availability), ` class="${gradeOf(availability)}"`),
    cell('Errors', shareText(error_rate)),
    cell('First byte, median', msText(first_byte_ms.p50)),
    cell('First byte, 95 %', msText(first_byte_ms.p95)),
    cell('Tokens a second', tokens_per_second.p50 === null ? '–' : String(tokens_per_second.p50)),
  ].join('')}</tr>`;
}

const incidentTitles = { breaker: 'Not tried after failures', hold: 'Quota used up' } as const;

function incidentList(incidents: RouteStatusJson['incidents']): string {
  if (incidents.length === 0) return '';
  const items = incidents.slice(0, incidentsShown).map(({ kind, from, to }) => {
    const until = to === null ? '<strong>now</strong>' : timeText(Date.parse(to));
    return `<li>${incidentTitles[kind]}: ${timeText(Date.parse(from))} to ${until}</li>`;
  });
  const more = incidents.length - incidentsShown;
  const rest = more > 0 ? `<li>${more} earlier in 90 days</li>` : '';
  return `<ul class="incidents" aria-label="Incidents">${items.join('')}${rest}</ul>`;
}

function shareText(share: number): string {
  return `${(share * 100).toFixed(2).replace(/\.?0+$/, '')} %`;
}

function msText(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** UTC, to the second. */
function timeText(ms: number): string {
  const iso = new Date(ms).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
