import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { metricsPage, renderMetricsPage } from '../../scripts/metrics-page.mjs';
import { errorTable } from '../../src/errors/error-table.js';
import { metricNames } from '../../src/observability/metrics/figures.js';
import {
  type MetricName,
  metricTable,
  partMetrics,
  processMetrics,
  requestMetrics,
  routeMetrics,
} from '../../src/observability/metrics/metric-table.js';
import { groupingsOf, selectorsOf } from './promql.js';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../ops/${path}`, import.meta.url)), 'utf8');

/** Labels that Prometheus, or its configuration, adds to every series. */
const scrapeLabels = ['job', 'instance'];

/** What is wrong with an expression; nothing where every metric and label in it is of the table. */
function faultsOf(expression: string): string[] {
  const known = selectorsOf(expression).filter(({ metric }) => metric !== 'up');
  const labels = new Set([...scrapeLabels, 'le']);
  const faults = known.flatMap(({ metric, labels: used }) => {
    const base = metric in metricTable ? metric : metric.replace(/_(bucket|sum|count)$/, '');
    const definition = metricTable[base as MetricName];
    if (!definition) return [`${metric} is no metric`];
    if ((base === metric) === (definition.type === 'histogram'))
      return [`${metric} is not how a ${definition.type} is read`];
    for (const label of definition.labels) labels.add(label);
    return used
      .filter((label) => ![...scrapeLabels, ...definition.labels].includes(label))
      .map((label) => `${metric} has no label ${label}`);
  });
  return [
    ...faults,
    ...groupingsOf(expression)
      .filter((label) => !labels.has(label))
      .map((label) => `nothing has the label ${label}`),
  ];
}

interface Target {
  expr?: string;
}
interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: Target[];
}
interface Dashboard {
  title: string;
  uid: string;
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; definition?: string }[] };
  annotations: { list: Target[] };
}

describe('the check of expressions itself', () => {
  it.each([
    ['sum by (route) (rate(lodestone_attempts_total{outcome="served"}[5m]))', []],
    ['rate(lodestone_attempts[5m])', ['lodestone_attempts is no metric']],
    ['lodestone_open_streams{route="a"}', ['lodestone_open_streams has no label route']],
    ['lodestone_chat_first_byte_seconds', ['lodestone_chat_first_byte_seconds is not how a histogram is read']],
    ['lodestone_open_streams_count', ['lodestone_open_streams_count is not how a gauge is read']],
    ['sum by (account) (lodestone_open_streams)', ['nothing has the label account']],
    ['lodestone_redis_up == 0 and lodestone_redis_upp == 1', ['lodestone_redis_upp is no metric']],
  ])('%s', (expression, faults) => {
    expect(faultsOf(expression)).toEqual(faults);
  });
});

describe('ops/grafana/lodestone.json', () => {
  const dashboard = JSON.parse(read('grafana/lodestone.json')) as Dashboard;
  const expressions = [...dashboard.panels.flatMap(({ targets = [] }) => targets), ...dashboard.annotations.list]
    .map(({ expr }) => expr)
    .filter((expr) => expr !== undefined);

  it('has what Grafana needs: a title, a uid, panels with ids of their own that do not overlap', () => {
    expect(dashboard).toMatchObject({ title: 'Lodestone', uid: 'lodestone', schemaVersion: expect.any(Number) });
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)}/${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('names only metrics and labels of the table, in every panel, variable and annotation', () => {
    expect(expressions.length).toBeGreaterThan(40);
    const definitions = dashboard.templating.list
      .map(({ definition }) => /label_values\((.*), \w+\)/.exec(definition ?? '')?.[1])
      .filter((expression) => expression !== undefined);
    expect(definitions).toHaveLength(3);
    expect([...expressions, ...definitions].flatMap(faultsOf)).toEqual([]);
  });

  it('shows every metric of ours except those that the table marks', () => {
    const shown = new Set(
      expressions.flatMap(selectorsOf).map(({ metric }) => metric.replace(/_(bucket|sum|count)$/, '')),
    );
    const left = metricNames.filter((name) => name.startsWith('lodestone_') && !shown.has(name));
    expect(left).toEqual(metricNames.filter((name) => metricTable[name].onDashboard === false));
  });
});

describe('ops/prometheus/alerts.yaml', () => {
  const { groups } = parse(read('prometheus/alerts.yaml')) as {
    groups: { name: string; rules: { alert: string; expr: string; labels: object; annotations: object }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);

  it('has the alerts that need a person at once', () => {
    expect(rules.map(({ alert }) => alert)).toEqual(
      expect.arrayContaining([
        ...['LodestoneChatsFail', 'LodestoneModelOut', 'LodestoneNotSettling'],
        ...['LodestoneEventLoopSlow', 'LodestoneRedisAway', 'LodestonePostgresAway'],
      ]),
    );
    for (const rule of rules) {
      expect(rule).toMatchObject({
        labels: { severity: expect.stringMatching(/^(page|ticket)$/) },
        annotations: { summary: expect.any(String), description: expect.any(String) },
      });
    }
  });

  it('counts nothing of the sandbox, whose models fail for everybody who asks', () => {
    for (const { alert, expr } of rules) {
      const requests = expr.split('lodestone_requests_total{').length;
      expect(expr.split('lodestone_sandbox_requests_total{').length, alert).toBe(requests);
      if (expr.includes('lodestone_route_')) expect(expr, alert).toMatch(/(route|model)!~"lodestone\/\.\*"/);
      expect(expr, alert).not.toMatch(/lodestone_(errors|attempts|served)_total/);
    }
  });

  it('names only metrics and labels of the table', () => {
    expect(rules.flatMap(({ expr }) => faultsOf(expr))).toEqual([]);
  });
});

describe('the table of metrics', () => {
  it('is what docs/guide/metrics.md shows; "npm run docs" writes it', () => {
    const page = renderMetricsPage({ requestMetrics, routeMetrics, partMetrics, processMetrics });
    expect(readFileSync(metricsPage, 'utf8')).toBe(page);
    for (const name of metricNames) expect(page).toContain(`| \`${name}\` |`);
  });

  it('follows the conventions of Prometheus: base units, `_total` on counters and on nothing else', () => {
    for (const name of metricNames) {
      const { type, labels } = metricTable[name];
      expect(name).toMatch(/^(lodestone|process|nodejs)_[a-z0-9_]+$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(name).not.toMatch(/_(ms|milliseconds|minutes|percent|kilobytes|rate)(_|$)/);
      if (type === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/);
      for (const label of labels) expect(label).not.toMatch(/key|user|email|address|request/);
      // Their accounts are bounded in number.
      if (!/_(left_before_content|retiring_served)_total$/.test(name)) expect(labels).not.toContain('account');
    }
  });

  it('has bounds in rising order', () => {
    for (const { bounds = [] } of Object.values(metricTable)) {
      expect([...bounds]).toEqual([...bounds].sort((a, b) => a - b));
    }
  });

  it('has as many error series as the error table has rows, at most', () => {
    expect(Object.keys(errorTable).length).toBeLessThan(200);
  });
});
