/** Figures of the built-in catalogue must not contradict each other. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { builtinFiles, builtinVersion } from '../../src/catalogue/builtin.js';
import { priceProvenance } from '../../src/catalogue/price.js';
import type { Route, Snapshot } from '../../src/catalogue/route.js';
import { dialectOf } from '../../src/providers/dialects/registry.js';
import { builtinSnapshot, credentials, realRoutes } from './snapshots.js';

let snapshot: Snapshot;
let routes: Route[];
beforeAll(async () => {
  snapshot = await builtinSnapshot();
  routes = realRoutes(snapshot);
});

/** The ids of routes that break a rule, so that a failure names them. */
function breaking(rule: (route: Route) => boolean): string[] {
  return routes.filter((route) => !rule(route)).map(({ id }) => id);
}

describe('the built-in catalogue', () => {
  it('has all of the real providers, and each of them has routes', () => {
    expect([...new Set(routes.map(({ provider }) => provider.id))].sort()).toEqual(Object.keys(credentials).sort());
    expect(routes.length).toBeGreaterThanOrEqual(500);
    expect(snapshot.models.size).toBeGreaterThanOrEqual(185);
  });

  it('says its sources and its date at the head of each file', () => {
    const silent = builtinFiles.filter(({ name, url }) => {
      const [head] = readFileSync(url, 'utf8').split(/^(?:providers|regions|models|routes|currencies):/m);
      return name !== 'sandbox.yaml' && !(/[Ss]ource/.test(head!) && /As of (?:August|November) 2026/.test(head!));
    });
    expect(silent).toEqual([]);
  });

  it('has a version that is not before the newest date of a figure, so that an older update does not hide it', () => {
    const dates = builtinFiles.flatMap(({ url }) => [
      ...readFileSync(url, 'utf8').matchAll(/as_of: "?(\d{4}-\d\d-\d\d)/g),
    ]);
    const newest = dates
      .map(([, date]) => date!.replaceAll('-', '.'))
      .sort()
      .at(-1)!;
    expect(newest <= builtinVersion, `raise builtinVersion to ${newest} or later`).toBe(true);
    expect(dates.length).toBeGreaterThan(50);
  });

  it('places each route in the country that its locode begins with', () => {
    for (const { locode, country } of snapshot.regions.values()) expect(locode.slice(0, 2).toUpperCase()).toBe(country);
    expect(breaking(({ locode, country }) => (locode === 'global') === (country === null))).toEqual([]);
  });

  it('has one figure of carbon for each region, and none for a region-less route', () => {
    expect(breaking(({ locode, carbon }) => (locode === 'global') === (carbon === null))).toEqual([]);
  });

  it('says where each route is processed, within a region only where the route has one', () => {
    expect(breaking(({ processing }) => processing !== undefined)).toEqual([]);
    expect(
      breaking(({ processing, locode }) => !['region', 'eu', 'us'].includes(processing!) || locode !== 'global'),
    ).toEqual([]);
    expect(
      breaking(
        ({ processing, locode }) => !['global', 'unspecified', 'operator'].includes(processing!) || locode === 'global',
      ),
    ).toEqual([]);
  });

  it('has prices that can be meant: an answer costs something, a cached token no more than a fresh one, a band more', () => {
    const isOwn = ({ processing }: Route) => processing === 'operator';
    const isChat = ({ model }: Route) => model.kind === undefined;
    expect(
      breaking(
        (route) =>
          route.price === null || isOwn(route) || !isChat(route) || (route.price.output > 0n && route.price.input > 0n),
      ),
    ).toEqual([]);
    expect(breaking((route) => !isOwn(route) || (route.price?.output === 0n && route.price.input === 0n))).toEqual([]);
    expect(breaking(({ price }) => !price || (price.cachedInput ?? 0n) <= price.input)).toEqual([]);
    expect(breaking((route) => !route.price || !isChat(route) || route.price.output >= route.price.input)).toEqual([]);
    // What writes nothing is billed by its input, or by the request.
    expect(
      breaking((route) => {
        if (isChat(route) || !route.price) return isChat(route);
        const { input, output, request = 0n } = route.price;
        return output === 0n && input > 0n !== request > 0n;
      }),
    ).toEqual([]);
    expect(
      breaking(
        ({ price }) =>
          !price?.bands || price.bands.every((band) => band.input > price.input && band.output > price.output),
      ),
    ).toEqual([]);
    expect(routes.filter(({ price }) => price === null)).toHaveLength(14);
  });

  it('has a default of each provider that can be served, where any of its routes of the model can', () => {
    const priced = new Set(
      routes.flatMap(({ provider, model, price }) => (price ? [`${provider.id} ${model.canonicalId}`] : [])),
    );
    expect(
      breaking(
        (route) =>
          !route.isDefault || route.price !== null || !priced.has(`${route.provider.id} ${route.model.canonicalId}`),
      ),
    ).toEqual([]);
  });

  it('keeps the fact that a price was published in EUR, and derives it at one rate', () => {
    const sellers = ['scaleway', 'ovhcloud', 'ionos', 'stackit', 'evroc', 'berget', 'greenpt'];
    const inEuro = routes.filter(({ price }) => price?.published?.currency === 'EUR');
    const sold = routes.filter(({ provider, price }) => price && sellers.includes(provider.id));
    expect(inEuro.map(({ id }) => id)).toEqual(sold.map(({ id }) => id));
    expect(inEuro).toHaveLength(58);
    for (const { id, price } of inEuro) {
      const { input, output, rate } = price!.published!;
      // Figures in EUR have a rate; where only the currency is known, the USD are another's conversion.
      expect(rate?.usd, id).toBe(input === null ? undefined : '1.17');
      if (!rate) continue;
      expect(Number(price!.input) / 1e6, id).toBeCloseTo(Number(input) * 1.17, 6);
      expect(Number(price!.output) / 1e6, id).toBeCloseTo(Number(output) * 1.17, 6);
    }
  });

  it('has one figure where sources differ: one price of a provider for a model in a country, and no source that leaves it open', () => {
    const shown = (route: Route) => {
      const { input, output, cachedInput } = route.price!;
      return `${input} ${output} ${cachedInput}`;
    };
    const byPlace = new Map<string, Set<string>>();
    for (const route of routes) {
      if (!route.price) continue;
      const place = `${route.provider.id} ${route.model.canonicalId} ${route.country}`;
      byPlace.set(place, (byPlace.get(place) ?? new Set()).add(shown(route)));
    }
    expect([...byPlace].filter(([, prices]) => prices.size > 1).map(([place]) => place)).toEqual([]);
    const open = /\b(differs?|conflict|contradict|unclear|disagree|or|versus|vs)\b/i;
    expect(breaking((route) => !open.test(priceProvenance(route).source ?? ''))).toEqual([]);
  });

  it('has limits that fit into one another, and a model\u2019s are the most that a route offers', () => {
    expect(
      breaking(({ contextWindow, maxOutputTokens }) => (maxOutputTokens ?? 0) <= (contextWindow ?? Number.MAX_VALUE)),
    ).toEqual([]);
    for (const { canonicalId, routes: own, contextWindow, maxOutputTokens } of snapshot.models.values()) {
      const most = (values: (number | null)[]) => Math.max(...values.map((value) => value ?? 0));
      expect(most(own.map((route) => route.contextWindow)), canonicalId).toBe(contextWindow ?? 0);
      expect(most(own.map((route) => route.maxOutputTokens)), canonicalId).toBe(maxOutputTokens ?? 0);
    }
  });

  it('declares no capability that the dialect has no words for', () => {
    const refuses = ({ provider }: Route, needs: 'n' | 'logprobs' | 'logit_bias', form: string | null = null) =>
      dialectOf(provider.dialect).inapplicableParameter({ needs: [needs], responseFormat: form }) !== null;
    for (const param of ['n', 'logprobs', 'logit_bias'] as const) {
      expect(
        breaking((route) => !route.capabilities.has(param) || !refuses(route, param)),
        param,
      ).toEqual([]);
    }
    const form = (route: Route, responseFormat: string) =>
      dialectOf(route.provider.dialect).inapplicableParameter({ needs: ['response_format'], responseFormat }) === null;
    expect(
      breaking(
        (route) =>
          !route.capabilities.has('response_format') || (form(route, 'json_object') && form(route, 'json_schema')),
      ),
    ).toEqual([]);
    expect(breaking((route) => !route.capabilities.has('json_object') || form(route, 'json_object'))).toEqual([]);
    expect(breaking((route) => !route.capabilities.has('json_schema') || form(route, 'json_schema'))).toEqual([]);
  });

  it('maps an upstream\u2019s name for a model to one model', () => {
    expect([...snapshot.upstreamModels].filter(([key, ids]) => ids.size > 1 && !key.startsWith('sandbox'))).toEqual([]);
  });

  it('carries Anthropic\u2019s own terms to whoever serves Claude', () => {
    const claude = routes.filter(({ model }) => model.creator === 'anthropic');
    const own = snapshot.providers.get('anthropic')!.excludedTerritories;
    expect(claude.length).toBeGreaterThan(20);
    for (const { id, provider } of claude)
      expect(provider.excludedTerritories, id).toEqual(expect.arrayContaining([...own]));
  });

  it('has no route that calls a region under the name of another', () => {
    const regions: Record<string, string> = {};
    for (const { baseUrl, locode } of routes) {
      const region = /(?:bedrock-\w+\.|\/\/)([a-z]+-[a-z]+-?\d)[.-](?:amazonaws|api|aiplatform)/.exec(baseUrl)?.[1];
      if (region === undefined || locode === 'global') continue;
      regions[region] ??= locode;
      expect(regions[region], baseUrl).toBe(locode);
    }
    expect(Object.keys(regions).length).toBeGreaterThan(10);
  });
});
