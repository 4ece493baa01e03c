/** Types of bench/cost-ratio.mjs for the tests. */
export interface MeasuredGateway {
  port: number;
  pid: number;
  key: string;
}

export interface CostRatio {
  /** The median of the rounds. */
  value: number;
  low: number;
  high: number;
  rounds: number;
  ratios: number[];
}

export function measureCostRatio(options: {
  startGateway(catalogue: Record<string, unknown>): Promise<MeasuredGateway>;
  requests: number;
  rounds: number;
}): Promise<CostRatio>;
