/** The sampler that OTEL_TRACES_SAMPLER names, with OTEL_TRACES_SAMPLER_ARG, as every OpenTelemetry SDK reads them. */
import type { Sampler } from '@opentelemetry/sdk-trace';

export type TraceSdk = typeof import('@opentelemetry/sdk-trace');
export type Environment = Readonly<Record<string, string | undefined>>;

/** Without a name, or with one that nobody knows: the caller's decision, and where it made none, every request. */
export function samplerOf(sdk: TraceSdk, env: Environment): Sampler {
  const name = env.OTEL_TRACES_SAMPLER?.trim().toLowerCase() ?? '';
  const root = rootSampler(sdk, name.replace(/^parentbased_/, ''), env);
  if (!root) return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() });
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

function rootSampler(sdk: TraceSdk, name: string, env: Environment): Sampler | null {
  if (name === 'always_on') return new sdk.AlwaysOnSampler();
  if (name === 'always_off') return new sdk.AlwaysOffSampler();
  return name === 'traceidratio' ? new sdk.TraceIdRatioBasedSampler(ratioOf(env)) : null;
}

function ratioOf({ OTEL_TRACES_SAMPLER_ARG: text }: Environment): number {
  const ratio = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return ratio >= 0 && ratio <= 1 ? ratio : 1;
}
