/** Values that are usually there at once and sometimes come later, without a wait for those that are there. */

export type MaybePromise<T> = T | Promise<T>;

export function isPending<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise;
}

/** Undoes something where the work fails, now or later. */
export function undoOnFailure<T>(work: () => MaybePromise<T>, undo: () => void): MaybePromise<T> {
  const fail = (error: unknown): never => {
    undo();
    throw error;
  };
  try {
    const value = work();
    return value instanceof Promise ? value.catch(fail) : value;
  } catch (error) {
    return fail(error);
  }
}

/** Calls `next` at once where the value is there: an `await` would put the rest of the request off by a turn of the microtask queue. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
