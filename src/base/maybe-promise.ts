/** Values that are usually there at once and sometimes come later, without a wait for those that are there. */

export type MaybePromise<T> = T | Promise<T>;

export function isPending<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise;
}

/** Calls `next` at once where the value is there: an `await` would put the rest of the request off by a turn of the microtask queue. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
