/** A setting of V8's garbage collector that suits a process whose objects live as long as a request. */
import { setFlagsFromString } from 'node:v8';

/**
 * V8 allocates objects in the old part of the heap where many made at the same place have survived a collection. At the start, while
 * the young part is small, every request in flight survives, so V8 decides so for the objects of requests, and keeps to it. From then on
 * each request stays with all its text until a full collection. Without that decision they are freed by the next short one.
 */
export function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
