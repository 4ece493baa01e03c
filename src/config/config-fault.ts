/** Stops a start with every fault of the configuration at once, so that an operator can correct them together. */
export class ConfigFault extends Error {
  constructor(readonly faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.join('\n')}`,
    );
    this.name = 'ConfigFault';
  }
}
