/** Lets a limited number of tasks run at a time; the others wait in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(
    atOnce: number,
    private readonly waitMs: number,
  ) {
    this.#free = atOnce;
  }

  /** Runs the task when it is its turn; throws what `refusal` returns where that takes too long. */
  async run<T>(task: () => Promise<T>, refusal: (waitedMs: number) => unknown): Promise<T> {
    if (this.#free > 0) this.#free--;
    else if (!(await this.#wait())) throw refusal(this.waitMs);
    try {
      return await task();
    } finally {
      // The next one takes over the place.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  #wait(): Promise<boolean> {
    return new Promise((resolve) => {
      const begin = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        resolve(false);
      }, this.waitMs);
      this.#waiting.push(begin);
    });
  }
}
