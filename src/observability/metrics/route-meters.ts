/** What is counted of one route. */
import { usdNumber } from '../../base/money.js';
import type { TokenUsage, UsageOddity } from '../../wire/usage.js';
import type { Sample } from './figures.js';
import { Histogram } from './histogram.js';
import type { MetricName } from './metric-table.js';
import { answerBounds } from './table-requests.js';
import { Tally } from './tally.js';

export class RouteMeters {
  private readonly attempts = new Tally();
  private readonly whole = new Tally();
  private readonly streamed = new Tally();
  private readonly firstByte = new Histogram(answerBounds);
  private readonly duration = new Histogram(answerBounds);
  private readonly tokens = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
  private readonly oddities = new Tally();
  private costPico = 0n;

  constructor(private readonly id: string) {}

  attempted(outcome: string, firstByteMs: number | null, durationMs: number): void {
    this.attempts.add(outcome);
    if (firstByteMs !== null) this.firstByte.observe(firstByteMs / 1000);
    this.duration.observe(durationMs / 1000);
  }

  served(stream: boolean, end: string): void {
    (stream ? this.streamed : this.whole).add(end);
  }

  billed(usage: TokenUsage, costPico: bigint, oddities: readonly UsageOddity[] = []): void {
    const { tokens } = this;
    for (const oddity of oddities) this.oddities.add(oddity);
    tokens.prompt += usage.promptTokens;
    tokens.completion += usage.completionTokens;
    tokens.cached += usage.cachedTokens;
    tokens.reasoning += usage.reasoningTokens;
    this.costPico += costPico;
  }

  addTo(add: (name: MetricName, samples: readonly Sample[]) => void): void {
    const { id } = this;
    add(
      'lodestone_attempts_total',
      this.attempts.samples((outcome) => [id, outcome]),
    );
    add(
      'lodestone_served_total',
      this.whole.samples((end) => [id, 'false', end]),
    );
    add(
      'lodestone_served_total',
      this.streamed.samples((end) => [id, 'true', end]),
    );
    add('lodestone_attempt_first_byte_seconds', [this.firstByte.sample([id])]);
    add('lodestone_attempt_duration_seconds', [this.duration.sample([id])]);
    add(
      'lodestone_tokens_total',
      Object.entries(this.tokens).map(([kind, value]) => ({ labels: [id, kind], value })),
    );
    add(
      'lodestone_usage_oddities_total',
      this.oddities.samples((oddity) => [id, oddity]),
    );
    add('lodestone_cost_usd_total', [{ labels: [id], value: usdNumber(this.costPico) }]);
  }
}
