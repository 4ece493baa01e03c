import { expect, it } from 'vitest';
import type { Logger } from '../../base/logger.js';
import { type LoadPackage, openTracing } from './open-tracing.js';

function loggedLines() {
  const lines: { level: string; fields: object; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message });
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { lines, logger };
}

const never: LoadPackage = async (name) => {
  throw new Error(`${name} was loaded`);
};
const endpoint = 'http://127.0.0.1:9';

it.each([
  ['no variable', {}],
  ['an empty one', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
  ['a disabled SDK', { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'true' }],
  ['no exporter', { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: 'none' }],
])('with %s nothing is loaded and nothing traced', async (_, env) => {
  const { lines, logger } = loggedLines();
  expect(await openTracing({ env, logger, load: never })).toBeNull();
  expect(lines).toEqual([]);
});

it('a package that is missing is a warning that names it, and no reason not to serve', async () => {
  const { lines, logger } = loggedLines();
  const load: LoadPackage = async (name) => {
    throw Object.assign(new Error(`Cannot find package ${name}`), { code: 'ERR_MODULE_NOT_FOUND' });
  };
  expect(await openTracing({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, logger, load })).toBeNull();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    level: 'warn',
    fields: { why: expect.stringContaining('@opentelemetry/sdk-trace') },
  });
});

it('an address that is none is a warning too', async () => {
  const { lines, logger } = loggedLines();
  expect(await openTracing({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }, logger })).toBeNull();
  expect(lines.at(-1)?.level).toBe('warn');
});
